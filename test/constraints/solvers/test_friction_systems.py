# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Linear systems of the friction solvers, against NumPy."""

import numpy as np
from numpy.testing import assert_allclose

from rbd_ros.constraints.solvers.dense import (
    factorize,
    factorize_pivoted,
    solve_factorized,
    solve_pivoted,
)


def test_leading_part_of_a_system_of_several_right_hand_sides():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 12):
        A, order = rng.normal(size=(n + 2, n + 2)), np.full(n + 1, 9)
        A[0, 0] = 0.0 if n > 1 else A[0, 0]  # pivoting is needed
        B, rest = A[:n, :n].copy(), A[n:].copy()
        factorize_pivoted(A, order, n)
        L, R = np.tril(A[:n, :n], -1) + np.eye(n), np.triu(A[:n, :n])
        assert np.abs(L).max() == 1.0
        P = np.eye(n)
        for k in range(n):
            P[[k, order[k]]] = P[[order[k], k]]
        assert_allclose(L @ R, P @ B, rtol=1e-10, atol=1e-13)
        for _ in range(2):
            x = rng.normal(size=n + 2)
            expected, last = np.linalg.solve(B, x[:n]), x[n:].copy()
            solve_pivoted(A, order, x, n)
            assert_allclose(x[:n], expected, rtol=1e-10)
            assert (x[n:] == last).all()
        assert (A[n:] == rest).all() and order[n] == 9


def test_unknowns_without_equation_are_zero():
    A, x, order = np.diag([2.0, 0.0, 4.0]), np.array([2.0, 0.0, 8.0]), np.zeros(3, int)
    factorize_pivoted(A, order, 3)
    solve_pivoted(A, order, x, 3)
    assert_allclose(x, [1.0, 0.0, 2.0])


def test_factors_of_a_symmetric_matrix_from_its_upper_half():
    rng = np.random.default_rng(1)
    for n in (1, 4, 9):
        B = rng.normal(size=(n, n))
        A, x = B @ B.T + np.eye(n), rng.normal(size=n + 1)
        expected, last = np.linalg.solve(A, x[:n]), x[n]
        F = np.full((n + 2, n + 3), 7.0)
        F[:n, :n] = np.triu(A) + np.tril(F[:n, :n], -1)
        factorize(F, n)
        assert (F[n:] == 7.0).all() and (F[:, n:] == 7.0).all()
        L = np.tril(F[:n, :n], -1) + np.eye(n)
        D = np.diag(1.0 / np.diag(F)[:n])
        assert_allclose(L @ D @ L.T, A, rtol=1e-10, atol=1e-12)
        assert_allclose(np.triu(F[:n, :n], 1), np.triu(D @ L.T, 1), rtol=1e-10, atol=1e-12)
        solve_factorized(F, x, n)
        assert_allclose(x[:n], expected, rtol=1e-9)
        assert x[n] == last


def test_a_pivot_of_zero_divides_nothing():
    A, x = np.zeros((2, 2)), np.array([1e-200, 0.0])
    factorize(A, 2)
    solve_factorized(A, x, 2)
    assert np.isfinite(x).all()
