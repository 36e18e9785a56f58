# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Jacobian and right-hand side of loop constraints against link Jacobians of textbooks."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.all_joints import example_id
from support.loop_joints import CLOSING, motion_matrix, PAIRS, textbook_T
from support.loop_mechanisms import dense, with_random_loops
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.loop_constraints import (
    bias_motion,
    loop_constraints,
    loop_path,
)
from rbd_ros.model import Frame
from rbd_ros.model.joints import RackAndPinion, SphereInCylinder
from rbd_ros.spatial import PluckerTransform

every_pair = pytest.mark.parametrize('joint', CLOSING, ids=example_id)

# base and a body, a body and one that it carries, the same the other way round, two branches
PAIRS_OF_BODIES = ((0, 3), (2, 5), (5, 1), (4, 6))


def book_jacobian(tree, loop, q):
    """Return the loop Jacobian J_s - J_p in base coordinates (book eq 8.18)."""
    zero = np.zeros((6, tree.book.layout.nv))
    one, other = (
        tree.book.jacobian(q, tree.model.body(body).name, 'base') if body else zero
        for body in (loop.successor.body, loop.predecessor.body)
    )
    return one - other


def book_placement(tree, frame, q):
    """Return the matrix of the transform from the base to a frame on a body."""
    R, p = np.eye(3), np.zeros(3)
    if frame.body:
        R, p, _ = tree.book.kinematics(q)[tree.model.body(frame.body).name]
    return dense(frame.placement) @ motion_matrix(R.T, p)


def book_constraints(tree, model, q):
    """Return K = T^T (J_s - J_p), T in base coordinates: eq 8.17. Positions may be complex."""
    rows = []
    for loop in model.loops:
        Xp, Xs = (book_placement(tree, f, q) for f in (loop.predecessor, loop.successor))
        X = Xs @ np.linalg.inv(Xp)
        E = X[:3, :3]
        r = -unskew(E.T @ X[3:, :3])
        rows.append((Xs.T @ textbook_T(loop.joint, E, r)).T @ book_jacobian(tree, loop, q))
    return np.vstack(rows)


def unskew(A):
    return np.array([A[2, 1], A[0, 2], A[1, 0]])


@every_tree
def test_bodies_whose_joints_do_not_accelerate_move_as_their_jacobians_say(name):
    """J v and Jdot v less gravity; only differences of the latter count in constraints."""
    tree = named_tree(name)
    model, gravity = tree.model, np.concatenate([np.zeros(3), tree.model.gravity])
    for q, v, _ in tree.states:
        motion = bias_motion(
            model, model.tree_position(q.tolist()), model.tree_velocity(v.tolist())
        )
        for i, body in model.outward():
            X0 = book_placement(tree, Frame(i, PluckerTransform.identity()), q)
            rate = tree.book.rate(lambda x, at=body.name: tree.book.jacobian(x, at, 'base'), q, v)
            J = tree.book.jacobian(q, body.name, 'base')
            check('v', name, motion.v[i].to_array(), X0 @ (J @ v))
            check('a', name, motion.a[i].to_array(), X0 @ (rate @ v - gravity), 1e-12)


@pytest.mark.seed('CL02', 'CL10', kind='full')
@pytest.mark.seed('JM11', kind='part')
@every_pair
@every_tree
def test_constraints_are_those_of_link_jacobians(name, joint):
    """K = T^T (J_s - J_p) of a textbook, k = -Kdot qd by complex steps; loops need not be closed.

    Where velocities are given, K v is T^T (v_s - v_p).
    """
    tree = named_tree(name)
    rng = np.random.default_rng(3)
    joints = [joint] * len(PAIRS_OF_BODIES)
    model = with_random_loops(tree.model, joints, rng, PAIRS_OF_BODIES)
    for q, v, _ in tree.states:
        _, velocity, K, k = run(loop_constraints, model, q=q, v=v)
        expected = book_constraints(tree, model, q)
        check('K', name, K, expected)
        check('K v', name, velocity, expected @ v)
        rate = tree.book.rate(lambda x: book_constraints(tree, model, x), q, v)
        check('k', name, k, -rate @ v, 1e-12)


