# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Matrix of bodies coupled by contacts: against a dense one, order, capacity."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros.compiler.loops import allocate
from rbd_ros.constraints.solvers.body_matrix import (
    add_contact,
    begin_matrix,
    BodyMatrix,
    factorize_bodies,
    invert,
    matrix_sizes,
    MAX_BODIES,
    MAX_PAIRS,
    order_bodies,
    PAIRS,
    solve_bodies_matrix,
)


def ordered(pairs, members):
    """Return a matrix with invalid uninitialized memory, and whether its capacity suffices."""
    pairs = np.array(pairs)
    matrix = allocate(BodyMatrix, **matrix_sizes(members))
    for array in matrix:
        array[...] = np.nan if array.dtype == float else -(2**62)
    return matrix, order_bodies(matrix, members, pairs, np.arange(members), len(pairs))


@pytest.mark.parametrize('pairs', [
    [(0, -1), (1, -1)],
    [(0, 1), (1, 2), (-1, 0), (2, 3), (2, 1)],
    [(4, k) for k in range(4)] + [(4, -1)],
    [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (4, 3)],
])  # fmt: skip
def test_it_agrees_with_the_dense_matrix(pairs):
    rng = np.random.default_rng(len(pairs))
    n = 1 + max(max(each) for each in pairs)
    matrix, room = ordered(pairs, n)
    assert room
    begin_matrix(matrix)
    dense = np.eye(6 * n)
    for i, j in pairs:
        E, K, J = (rng.normal(size=shape) for shape in ((2, 3, 6), (3, 3), (2, 3, 6)))
        add_contact(matrix, i, j, E, K, J)
        for a, e in ((i, E[0]), (j, E[1])):
            for b, jacobian in ((i, J[0]), (j, J[1])):
                if a >= 0 and b >= 0:
                    dense[6 * a : 6 * a + 6, 6 * b : 6 * b + 6] += e.T @ K @ jacobian
    factorize_bodies(matrix)
    for _ in range(2):
        right = rng.normal(size=(n, 6))
        matrix.x[:n] = right
        solve_bodies_matrix(matrix)
        expected = np.linalg.solve(dense, right.ravel()).reshape(n, 6)
        assert_allclose(matrix.x[:n], expected, rtol=1e-9, atol=1e-9)


def test_chains_and_stars_have_no_more_pairs_than_contacts():
    rng = np.random.default_rng(0)
    chain = rng.permutation(12)
    star = rng.permutation(12)
    for pairs in (
        [(chain[k], chain[k + 1]) for k in range(11)],
        [(star[0], star[k]) for k in range(1, 12)],
    ):
        matrix, room = ordered(pairs, 12)
        assert room and matrix.sizes[PAIRS] == 11
        assert sorted(matrix.order) == list(range(12))


def test_a_ring_is_closed_by_elimination():
    matrix, room = ordered([(k, (k + 1) % 5) for k in range(5)], 5)
    assert room and matrix.sizes[PAIRS] == 7


def test_few_bodies_have_room_for_each_pair_and_many_for_some():
    pairs = [matrix_sizes(members)['P'] for members in (0, 1, 2, 3, 33, 34)]
    assert pairs == [0, 0, 1, 3, 528, 544]
    assert matrix_sizes(MAX_BODIES + 5) == matrix_sizes(MAX_BODIES)


def test_more_bodies_or_pairs_than_the_capacity_are_reported():
    assert ordered([(0, 1), (1, 2)], MAX_BODIES)[1]
    matrix = allocate(BodyMatrix, **matrix_sizes(MAX_BODIES + 1))
    many = np.arange(MAX_BODIES + 1)
    assert not order_bodies(matrix, len(many), np.array([(0, 1)]), many, 1)
    every = [(i, j) for i in range(40) for j in range(i)]
    assert len(every) > 40 * MAX_PAIRS and not ordered(every, 40)[1]
    # A grid in three dimensions: there are fewer pairs than what elimination couples.
    side = range(7)
    grid = [(x, y, z) for x in side for y in side for z in side]
    apart = [np.eye(3, dtype=int)[r] for r in range(3)]
    near = [
        (grid.index(a), grid.index(tuple(a + step)))
        for a in grid
        for step in apart
        if tuple(a + step) in grid
    ]
    assert len(near) < 343 * MAX_PAIRS and not ordered(near, 343)[1]


def test_blocks_are_inverted_by_pivoting():
    rng = np.random.default_rng(1)
    for _ in range(5):
        A = rng.normal(size=(6, 6))[rng.permutation(6)]
        A[0, 0] = A[2, 2] = 0.0
        found = A.copy()
        invert(found, np.zeros(6, dtype=int))
        assert_allclose(found @ A, np.eye(6), atol=1e-11)
    turned = np.eye(6)[[1, 2, 3, 4, 5, 0]]
    found = turned.copy()
    invert(found, np.zeros(6, dtype=int))
    assert np.array_equal(found, turned.T)
