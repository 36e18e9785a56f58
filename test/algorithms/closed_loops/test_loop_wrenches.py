# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces of loop joints as wrenches on the two bodies that they connect."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.loop_joints import CylindricalPair, ZeroDof
from support.loop_mechanisms import (
    closed_robot,
    four_bar,
    four_bar_position,
    with_random_loops,
)
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.loop_equations import loop_equations
from rbd_ros.algorithms.closed_loops.loop_wrenches import loop_wrenches
from rbd_ros.model.joints import Prismatic, Revolute, Spherical

JOINTS = (Revolute((0.48, -0.6, 0.64)), CylindricalPair((0.0, 0.0, 1.0)), Spherical(), ZeroDof())
PAIRS_OF_BODIES = ((0, 3), (2, 5), (5, 1), (4, 6))


@pytest.mark.seed('CL05', kind='full')
@every_tree
def test_wrenches_and_multipliers_exert_the_same_force_on_the_tree(name):
    """Sum (J_s - J_p)^T f is K^T lambda + tau^a, by a textbook's Jacobians (eq 8.28 to 8.32)."""
    tree = named_tree(name)
    rng = np.random.default_rng(3)
    model = with_random_loops(tree.model, JOINTS, rng, PAIRS_OF_BODIES)
    multipliers = rng.normal(size=model.loop_constraints)
    active = rng.normal(size=sum(joint.nv for joint in JOINTS))
    for q, v, _ in tree.states:
        f = run(loop_wrenches, model, q=q, multipliers=multipliers, loop_forces=active)
        tau = np.zeros(model.nv)
        for loop, wrench in zip(model.loops, f):
            for frame, sign in ((loop.successor, 1.0), (loop.predecessor, -1.0)):
                if frame.body:
                    J = tree.book.jacobian(q, model.body(frame.body).name, 'base')
                    tau += sign * J.T @ wrench
        state = {'q': q, 'v': v, 'external_forces': None}
        _, C, K, *_ = run(loop_equations, model, **state, loop_forces=active)
        passive = run(loop_equations, model, **state, loop_forces=0.0 * active)[1]
        check('tau^c + tau^a', name, K.T @ multipliers + passive - C, tau, 1e-12)


@pytest.mark.seed('CL05')
@pytest.mark.parametrize('gears', [False, True], ids=['free', 'gears'])
@pytest.mark.parametrize(
    'joint', [Revolute((0.0, 0.0, 1.0)), Prismatic((0.48, -0.6, 0.64)), Spherical()]
)
def test_the_loop_joint_and_its_wrenches_move_the_tree_identically(joint, gears):
    """The loop cut, and its forces applied as external ones: the same accelerations."""
    _, robot, q, v, tau = closed_robot(41, (joint,), ((1, 8),), gears, branching=0.0)
    rng = np.random.default_rng(1)
    active = rng.normal(size=joint.nv)
    found = robot.loops.forward_dynamics(q, v, tau, loop_forces=active)
    (f,) = robot.loops.wrenches(q, found.multipliers, active)
    assert np.abs(f).max() > 0.1
    tree = Robot(robot.model.with_loops(()))
    (loop,) = robot.model.loops
    names = [robot.model.body(frame.body).name for frame in (loop.successor, loop.predecessor)]
    cut = tree.forward_dynamics(q, v, tau, {names[0]: f, names[1]: -f})
    assert_allclose(cut, found.a, rtol=1e-9, atol=1e-9 * np.abs(found.a).max())


def test_a_loop_joint_of_a_four_bar_holds_the_rocker_up():
    """At rest, held by its crank: balance of all moments about the crank's bearing."""
    robot, y = four_bar(), 0.8
    q = four_bar_position(y)
    a = np.zeros(3)
    # The torque of the crank that holds everything still, by the null space of K
    K = robot.loops.closure(q).K
    gravity = Robot(robot.model.with_loops(())).gravity_torque(q)
    G = np.linalg.svd(K)[2][2:].T[:, 0]
    tau = np.array([gravity @ G / G[0], 0.0, 0.0])
    found = robot.loops.forward_dynamics(q, np.zeros(3), tau)
    assert_allclose(found.a, a, atol=1e-11)
    (f,) = robot.loops.wrenches(q, found.multipliers, [0.0])
    # All that moves: weight, crank's bearing and torque, and the loop joint's force on the rocker
    weight = sum(body.inertia.mass for body in robot.model.bodies) * 9.81
    center = robot.center_of_mass(q)
    assert f[2] - weight * center[0] + tau[0] == pytest.approx(0.0, abs=1e-10)
