# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sparse factors and products against dense NumPy, and their cost against the book's table 6.6."""

from functools import partial

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support.tally import counted
from support.textbook_trees import every_tree, named_tree, unrelated

from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inertia_matrix.expanded_parents import (
    expand_parents,
    expanded_parents,
    pattern,
)
from rbd_ros.algorithms.inertia_matrix.tree_statistics import Cost, tree_statistics
from rbd_ros.textbook.models.random_models import random_tree
from rbd_ros.textbook.tree_dynamics import sparse_factors
from rbd_ros.textbook.tree_dynamics.sparse_factors import (
    factorize_ltdl,
    factorize_ltl,
    solve,
    solve_ltdl,
    solve_ltl,
    solve_transposed,
    times,
    times_symmetric,
    times_transposed,
)

# Dense, a star, a binary tree, several trees, and joints of several DoFs.
TREES = {
    'one': (0,),
    'chain': tuple(range(7)),
    'star': (0,) * 6,
    'binary': (0, 1, 1, 2, 2, 3, 3),
    'forest': (0, 1, 0, 3, 3, 4, 0, 2),
    'dofs': expand_parents((0, 1, 1, 2, 2, 3), (6, 3, 1, 1, 2, 1)),
}
every_shape = pytest.mark.parametrize('parents', TREES.values(), ids=TREES)
both = pytest.mark.parametrize('unit', [False, True], ids=['general', 'unit'])


def matrix(parents, rng):
    """Return the symmetric positive-definite matrix with the zeros of a tree."""
    n = len(parents)
    places = np.array(pattern(parents))
    lower = np.where(places, np.tril(rng.normal(size=(n, n))), 0.0)
    return lower.T @ lower + np.diag(rng.uniform(0.5, 1.5, n))


def factor(parents, rng, unit):
    """Return a lower-triangular matrix with the zeros of a tree, and the part that may be read."""
    n = len(parents)
    L = np.where(np.array(pattern(parents)), np.tril(rng.normal(size=(n, n))), 0.0)
    L[np.diag_indices(n)] = 1.0 if unit else rng.uniform(0.5, 1.5, n)
    # Elements that must not be read are NaN.
    seen = np.where(np.array(pattern(parents)) & np.tri(n, dtype=bool), L, np.nan)
    if unit:
        seen[np.diag_indices(n)] = np.nan
    return L, seen.tolist()


def lower(A, parents):
    """Return the readable part of a symmetric matrix; the rest is NaN."""
    n = len(parents)
    return np.where(np.array(pattern(parents)) & np.tri(n, dtype=bool), A, np.nan).tolist()


def check_ltl(H, parents):
    A = lower(H, parents)
    factorize_ltl(A, parents)
    L = np.where(np.isnan(A), 0.0, A)
    assert_array_equal(np.isnan(A), np.isnan(lower(H, parents)))  # no fill-in, nothing above
    assert_allclose(L.T @ L, H, rtol=0, atol=1e-14 * np.abs(H).max())
    assert np.all(np.diag(L) > 0)
    # It is Cholesky's factor of the matrix turned round.
    expected = np.linalg.cholesky(H[::-1, ::-1])[::-1, ::-1].T
    condition = np.linalg.cond(H)
    scale = np.finfo(float).eps * condition * np.abs(expected).max()
    assert_allclose(L, expected, rtol=0, atol=10 * scale)
    return A


def check_ltdl(H, parents):
    A = lower(H, parents)
    factorize_ltdl(A, parents)
    L = np.where(np.isnan(A), 0.0, A)
    assert_array_equal(np.isnan(A), np.isnan(lower(H, parents)))
    D = np.diag(np.diag(L))
    L[np.diag_indices(len(L))] = 1.0
    assert_allclose(L.T @ D @ L, H, rtol=0, atol=1e-14 * np.abs(H).max())
    return A, np.diag(D)


@pytest.mark.seed('FM08', kind='full')
@every_shape
def test_ltl_is_cholesky_from_the_last_row_to_the_first(parents, rng):
    check_ltl(matrix(parents, rng), parents)


@pytest.mark.seed('FM09', kind='full')
@every_shape
def test_ltdl_has_a_positive_diagonal_if_the_matrix_is_positive_definite(parents, rng):
    H = matrix(parents, rng)
    _, D = check_ltdl(H, parents)
    assert np.all(D > 0)
    smallest, largest = np.linalg.eigvalsh(H)[[0, -1]]
    for shift in (0.99 * smallest, 1.01 * smallest, 0.5 * (smallest + largest)):
        shifted = H - shift * np.eye(len(H))
        A = lower(shifted, parents)
        factorize_ltdl(A, parents)
        assert np.all(np.diag(A) > 0) == (shift < smallest)
    # Sylvester's law of inertia: as many are negative as eigenvalues.
    signs = np.sign(np.diag(A))
    assert np.sum(signs < 0) == np.sum(np.linalg.eigvalsh(shifted) < 0)


@pytest.mark.seed('FM08', 'FM09', kind='full')
@every_tree
def test_inertia_matrices_of_trees_keep_their_zeros(name):
    tree = named_tree(name)
    parents = expanded_parents(tree.model)
    for q, _, _ in tree.ungeared_states:
        H = np.array(crba(tree.model, q.tolist()))
        assert not np.any(H[unrelated(tree.model)])
        L = check_ltl(H, parents)
        factors, D = check_ltdl(H, parents)
        assert np.all(D > 0)
        b = np.linspace(-1.0, 2.0, len(H))
        expected = np.linalg.solve(H, b)
        scale = np.finfo(float).eps * np.linalg.cond(H) * np.abs(expected).max()
        for way, A in ((solve_ltl, L), (solve_ltdl, factors)):
            x = b.tolist()
            way(A, x, parents)
            assert_allclose(x, expected, rtol=0, atol=10 * scale)


