# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Elimination against singular values, on matrices of any shape and rank, and on loops."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import linkages

from rbd_ros.algorithms.closed_loops.constraint_rank import rank_of
from rbd_ros.algorithms.closed_loops.elimination import (
    eliminate,
    InconsistentConstraintsError,
)

SHAPES = [(1, 1, 1), (2, 5, 2), (5, 3, 2), (6, 6, 6), (6, 6, 4), (4, 7, 0), (9, 12, 5), (3, 0, 0)]


def matrix(rng, m, n, r):
    """Return matrix of rank r whose rows differ a thousandfold in size, and a right-hand side."""
    K = (rng.normal(size=(m, r)) @ rng.normal(size=(r, n))) * 10.0 ** rng.uniform(-3, 0, (m, 1))
    return K, K @ rng.normal(size=n)


@pytest.mark.seed('CL11', kind='part')
@pytest.mark.parametrize('m, n, r', SHAPES)
@pytest.mark.parametrize('seed', range(4))
def test_general_solution_solves_for_every_y(m, n, r, seed):
    rng = np.random.default_rng(seed)
    K, k = matrix(rng, m, n, r)
    found = eliminate(K, k)
    G, g, rank, independent, rows = found
    assert rank == r == rank_of(K)
    assert G.shape == (n, n - r) and g.shape == (n,)
    assert_allclose(K @ G, np.zeros((m, n - r)), atol=1e-12)
    assert_allclose(K @ g, k, atol=1e-12)
    y = rng.normal(size=n - r)
    x = G @ y + g
    assert_allclose(K @ x, k, atol=1e-11)
    assert np.array_equal(x[list(independent)], y), 'y must be a part of x'
    assert np.linalg.matrix_rank(K[list(rows)]) == r, 'the rows used are independent'


@pytest.mark.seed('CL11', kind='full')
@pytest.mark.parametrize('m, n, r', SHAPES)
def test_independent_elements_carry_an_identity_block(m, n, r):
    K, k = matrix(np.random.default_rng(9), m, n, r)
    G, g, _, independent, _ = eliminate(K, k)
    assert np.array_equal(G[list(independent)], np.eye(n - r))
    assert np.array_equal(g[list(independent)], np.zeros(n - r))
    assert list(independent) == sorted(independent)


@pytest.mark.seed('CL11', kind='part')
@pytest.mark.parametrize('seed', range(5))
def test_independent_elements_may_be_chosen(seed):
    rng = np.random.default_rng(seed)
    K, k = matrix(rng, 5, 7, 4)
    chosen = sorted(rng.choice(7, 3, replace=False).tolist())
    G, g, rank, independent, _ = eliminate(K, k, independent=chosen)
    assert rank == 4 and list(independent) == chosen
    assert np.array_equal(G[chosen], np.eye(3))
    assert_allclose(K @ G, 0.0, atol=1e-11)
    assert_allclose(K @ g, k, atol=1e-11)


def test_an_unusable_choice_is_rejected():
    K = [[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]  # x2 is constrained by itself
    assert eliminate(K, independent=[0]).independent == (0,)
    for wrong in ([2], [], [0, 1], [0, 2]):
        with pytest.raises(InconsistentConstraintsError, match='independent'):
            eliminate(K, independent=wrong)
    for too_few in ([2], [0]):
        with pytest.raises(InconsistentConstraintsError, match='independent'):
            eliminate([[1.0, 2.0, 0.5]], independent=too_few)


def test_rows_that_were_used_are_reported():
    """The others are multiples of them, or zero."""
    K = [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.1, 0.0, 0.0], [0.0, 0.0, 0.0]]
    found = eliminate(K)
    assert found.rank == 2 and found.rows == (2, 3)


