# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Identities between the algorithms, for any robot (checklist of spatial_v2's unit tests)."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.errors import record, worst_relative_error

# rounding of some hundred operations on numbers of size 1 to 1000; measured 1e-13 to 1e-15
TOLERANCE = 1e-12


def check(what, ours, theirs, tolerance=TOLERANCE):
    error = worst_relative_error(ours, theirs)
    record('identity', what, '', error)
    assert error < tolerance, f'{what}: relative error {error:.1e}'


def solve_tolerance(H):
    """Return the rounding of H moves the solution of H a = b by cond(H) eps."""
    return max(TOLERANCE, 4 * np.finfo(float).eps * max(map(np.linalg.cond, H)))


def times(M, x):
    return (M @ x[..., None])[..., 0]


@pytest.mark.seed('SV22', kind='full')
@pytest.mark.seed('AB08', 'GR01', 'JM14')
def test_forward_dynamics_inverts_inverse_dynamics(subject):
    robot, q, v, a = subject.plain, subject.q, subject.v, subject.a
    tolerance = solve_tolerance(robot.mass_matrix(q))
    check(
        'FD(ID(a)) = a',
        robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)),
        a,
        tolerance,
    )
    forces = {link: np.full((len(q), 6), 3.0) for link in subject.links}
    tau = robot.inverse_dynamics(q, v, a, external_forces=forces)
    check(
        'FD(ID(a, f), f) = a',
        robot.forward_dynamics(q, v, tau, external_forces=forces),
        a,
        tolerance,
    )
    tau = 5 * subject.a
    back = robot.inverse_dynamics(q, v, robot.forward_dynamics(q, v, tau))
    # the torque error is H times the error of a: bounded by cond as well
    check('ID(FD(tau)) = tau', back, tau, tolerance)


@pytest.mark.seed('FM01', 'FM03', 'ID03', 'ID10')
def test_equation_of_motion_is_its_parts(subject):
    robot, q, v, a = subject.plain, subject.q, subject.v, subject.a
    tau = times(robot.mass_matrix(q), a) + robot.bias_force(q, v)
    check('H a + C = ID', tau, robot.inverse_dynamics(q, v, a))


@pytest.mark.seed('FM01', kind='full')
@pytest.mark.seed('AB08')
def test_articulated_body_algorithm_solves_the_equation_of_motion(subject):
    robot, q, v, tau = subject.plain, subject.q, subject.v, 5 * subject.a
    H = robot.mass_matrix(q)
    dense = np.linalg.solve(H, (tau - robot.bias_force(q, v))[..., None])[..., 0]
    check('FD = H^-1 (tau - C)', robot.forward_dynamics(q, v, tau), dense, solve_tolerance(H))


@pytest.mark.seed('FM06', 'FO03', kind='full')
@pytest.mark.seed('FM02', 'ID10')
def test_columns_of_the_mass_matrix_are_torques_of_unit_accelerations(subject):
    robot, q, zero = subject.plain, subject.q, np.zeros_like(subject.v)
    H, gravity = robot.mass_matrix(q), robot.inverse_dynamics(q, zero, zero)
    for k, unit in enumerate(np.eye(subject.layout.nv)):
        check(
            'H e_k = ID(e_k) - ID(0)',
            robot.inverse_dynamics(q, zero, zero + unit) - gravity,
            H[..., k],
        )


@pytest.mark.seed('FM03', 'CT05')
def test_mass_matrix_is_symmetric_and_positive_definite(subject):
    H = subject.plain.mass_matrix(subject.q)
    assert np.array_equal(H, np.swapaxes(H, 1, 2))  # not just nearly
    assert np.all(np.linalg.eigvalsh(H) > 0)


@pytest.mark.seed('FM07')
def test_mass_matrix_has_exact_zeros_between_unrelated_branches(subject):
    """H_ij is zero unless one joint carries the other (mimic joints tie branches together)."""
    places = subject.layout
    parent = {places.child_link[joint]: joint for joint in places.child_link}

    def support(link):
        joints = set()
        while link in parent:
            joints.add(parent[link])
            link = places.parent_link[parent[link]]
        return joints

    # independent joint: all joints, mimic included, that it turns or that sit on the way to one it
    # turns
    carried = {}
    for joint in places.joints:
        own = [
            joint.name,
            *(name for name, mimic in places.mimics.items() if mimic[0] == joint.name),
        ]
        carried[joint.name] = own
    supports = {
        name: support(places.child_link[name])
        for name in places.types
        if name in places.child_link
    }
    H = subject.plain.mass_matrix(subject.q)
    for one in places.joints:
        for other in places.joints:
            related = any(
                x == 'floating_base'
                or y == 'floating_base'
                or x in supports[y]
                or y in supports[x]
                for x in carried[one.name]
                for y in carried[other.name]
            )
            if not related:
                assert not np.any(H[:, one.v, other.v]), f'{one.name}, {other.name}'