@every_tree
def test_compiled_constraints_are_those_on_floats(name):
    tree = named_tree(name)
    rng = np.random.default_rng(4)
    model = with_random_loops(tree.model, CLOSING[-1::-3], rng, PAIRS_OF_BODIES)
    function = Robot(model).loops.constraints
    states = tree.states
    for q, v, _ in states:
        ours = function(q, v)
        for x, y in zip(ours, run(loop_constraints, model, q=q, v=v)):
            assert_allclose(x, y, atol=1e-12 * (1.0 + np.abs(y).max()))
    many = function(np.array([s.q for s in states]), np.array([s.v for s in states]))
    assert_allclose(many.k[-1], ours.k, rtol=1e-12, atol=1e-12)
    assert many.K.shape == (len(states), *ours.K.shape)


@pytest.mark.seed('CL02')
@every_robot
def test_right_hand_side_is_the_rate_of_the_jacobian_by_differences(name):
    robot = named_robot(name)
    bodies = len(robot.model.bodies)
    pairs = ((0, bodies), (bodies, 1), (bodies - 1, bodies))
    rng = np.random.default_rng(6)
    joints = [PAIRS[1], SphereInCylinder((0.48, -0.6, 0.64)), RackAndPinion(0.3)]
    loops = Robot(with_random_loops(robot.model, joints, rng, pairs)).loops
    q, v, _ = random_state(robot)
    h = 1e-5
    K1, K0 = (loops.closure(robot.integrate(q, s * h * v)).K for s in (1.0, -1.0))
    _, velocity, K, k = loops.constraints(q, v)
    assert_allclose(k, -(K1 - K0) @ v / (2.0 * h), atol=2e-7 * (1.0 + np.abs(k).max()))
    assert_allclose(velocity, K @ v, atol=1e-12)
    assert_allclose(K, loops.closure(q).K, atol=1e-13)


@pytest.mark.seed('CL02')
@every_tree
def test_only_joints_between_the_root_of_a_loop_and_its_ends_take_part(name):
    """Signs of the path are eps_s - eps_p for every joint (book eq 8.18); other columns are 0."""
    tree = named_tree(name)
    bodies = range(len(tree.model.bodies) + 1)
    for p in bodies:
        for s in bodies:
            support_p, support_s = tree.model.support(p), tree.model.support(s)
            expected = {j: float((j in support_s) - (j in support_p)) for j in bodies if j != 0}
            found = dict(loop_path(tree.model, p, s))
            assert found == {j: sign for j, sign in expected.items() if sign != 0.0}


@pytest.mark.seed('CL02')
def test_joints_below_the_root_have_columns_that_are_exactly_zero():
    tree = named_tree('branches')
    model = with_random_loops(tree.model, PAIRS[:1], np.random.default_rng(1), ((5, 1),))
    q, v, _ = tree.states[0]
    K = run(loop_constraints, model, q=q, v=v)[2]
    path = {j for j, _ in loop_path(model, 5, 1)}
    for j, body in model.outward():
        assert np.any(K[:, body.v]) == (j in path)


def test_gravity_does_not_change_the_constraints():
    """The base's acceleration against gravity is the same for both sides (book 8.6, footnote)."""
    tree = named_tree('floating base')
    model = with_random_loops(tree.model, PAIRS[:1], np.random.default_rng(1), ((0, 4),))
    q, v, _ = tree.states[0]
    k = run(loop_constraints, model, q=q, v=v)[3]
    heavy = run(loop_constraints, model.with_gravity((0.0, 50.0, 0.0)), q=q, v=v)[3]
    assert_allclose(k, heavy, atol=1e-12 * np.abs(k).max() + 1e-12)
