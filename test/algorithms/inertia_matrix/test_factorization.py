# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The factorization H = L^T D L and its solution against NumPy, on inertia matrices and others."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.dense import positive_definite
from support.textbook_trees import every_tree, named_tree, unrelated

from rbd_ros.algorithms.inertia_matrix.factorization import ltdl


def dense(factors):
    """Return L and D as matrices."""
    L = np.eye(len(factors.L))
    for i, row in enumerate(factors.L):
        for j, value in row.items():
            L[i, j] = value
    return L, np.diag(1.0 / np.array(factors.D_inverse))


def check(H, factors, rng):
    """Check that L is unit lower triangular, L^T D L is H, and solutions are NumPy's."""
    L, D = dense(factors)
    assert np.array_equal(L, np.tril(L)) and np.all(np.diag(L) == 1.0)
    assert_allclose(L.T @ D @ L, H, rtol=0, atol=1e-14 * np.abs(H).max())
    for b in rng.normal(size=(3, len(H))):
        expected = np.linalg.solve(H, b)
        error = np.abs(np.array(factors.solve(b.tolist())) - expected).max()
        # either is wrong by some cond(H) eps of the largest element
        assert error < 10 * np.finfo(float).eps * np.linalg.cond(H) * np.abs(expected).max()
        y = np.array(factors.solve_transposed(b.tolist()))
        assert_allclose(L.T @ y, b, rtol=0, atol=1e-13 * np.abs(L).max() * np.abs(y).max())


@pytest.mark.seed('FM09', 'FM11')
@every_tree
def test_inertia_matrices_of_trees(name, rng):
    """Zeros between branches stay zero in L: no fill-in (book 6.5)."""
    tree = named_tree(name)
    for q, _, _ in tree.ungeared_states:
        H = np.where(unrelated(tree.model), 0.0, tree.ungeared.mass_matrix(q))
        factors = ltdl(H.tolist())
        check(H, factors, rng)
        stored = np.zeros(H.shape, dtype=bool)
        for i, row in enumerate(factors.L):
            stored[i, list(row)] = True
        assert not np.any(stored & unrelated(tree.model))


@pytest.mark.seed('FM09', 'FM11')
@pytest.mark.parametrize('n', [1, 2, 3, 6, 12])
def test_any_positive_definite_matrix(n, rng):
    H = positive_definite(rng, n)
    check(H, ltdl(H.tolist()), rng)


def test_fill_in_is_kept(rng):
    """Zeros that belong to no tree."""
    H = positive_definite(rng, 4) + 4.0 * np.eye(4)
    H[1, 0] = H[0, 1] = H[3, 2] = H[2, 3] = 0.0
    check(H, ltdl(H.tolist()), rng)


def test_lower_triangle_is_read_and_nothing_is_written(rng):
    H = positive_definite(rng, 5)
    lower = np.tril(H).tolist()
    expected = ltdl(H.tolist()).solve([1.0, 2.0, 3.0, 4.0, 5.0])
    assert ltdl(lower).solve([1.0, 2.0, 3.0, 4.0, 5.0]) == expected
    assert lower == np.tril(H).tolist()


def test_a_matrix_without_rows_has_an_empty_solution():
    assert ltdl([]).solve([]) == []


def test_a_pivot_of_zero_is_rejected():
    with pytest.raises(ZeroDivisionError):
        ltdl([[1.0, 0.0], [0.0, 0.0]])
