# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Impedance of a frame, against dense linear algebra and the behavior of springs."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation

from rbd_ros import Robot
from rbd_ros.control import LawSettings, TorqueLaw
from rbd_ros.control.law.task_impedance import (
    MOBILITY,
    pose_error,
    RATES,
    RELATIVE_DAMPING,
    TaskImpedance,
)
from rbd_ros.lookup.resources import resource_path

STIFFNESS = np.array([30.0, 40.0, 50.0, 600.0, 700.0, 800.0])
DAMPING = np.array([3.0, 4.0, 5.0, 60.0, 70.0, 80.0])
KN, DN = np.array([9.0, 8, 7, 6, 5, 4]), np.array([6.0, 5, 4, 3, 2, 1])


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


def settings(robot, task, **options):
    words = {'feedforward': 'none', 'friction': 'none', 'feedback': 'task_impedance'}
    common = {'effort_limits': np.inf, 'kp': KN[: robot.nv], 'kd': DN[: robot.nv]}
    return LawSettings.for_robot(robot, task=task, **{**words, **common, **options})


def law(robot, task, frame='tool0', payload_link=None, **options):
    return TorqueLaw(robot, settings(robot, task, **options), payload_link, frame)


def oracle(robot, frame, task, q, v, qd, vd, H=None):
    """Return the torque by dense matrices."""
    H = robot.mass_matrix(q) if H is None else H
    J, Jd = (robot.frame(frame, 'aligned').jacobian(x) for x in (q, qd))
    T, Td = (robot.frame(frame).pose(x) for x in (q, qd))
    turn = Rotation.from_matrix(Td[:3, :3] @ T[:3, :3].T).as_rotvec()
    e = np.concatenate([turn, Td[:3, 3] - T[:3, 3]])
    de = Jd @ vd - J @ v
    A = J @ np.linalg.solve(H, J.T)
    A = A + np.diag(RELATIVE_DAMPING * np.diag(A) + MOBILITY)
    # The geometric mean of inertia and stiffness, by eigenvalues.
    s, m = np.sqrt(task.stiffness), task.bandwidth
    rates, modes = np.linalg.eigh(s[:, None] * A * s)
    spring = np.linalg.inv(np.diag(1 / task.stiffness) + A / m**2)
    mean = s[:, None] * (modes * approximate(rates, m) @ modes.T) * s
    D = np.diag(task.damping) + 2 * task.damping_ratio * mean
    n = robot.nv
    a = KN[:n] * (qd - q) + DN[:n] * (vd - v)
    null = H @ a - J.T @ np.linalg.solve(A, J @ a)
    return J.T @ (spring @ e + D @ de) + null


def approximate(x, m):
    """Return what the rule makes of m / (x (x + m^2))^1/2."""
    t = np.array(RATES)
    weights = 2 / np.pi * np.log(4.0) * t / (1 + (t / m) ** 2)
    return (weights / (np.asarray(x)[:, None] + t**2 / (1 + (t / m) ** 2))).sum(axis=1)


@pytest.mark.parametrize('m', [30.0, 100.0, 300.0])
def test_all_modes_have_the_requested_damping(m):
    x = np.geomspace(4.0, 1000.0, 50) ** 2
    assert_allclose(approximate(x, m), m / np.sqrt(x * (x + m**2)), rtol=0.15)


@pytest.mark.parametrize('ratio', [0.0, 0.7])
@pytest.mark.parametrize('damping', [0.0, DAMPING])
def test_the_torque_is_that_of_dense_matrices(arm, rng, ratio, damping):
    task = TaskImpedance.of(STIFFNESS, damping, ratio)
    chosen = law(arm, task)
    for _ in range(10):
        q, qd = rng.uniform(-2, 2, size=(2, 6))
        qd = q + 0.3 * (qd - q)
        v, vd = rng.normal(size=(2, 6))
        torque = chosen(q, v, qd, vd, rng.normal(size=6))
        expected = oracle(arm, 'tool0', task, q, v, qd, vd)
        assert_allclose(torque, expected, rtol=1e-6, atol=1e-6)
        assert_allclose(chosen.terms['feedback'], expected, rtol=1e-6, atol=1e-6)


def test_the_payload_counts_in_the_inertia(arm, rng):
    task = TaskImpedance.of(STIFFNESS, 0.0, 1.0)
    payload = np.array([2.0, 0, 0, 0, 0.02, 0, 0, 0.02, 0, 0.02])
    loaded = law(arm, task, payload_link='tool0', payload=payload)
    q, v, qd, vd = rng.normal(size=(4, 6))
    H = arm.function('mass_matrix', ('payload:tool0',))(q, payload)
    assert_allclose(
        loaded(q, v, qd, vd), oracle(arm, 'tool0', task, q, v, qd, vd, H), rtol=1e-6, atol=1e-6
    )
    assert not np.allclose(law(arm, task)(q, v, qd, vd), loaded(q, v, qd, vd))


