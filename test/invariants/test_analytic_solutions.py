# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motions whose equations are known in closed form."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import layout, random_trees
from support.random_trees import chain

from rbd_ros import Robot

G = 9.81
CLOSE = {'rtol': 1e-12, 'atol': 1e-12}  # a few dozen roundings of numbers of size 1 to 100


def solid(ixx, iyy, izz):
    return [ixx, 0.0, 0.0, iyy, 0.0, izz]


@pytest.mark.seed('AB08', 'ID04')
def test_compound_pendulum():
    """Turning about y with the mass below: (I + m l^2) a = -m g l sin(q) + tau."""
    m, l, I = 1.7, 0.6, 0.05
    robot = Robot.from_urdf(
        chain(
            [
                {
                    'type': 'revolute',
                    'axis': [0, 1, 0],
                    'mass': m,
                    'center': [0, 0, -l],
                    'inertia': solid(0.3, I, 0.2),
                }
            ]
        )
    )
    q = np.linspace(-3, 3, 7)[:, None]
    v, tau = np.full_like(q, 2.0), np.full_like(q, 0.5)
    assert_allclose(
        robot.forward_dynamics(q, v, tau), (tau - m * G * l * np.sin(q)) / (I + m * l * l), **CLOSE
    )
    energy = robot.energy(q, v)
    assert_allclose(energy.kinetic, 0.5 * (I + m * l * l) * 4.0 * np.ones(7), **CLOSE)
    assert_allclose(energy.potential, -m * G * l * np.cos(q[:, 0]), **CLOSE)
    assert_allclose(energy.total, energy.kinetic + energy.potential, rtol=0)


@pytest.mark.seed('AB08', 'ID03', 'BL09', 'FM03')
def test_two_link_arm_obeys_its_lagrange_equations():
    """Planar 2R arm in a vertical plane, angles from the horizontal x axis.

    The textbook's closed form.
    """
    m1, m2, l1, c1, c2, I1, I2 = 2.0, 1.5, 0.8, 0.35, 0.3, 0.12, 0.06
    robot = Robot.from_urdf(
        chain(
            [
                {
                    'type': 'revolute',
                    'axis': [0, 0, 1],
                    'rpy': [np.pi / 2, 0, 0],
                    'mass': m1,
                    'center': [c1, 0, 0],
                    'inertia': solid(0.01, 0.02, I1),
                },
                {
                    'type': 'revolute',
                    'axis': [0, 0, 1],
                    'xyz': [l1, 0, 0],
                    'mass': m2,
                    'center': [c2, 0, 0],
                    'inertia': solid(0.01, 0.02, I2),
                },
            ]
        )
    )
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-3, 3, (3, 20, 2))
    a1, a2, b = I1 + m1 * c1**2 + m2 * l1**2, I2 + m2 * c2**2, m2 * l1 * c2
    c, s = np.cos(q[:, 1]), np.sin(q[:, 1])
    H = np.array([[a1 + a2 + 2 * b * c, a2 + b * c], [a2 + b * c, a2 + 0 * c]])
    coriolis = np.array([-b * s * (2 * v[:, 0] * v[:, 1] + v[:, 1] ** 2), b * s * v[:, 0] ** 2])
    g2 = m2 * c2 * G * np.cos(q.sum(axis=1))
    gravity = np.array([(m1 * c1 + m2 * l1) * G * np.cos(q[:, 0]) + g2, g2])
    assert_allclose(robot.mass_matrix(q), np.moveaxis(H, 2, 0), **CLOSE)
    assert_allclose(robot.gravity_torque(q), gravity.T, rtol=1e-12, atol=1e-12)
    assert_allclose(robot.bias_force(q, v), (coriolis + gravity).T, rtol=1e-12, atol=1e-11)
    tau = np.einsum('ijn,nj->ni', H, a) + (coriolis + gravity).T
    assert_allclose(robot.inverse_dynamics(q, v, a), tau, rtol=1e-12, atol=1e-11)
    assert_allclose(
        robot.forward_dynamics(q, v, tau), a, rtol=1e-10, atol=1e-11
    )  # cond(H) of about 30


@pytest.mark.seed('JM02')
def test_sliding_and_turning_arm():
    """Horizontal turntable with a radial slider.

    (I + m r^2) a1 + 2 m r r' q1' and m (r'' - r q1'^2).
    """
    m, r0, I = 1.3, 0.4, 0.02
    robot = Robot.from_urdf(
        chain(
            [
                {'type': 'continuous', 'axis': [0, 0, 1]},
                {
                    'type': 'prismatic',
                    'axis': [1, 0, 0],
                    'xyz': [r0, 0, 0],
                    'mass': m,
                    'inertia': solid(0.01, 0.03, I),
                },
            ]
        )
    )
    rng = np.random.default_rng(1)
    q, v, a = rng.uniform(-2, 2, (3, 10, 2))
    r = r0 + q[:, 1]
    tau = np.array(
        [
            (I + m * r**2) * a[:, 0] + 2 * m * r * v[:, 1] * v[:, 0],
            m * (a[:, 1] - r * v[:, 0] ** 2),
        ]
    ).T
    assert_allclose(robot.inverse_dynamics(q, v, a), tau, **CLOSE)


