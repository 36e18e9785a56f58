# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loop clusters of the book's example, and block-wise solutions against the whole."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import linkages

from rbd_ros.algorithms.closed_loops.elimination import eliminate
from rbd_ros.model import Coupling
from rbd_ros.textbook.closed_loops.loop_clusters import (
    cluster_numbering,
    eliminate_by_clusters,
    loop_clusters,
    loop_path,
    unconstrained_columns,
)

JOINTS_OF_CLUSTERS = [(3, 4, 5, 6, 7), (10, 11, 12), (19, 20)]  # book figure 8.1


def jacobian(model, rng):
    return linkages.closure(model, rng.uniform(-1.0, 1.0, model.nv))[1]


@pytest.mark.seed('CL12', kind='part')
def test_the_books_example_has_three_clusters():
    model = linkages.clusters()
    found = loop_clusters(model)
    assert [cluster.bodies for cluster in found] == JOINTS_OF_CLUSTERS
    assert [cluster.loops for cluster in found] == [(0, 1), (2,), (3,)]
    assert [cluster.rows for cluster in found] == [
        tuple(range(8)), tuple(range(8, 13)), tuple(range(13, 18))
    ]  # fmt: skip
    assert [cluster.columns for cluster in found] == [
        tuple(i - 1 for i in bodies) for bodies in JOINTS_OF_CLUSTERS
    ]
    assert unconstrained_columns(model) == (0, 1, 7, 8, 12, 13, 14, 15, 16, 17)


@pytest.mark.seed('CL12', kind='full')
def test_jacobian_and_null_space_are_block_diagonal(rng):
    """K is zero outside the blocks; G's blocks are those of each K_i alone."""
    model = linkages.clusters()
    K = jacobian(model, rng)
    inside = np.zeros(K.shape, dtype=bool)
    for cluster in loop_clusters(model):
        inside[np.ix_(cluster.rows, cluster.columns)] = True
    assert not np.any(K[~inside]) and np.any(K[:5, 2]) and np.any(K[5:8, 6])

    k = K @ rng.normal(size=model.nv)
    G, g, rank, independent, rows = eliminate_by_clusters(model, K, k)
    assert rank == np.linalg.matrix_rank(K, tol=1e-9)
    assert G.shape == (20, 20 - rank)
    assert_allclose(K @ G, 0.0, atol=1e-13)
    assert_allclose(K @ g, k, atol=1e-13)
    assert np.array_equal(G[list(independent)], np.eye(20 - rank))
    assert np.linalg.matrix_rank(K[list(rows)], tol=1e-9) == rank
    groups = [set(cluster.columns) for cluster in loop_clusters(model)]
    groups += [{column} for column in unconstrained_columns(model)]
    for group in groups:
        ys = [y for y, column in enumerate(independent) if column in group]
        others = [x for x in range(20) if x not in group]
        assert not np.any(G[np.ix_(others, ys)])
    n, r = 20, rank
    assert np.sum(G == 0.0) >= (n - r) * (n - r - 1)

    whole = eliminate(K, k, free_columns=unconstrained_columns(model))
    assert whole.rank == rank
    # both span the same solutions
    assert_allclose(whole.G @ G[list(whole.independent)], G, atol=1e-11)
    assert_allclose(whole.G @ g[list(whole.independent)] + whole.g, g, atol=1e-11)


def test_clusters_are_numbered_one_after_another():
    """The same robot with its bodies shuffled gets an order in which clusters are in a row."""
    shuffled = [0, 1, 2, 8, 3, 9, 4, 5, 6, 7]  # new parents of a tree with interleaved loops
    parents = [0, 1, 1, 2, 3, 2, 3, 4, 5, 5]
    assert len(parents) == len(shuffled)
    pairs = [(4, 6), (5, 7), (8, 6)]
    loops = [(linkages.frame(p), linkages.frame(s), linkages.HINGE) for p, s in pairs]
    model = linkages.linkage([linkages.Rod(parent, 0.3) for parent in parents], loops)
    found = [cluster.bodies for cluster in loop_clusters(model)]
    assert found == [(4, 6, 8), (5, 7)]
    order = cluster_numbering(model)
    assert sorted(order) == list(range(1, 11))
    for i in order:
        parent = model.body(i).parent
        assert parent == 0 or order.index(parent) < order.index(i), 'the numbering is regular'
    for bodies in found:
        places = sorted(order.index(i) for i in bodies)
        assert places == list(range(places[0], places[0] + len(bodies)))


def test_the_path_omits_the_common_support_of_both_ends():
    model = linkages.clusters()
    assert loop_path(model, model.loops[0]) == (3, 4, 5, 6)
    assert loop_path(model, model.loops[1]) == (3, 4, 5, 6, 7)
    assert loop_path(linkages.four_bar(), linkages.four_bar().loops[0]) == (1, 2, 3)


@pytest.mark.seed('CL12', kind='part')
def test_gears_couple_loops(rng):
    """A joint of one loop that mimics one of another moves both: one cluster."""
    model = linkages.clusters()
    geared = replace(model, couplings=(Coupling(20, 10, 0.5, 0.1),))
    found = loop_clusters(geared)
    assert [cluster.loops for cluster in found] == [(0, 1), (2, 3)]
    assert found[1].bodies == (10, 11, 12, 19, 20)
    assert found[1].columns == (9, 10, 11, 18)
    q = rng.uniform(-1.0, 1.0, geared.nv).tolist()
    _, tree_K = linkages.closure(geared, geared.tree_position(q))
    K = np.array(geared.independent_columns(tree_K.tolist()))
    G, _, rank, *_ = eliminate_by_clusters(geared, K)
    assert rank == np.linalg.matrix_rank(K, tol=1e-9)
    assert_allclose(K @ G, 0.0, atol=1e-13)


def test_a_tree_has_no_clusters():
    model = linkages.four_bar().with_loops(())
    assert loop_clusters(model) == () and unconstrained_columns(model) == (0, 1, 2)
    assert cluster_numbering(model) == (1, 2, 3)
    found = eliminate_by_clusters(model, np.zeros((0, 3)))
    assert np.array_equal(found.G, np.eye(3)) and found.rank == 0
