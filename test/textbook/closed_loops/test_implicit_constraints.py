# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""User-defined constraints: a string around three bodies, and points of any links."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.textbook_trees import check, every_tree, GRAVITY, named_tree

from rbd_ros import Robot
from rbd_ros.spatial.scalar import cos
from rbd_ros.textbook.closed_loops.implicit_constraints import (
    constraint_motion,
    constraint_values,
    distance,
)
from rbd_ros.textbook.complementarity import solve_lcp, unilateral_state, UnilateralState

RADIUS, PERIMETER = 0.1, 4.0
MASSES = (1.0, 2.0, 3.5)
DISCS = ('disc1', 'disc2', 'disc3')


def string(at):
    """Return length of a string round three discs that is left, l_1 + l_2 + l_3 + 2 pi r - p."""
    a, b, c = map(at.point, DISCS)
    return [distance(a, b) + distance(b, c) + distance(c, a) + 2 * np.pi * RADIUS - PERIMETER]


def room(at):
    return [-x for x in string(at)]


def three_discs(gravity=(0.0, 0.0, 0.0)):
    parts = ['<link name="base"/>']
    for disc, mass in zip(DISCS, MASSES):
        turn = 0.5 * mass * RADIUS**2
        parts.append(
            f'<link name="{disc}"><inertial><mass value="{mass}"/><inertia ixx="1" ixy="0" '
            f'ixz="0" iyy="1" iyz="0" izz="{turn}"/></inertial></link>'
            f'<joint name="of_{disc}" type="planar"><parent link="base"/><child link="{disc}"/>'
            '<axis xyz="0 0 1"/></joint>'
        )
    return Robot.from_urdf(f'<robot name="r">{"".join(parts)}</robot>', gravity=gravity)


def taut(rng):
    """Return the centers of the discs, (3, 2), round which the string is taut."""
    corners = rng.normal(size=(3, 2))
    sides = corners - np.roll(corners, 1, axis=0)
    corners *= (PERIMETER - 2 * np.pi * RADIUS) / np.linalg.norm(sides, axis=1).sum()
    return corners


def centers(robot, q):
    poses = robot.forward_kinematics(q)
    return np.array([poses[disc][:2, 3] for disc in DISCS])


def pulls(corners):
    """Return the sum of the unit vectors to the two others, from each center.

    Gradient of - the length.
    """
    found = []
    for i in range(3):
        others = [corners[k] - corners[i] for k in range(3) if k != i]
        found.append(sum(x / np.linalg.norm(x) for x in others))
    return np.array(found)


def state_of(robot, corners, rng):
    """Return the configuration with the centers there, by Newton's method, at any angles."""
    q = rng.normal(size=9)
    for _ in range(3):
        J = np.vstack([robot.frame(disc, 'aligned').jacobian(q)[3:5] for disc in DISCS])
        q = robot.integrate(q, np.linalg.pinv(J) @ (corners - centers(robot, q)).ravel())
    assert_allclose(centers(robot, q), corners, atol=1e-12)
    return q


@pytest.mark.seed('CT09', kind='full')
def test_a_string_round_three_bodies_pulls_each_towards_the_others(rng):
    """One row over all three bodies: no two of them alone. lambda is the tension, with a sign."""
    robot = three_discs()
    functions = robot.loops.implicit(string)
    corners = taut(rng)
    q, v = state_of(robot, corners, rng), rng.normal(size=9)
    phi, K = functions.gradient(q)
    assert phi == pytest.approx([0.0], abs=1e-12) and K.shape == (1, 9)
    J = np.vstack([robot.frame(disc, 'aligned').jacobian(q)[3:5] for disc in DISCS])
    assert_allclose(K[0], -pulls(corners).ravel() @ J, atol=1e-12)
    assert all(np.abs(K[0, 3 * i : 3 * i + 3]).max() > 0.1 for i in range(3))
    h = 1e-6
    ahead, behind = (functions.gradient(robot.integrate(q, s * h * v)) for s in (1.0, -1.0))
    assert_allclose(K @ v, (ahead.phi - behind.phi) / (2 * h), rtol=1e-7)
    _, velocity, k = functions.motion(q, v)
    assert_allclose(velocity, K @ v, rtol=1e-12)
    assert_allclose(k, -(ahead.K - behind.K) @ v / (2 * h), rtol=1e-6)
    a, tension = functions.forward_dynamics(q, v, np.zeros(9))
    assert_allclose(K @ a, k, rtol=1e-11)
    # Newton for each disc: its mass times its acceleration is what the string pulls.
    for i, disc in enumerate(DISCS):
        acceleration = robot.frame(disc, 'aligned').acceleration(q, v, a)[3:5]
        assert_allclose(MASSES[i] * acceleration, -tension * pulls(corners)[i], atol=1e-10)