TOP = chain(
    [
        {'type': 'continuous', 'axis': [0, 0, 1]},
        {'type': 'continuous', 'axis': [1, 0, 0]},
        {
            'type': 'continuous',
            'axis': [0, 0, 1],
            'mass': 0.4,
            'center': [0, 0, 0.15],
            'inertia': solid(0.002, 0.002, 0.003),
        },
    ]
)


@pytest.mark.seed('JM07', 'DN17')
@pytest.mark.parametrize('theta', [0.3, 1.0, 2.2])
@pytest.mark.parametrize('branch', [-1, 1])
def test_heavy_top_precesses_steadily(theta, branch):
    """Euler angles z-x-z.

    Steady precession W: (I1 - I3) cos(theta) W^2 - I3 psi' W + m g l = 0 keeps all rates constant.
    """
    m, l = 0.4, 0.15
    I1, I3, spin = 0.002 + m * l * l, 0.003, 120.0
    A, B, C = (I1 - I3) * np.cos(theta), -I3 * spin, m * G * l
    precession = (-B + branch * np.sqrt(B * B - 4 * A * C)) / (2 * A)
    q, v = np.array([0.7, theta, 2.0]), np.array([precession, 0.0, spin])
    a = Robot.from_urdf(TOP).forward_dynamics(q, v, np.zeros(3))
    # accelerations are differences of terms of size W spin
    assert_allclose(a, 0, atol=1e-11 * abs(precession) * max(spin, abs(precession)))


@pytest.mark.seed('FB04', 'JM06', 'JM08', 'SV20')
def test_free_body_turns_by_eulers_equations_and_falls():
    """I w' = -w x I w, and the center of mass falls: v' = R^T g - w x v in body coordinates."""
    inertia = np.diag([0.02, 0.05, 0.04])
    text = random_trees.chain(
        [{'type': 'floating', 'mass': 1.2, 'inertia': solid(*np.diag(inertia))}]
    )
    robot, places = Robot.from_urdf(text), layout.read(text)
    q, v, _ = places.random_states(np.random.default_rng(2), 10)
    a = robot.forward_dynamics(q, v, np.zeros_like(v))
    omega = v[:, :3]
    assert_allclose(a[:, :3], -np.cross(omega, omega @ inertia) @ np.linalg.inv(inertia), **CLOSE)
    R = robot.forward_kinematics(q)['link1'][:, :3, :3]
    falling = np.einsum('nij,i->nj', R, [0, 0, -G]) - np.cross(omega, v[:, 3:])
    assert_allclose(a[:, 3:], falling, **CLOSE)
    alone = robot.floating_base.forward_dynamics(q, v, np.zeros((10, 0)))  # there are no joints
    assert_allclose(alone.a0, np.hstack([a[:, :3], falling]), **CLOSE)
    assert alone.qdd.shape == (10, 0)


@pytest.mark.seed('FB04', 'FB07')
@pytest.mark.parametrize('seed', range(3))
def test_floating_tree_at_rest_falls_as_one(seed):
    """Without joint forces a tree at rest accelerates with g whole: no joint moves."""
    text = random_trees.tree(
        seed, 5, ('revolute', 'prismatic', 'continuous', 'planar', 'fixed'), 1
    )
    robot, places = (
        Robot.from_urdf(text, floating_base=True),
        layout.read(text, floating_base=True),
    )
    q, _, _ = places.random_states(np.random.default_rng(seed), 5)
    zero = np.zeros((5, places.nv))
    a = robot.forward_dynamics(q, zero, zero)
    R = robot.forward_kinematics(q)['base'][:, :3, :3]
    expected = np.zeros_like(a)
    expected[:, 3:6] = np.einsum('nij,i->nj', R, [0, 0, -G])
    assert_allclose(a, expected, atol=1e-10)  # cond(H) of about 1e4 times eps times g
    a0, qdd = robot.floating_base.forward_dynamics(q, zero, zero[:, 6:])
    assert_allclose(np.hstack([a0, qdd]), expected, atol=1e-10)


@pytest.mark.seed('SV22', 'FB07', 'AE03')
def test_energy_and_momentum_stay_over_a_simulated_second(rng):
    """Tumbling floating tree without gravity.

    RK4 on the group; the drift falls with h^4 (times 16 for half the step).
    """
    text = random_trees.tree(5, 3, ('revolute', 'continuous', 'prismatic'))
    robot = Robot.from_urdf(text, floating_base=True, gravity=(0, 0, 0))
    places = layout.read(text, floating_base=True)
    q0, v0, _ = places.random_states(rng)
    zero, drifts = np.zeros(places.nv), []
    for steps in (200, 400):
        q, v, h = q0, v0, 0.5 / steps
        rates = places.position_rates
        for _ in range(steps):
            k1, l1 = rates(q, v), robot.forward_dynamics(q, v, zero)
            k2, l2 = (
                rates(q + h / 2 * k1, v + h / 2 * l1),
                robot.forward_dynamics(q + h / 2 * k1, v + h / 2 * l1, zero),
            )
            k3, l3 = (
                rates(q + h / 2 * k2, v + h / 2 * l2),
                robot.forward_dynamics(q + h / 2 * k2, v + h / 2 * l2, zero),
            )
            k4, l4 = (
                rates(q + h * k3, v + h * l3),
                robot.forward_dynamics(q + h * k3, v + h * l3, zero),
            )
            q, v = q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), v + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        drifts.append(
            [
                abs(robot.energy(q, v).kinetic / robot.energy(q0, v0).kinetic - 1),
                np.abs(robot.momentum(q, v) - robot.momentum(q0, v0)).max(),
            ]
        )
    assert max(drifts[1]) < 1e-7
    assert drifts[1][0] < drifts[0][0] / 8 and drifts[1][1] < drifts[0][1] / 8


