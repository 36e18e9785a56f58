# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Depths of trees, and cost formulas, against sets of the tree and the book's numbers."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.textbook_trees import every_tree, named_tree, unrelated

from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inertia_matrix.expanded_parents import expanded_parents
from rbd_ros.algorithms.inertia_matrix.tree_statistics import (
    Cost,
    crba_cost,
    tree_statistics,
)
from rbd_ros.model import Model
from rbd_ros.textbook.models.random_models import random_chain, random_tree

MODELS = [random_chain(1), random_chain(6, 1), random_tree(7, 2), random_tree(23, 1.6, 2)]


@pytest.mark.seed('FM12', kind='part')
def test_seven_bodies_of_section_6_5():
    """Rows 5, 6 and 7 have two area-2 and three area-3 calculations each."""
    found = tree_statistics((0, 1, 1, 2, 2, 3, 3))
    assert found == (7, 3, 6, 10, 14)
    assert found.nonzeros == 7 + 20
    assert found.density == 27 / 49


@pytest.mark.seed('FM12', 'AE08', kind='full')
@pytest.mark.parametrize('model', MODELS)
def test_ancestors_and_descendants_are_as_many(model):
    """D1 of the sets kappa and nu of the model, and the bounds (eq 6.29, 10.7 to 10.9)."""
    parents = [body.parent for body in model.bodies]
    n, d, D0, D1, D2 = tree_statistics(parents)
    depths = [len(model.support(i)) for i, _ in model.outward()]
    others = [i for i, body in model.outward() if body.parent != 0]
    assert (n, d, D0) == (len(parents), max(depths), len(others))
    assert D1 == sum(depth - 1 for depth in depths)
    assert D1 == sum(len(model.subtree(j)) for j in others)
    assert D2 == sum(k for depth in depths for k in range(depth))
    assert 0 <= D0 <= n - 1 and 0 <= D1 <= n * (d - 1) and 2 * D2 <= n * d * (d - 1)
    assert D1 <= n * (n - 1) / 2


@pytest.mark.seed('FM07', 'FM12', kind='full')
@pytest.mark.parametrize('model', MODELS)
def test_density_is_the_share_of_elements_that_are_not_zero(model, rng):
    H = np.array(crba(model, rng.uniform(-3, 3, model.nq).tolist()))
    found = tree_statistics(expanded_parents(model))
    assert np.count_nonzero(H) == found.nonzeros
    assert found.density == np.count_nonzero(H) / H.size


@pytest.mark.seed('FM07', kind='part')
@every_tree
def test_joints_of_several_dofs_count_by_their_variables(name):
    model = named_tree(name).model
    found = tree_statistics(expanded_parents(model))
    assert found.n == model.tree_nv
    assert found.nonzeros == np.count_nonzero(~unrelated(model))


@pytest.mark.seed('FM07', kind='full')
def test_bodies_on_the_base_make_a_block_diagonal_matrix(rng):
    """Each on its own: the blocks are those of joints, and cost nothing."""
    tree = named_tree('branches').model
    bodies = [replace(body, parent=0) for body in tree.bodies]
    model = Model.create('forest', bodies, tree.links.values())
    q = named_tree('branches').ungeared_states[0].q
    H = np.array(crba(model, q.tolist()))
    for body in model.bodies:
        S = np.transpose([s.to_array() for s in body.joint.motion_subspace(q[body.q]).columns])
        own = S.T @ body.inertia.matrix() @ S + body.armature * np.eye(body.joint.nv)
        assert_allclose(H[body.v, body.v], own.astype(float), rtol=0, atol=1e-14)
        H[body.v, body.v] = 0.0
    assert not np.any(H)
    found = tree_statistics([body.parent for body in model.bodies])
    assert (found.D0, found.D1, found.D2) == (0, 0, 0)
    assert found.density == 1 / len(bodies)
    assert crba_cost((0,) * len(bodies)) == Cost()


@pytest.mark.parametrize('n', [0, 1, 2, 8, 30])
def test_a_chain_is_dense(n):
    found = tree_statistics(range(n))
    assert found.density == 1.0
    assert (found.D1, found.D2) == ((n * n - n) // 2, (n**3 - n) // 6)


@pytest.mark.seed('AE07', 'AE08', kind='part')
@pytest.mark.parametrize('n', [1, 2, 6, 18])
def test_cost_of_a_chain_is_equation_10_3(n):
    expected = Cost(10 * n * n + 22 * n - 32, 6 * n * n + 37 * n - 43)
    assert crba_cost(range(n)) == expected
    assert crba_cost(range(n), general=[1]) == expected


def test_costs_add_up():
    assert 2 * Cost(1, 2, 0, 4) + Cost(5, 0, 3, 1) == Cost(7, 4, 3, 9)


def test_costs_of_sparse_functions_are_those_of_table_6_6():
    """Seven bodies, with ten elements below the diagonal and fourteen steps of a factorization."""
    m_a_d_r = {
        'factorize_ltl': (14, 14, 10, 7),
        'factorize_ltdl': (14, 14, 10, 0),
        'solve_ltl': (20, 20, 14, 0),
        'solve_ltdl': (20, 20, 7, 0),
        'L x': (17, 10, 0, 0),
        'L^-1 x': (10, 10, 7, 0),
        'unit L x': (10, 10, 0, 0),
        'unit L^-1 x': (10, 10, 0, 0),
        'H x': (27, 20, 0, 0),
    }
    found = tree_statistics((0, 1, 1, 2, 2, 3, 3)).sparse_costs()
    assert found == {name: Cost(*cost) for name, cost in m_a_d_r.items()}
