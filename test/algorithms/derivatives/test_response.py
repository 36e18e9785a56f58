# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Responses to many forces: against dense solutions, and operations saved by zeros."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import random_trees
from support.definitions import definition_of
from support.textbook_trees import every_tree, named_tree

from rbd_ros import Robot
from rbd_ros.algorithms.derivatives.response import responses
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inertia_matrix.factorization import LTDL, ltdl
from rbd_ros.compiler import Graph


def supported_forces(model, rng, count):
    """Return the forces on one freedom and all that share a branch with it, zero elsewhere."""
    H = np.array(mass_matrix(model, Robot(model).random_configuration(rng).tolist()))
    forces = rng.normal(size=(count, model.nv))
    for k, force in enumerate(forces):
        force[H[k % model.nv] == 0.0] = 0.0
    return H, forces


@every_tree
def test_they_solve_the_equation(name, rng):
    H, forces = supported_forces(named_tree(name).model, rng, 40)
    found = np.array(responses(ltdl(H.tolist()), forces.tolist()), dtype=float)
    expected = np.linalg.solve(H, forces.T).T
    bound = 1e-14 * np.linalg.cond(H) * np.abs(expected).max()
    assert_allclose(found, expected, rtol=0, atol=bound)


@pytest.mark.parametrize('count', [1, 3, 200])
def test_responses_match_for_any_number_of_forces(count, rng):
    """Few are solved for one by one, many by what they have in common."""
    model = Robot.from_urdf(random_trees.tree(8, bodies=12, branching=0.7), True).model
    H, forces = supported_forces(model, rng, count)
    found = np.array(responses(ltdl(H.tolist()), forces.tolist()), dtype=float)
    bound = 1e-14 * np.linalg.cond(H)
    assert_allclose(found @ H, forces, rtol=0, atol=bound * np.abs(found).max())


def test_factors_with_indirect_fill_solve_for_the_response():
    """Rows of L need not hold what is above them: here none but the second is joined to 0."""
    L = [{}, {0: 0.5}, {1: 0.7}, {1: 0.2, 2: -0.3}]
    factors = LTDL(L, [0.5, 1.0, 2.0, 0.25])
    lower = np.eye(4)
    for i, row in enumerate(L):
        for j, l in row.items():
            lower[i, j] = l
    H = lower.T @ np.diag(1.0 / np.array(factors.D_inverse)) @ lower
    forces = [[float(k + 1), 0.0, 0.0, 0.0] for k in range(3)]
    found = np.array(responses(factors, forces))
    assert_allclose(found @ H, forces, rtol=0, atol=1e-14)
    assert np.all(found[:, 3])


def test_no_forces_have_no_responses():
    assert responses(ltdl([[2.0]]), []) == []
    assert responses(ltdl([[2.0, 0.0], [0.0, 4.0]]), [[0.0, 0.0], [0.0, 2.0]]) == [
        [0.0, 0.0],
        [0.0, 0.5],
    ]


def operations(branches, length, columns):
    """Operations of the responses to forces on one branch after another of a star with a trunk."""
    trunk, n = 2, 2 + branches * length
    pattern = np.eye(n, dtype=bool)
    pattern[:trunk, :] = pattern[:, :trunk] = True
    for b in range(branches):
        own = slice(trunk + b * length, trunk + (b + 1) * length)
        pattern[own, own] = True
    graph = Graph()
    entries = iter(graph.inputs('H', n * n))
    H = [[next(entries) if there else 0.0 for there in row] for row in pattern]
    factors = ltdl(H)
    before = graph.count([*(x for row in factors.L for x in row.values()), *factors.D_inverse])
    forces = []
    for k in range(columns):
        on = pattern[trunk + (k % branches) * length]
        values = graph.inputs(f'b{k}', n)
        forces.append([x if there else 0.0 for x, there in zip(values, on)])
    found = responses(factors, forces)
    count = graph.count([x for column in found for x in column])
    return count.multiplications - before.multiplications


def test_a_further_right_hand_side_costs_a_product_with_the_trunk():
    """Per force: both sweeps over its branch and the trunk, and two products a freedom beyond."""
    few, many = (operations(4, 5, columns) for columns in (40, 80))
    m = 2 + 5
    assert many - few == 40 * (m * (m - 1) + m + 3 * 5 * 2)


def test_kernels_profit_from_branches():
    """Of a tree of two long legs on a body that floats: fewer than one sweep over all rows."""
    legs = random_trees.tree(8, bodies=12, types=('revolute',), branching=0.15)
    model = Robot.from_urdf(legs, floating_base=True).model
    count = definition_of(model, 'forward_dynamics_derivatives').program().count
    inverse = definition_of(model, 'inverse_dynamics_derivatives').program().count
    n = model.nv
    dense = 2 * n * n * n
    assert count.multiplications - inverse.multiplications < dense + n * n * n
