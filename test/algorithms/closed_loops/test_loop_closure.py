# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loops: a four-bar linkage, and loop joints of every lower pair."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import random_trees
from support.all_joints import example_id, JOINTS
from support.mechanisms import COUPLER, CRANK, four_bar, GROUND, ROCKER

from rbd_ros import ModelError, Robot
from rbd_ros.model import Frame, LoopJoint
from rbd_ros.model.joints import Prismatic, Revolute, SphericalYawPitchRoll
from rbd_ros.spatial import PluckerTransform

HINGE = Revolute((0.0, 1.0, 0.0))


def closed(robot, crank):
    """Return configuration with the loop closed, by Newton's method on the other two joints."""
    q = np.array([crank, -1.2, -0.9])
    for _ in range(60):
        residual, K = robot.loops.closure(q)
        step = np.linalg.lstsq(K[:, 1:], residual, rcond=None)[0]
        q[1:] -= step
    return q


@pytest.mark.parametrize('crank', [0.6, 0.9, 1.1])
def test_a_four_bar_closes_by_its_residual_and_jacobian(crank):
    robot = four_bar()
    q = closed(robot, crank)
    residual, K = robot.loops.closure(q)
    assert_allclose(residual, 0.0, atol=1e-12)
    assert K.shape == (5, 3)
    assert np.linalg.matrix_rank(K, tol=1e-9) == 2  # mobility 3 - 2 = 1, book 8.10
    angles = np.cumsum(q)
    tip = [
        np.sum([CRANK, COUPLER, ROCKER] * np.cos(angles)),
        np.sum([CRANK, COUPLER, ROCKER] * np.sin(angles)),
    ]
    assert_allclose(tip, [GROUND, 0.0], atol=1e-11)


def test_the_linkage_moves_as_its_loop_equations_say():
    """Coupler and rocker rates of a four-bar by the classical formulas."""
    robot = four_bar()
    q = closed(robot, 0.9)
    K = robot.loops.closure(q).K
    rates = -np.linalg.lstsq(K[:, 1:], K[:, 0], rcond=None)[0]
    t2, t3, t4 = np.cumsum(q)
    crank = 1.0
    coupler = CRANK * crank * np.sin(t4 - t2) / (COUPLER * np.sin(t3 - t4))
    rocker = CRANK * crank * np.sin(t3 - t2) / (ROCKER * np.sin(t4 - t3))
    assert_allclose(np.cumsum([crank, *rates])[1:], [coupler, rocker], rtol=1e-9)


@pytest.mark.parametrize(
    'joint', [joint for joint in JOINTS if joint.closes_loops and joint.nv < 6], ids=example_id
)
def test_a_closed_pair_has_no_residual_and_one_that_moves_on_its_jacobian(joint):
    robot = Robot.from_urdf(random_trees.tree(9, bodies=4, types=('revolute',)))
    model, rng = robot.model, np.random.default_rng(5)
    q = robot.random_configuration(rng)
    position = list(joint.sample(rng.random(joint.uniforms).tolist(), -0.7, 0.7))
    # The loop joint's frames are put where it is closed at q, in this position of its own.
    one, other = robot.frame(robot.body_names[1]), robot.frame(robot.body_names[-1])
    X1, X2 = (PluckerTransform.from_homogeneous(f.pose(q)).inverse() for f in (one, other))
    placement = joint.transform(joint.normalize(position)) * X1 * X2.inverse()
    ends = Frame(2, PluckerTransform.identity()), Frame(len(model.bodies), placement)
    with_loop = Robot(model.with_loops([LoopJoint('loop', *ends, joint)]))
    residual, K = with_loop.loops.closure(q)
    assert_allclose(residual, 0.0, atol=1e-12)
    assert K.shape == (6 - joint.nv, robot.nv)
    h = 1e-6
    for k in range(robot.nv):
        step = h * np.eye(robot.nv)[k]
        ahead, behind = (with_loop.loops.closure(q + s).residual for s in (step, -step))
        assert_allclose(K[:, k], (ahead - behind) / (2.0 * h), atol=1e-8)


def test_loops_are_checked_when_they_are_made():
    model = four_bar().model
    (loop,) = model.loops
    nowhere = Frame(9, PluckerTransform.identity())
    bad = {
        'another joint has this name': [loop, loop],
        'no body 9': [LoopJoint('far', nowhere, loop.successor, HINGE)],
        'lower pair': [
            LoopJoint('ball', loop.predecessor, loop.successor, SphericalYawPitchRoll())
        ],
    }
    for message, loops in bad.items():
        with pytest.raises(ModelError, match=message):
            model.with_loops(loops)


def test_a_loop_is_part_of_the_key():
    robot = four_bar()
    (loop,) = robot.model.loops
    slider = LoopJoint('closing', loop.predecessor, loop.successor, Prismatic((0.0, 0.0, 1.0)))
    other = Robot(robot.model.with_loops([slider]))
    assert not np.allclose(
        robot.loops.closure(np.ones(3)).residual, other.loops.closure(np.ones(3)).residual
    )


def test_forward_dynamics_does_not_ignore_loops():
    with pytest.raises(ModelError, match='closing'):
        four_bar().forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))


def test_a_four_bar_has_one_dof_and_three_redundant_constraints():
    """In space: n = 3, n_c = 5, r = 2 (book 8.10)."""
    robot = four_bar()
    found = robot.loops.mobility(closed(robot, 0.9))
    assert (found.dofs, found.constraints, found.rank, found.mobility) == (3, 5, 2, 1)
    assert found.overconstraint == 3


def test_a_parallelogram_moves_by_one_variable():
    """Gamma(y) = (y, -y, y - pi) for equal opposite sides: G is the derivative of that."""
    robot = four_bar()
    explicit = robot.loops.explicit(lambda y: [y[0], -y[0], y[0] - np.pi], 1)
    motion = explicit.motion(np.array([0.4]), np.array([2.0]))
    assert_allclose(motion.q, [0.4, -0.4, 0.4 - np.pi], atol=1e-15)
    assert_allclose(motion.G, [[1.0], [-1.0], [1.0]], atol=1e-15)
    assert_allclose(motion.v, [2.0, -2.0, 2.0], atol=1e-15)
