"""Linear systems of the friction solvers, against NumPy."""

import numpy as np
from numpy.testing import assert_allclose

from rbd_ros.constraints.solvers.dense import cholesky, solve_cholesky, solve_leading


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


def test_cholesky_reads_the_lower_half():
    rng = np.random.default_rng(1)
    for n in (1, 4, 9):
        B = rng.normal(size=(n, n))
        A, x = B @ B.T + np.eye(n), rng.normal(size=n)
        expected = np.linalg.solve(A, x)
        L, rest = np.full((n + 2, n + 3), 7.0), np.full(n + 1, 5.0)
        L[:n, :n] = np.tril(A) + np.triu(L[:n, :n], 1)
        rest[:n] = x
        cholesky(L, n)
        assert_allclose(np.tril(L[:n, :n]), np.linalg.cholesky(A), rtol=1e-10, atol=1e-12)
        assert (L[n:] == 7.0).all() and (L[:, n:] == 7.0).all()
        solve_cholesky(L, rest, n)
        assert_allclose(rest[:n], expected, rtol=1e-9)
        assert rest[n] == 5.0