@pytest.mark.seed('BL02', 'BL04')
def test_rate_of_the_mass_matrix_minus_twice_coriolis_is_skew(subject):
    robot, q, v = subject.plain, subject.q, subject.v
    C = robot.coriolis_matrix(q, v)
    rate = robot.rate('mass_matrix', q, v)
    check('dH/dt = C + C^T', C + np.swapaxes(C, 1, 2), rate)


@pytest.mark.seed('BL02', 'ID06')
def test_coriolis_matrix_times_velocity_is_bias_without_gravity(subject):
    robot, q, v = subject.plain, subject.q, subject.v
    check(
        'C v = bias - gravity',
        times(robot.coriolis_matrix(q, v), v),
        robot.bias_force(q, v) - robot.gravity_torque(q),
    )


@pytest.mark.seed('ID06', kind='full')
def test_coriolis_force_is_quadratic_in_velocity(subject):
    robot, q, v = subject.plain, subject.q, subject.v
    coriolis = robot.bias_force(q, v) - robot.gravity_torque(q)
    check(
        'C(q, 3 v) = 9 C(q, v)', robot.bias_force(q, 3 * v) - robot.gravity_torque(q), 9 * coriolis
    )
    check('C(q, -v) = C(q, v)', robot.bias_force(q, -v) - robot.gravity_torque(q), coriolis)
    check('C(q, v) is linear', robot.coriolis_matrix(q, 3 * v), 3 * robot.coriolis_matrix(q, v))


@pytest.mark.seed('ID05', 'BL06')
def test_gravity_torque_is_inverse_dynamics_at_rest_and_bias_at_rest(subject):
    robot, q, zero = subject.plain, subject.q, np.zeros_like(subject.v)
    gravity = robot.gravity_torque(q)
    check('g = ID(q, 0, 0)', robot.inverse_dynamics(q, zero, zero), gravity)
    check('g = C(q, 0)', robot.bias_force(q, zero), gravity)


@pytest.mark.seed('ID05', kind='full')
def test_gravity_torque_is_the_gradient_of_the_potential_energy(subject):
    robot, q, gravity = subject.plain, subject.q, subject.plain.gravity_torque(subject.q)
    for k, unit in enumerate(np.eye(subject.layout.nv)):
        slope = robot.rate(
            'energy', q, np.zeros_like(subject.v) + unit, (subject.v, 0 * subject.v)
        )[:, 1:]
        check('g_k = dV/dq_k', slope, gravity[:, k : k + 1])


@pytest.mark.seed('BL06', 'BL07')
def test_gravity_torque_is_the_weight_at_the_center_of_mass(subject):
    robot, q = subject.plain, subject.q
    weight = total_mass(subject) * np.array([0.0, 0.0, -9.81])
    check('g = -m J_com^T g', -weight @ robot.center_of_mass_jacobian(q), robot.gravity_torque(q))


def total_mass(subject):
    """Return the mass of all links that move."""
    from support.reference import Reference

    reference = Reference(subject.text, subject.floating_base)
    return sum(
        reference.inertials[link][0]
        for link in moving_links(subject)
        if link in reference.inertials
    )


def moving_links(subject):
    """Return the links with a moving joint on their way to the base."""
    places = subject.layout
    parent = {places.child_link[joint]: joint for joint in places.child_link}
    moving = []
    for link in places.links:
        at, moves = link, subject.floating_base
        while at in parent:
            moves |= parent[at] in places.types
            at = places.parent_link[parent[at]]
        if moves:
            moving.append(link)
    return moving


@pytest.mark.seed('SV22', 'CT05')
def test_kinetic_energy_is_half_the_momentum_times_velocity(subject):
    robot, q, v = subject.plain, subject.q, subject.v
    energy = robot.energy(q, v).kinetic
    check(
        'T = v^T H v / 2',
        energy[:, None],
        0.5 * np.sum(v * times(robot.mass_matrix(q), v), axis=1)[:, None],
    )