def test_columns_known_to_be_zero_are_not_eliminated():
    K = np.array([[0.0, 1.0, 0.0, 2.0], [0.0, 3.0, 0.0, 4.0]])
    found = eliminate(K, [1.0, 2.0], free_columns=[0, 2])
    plain = eliminate(K, [1.0, 2.0])
    assert found.independent == plain.independent == (0, 2)
    assert_allclose(found.G, plain.G)
    assert_allclose(
        found.g, np.linalg.solve(K[:, [1, 3]], [1.0, 2.0])[[0, 0, 1, 1]] * [0, 1, 0, 1]
    )
    with pytest.raises(ValueError, match='not zero'):
        eliminate(K, free_columns=[1])


def test_complete_pivoting_grows_no_rounding():
    """A tiny pivot that comes first; without column swaps the second row would be lost."""
    K = np.array([[1e-9, 1.0, 1.0], [1.0, 1.0, 2.0]])
    G, g, rank, *_ = eliminate(K, [2.0, 3.0], tolerance=1e-14)
    assert rank == 2
    assert_allclose(K @ G, 0.0, atol=1e-15)
    assert_allclose(K @ g, [2.0, 3.0], rtol=1e-15)
    assert np.abs(G).max() <= 2.0 + 1e-8


def test_rank_is_distinguished_from_rounding():
    rng = np.random.default_rng(3)
    K, _ = matrix(rng, 8, 8, 5)
    noisy = K + 1e-14 * rng.normal(size=K.shape)
    assert eliminate(noisy).rank == rank_of(noisy) == 5
    assert eliminate(noisy, tolerance=1e-18).rank == rank_of(noisy, tolerance=1e-18) == 8


@pytest.mark.parametrize('scale', [1e-9, 1.0, 1e9])
def test_units_do_not_matter(scale):
    K, k = matrix(np.random.default_rng(4), 5, 6, 3)
    plain, scaled = eliminate(K, k), eliminate(scale * K, scale * k)
    assert scaled.rank == plain.rank and scaled.independent == plain.independent
    assert_allclose(scaled.G, plain.G, rtol=1e-9, atol=1e-12)


def test_contradictions_are_rejected():
    with pytest.raises(InconsistentConstraintsError, match='range'):
        eliminate([[1.0, 2.0], [2.0, 4.0]], [1.0, 3.0])
    with pytest.raises(InconsistentConstraintsError, match='range'):
        eliminate(np.zeros((1, 2)), [1.0])


@pytest.mark.parametrize(
    'arguments, message',
    [
        (([1.0, 2.0],), 'matrix'),
        (([[1.0, 2.0]], [1.0, 2.0]), 'shape'),
    ],
)
def test_wrong_shapes_are_rejected(arguments, message):
    with pytest.raises(ValueError, match=message):
        eliminate(*arguments)


def test_wrong_columns_are_rejected():
    for wrong in ([2], [-1], [0, 0]):
        with pytest.raises(ValueError, match='below 2'):
            eliminate([[1.0, 2.0]], independent=wrong)
        with pytest.raises(ValueError, match='below 2'):
            eliminate([[0.0, 0.0]], free_columns=wrong)


def test_elimination_does_not_change_its_inputs():
    K, k = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 2.0])
    eliminate(K, k)
    assert np.array_equal(K, [[1.0, 2.0], [3.0, 4.0]]) and np.array_equal(k, [1.0, 2.0])


@pytest.mark.seed('CL11', kind='part')
def test_a_linkage_moves_along_the_null_space(rng):
    """Motion G yd keeps a four-bar closed, and accelerations G ydd + g do (book eq 8.42)."""
    model = linkages.four_bar()
    q = linkages.closed(model, linkages.FOUR_BAR)
    qd = linkages.admissible(model, q, rng)
    K, k = linkages.acceleration_constraint(model, q, qd)
    G, g, rank, independent, _ = eliminate(K, k, independent=[0])
    assert rank == 2
    assert_allclose(G[:, 0] * qd[0], qd, atol=1e-12)
    # along the curve through q with these rates the loop stays closed to third order
    for t in (1e-3, -1e-3):
        residual, _ = linkages.closure(model, q + t * qd + 0.5 * t * t * (G[:, 0] * 0.3 + g))
        assert np.abs(residual).max() < 20.0 * abs(t) ** 3
