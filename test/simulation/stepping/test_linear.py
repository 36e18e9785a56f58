# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Linear systems of the simulator against NumPy's, with the sparsity of trees."""

from types import SimpleNamespace

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros.simulation.stepping.linear import (
    add_scaled,
    clear,
    copy,
    dot,
    factorize,
    is_finite,
    solve_dense,
    solve_factorized,
    to_momentum_units,
    to_velocity,
)

# Parent of each row's DoF, -1 for none: a chain, a star, two legs on a trunk, two trees.
TREES = {
    'chain': [-1, 0, 1, 2, 3],
    'star': [-1, 0, 0, 0, 0],
    'legs': [-1, 0, 0, 1, 3, 2, 5, 2],
    'forest': [-1, -1, 0, 1, 2, 3],
    'one': [-1],
}


def ancestors(parent, i):
    found = []
    while parent[i] >= 0:
        i = parent[i]
        found.append(i)
    return found


@pytest.fixture(params=TREES)
def system(request, rng):
    """Return a positive definite matrix with a tree's sparsity, and that sparsity."""
    parent = TREES[request.param]
    rows = [ancestors(parent, i) for i in range(len(parent))]
    n = len(parent)
    # H = L^T D L, with L of that sparsity, has it too (book 6.3).
    L, D = np.eye(n), np.diag(rng.uniform(0.5, 3.0, n))
    for i, row in enumerate(rows):
        L[i, row] = rng.normal(size=len(row))
    first = np.cumsum([0, *map(len, rows)])
    index = np.array([j for row in rows for j in row], dtype=np.int64)
    return L, D, SimpleNamespace(row_first=first, row_index=index)


def test_the_factors_are_those_that_the_matrix_was_made_of(system):
    L, D, tree = system
    factor = L.T @ D @ L
    factorize(factor, tree)
    assert_allclose(np.diag(factor), np.diag(D), rtol=1e-10)
    assert_allclose(np.tril(factor, -1), np.tril(L, -1), atol=1e-10)


def test_the_solution_is_numpys(system, rng):
    L, D, tree = system
    H = L.T @ D @ L
    factor, b = H.copy(), rng.normal(size=len(H))
    factorize(factor, tree)
    x = b.copy()
    solve_factorized(factor, tree, x)
    assert_allclose(x, np.linalg.solve(H, b), rtol=1e-9, atol=1e-11)


def test_half_of_the_way_is_a_root_of_the_inverse(system, rng):
    """D^-1/2 L^-T and L^-1 D^-1/2, one after the other H^-1."""
    L, D, tree = system
    H = L.T @ D @ L
    factor, b = H.copy(), rng.normal(size=len(H))
    factorize(factor, tree)
    x = b.copy()
    to_momentum_units(factor, tree, x)
    assert_allclose(x, np.linalg.solve(np.sqrt(D), np.linalg.solve(L.T, b)), atol=1e-10)
    assert x @ x == pytest.approx(b @ np.linalg.solve(H, b))
    to_velocity(factor, tree, x)
    assert_allclose(x, np.linalg.solve(H, b), rtol=1e-9, atol=1e-11)
    assert b @ x == pytest.approx(x @ H @ x)


@pytest.mark.parametrize('n', [1, 2, 3, 7])
def test_dense_systems_need_not_be_symmetric(n, rng):
    for _ in range(5):
        A, b = rng.normal(size=(n, n)), rng.normal(size=n)
        x = b.copy()
        solve_dense(A.copy(), x)
        assert_allclose(x, np.linalg.solve(A, b), rtol=1e-9, atol=1e-10)


def test_dense_systems_are_solved_with_the_largest_pivot(rng):
    """Permuted, nothing stands on the diagonal; scaled, hardly anything does."""
    order = [2, 4, 1, 0, 3]
    b = rng.normal(size=5)
    x = b.copy()
    solve_dense(np.eye(5)[order], x)
    assert_allclose(x, b[np.argsort(order)], rtol=0)
    x = np.array([1.0, 2.0])
    solve_dense(np.array([[1e-18, 1.0], [1.0, 1.0]]), x)
    assert_allclose(x, [1.0, 1.0], rtol=1e-12)


def test_rows_of_held_joints_stay_out_of_the_way(rng):
    A = np.eye(4)
    A[1:3, 1:3] = rng.normal(size=(2, 2))
    b = rng.normal(size=4)
    x = b.copy()
    solve_dense(A.copy(), x)
    assert_allclose(x, np.linalg.solve(A, b), rtol=1e-10)


def test_vectors(rng):
    a, b = rng.normal(size=(2, 4))
    assert dot(a, b) == pytest.approx(a @ b)
    y = b.copy()
    add_scaled(-1.5, a, y)
    assert_allclose(y, b - 1.5 * a)
    copy(a, y)
    assert list(y) == list(a)
    clear(y)
    assert list(y) == [0.0] * 4
    assert is_finite(a)
    for bad in (np.nan, np.inf, -np.inf):
        assert not is_finite(np.array([0.0, bad, 1.0]))
