# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Coefficients of the equations of motion with loops against textbooks; active loop joints."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.all_joints import example_id
from support.loop_joints import ALL_PAIRS, CylindricalPair, PAIRS
from support.loop_mechanisms import closed_robot, dense, with_random_loops
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.loop_constraints import loop_constraints
from rbd_ros.algorithms.closed_loops.loop_equations import active_force_subspace, loop_equations
from rbd_ros.model import Body, Frame, Link, LoopJoint, Model
from rbd_ros.model.joints import Floating, Planar, Prismatic, Revolute, Spherical
from rbd_ros.spatial import PluckerTransform

ACTIVE = (Revolute((0.48, -0.6, 0.64)), Prismatic((0.0, 0.0, 1.0)), Spherical(), PAIRS[0])
PAIRS_OF_BODIES = ((0, 3), (2, 5), (5, 1), (4, 6))


def book_frame(tree, frame, q):
    """Return the matrix X from base to frame coordinates."""
    R, p = np.eye(3), np.zeros(3)
    if frame.body:
        R, p, _ = tree.book.kinematics(q)[tree.model.body(frame.body).name]
    zero = np.zeros((3, 3))
    skew = np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
    return dense(frame.placement) @ np.block([[R.T, zero], [-R.T @ skew, R.T]])


def book_columns(tree, frame, q):
    if not frame.body:
        return np.zeros((6, tree.book.layout.nv))
    return tree.book.jacobian(q, tree.model.body(frame.body).name, 'base')


@pytest.mark.seed('CL09', kind='full')
@every_tree
def test_active_loop_joints_and_external_forces_act_as_wrenches_on_both_sides(name):
    """C' = C - sum J_L^T f_a with link Jacobians of a textbook; H and constraints beside it."""
    tree = named_tree(name)
    rng = np.random.default_rng(3)
    model = with_random_loops(tree.model, ACTIVE, rng, PAIRS_OF_BODIES)
    active = rng.normal(scale=5.0, size=sum(joint.nv for joint in ACTIVE))
    for q, v, _ in tree.states:
        H, C, *others = run(
            loop_equations,
            model,
            q=q,
            v=v,
            loop_forces=active,
            external_forces=tree.forces_on_bodies,
        )
        expected = tree.book.inverse_dynamics(q, v, 0.0 * v, tree.forces)
        at = 0
        for loop in model.loops:
            S = np.array([s.to_array() for s in loop.joint.motion_subspace(loop.joint.neutral())
                          .columns], dtype=float).T  # fmt: skip
            f = np.linalg.pinv(S).T @ active[at : at + loop.joint.nv]
            at += loop.joint.nv
            J = book_columns(tree, loop.successor, q) - book_columns(tree, loop.predecessor, q)
            expected = expected - J.T @ (book_frame(tree, loop.successor, q).T @ f)
        check("C'", name, C, expected)
        check('H', name, H, tree.book.mass_matrix(q))
        K, k, delta, velocity = others
        for x, y in zip((delta, velocity, K, k), run(loop_constraints, model, q=q, v=v)):
            assert np.array_equal(x, y)


@every_tree
def test_compiled_equations_are_those_on_floats(name):
    tree = named_tree(name)
    rng = np.random.default_rng(5)
    model = with_random_loops(tree.model, ACTIVE, rng, PAIRS_OF_BODIES)
    active = rng.normal(size=sum(joint.nv for joint in ACTIVE))
    loops = Robot(model).loops
    for q, v, _ in tree.states:
        ours = loops.equations_of_motion(q, v, active, tree.forces)
        expected = run(
            loop_equations,
            model,
            q=q,
            v=v,
            loop_forces=active,
            external_forces=tree.forces_on_bodies,
        )
        for x, y in zip(ours, expected):
            assert_allclose(x, y, atol=1e-12 * (1.0 + np.abs(y).max()))


@pytest.mark.parametrize('joint', ALL_PAIRS, ids=example_id)
def test_active_forces_do_unit_work_along_the_motion_subspace(joint):
    """S^T T^a = 1 (book eq 3.36)."""
    S = joint.motion_subspace(joint.neutral())
    products = [S.T @ Ta for Ta in active_force_subspace(joint)]
    assert_allclose(np.array(products).reshape(joint.nv, joint.nv), np.eye(joint.nv), atol=1e-14)


@pytest.mark.seed('CL09')
@pytest.mark.parametrize(
    'joint',
    [
        Revolute((0.0, 0.0, 1.0)),
        Prismatic((0.48, -0.6, 0.64)),
        CylindricalPair((0.48, -0.6, 0.64)),
        Planar.about((0.0, 0.0, 1.0)),
    ],
    ids=['revolute', 'prismatic', 'cylindrical', 'planar'],
)
@pytest.mark.parametrize('gears', [False, True], ids=['free', 'gears'])
def test_springs_and_dampers_of_a_loop_joint_exchange_the_energy_that_they_store(joint, gears):
    """Power of spring and damper on the tree: their force times the rate of the loop joint."""
    _, robot, q, v, tau = closed_robot(41, (joint,), ((0, 8),), gears, branching=0.0)
    stiffness, damping = 30.0, 4.0
    position, rate = robot.loops.motion(q, v)
    force = -stiffness * position - damping * rate
    a = robot.loops.forward_dynamics(q, v, tau, loop_forces=force).a

    # Rate of the kinetic and potential energy of the tree by differences
    def energy(t):
        # q(t) and v(t) to second order
        there = robot.integrate(q, t * v + 0.5 * t * t * a)
        return robot.energy(there, v + t * a)

    h = 1e-4
    ahead, behind = energy(h), energy(-h)
    power = (ahead.total - behind.total) / (2.0 * h)
    assert power == pytest.approx(tau @ v + force @ rate, rel=1e-5, abs=1e-4)
    free = robot.loops.forward_dynamics(q, v, tau).a
    assert np.abs(free - a).max() > 1e-2  # the forces matter