def test_arrays_are_factorized_in_place(rng):
    parents = TREES['dofs']
    H = matrix(parents, rng)
    A = H.copy()
    factorize_ltdl(A, parents)
    assert_allclose(np.tril(A), np.nan_to_num(check_ltdl(H, parents)[0]), rtol=1e-13)
    assert_array_equal(np.triu(A, 1), np.triu(H, 1))


def test_a_pivot_of_zero_is_rejected():
    for factorize in (factorize_ltl, factorize_ltdl):
        with pytest.raises(ZeroDivisionError):
            factorize([[1.0, 1.0], [1.0, 0.0]], (0, 1))


@pytest.mark.seed('FM11', kind='full')
@both
@every_shape
def test_products_are_those_of_dense_matrices(parents, unit, rng):
    L, seen = factor(parents, rng, unit)
    x = rng.normal(size=len(parents))
    given = x.tolist()
    assert_allclose(times(seen, given, parents, unit), L @ x, rtol=0, atol=1e-13)
    assert_allclose(times_transposed(seen, given, parents, unit), L.T @ x, rtol=0, atol=1e-13)
    assert given == x.tolist()  # out of place


@pytest.mark.seed('FM11', kind='full')
@both
@every_shape
def test_solutions_are_those_of_dense_matrices(parents, unit, rng):
    L, seen = factor(parents, rng, unit)
    for way, A in ((solve, L), (solve_transposed, L.T)):
        x = rng.normal(size=len(parents))
        solution = (A @ x).tolist()
        assert way(seen, solution, parents, unit) is None  # in situ
        assert_allclose(solution, x, rtol=0, atol=1e-11)


@pytest.mark.seed('FM11', kind='full')
@every_shape
def test_product_with_a_symmetric_matrix_reads_its_lower_triangle(parents, rng):
    H = matrix(parents, rng)
    x = rng.normal(size=len(parents))
    assert_allclose(times_symmetric(lower(H, parents), x, parents), H @ x, rtol=0, atol=1e-13)


COUNTED = {  # of table 6.6: text, whether it has a second argument, and whether L is unit
    'factorize_ltl': (factorize_ltl, False, None),
    'factorize_ltdl': (factorize_ltdl, False, None),
    'solve_ltl': (solve_ltl, True, None),
    'solve_ltdl': (solve_ltdl, True, None),
    'L x': (times, True, False),
    'L^-1 x': (solve, True, False),
    'unit L x': (times, True, True),
    'unit L^-1 x': (solve, True, True),
    'H x': (times_symmetric, True, None),
}


@pytest.mark.seed('FM12', 'FM07', kind='full')
@pytest.mark.parametrize('entry', COUNTED)
@every_shape
def test_operations_are_those_of_table_6_6(parents, entry, rng):
    """Counted one by one, as the text executes them."""
    text, takes_vector, unit = COUNTED[entry]
    texts = [text]
    if text in (times, solve):
        texts.append(times_transposed if text is times else solve_transposed)
    for function in texts:
        arrays = [matrix(parents, rng).tolist()]
        arrays += [rng.normal(size=len(parents)).tolist()] * takes_vector
        options = {} if unit is None else {'unit': unit}
        _, found = counted(partial(function, parents=parents, **options), *arrays)
        expected = tree_statistics(parents).sparse_costs()[entry]
        assert Cost(**found) == expected


@pytest.mark.seed('FM12', kind='part')
def test_operations_on_a_dense_matrix_are_those_of_cholesky():
    """Numbers of the textbooks: n^3/6 and n^2/2 to the leading order (book eq 6.28)."""
    for n in (1, 2, 9):
        costs = tree_statistics(tuple(range(n))).sparse_costs()
        D1, D2 = (n * n - n) // 2, (n**3 - n) // 6
        assert costs['factorize_ltl'] == Cost(D2, D2, D1, n)
        assert costs['factorize_ltdl'] == Cost(D2, D2, D1, 0)
        assert costs['solve_ltl'] == Cost(2 * D1, 2 * D1, 2 * n, 0)
        assert costs['solve_ltdl'] == Cost(2 * D1, 2 * D1, n, 0)
        assert costs['L x'] == Cost(n + D1, D1, 0, 0)
        assert costs['L^-1 x'] == Cost(D1, D1, n, 0)
        assert costs['unit L x'] == costs['unit L^-1 x'] == Cost(D1, D1, 0, 0)
        assert costs['H x'] == Cost(n + 2 * D1, 2 * D1, 0, 0)


def test_table_6_6_names_existing_functions():
    costs = tree_statistics((0,)).sparse_costs()
    assert set(costs) == set(COUNTED)
    assert all(hasattr(sparse_factors, name) for name in costs if ' ' not in name)


def test_a_random_tree_of_hundred_joints_is_solved(rng):
    model = random_tree(100, 2.5)
    parents = expanded_parents(model)
    H = np.array(crba(model, rng.uniform(-3, 3, 100).tolist()))
    A = H.copy()
    factorize_ltl(A, parents)
    x = np.ones(100)
    solve_ltl(A, x, parents)
    assert_allclose(H @ x, np.ones(100), rtol=0, atol=1e-8)