@pytest.mark.seed('SV22', kind='full')
@pytest.mark.seed('SV09', 'CT05')
def test_power_of_the_joint_forces_is_the_rate_of_energy(subject):
    """Tau . v + sum f . v_link = d/dt (T + V), at any acceleration."""
    robot, q, v, a = subject.plain, subject.q, subject.v, subject.a
    rates = robot.rate('energy', q, v, (v, a)).sum(axis=1)
    check(
        'tau . v = dE/dt',
        np.sum(v * robot.inverse_dynamics(q, v, a), axis=1)[:, None],
        rates[:, None],
    )
    rng = np.random.default_rng(0)
    forces = {link: rng.normal(size=(len(q), 6)) for link in subject.links}
    tau = robot.inverse_dynamics(q, v, a, external_forces=forces)
    power = np.sum(v * tau, axis=1)
    for link, force in forces.items():
        power += np.sum(force * times(robot.jacobian(q, link, reference='base'), v), axis=1)
    check('tau . v + f . v_link = dE/dt', power[:, None], rates[:, None])


@pytest.mark.seed('BL05', kind='full')
@pytest.mark.seed('ID04', 'MD06')
def test_external_force_acts_through_the_jacobian_of_its_link(subject):
    robot, q, v, a = subject.plain, subject.q, subject.v, subject.a
    rng = np.random.default_rng(0)
    free = robot.inverse_dynamics(q, v, a)
    for link in subject.links:
        force = rng.normal(size=(len(q), 6))
        through = times(np.swapaxes(robot.jacobian(q, link, reference='base'), 1, 2), force)
        check(
            'ID(f) = ID - J^T f',
            robot.inverse_dynamics(q, v, a, external_forces={link: force}),
            free - through,
        )


@pytest.mark.seed('AB01', 'AB04', 'CN15')
def test_response_to_a_force_is_the_inverse_operational_inertia(subject):
    """J (FD(f) - FD(0)) = J H^-1 J^T f.

    The inverse articulated-body inertia of the link as a handle.
    """
    robot, q, v = subject.plain, subject.q, subject.v
    link, force = subject.links[-1], np.random.default_rng(0).normal(size=(len(q), 6))
    J, H, zero = robot.jacobian(q, link, reference='base'), robot.mass_matrix(q), np.zeros_like(v)
    ours = times(
        J,
        robot.forward_dynamics(q, v, zero, external_forces={link: force})
        - robot.forward_dynamics(q, v, zero),
    )
    Phi = J @ np.linalg.solve(H, np.swapaxes(J, 1, 2))
    check('J dFD = J H^-1 J^T f', ours, times(Phi, force), 10 * solve_tolerance(H))


@pytest.mark.seed('AB08')
def test_forward_dynamics_is_affine_in_the_torque(subject):
    robot, q, v, a = subject.plain, subject.q, subject.v, subject.a
    H = robot.mass_matrix(q)
    difference = robot.forward_dynamics(q, v, 7 * a) - robot.forward_dynamics(q, v, 2 * a)
    check('H (FD(t1) - FD(t2)) = t1 - t2', times(H, difference), 5 * a, solve_tolerance(H))


@pytest.mark.seed('ID04')
def test_sum_of_forces_on_one_link_is_one_force(subject):
    """Fixed links share a body: forces on them add up, and a force and its opposite cancel."""
    robot, q, v, a = subject.plain, subject.q, subject.v, subject.a
    force = np.random.default_rng(0).normal(size=(len(q), 6))
    free = robot.inverse_dynamics(q, v, a)
    first, last = subject.links[0], subject.links[-1]
    both = robot.inverse_dynamics(q, v, a, external_forces={first: force, last: -2 * force})
    apart = (
        robot.inverse_dynamics(q, v, a, external_forces={first: force})
        + robot.inverse_dynamics(q, v, a, external_forces={last: -2 * force})
        - free
    )
    check('ID is affine in forces', both, apart)


def test_compiled_robot_obeys_the_same_identity(subject):
    """The public methods, compiled: the loop through ID and FD closes."""
    robot, q, v, a = subject.robot, subject.q, subject.v, subject.a
    back = robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a))
    assert worst_relative_error(back, a) < solve_tolerance(robot.mass_matrix(q))
    assert_allclose(
        robot.forward_dynamics(q[0], v[0], robot.inverse_dynamics(q[0], v[0], a[0])),
        back[0],
        rtol=1e-9,
    )