@pytest.mark.seed('CT09', kind='full')
def test_the_string_keeps_its_length_and_the_discs_their_energy(rng):
    """Runge-Kutta steps of the constrained motion; momentum is kept as well, without gravity."""
    robot = three_discs()
    functions = robot.loops.implicit(string)
    q = state_of(robot, taut(rng), rng)
    v = rng.normal(size=9)
    K = functions.gradient(q).K[0]
    v -= K * (K @ v) / (K @ K)

    def rate(q, v):
        return functions.forward_dynamics(q, v, np.zeros(9)).a

    energy, momentum = robot.energy(q, v).kinetic, robot.momentum(q, v)
    h = 2e-3
    for _ in range(200):
        k1 = rate(q, v)
        v2 = v + h / 2 * k1
        k2 = rate(robot.integrate(q, h / 2 * v), v2)
        v3 = v + h / 2 * k2
        k3 = rate(robot.integrate(q, h / 2 * v2), v3)
        v4 = v + h * k3
        k4 = rate(robot.integrate(q, h * v3), v4)
        q = robot.integrate(q, h / 6 * (v + 2 * v2 + 2 * v3 + v4))
        v = v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert functions.gradient(q).phi == pytest.approx([0.0], abs=1e-6)
    assert robot.energy(q, v).kinetic == pytest.approx(energy, rel=1e-6)
    assert_allclose(robot.momentum(q, v), momentum, atol=1e-6)


@pytest.mark.seed('CT09', 'CN05', kind='full')
@pytest.mark.parametrize('outward', [True, False])
def test_a_string_pulls_and_does_not_push(outward, rng):
    """As an inequality, p - l >= 0: drawn apart the discs are held, else it goes slack."""
    robot = three_discs()
    functions = robot.loops.implicit(room)
    corners = taut(rng)
    q = state_of(robot, corners, rng)
    J = np.vstack([robot.frame(disc, 'aligned').jacobian(q)[3:5] for disc in DISCS])
    push = (-1.0 if outward else 1.0) * pulls(corners)
    tau = J.T @ push.ravel()
    v = np.zeros(9)
    phi, velocity, _ = functions.motion(q, v)
    assert unilateral_state(phi[0], velocity[0]) is UnilateralState.TOUCHING
    M, d, T, _, response, free = functions.equations(q, v, tau)
    force, rate, *_ = solve_lcp(M, d)
    assert (force[0] == pytest.approx(1.0)) if outward else force[0] == 0.0
    assert (rate[0] == 0.0) if outward else rate[0] > 0.1
    a = free + response @ force
    h = 1e-4
    moved = functions.gradient(robot.integrate(q, 0.5 * h**2 * a)).phi
    assert moved[0] == pytest.approx(0.5 * h**2 * rate[0], abs=1e-13)
    assert_allclose(T[:, 0], functions.gradient(q).K[0])


def points_and_joint(names, joint):
    """Return distance of points of two links, height along the axis of one, a joint's cosine."""
    first, second = names

    def phi(at):
        a, b = at.point(first, (0.1, 0.2, 0.3)), at.point(second, (-0.3, 0.0, 0.4))
        axis = at.direction(first, (0.6, 0.0, 0.8))
        height = sum(e * (y - x) for e, x, y in zip(axis, a, b))
        return [distance(a, b), height, cos(at.joint(joint)[0]) if joint else 1.0 * a[2]]

    return phi


@pytest.mark.seed('CT09', kind='full')
@every_tree
def test_gradients_and_accelerations_are_those_of_textbooks(name):
    """Points of links of any tree, by Jacobians of points and complex steps."""
    tree = named_tree(name)
    book, model = tree.book, tree.model
    names = (model.bodies[1].name, model.bodies[-1].name)
    phi = points_and_joint(names, None)
    points = np.array([[0.1, 0.2, 0.3], [-0.3, 0.0, 0.4]])
    axis = np.array([0.6, 0.0, 0.8])

    def gradient(q):
        (Ra, pa, Ja), (Rb, pb, Jb) = (book.kinematics(q)[x] for x in names)
        (a, b) = Ra @ points[0] + pa, Rb @ points[1] + pb
        Aa, Ab = (book.point_jacobian(q, x, point) for x, point in zip(names, points))
        e, apart = Ra @ axis, b - a
        # d(e . (b - a)) = e . (db - da) + (w x e) . (b - a)
        turned = np.cross(e, apart) @ Ja[:3]
        return np.vstack(
            [apart @ (Ab - Aa) / np.sqrt(apart @ apart), e @ (Ab - Aa) + turned, Aa[2]]
        )

    functions = Robot(model).loops.implicit(phi) if name in COMPILED else None
    for q, v, _ in tree.states:
        K = gradient(q)
        values, velocity, k = constraint_motion(model, phi, q.tolist(), v.tolist())
        check('phi', name, constraint_values(model, phi, q.tolist()), values)
        check('K v', name, velocity, K @ v)
        check('k', name, k, -book.rate(gradient, q, v) @ v, 1e-12)
        if functions is not None:
            check('K', name, functions.gradient(q).K, K, 1e-12)
            for ours, theirs in zip(functions.motion(q, v), (values, velocity, k)):
                check('kernel', name, ours, theirs, 1e-12)