# -- assembly of subsystems (book 3.2)


def arm_links(prefix, parent, x, rng):
    text = ''
    for k in range(3):
        name, axis = f'{prefix}{k}', ' '.join(map(repr, unit_vector(rng).tolist()))
        xyz = f'{x} 0.2 0.1' if k == 0 else '0.3 0.1 -0.2'
        text += (
            f'<link name="{name}"><inertial><origin xyz="0.1 0.05 0.02"/><mass value="{k + 1}"/>'
            '<inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial>'
            f'</link><joint name="{name}_joint" type="continuous"><parent link="{parent}"/>'
            f'<child link="{name}"/><origin xyz="{xyz}" rpy="0.3 -0.2 0.5"/><axis xyz="{axis}"/>'
            '</joint>'
        )
        parent = name
    return text


def unit_vector(rng):
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


def arms(*prefixes):
    text = ''.join(
        arm_links(prefix, 'base', 1.5 * k, np.random.default_rng(ord(prefix)))
        for k, prefix in enumerate('ab')
        if prefix in prefixes
    )
    return Robot.from_urdf(f'<robot name="arms"><link name="base"/>{text}</robot>')


@pytest.mark.seed('CT01', kind='full')
def test_equations_of_two_arms_are_those_of_each_stacked():
    """H = diag(H1, H2), C = [C1; C2]; a loop joint between them adds constraints only."""
    one, other, both = arms('a'), arms('b'), arms('a', 'b')
    rng = np.random.default_rng(2)
    q, v, tau = rng.normal(size=(3, 6))
    H = np.zeros((6, 6))
    H[:3, :3], H[3:, 3:] = one.mass_matrix(q[:3]), other.mass_matrix(q[3:])
    C = np.concatenate([one.bias_force(q[:3], v[:3]), other.bias_force(q[3:], v[3:])])
    ends = Frame(3, PluckerTransform.identity()), Frame(6, PluckerTransform.identity())
    joined = Robot(both.model.with_loops([LoopJoint('handle', *ends, Spherical())]))
    terms = joined.loops.equations_of_motion(q, v, np.zeros(3))
    assert_allclose(terms.H, H, atol=1e-13)
    assert_allclose(terms.C, C, atol=1e-12)
    assert np.array_equal(terms.H[:3, 3:], np.zeros((3, 3)))
    K, k = terms.K, terms.k
    system = np.block([[H, K.T], [K, np.zeros((3, 3))]])
    stacked = np.linalg.solve(system, np.concatenate([tau - C, k]))
    found = joined.loops.forward_dynamics(q, v, tau)
    assert_allclose(found.a, stacked[:6], rtol=1e-9, atol=1e-10)
    assert_allclose(found.multipliers, -stacked[6:], rtol=1e-9, atol=1e-9)


@pytest.mark.seed('CT01')
@pytest.mark.parametrize('cut', [(1, 2, 3), (2,), (1, 3)], ids=['all', 'one', 'two'])
def test_bodies_assembled_one_by_one_move_as_their_spanning_tree(cut):
    """Some joints of an arm are loop joints between free bodies: the same accelerations.

    All joints cut: the equations of single bodies, collected at once. Others: subsystems mixed.
    """
    arm = arms('a')
    rng = np.random.default_rng(4)
    q, v = rng.normal(size=(2, 3))
    forces = {'a2': rng.normal(size=6), 'a0': rng.normal(size=6)}
    expected = arm.forward_dynamics(q, v, np.zeros(3), forces)

    bodies, loops = [], []
    for i, body in arm.model.outward():
        if i in cut:
            predecessor = Frame(body.parent, body.tree_transform)
            successor = Frame(i, PluckerTransform.identity())
            loops.append(LoopJoint(f'cut{i}', predecessor, successor, body.joint))
            identity = PluckerTransform.identity()
            bodies.append(Body(body.name, 0, f'free{i}', Floating(), identity, body.inertia))
        else:
            bodies.append(body)
    links = [Link(b.name, i, PluckerTransform.identity(), b.inertia)
             for i, b in arm.model.outward()]  # fmt: skip
    model = Model.create('cut', bodies, links)
    robot = Robot(model.with_loops(loops))
    position, velocity, acceleration = state_of_bodies(arm, robot, q, v, expected)
    residual = robot.loops.closure(position).residual
    assert_allclose(residual, 0.0, atol=1e-13)
    for method in ('kkt', 'forces', 'null_space', 'articulated_body'):
        found = robot.loops.forward_dynamics(
            position, velocity, np.zeros(robot.nv), method, external_forces=forces
        )
        assert found.rank == 5 * len(cut)
        assert_allclose(found.a, acceleration, rtol=1e-8, atol=1e-8)


def state_of_bodies(arm, robot, q, v, a):
    """Return state of a model whose bodies are free or on their joints, from that of the arm."""
    position, velocity, acceleration = [], [], []
    for i, body in robot.model.outward():
        if body.joint.nq == 1:
            position += [q[i - 1]]
            velocity += [v[i - 1]]
            acceleration += [a[i - 1]]
            continue
        frame = arm.frame(body.name)
        X = PluckerTransform.from_pose(frame.pose(q).tolist())
        position += [*X.quaternion(), *X.r]
        velocity += list(frame.jacobian(q) @ v)
        # spatial acceleration of the body in its own coordinates: J a + Jdot v
        acceleration += list(frame.jacobian(q) @ a + frame.jacobian_derivative(q, v) @ v)
    return np.array(position), np.array(velocity), np.array(acceleration)
