"""Linear systems of the friction solvers, against NumPy."""

import numpy as np
from numpy.testing import assert_allclose

from rbd_ros.constraints.solvers.dense import factorise, solve_factorised, solve_leading


def test_leading_part_of_a_system():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 12):
        A, x = rng.normal(size=(n + 2, n + 2)), rng.normal(size=n + 2)
        A[0, 0] = 0.0 if n > 1 else A[0, 0]  # pivoting is needed
        expected = np.linalg.solve(A[:n, :n], x[:n])
        rest = A[n:].copy(), x[n:].copy()
        solve_leading(A, x, n)
        assert_allclose(x[:n], expected, rtol=1e-10)
        assert (A[n:] == rest[0]).all() and (x[n:] == rest[1]).all()


def test_unknowns_without_equation_are_zero():
    A, x = np.diag([2.0, 0.0, 4.0]), np.array([2.0, 0.0, 8.0])
    solve_leading(A, x, 3)
    assert_allclose(x, [1.0, 0.0, 2.0])


def test_factors_of_a_symmetric_matrix_from_its_upper_half():
    rng = np.random.default_rng(1)
    for n in (1, 4, 9):
        B = rng.normal(size=(n, n))
        A, x = B @ B.T + np.eye(n), rng.normal(size=n + 1)
        expected, last = np.linalg.solve(A, x[:n]), x[n]
        F = np.full((n + 2, n + 3), 7.0)
        F[:n, :n] = np.triu(A) + np.tril(F[:n, :n], -1)
        factorise(F, n)
        assert (F[n:] == 7.0).all() and (F[:, n:] == 7.0).all()
        L = np.tril(F[:n, :n], -1) + np.eye(n)
        D = np.diag(1.0 / np.diag(F)[:n])
        assert_allclose(L @ D @ L.T, A, rtol=1e-10, atol=1e-12)
        assert_allclose(np.triu(F[:n, :n], 1), np.triu(D @ L.T, 1), rtol=1e-10, atol=1e-12)
        solve_factorised(F, x, n)
        assert_allclose(x[:n], expected, rtol=1e-9)
        assert x[n] == last


def test_a_pivot_of_zero_divides_nothing():
    A, x = np.zeros((2, 2)), np.array([1e-200, 0.0])
    factorise(A, 2)
    solve_factorised(A, x, 2)
    assert np.isfinite(x).all()