COMPILED = ('chain, gears', 'rolling floating base, gears', 'branches')


def test_joints_are_found_by_name_and_gears_do_not_count():
    tree = named_tree('chain, gears')
    model = tree.model
    joint = model.joint_names[2]
    phi = points_and_joint((model.bodies[0].name, model.bodies[-1].name), joint)
    functions = Robot(model).loops.implicit(phi)
    q, v, _ = tree.states[0]
    assert functions.count == 3
    assert functions.gradient(q).phi[2] == pytest.approx(np.cos(q[2]))
    assert functions.gradient(q).K[2] == pytest.approx(-np.sin(q[2]) * np.eye(model.nv)[2])
    assert functions.motion(q, v).k[2] == pytest.approx(np.cos(q[2]) * v[2] ** 2)
    many = functions.gradient(np.tile(q, (3, 1)))
    assert many.K.shape == (3, 3, model.nv)
    assert_allclose(many.K[2], functions.gradient(q).K, rtol=1e-12)
    follower = model.body(model.couplings[0].body).joint_name
    with pytest.raises(ValueError, match=f'unknown joint {follower!r};'):
        Robot(model).loops.implicit(lambda at: [at.joint(follower)[0]])


def test_bad_constraints_are_rejected():
    robot = three_discs(GRAVITY)
    with pytest.raises(ValueError, match="unknown link or joint 'disc'; did you mean"):
        robot.loops.implicit(lambda at: [at.point('disc')[0]])
    with pytest.raises(ValueError, match='at least one constraint'):
        robot.loops.implicit(lambda at: [])
    functions = robot.loops.implicit(string)
    with pytest.raises(ValueError, match='q must have shape'):
        functions.gradient(np.zeros(8))


def test_drift_is_taken_back_and_repeated_constraints_are_allowed(rng):
    robot = three_discs((0.0, -9.81, 0.0))
    twice = robot.loops.implicit(lambda at: [*string(at), *string(at)])
    once = robot.loops.implicit(string)
    q = state_of(robot, 1.1 * taut(rng), rng)
    v, tau = rng.normal(size=(2, 9))
    a, force = once.forward_dynamics(q, v, tau)
    b, forces = twice.forward_dynamics(q, v, tau)
    assert_allclose(b, a, rtol=1e-9, atol=1e-9)
    assert_allclose(forces, [force[0] / 2] * 2, rtol=1e-9)
    phi, velocity, k = once.motion(q, v)
    stabilized = once.forward_dynamics(q, v, tau, t_stab=0.2).a
    K = once.gradient(q).K
    assert_allclose(K @ stabilized, k - 10.0 * velocity - 25.0 * phi, rtol=1e-9)
    assert_allclose(K @ a, k, rtol=1e-9)


@pytest.mark.seed('CN05', kind='full')
def test_the_gradient_of_a_gap_is_the_contact_normal_in_joint_space(rng):
    """A corner of a link above a plane: t, zeta and zeta_dot of both (book eq 11.38 to 11.40)."""
    tree = named_tree('floating base, gears')
    robot = Robot(tree.model)
    link, corner = robot.body_names[-1], (0.3, -0.2, 0.1)
    normal = np.array([0.6, 0.0, 0.8])
    gap = robot.loops.implicit(
        lambda at: [sum(n * x for n, x in zip(normal.tolist(), at.point(link, corner)))]
    )
    contacts = robot.contacts.between([(None, link)])
    zero = np.zeros((1, 3, 3))
    for q, v, tau in tree.states:
        pose = robot.forward_kinematics(q)[link]
        C = pose[:3, :3] @ corner + pose[:3, 3]
        rates = contacts.surface_rates(q, v, [C], [normal], zero, zero)
        # The vertex moves along the normal as well, which is no matter on a plane.
        expected = contacts.equations(q, v, tau, [C], [normal], *rates)
        found = gap.equations(q, v, tau)
        for what, ours, theirs in zip(found._fields, found, expected):
            check(what, 'gap', ours, theirs, 1e-9)
