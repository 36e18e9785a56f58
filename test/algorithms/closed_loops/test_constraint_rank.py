# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rank of the constraints, along motions that change it."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.loop_joints import CylindricalPair, ZeroDof
from support.loop_mechanisms import (
    closed_robot,
    four_bar,
    four_bar_position,
    parallelogram,
    two_rhombi,
    two_rhombi_position,
    Z,
)

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.constraint_rank import constraint_rank, rank_of
from rbd_ros.model.joints import Revolute, Spherical
from rbd_ros.robot.families.loops_family import METHODS


@pytest.mark.seed('CL14', kind='full')
def test_two_rhombi_have_mobility_1_2_or_3():
    """Five joints: rank 4, 3 where one loop is flat, 2 where both are, along such motions."""
    robot = two_rhombi()
    assert robot.nv == 5
    for crank in np.linspace(-1.0, 1.0, 9):  # both parallelograms go flat at once
        q = two_rhombi_position(robot, crank)
        assert_allclose(robot.loops.closure(q).residual, 0.0, atol=1e-14)
        rank = 2 if crank == 0.0 else 4
        assert robot.loops.rank(q) == rank
        tau = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
        for method in METHODS:
            found = robot.loops.forward_dynamics(q, np.zeros(5), tau, method)
            assert found.rank == rank
            assert found.mismatch < 1e-9
            assert_allclose(found.a, found.a * np.isfinite(found.a))
    for rocker in np.linspace(-1.2, 1.2, 7):  # the second swings about the folded crank
        q = two_rhombi_position(robot, 0.0, mode2=rocker)
        assert_allclose(robot.loops.closure(q).residual, 0.0, atol=1e-14)
        assert robot.loops.rank(q) == (2 if rocker == 0.0 else 3)
    both = two_rhombi_position(robot, 0.0, mode1=0.7, mode2=-0.4)
    assert robot.loops.rank(both) == 3  # either loop holds the crank, and swings by itself
    batch = np.array([two_rhombi_position(robot, crank) for crank in (-0.3, 0.0, 0.3)])
    assert list(robot.loops.rank(batch)) == [4, 2, 4]


@pytest.mark.seed('CL14')
def test_a_mechanism_gets_through_its_singular_pose():
    """A parallelogram driven through the pose where it is flat, which no time step hits."""
    robot = parallelogram()
    G = np.array([1.0, -1.0, 1.0])
    ranks = []
    for y in np.linspace(-0.2, 0.2, 41):
        q = np.array([y, -y, y])
        found = robot.loops.forward_dynamics(q, 2.0 * G, np.array([0.3, 0.0, 0.0]))
        ranks.append(found.rank)
        # Close to the pose as far from it: the closed form has no singularity
        if abs(y) > 1e-9:
            assert_allclose(found.a, found.a[0] * G, rtol=1e-7, atol=1e-7)
    assert ranks == [2] * 20 + [1] + [2] * 20


@pytest.mark.parametrize(
    'joint, count', [(Revolute(Z), 5), (CylindricalPair(Z), 4), (Spherical(), 3)]
)
def test_redundant_constraints_of_a_planar_linkage_are_counted(joint, count):
    robot = four_bar(joint)
    q = four_bar_position(1.1)
    assert robot.model.loop_constraints == count
    assert robot.loops.rank(q) == 2


def test_subspaces_are_those_of_the_jacobian():
    rng = np.random.default_rng(1)
    K = rng.normal(size=(7, 3)) @ rng.normal(size=(3, 5))
    rank, U, s, V, G = constraint_rank(K)
    assert rank == 3 and G.shape == (5, 2)
    assert_allclose(U @ np.diag(s) @ V.T, K, atol=1e-13)
    assert_allclose(K @ G, 0.0, atol=1e-13)
    assert_allclose(G.T @ G, np.eye(2), atol=1e-14)
    assert constraint_rank(1e-11 * K).rank == constraint_rank(1e8 * K).rank == 3
    assert constraint_rank(K + 1e-12 * rng.normal(size=K.shape)).rank == 3
    assert constraint_rank(K + 1e-6 * rng.normal(size=K.shape)).rank == 5
    assert constraint_rank(K + 1e-6 * rng.normal(size=K.shape), 1e-4).rank == 3


@pytest.mark.parametrize('shape', [(0, 4), (5, 4), (5, 0)])
def test_no_constraints_leave_everything_free(shape):
    found = constraint_rank(np.zeros(shape))
    assert found.rank == 0
    assert found.G.shape == (shape[1], shape[1])


def test_tolerance_is_the_callers():
    """Near the flat pose the second constraint is weak: whether it counts is a choice."""
    robot = parallelogram()
    q = np.array([1e-5, -1e-5, 1e-5])
    assert robot.loops.rank(q) == 2
    assert robot.loops.rank(q, tolerance=1e-3) == 1
    tau = np.array([1.0, 0.0, 0.0])
    assert robot.loops.forward_dynamics(q, 0.0 * q, tau, rank_tolerance=1e-3).rank == 1


def test_robots_that_a_loop_locks_do_not_move():
    """As many independent constraints as DoFs, and none at all."""
    _, robot, q, v, tau = closed_robot(3, (ZeroDof(),), ((0, 4),), bodies=4, branching=0.0)
    for method in METHODS:
        found = robot.loops.forward_dynamics(q, np.zeros(4), tau, method)
        assert found.rank == 4
        assert_allclose(found.a, 0.0, atol=1e-9)
    free = Robot(robot.model.with_loops(()))
    assert free.loops.rank(q) == 0
    for method in METHODS:
        found = free.loops.forward_dynamics(q, v, tau, method)
        assert found.rank == 0 and found.multipliers.shape == (0,)
        assert_allclose(found.a, free.forward_dynamics(q, v, tau), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    'of', [rank_of, lambda K, *more: constraint_rank(np.array(K), *more).rank]
)
def test_singular_values_count_by_their_share_of_the_largest(of):
    """Those that are zero count in no case, nor where there are no others."""
    K = np.diag([2e3, 3e-6, 1e-6, 0.0])[:, [3, 0, 1, 2]]  # shares 1, 1.5e-9, 5e-10 and 0
    assert of(K) == 2
    assert of(K, 1e-10) == 3 and of(K, 1e-8) == 1
    assert of(np.zeros((3, 2))) == 0 and of(np.zeros((0, 2))) == 0
