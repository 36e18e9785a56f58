# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics against its own derivatives: Jacobians, their rates, center of mass, momentum."""

import numpy as np
import pytest
from support.dense import skew
from support.errors import record, worst_relative_error

TOLERANCE = (
    1e-12  # derivatives come from complex arithmetic, free of truncation; measured below 1e-13
)
REFERENCES = ('body', 'base', 'aligned')


def check(what, ours, theirs, tolerance=TOLERANCE):
    error = worst_relative_error(ours, theirs)
    record('identity', what, '', error)
    assert error < tolerance, f'{what}: relative error {error:.1e}'


def times(M, x):
    return (M @ x[..., None])[..., 0]


def pose(subject, link):
    """Return the poses (N, 4, 4) of a link and their rates."""
    k = subject.robot.link_names.index(link)
    plain = subject.plain
    return (
        plain.run('forward_kinematics', subject.q)[:, k],
        plain.rate('forward_kinematics', subject.q, subject.v)[:, k],
    )


def unskew(M):
    return np.stack([M[..., 2, 1], M[..., 0, 2], M[..., 1, 0]], axis=-1)


def transposed(M):
    return np.swapaxes(M, -1, -2)


@pytest.mark.seed('MD08', 'SV10', 'JM06')
def test_poses_are_rigid(subject):
    for T in subject.plain.forward_kinematics(subject.q).values():
        R = T[:, :3, :3]
        check('R^T R = 1', transposed(R) @ R, np.broadcast_to(np.eye(3), R.shape))
        assert np.all(np.linalg.det(R) > 0)
        assert np.array_equal(T[:, 3], np.broadcast_to([0.0, 0.0, 0.0, 1.0], (len(T), 4)))


@pytest.mark.seed('MD06', kind='full')
@pytest.mark.seed('SV10', 'SV03')
@pytest.mark.parametrize('reference', REFERENCES)
def test_jacobian_gives_the_rate_of_the_pose(subject, reference):
    """Floating and planar joints included: their velocity is not the rate of their position."""
    for link in subject.layout.links:
        T, rate = pose(subject, link)
        R, p, omega = T[:, :3, :3], T[:, :3, 3], unskew(rate[:, :3, :3] @ transposed(T[:, :3, :3]))
        velocity = rate[:, :3, 3]
        if reference == 'body':
            omega, velocity = times(transposed(R), omega), times(transposed(R), velocity)
        elif reference == 'base':
            velocity = velocity - np.cross(omega, p)
        twist = times(subject.plain.jacobian(subject.q, link, reference=reference), subject.v)
        check(f'J v, {reference}', twist, np.hstack([omega, velocity]))


@pytest.mark.seed('SV10', 'SV11')
def test_references_are_transforms_of_each_other(subject):
    for link in subject.links:
        T, _ = pose(subject, link)
        body, base, aligned = (
            subject.plain.jacobian(subject.q, link, reference=x) for x in REFERENCES
        )
        R = T[:, :3, :3]
        check(
            'aligned = R body', aligned, np.concatenate([R @ body[:, :3], R @ body[:, 3:]], axis=1)
        )
        shifted = aligned[:, 3:] + np.array([skew(p) for p in T[:, :3, 3]]) @ aligned[:, :3]
        check('base = shifted aligned', base, np.concatenate([aligned[:, :3], shifted], axis=1))


@pytest.mark.seed('SV17', 'SV14')
@pytest.mark.parametrize('reference', REFERENCES)
def test_jacobian_derivative_is_the_rate_of_the_jacobian(subject, reference):
    for link in subject.links:
        rate = subject.plain.rate(
            'jacobian', subject.q, subject.v, frame=link, reference=reference
        )
        ours = subject.plain.jacobian_derivative(subject.q, subject.v, link, reference=reference)
        check(f'Jdot, {reference}', ours, rate)


@pytest.mark.seed('MD06', 'SV03', 'SV16')
def test_point_jacobian_gives_the_velocity_of_the_point(subject):
    q, v, point = subject.q, subject.v, np.array([0.3, -0.1, 0.7])
    points = np.broadcast_to(point, (len(q), 3))
    for link in subject.links:
        _, rate = pose(subject, link)
        J = subject.plain.point_jacobian(q, link, points)
        check('point J v', times(J, v), rate[:, :3, :3] @ point + rate[:, :3, 3])
        dJ = subject.plain.rate('point_jacobian', q, v, (points, 0 * points), frame=link)
        check('point Jdot', subject.plain.point_jacobian_derivative(q, v, link, points), dJ)


@pytest.mark.seed('SV17', kind='full')
@pytest.mark.seed('SV16', 'ID03')
def test_acceleration_of_a_link_is_j_a_plus_jdot_v(subject):
    """The rate of the link's velocity, both moving with v and accelerating with a."""
    q, v, a, h = subject.q, subject.v, subject.a, 1e-30
    for link in subject.links:
        moved = q + 1j * h * subject.layout.position_rates(q, v)
        twist = times(
            subject.plain.run('jacobian', moved, frame=link, reference='aligned'), v + 1j * h * a
        )
        ours = times(subject.plain.jacobian(q, link, reference='aligned'), a) + times(
            subject.plain.jacobian_derivative(q, v, link, reference='aligned'), v
        )
        check('J a + Jdot v', ours, twist.imag / h)


@pytest.mark.seed('BL07')
def test_center_of_mass_jacobian_gives_its_velocity(subject):
    q, v = subject.q, subject.v
    velocity = subject.plain.rate('center_of_mass', q, v)
    check('J_com v', times(subject.plain.center_of_mass_jacobian(q), v), velocity)


@pytest.mark.seed('SV18', 'FB07')
def test_momentum_changes_only_by_outside_forces():
    """Floating base without a force at the base.

    Dh/dt is the weight's moment and force plus external forces.
    """
    from support import layout, random_trees
    from support.plain import Plain
    from support.reference import Reference

    from rbd_ros import Robot

    for seed in range(4):
        text = random_trees.mixed_tree(seed)
        places = layout.read(text, floating_base=True)
        robot = Plain(Robot.from_urdf(text, floating_base=True), places)
        q, v, a = places.random_states(np.random.default_rng(seed), 5)
        tau = a.copy()
        tau[:, :6] = 0.0
        force = np.random.default_rng(9).normal(size=(5, 6))
        acceleration = robot.forward_dynamics(q, v, tau, external_forces={'link2': force})
        reference = Reference(text, floating_base=True)
        weight = sum(m for m, _, _ in reference.inertials.values()) * np.array([0, 0, -9.81])
        center = robot.center_of_mass(q)
        outside = np.hstack([np.cross(center, weight), np.broadcast_to(weight, (5, 3))]) + force
        tolerance = (
            1e-10  # accelerations carry cond(H) eps, 1e4 times 1e-16, times masses and lengths
        )
        check(
            'dh/dt = outside forces',
            robot.rate('momentum', q, v, (v, acceleration)),
            outside,
            tolerance,
        )


@pytest.mark.seed('FB07', 'SV18')
def test_linear_momentum_is_mass_times_velocity_of_the_center(subject):
    from test_dynamics_identities import total_mass

    q, v = subject.q, subject.v
    velocity = times(subject.plain.center_of_mass_jacobian(q), v)
    check('p = m v_com', subject.plain.momentum(q, v)[:, 3:], total_mass(subject) * velocity)