@pytest.mark.seed('JM05', 'DN17')
def test_planar_joint_is_two_sliders_and_a_hinge():
    """Same link behind x, y sliders and a z hinge.

    Equal motion, once velocities are turned into body coordinates.
    """
    body = {
        'mass': 1.3,
        'center': [0.1, -0.2, 0.05],
        'inertia': [0.02, 0.003, 0.001, 0.03, -0.002, 0.04],
    }
    planar = Robot.from_urdf(
        chain([dict(type='planar', axis=[0, 0, 1], **body)]), gravity=(3.0, -2.0, -9.0)
    )
    sliders = Robot.from_urdf(
        chain(
            [
                {'type': 'prismatic', 'axis': [1, 0, 0]},
                {'type': 'prismatic', 'axis': [0, 1, 0]},
                dict(type='continuous', axis=[0, 0, 1], **body),
            ]
        ),
        gravity=(3.0, -2.0, -9.0),
    )
    rng = np.random.default_rng(4)
    for _ in range(10):
        theta, x, y, omega, vx, vy, t1, t2, t3 = rng.uniform(-2, 2, 9)
        R = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
        q, v, tau = np.array([theta, x, y]), np.array([omega, vx, vy]), np.array([t1, t2, t3])
        q_s, v_s, tau_s = np.array([x, y, theta]), np.r_[R @ v[1:], omega], np.r_[R @ tau[1:], t1]
        assert_allclose(
            planar.forward_kinematics(q)['link1'],
            sliders.forward_kinematics(q_s)['link3'],
            **CLOSE,
        )
        a, a_s = planar.forward_dynamics(q, v, tau), sliders.forward_dynamics(q_s, v_s, tau_s)
        # d/dt (R u) = R (u' + omega x u)
        world = R @ (a[1:] + omega * np.array([-vy, vx]))
        assert_allclose(np.r_[world, a[0]], a_s, rtol=1e-11, atol=1e-11)


@pytest.mark.seed('JM01', 'JM02', 'MD07')
def test_any_axis_is_a_turned_z_axis():
    """A joint about an arbitrary axis equals a z joint between two fixed frames."""
    rng = np.random.default_rng(6)
    for type_ in ('revolute', 'prismatic', 'continuous'):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        inertia = random_trees.physical_inertia(rng, 1.1)
        entries = inertia[np.triu_indices(3)]
        direct = Robot.from_urdf(
            chain(
                [
                    {
                        'type': type_,
                        'axis': axis,
                        'mass': 1.1,
                        'center': [0.1, 0.2, 0.3],
                        'inertia': entries,
                    }
                ]
            )
        )
        pitch, yaw = np.arccos(axis[2]), np.arctan2(axis[1], axis[0])  # turns z onto the axis
        R = np.array(
            [[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]]
        ) @ np.array(
            [[np.cos(pitch), 0, np.sin(pitch)], [0, 1, 0], [-np.sin(pitch), 0, np.cos(pitch)]]
        )
        turned = Robot.from_urdf(
            chain(
                [
                    {
                        'type': type_,
                        'axis': [0, 0, 1],
                        'rpy': [0, pitch, yaw],
                        'mass': 1.1,
                        'center': R.T @ [0.1, 0.2, 0.3],
                        'inertia': (R.T @ inertia @ R)[np.triu_indices(3)],
                    }
                ]
            )
        )
        q, v, a = rng.uniform(-2, 2, (3, 5, 1))
        assert_allclose(
            direct.inverse_dynamics(q, v, a), turned.inverse_dynamics(q, v, a), **CLOSE
        )


@pytest.mark.seed('JM01')
def test_axis_of_any_length_is_a_direction():
    robots = [
        Robot.from_urdf(
            chain(
                [
                    {
                        'type': 'revolute',
                        'axis': np.array([1.0, 2.0, -2.0]) * length,
                        'mass': 1.0,
                        'center': [0, 0, 1],
                        'inertia': solid(0.1, 0.1, 0.1),
                    }
                ]
            )
        )
        for length in (1.0, 1 / 3, 1e-3, 1e3)
    ]
    for robot in robots[1:]:
        assert_allclose(robot.gravity_torque([0.4]), robots[0].gravity_torque([0.4]), rtol=1e-14)
