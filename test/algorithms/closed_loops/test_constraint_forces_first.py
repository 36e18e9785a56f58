# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Constraint forces before accelerations: by factors of H, or by forward dynamics of the tree."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.loop_joints import ZeroDof
from support.loop_mechanisms import closed_robot, four_bar, four_bar_position
from test_direct_solution import problem

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.constraint_forces_first import (
    constraint_forces_by_forward_dynamics,
    constraint_forces_first,
    solve_for_forces,
)
from rbd_ros.algorithms.closed_loops.constraint_rank import constraint_rank
from rbd_ros.model.joints import Prismatic, Revolute, Spherical


@pytest.mark.seed('CL07')
@pytest.mark.parametrize('rank, rows', [(0, 2), (2, 2), (2, 5), (4, 4), (6, 6), (6, 9)])
def test_solution_satisfies_both_equations(rank, rows):
    H, tau, K, k = problem(rank, rows, 1)
    qdd, multipliers = constraint_forces_first(H, tau, K, k, constraint_rank(K))
    assert_allclose(H @ qdd, tau + K.T @ multipliers, atol=1e-10)
    assert_allclose(K @ qdd, k, atol=1e-10)


@pytest.mark.seed('CL07')
@pytest.mark.parametrize('rank, rows', [(2, 2), (2, 5), (4, 4), (6, 9)])
def test_forces_are_the_pseudo_inverse_of_a_times_b(rank, rows):
    """A^+ b of eq 8.41, also where A lambda = b has no solution."""
    H, _, K, _ = problem(rank, rows, 2)
    A = K @ np.linalg.solve(H, K.T)
    b = np.random.default_rng(5).normal(size=rows)
    expected = np.linalg.pinv(A, 1e-10, hermitian=True) @ b
    assert_allclose(solve_for_forces(A, b, constraint_rank(K)), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.seed('CL07', kind='full')
def test_a_planar_linkage_in_space_has_unique_accelerations():
    """n^c = 5, r = 2: residual; any force in the null space of A changes nothing but itself."""
    robot = four_bar()
    tree = Robot(robot.model.with_loops(()))
    q, rng = four_bar_position(0.9), np.random.default_rng(1)
    K = robot.loops.closure(q).K
    v = 1.7 * np.linalg.svd(K)[2][2:].T[:, 0]
    tau = rng.normal(size=3)
    found = robot.loops.forward_dynamics(q, v, tau, 'forces')
    assert (len(K), found.rank) == (5, 2)
    H, C = tree.mass_matrix(q), tree.bias_force(q, v)
    A = K @ np.linalg.solve(H, K.T)
    assert np.linalg.matrix_rank(A, 1e-9) == 2
    null = np.eye(5) - np.linalg.pinv(A, 1e-9) @ A
    for _ in range(3):
        multipliers = found.multipliers + null @ rng.normal(size=5, scale=10.0)
        assert np.abs(multipliers - found.multipliers).max() > 1.0
        a = np.linalg.solve(H, tau - C + K.T @ multipliers)
        assert_allclose(a, found.a, rtol=1e-9, atol=1e-9)
    assert_allclose(null @ found.multipliers, 0.0, atol=1e-10)  # the shortest one
    assert_allclose(K @ found.a, robot.loops.constraints(q, v).k, atol=1e-10)


@pytest.mark.seed('FO08', kind='full')
@pytest.mark.parametrize('gears', [False, True], ids=['free', 'gears'])
@pytest.mark.parametrize(
    'joints, pairs',
    [
        ((ZeroDof(),), ((0, 9),)),
        ((Spherical(), Prismatic((0.48, -0.6, 0.64))), ((0, 5), (2, 9))),
        ((Revolute((0.0, 0.0, 1.0)),) * 2, ((1, 9), (1, 9))),
    ],
)
def test_columns_by_forward_dynamics_of_the_tree_are_those_by_factors(joints, pairs, gears):
    """H^-1 K^T without an inertia matrix: the articulated-body algorithm for each column."""
    _, robot, q, v, tau = closed_robot(13, joints, pairs, gears, bodies=9, branching=0.0)
    tree = Robot(robot.model.with_loops(()))
    _, _, K, k = robot.loops.constraints(q, v)
    still = Robot(tree.model.with_gravity((0.0, 0.0, 0.0)))
    asked = []

    def accelerate(rows):
        asked.append(rows.shape)
        return np.array([still.forward_dynamics(q, np.zeros(robot.nv), row) for row in rows])

    rest = tau - tree.bias_force(q, v)
    independent = constraint_rank(K)
    ours = constraint_forces_by_forward_dynamics(accelerate, rest, K, k, independent)
    factors = constraint_forces_first(tree.mass_matrix(q), rest, K, k, independent)
    assert asked == [(len(K) + 1, robot.nv)]
    for x, y in zip(ours, factors):
        assert_allclose(x, y, atol=1e-9 * (1.0 + np.abs(y).max()))
    public = robot.loops.forward_dynamics(q, v, tau, 'articulated_body')
    assert_allclose(public.a, ours[0], atol=1e-9 * (1.0 + np.abs(ours[0]).max()))


def test_singular_inertia_is_an_error():
    H, tau, K, k = problem(2, 2)
    with pytest.raises(ZeroDivisionError):
        constraint_forces_first(0.0 * H, tau, K, k, constraint_rank(K))