def test_feedforward_makes_free_motion_that_of_the_desired_accelerations(arm, rng):
    task = TaskImpedance.of(STIFFNESS, 0.0, 1.0)
    chosen = law(arm, task, feedforward='inverse_dynamics')
    q, v, a = rng.normal(size=(3, 6))
    torque = chosen(q, v, q, v, a)
    assert_allclose(torque, arm.inverse_dynamics(q, v, a), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize('angle', [0.0, 1e-9, 1e-5, 0.5, 2.0, 3.1])
def test_the_error_of_a_rotation_is_its_rotation_vector(rng, angle):
    axis = rng.normal(size=3)
    turn = angle * axis / np.linalg.norm(axis)
    pose, goal = np.eye(4), np.eye(4)
    pose[:3, :3] = Rotation.random(random_state=1).as_matrix()
    goal[:3, :3] = Rotation.from_rotvec(turn).as_matrix() @ pose[:3, :3]
    pose[:3, 3], goal[:3, 3] = rng.normal(size=(2, 3))
    error = pose_error(pose.ravel().tolist(), goal.ravel().tolist())
    assert_allclose(error[:3], turn, atol=1e-9, rtol=1e-6)
    assert_allclose(error[3:], goal[:3, 3] - pose[:3, 3])


def test_a_half_turn_is_finite(arm):
    pose, goal = np.eye(4), np.diag([1.0, -1.0, -1.0, 1.0])
    assert np.isfinite(pose_error(pose.ravel().tolist(), goal.ravel().tolist())).all()


def settle(robot, chosen, q, qd, force, frame, time=6.0, dt=1e-3):
    """Return where the robot comes to rest, a force pushing at the frame.

    And how far it went beyond.
    """
    v, far = np.zeros(robot.nv), 0.0
    start = robot.frame(frame).pose(q)[:3, 3]
    for _ in range(round(time / dt)):
        J = robot.frame(frame, 'aligned').jacobian(q)
        tau = chosen(q, v, qd, 0 * v, 0 * v) + J[3:].T @ force
        v = v + dt * robot.forward_dynamics(q, v, tau)
        q = q + dt * v
        far = max(far, np.linalg.norm(robot.frame(frame).pose(q)[:3, 3] - start))
    return q, v, far


Q = np.array([0.3, -1.2, 1.3, -0.8, -1.1, 0.4])


@pytest.mark.parametrize('axis', [0, 1, 2])
def test_a_pushed_frame_yields_by_the_force_over_the_stiffness(arm, axis):
    task = TaskImpedance.of(STIFFNESS, 0.0, 1.0, bandwidth=300.0)
    chosen = law(arm, task, feedforward='inverse_dynamics')
    force = np.zeros(3)
    force[axis] = 15.0
    q, v, far = settle(arm, chosen, Q, Q, force, 'tool0')
    moved = arm.frame('tool0').pose(q)[:3, 3] - arm.frame('tool0').pose(Q)[:3, 3]
    expected = force / STIFFNESS[3:]
    assert np.abs(v).max() < 2e-3
    assert_allclose(moved, expected, atol=0.02 * expected[axis])
    assert far < 1.5 * expected[axis]  # damped


def test_at_singular_configurations_the_torque_is_bounded(arm, rng):
    task = TaskImpedance.of(STIFFNESS, 0.0, 1.0)
    chosen = law(arm, task)
    for q in (np.zeros(6), [0, -np.pi / 2, 0, 0, 0, 0], [0, -1.0, 0.0, 0.3, 0.0, 0]):
        q = np.array(q)
        for _ in range(20):
            near = q + 1e-7 * rng.normal(size=6)
            torque = chosen(near, rng.normal(size=6), near + 0.1 * rng.normal(size=6))
            assert np.abs(torque).max() < 1e3


def test_no_mode_is_faster_than_the_bandwidth(arm):
    """So a loop of 200 Hz, one period late, is stable for any springs."""
    stiff = TaskImpedance.of([200.0] * 3 + [5000.0] * 3, 0.0, 1.0, bandwidth=50.0)
    chosen = law(arm, stiff, feedforward='inverse_dynamics')
    q, v, tau, late, frame = Q + 0.01, np.zeros(6), None, None, arm.frame('tool0')
    for k in range(3000):
        if k % 5 == 0:
            late, tau = tau, chosen(q, v, Q, 0 * v, 0 * v)
        v = v + 1e-3 * arm.forward_dynamics(q, v, tau if late is None else late)
        q = q + 1e-3 * v
    assert np.abs(frame.pose(q) - frame.pose(Q)).max() < 1e-3 and np.abs(v).max() < 1e-2


def test_near_a_singularity_the_arm_stays_stable(arm):
    task = TaskImpedance.of(STIFFNESS, 0.0, 1.0)
    chosen = law(arm, task, feedforward='inverse_dynamics')
    q = np.array([0.0, -1.0, 0.02, 0.3, 0.01, 0.0])
    end, v, _ = settle(arm, chosen, q + 0.05, q, np.zeros(3), 'tool0', time=4.0)
    e = arm.frame('tool0').pose(end)[:3, 3] - arm.frame('tool0').pose(q)[:3, 3]
    assert np.abs(e).max() < 2e-3 and np.abs(v).max() < 1e-2


def test_the_spring_takes_no_more_than_its_share_of_the_effort_limits(arm):
    task = TaskImpedance.of(1e6)
    limits = np.array([150.0, 150, 100, 28, 28, 28])
    chosen = law(arm, task, effort_limits=limits, kp=0.0, kd=0.0)
    free = law(arm, task, kp=0.0, kd=0.0)(Q, 0 * Q, Q + 0.1)
    torque = chosen(Q, 0 * Q, Q + 0.1)
    assert (np.abs(torque) <= 0.5 * limits * (1 + 1e-12)).all()
    assert_allclose(torque / np.linalg.norm(torque), free / np.linalg.norm(free), rtol=1e-9)


SEVEN = """
<robot name="seven"><link name="l0"/>
{links}
</robot>
"""


def redundant():
    """Return an arm of seven joints in a row, their axes in turn."""
    axes = ['0 0 1', '0 1 0', '0 0 1', '0 1 0', '0 0 1', '0 1 0', '1 0 0']
    links = ''.join(
        f'<link name="l{k + 1}"><inertial><origin xyz="0.05 0 0.1"/><mass value="{3 - 0.3 * k}"/>'
        '<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        f'<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/>'
        f'<origin xyz="0 0 0.2"/><axis xyz="{axis}"/>'
        '<limit lower="-3" upper="3" effort="100" velocity="5"/></joint>'
        for k, axis in enumerate(axes)
    )
    return Robot.from_urdf(SEVEN.format(links=links))


def test_joints_move_in_the_null_space_without_moving_the_frame():
    robot = redundant()
    task = TaskImpedance.of(STIFFNESS, 0.0, 1.0)
    chosen = TorqueLaw(
        robot,
        settings(robot, task, feedforward='inverse_dynamics', kp=20.0, kd=9.0),
        task_frame='l7',
    )
    q = np.array([0.2, 0.6, -0.3, 1.1, 0.4, 0.7, 0.1])
    J = robot.frame('l7', 'aligned').jacobian(q)
    loose = np.linalg.svd(J)[2][-1]  # velocities that the frame does not feel
    rest = np.zeros(7)
    v = 0.5 * loose
    drag = chosen(q, v) - chosen(q, rest) - (robot.bias_force(q, v) - robot.gravity_torque(q))
    a = np.linalg.solve(robot.mass_matrix(q), drag)
    assert np.abs(J @ a).max() < 0.01 * np.abs(a).max()
    H = robot.mass_matrix(q)
    assert loose @ drag == pytest.approx(-9.0 * 0.5 * (loose @ H @ loose), rel=0.01)


@pytest.mark.parametrize(
    'call, message',
    [
        (lambda arm: law(arm, None), 'needs task'),
        (lambda arm: law(arm, TaskImpedance.of(1.0), frame=None), 'task_frame'),
        (lambda arm: law(arm, TaskImpedance.of(1.0), frame='moon'), 'moon'),
        (lambda arm: law(arm, TaskImpedance.of(1.0), ki=1.0), 'integral'),
        (lambda arm: TaskImpedance.of([1.0, 2.0]), 'stiffness'),
        (lambda arm: TaskImpedance.of(-1.0), 'stiffness'),
        (lambda arm: TaskImpedance.of(1.0, np.nan), 'damping'),
        (lambda arm: TaskImpedance.of(1.0, 0.0, -1.0), 'damping_ratio'),
        (lambda arm: TaskImpedance.of(1.0, bandwidth=0.0), 'bandwidth'),
    ],
)
def test_missing_or_invalid_settings_are_named(arm, call, message):
    with pytest.raises(ValueError, match=message):
        call(arm)


def test_other_feedback_of_a_law_with_a_frame_is_the_same_as_without(arm, rng):
    state = rng.normal(size=(5, 6))
    for feedback in ('pd', 'computed_torque', 'damping', 'none'):
        own = LawSettings.for_robot(arm, feedback=feedback)
        assert_allclose(
            TorqueLaw(arm, own, task_frame='tool0')(*state),
            TorqueLaw(arm, own)(*state),
            rtol=1e-13,
        )
