# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Factorization H = L^T D L, which keeps branch-induced sparsity (book 6.5)."""

from typing import Dict, List, Sequence

from rbd_ros.spatial.scalar import is_zero, Scalar


class LTDL:
    """Factors of H = L^T D L with L unit lower triangular.

    :param L: nonzero elements of the rows of L: column -> element
    :param D_inverse: reciprocals of the diagonal of D
    """

    def __init__(self, L: List[Dict[int, Scalar]], D_inverse: List[Scalar]):
        self.L, self.D_inverse = L, D_inverse

    def solve(self, b: Sequence[Scalar]) -> List[Scalar]:
        """Return the solution x of H x = b, (n,), by L^-T, D^-1 and L^-1 in turn (book table 6.5).

        :param b: right-hand side, (n,)
        """
        x = self.solve_transposed(b)
        x = [d * value for d, value in zip(self.D_inverse, x)]
        for i in range(len(x)):
            for j, l in self.L[i].items():
                x[i] = x[i] - l * x[j]
        return x

    def solve_transposed(self, b: Sequence[Scalar]) -> List[Scalar]:
        """Return the solution y of L^T y = b, (n,): b^T H^-1 b = y^T D^-1 y (book table 6.5).

        :param b: right-hand side, (n,)
        """
        y = list(b)
        for i in reversed(range(len(y))):
            for j, l in self.L[i].items():
                y[j] = y[j] - l * y[i]
        return y


def ltdl(H: Sequence[Sequence[Scalar]]) -> LTDL:
    """Factorize a symmetric positive-definite matrix of generic scalars (book table 6.3).

    Elements known to be zero are skipped. For the inertia matrix of a tree these are those of the
    expanded parent array, without fill-in; gears may add fill-in.

    :param H: symmetric matrix, (n, n), of which the lower triangle is read
    :raises ZeroDivisionError: if a pivot is known to be zero, i.e. the matrix is singular

    >>> from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
    >>> factors = ltdl(robot.mass_matrix(q).tolist())
    >>> np.allclose(factors.solve(tau - robot.bias_force(q, v)), a)
    True
    """
    A = [list(row) for row in H]
    L: List[Dict[int, Scalar]] = [{} for _ in A]
    D_inverse: List[Scalar] = [0.0] * len(A)
    for k in reversed(range(len(A))):
        D_inverse[k] = 1.0 / A[k][k]
        columns = [i for i in range(k) if not is_zero(A[k][i])]
        for i in reversed(columns):
            a = A[k][i] * D_inverse[k]
            for j in columns:
                if j <= i:
                    A[i][j] = A[i][j] - a * A[k][j]
            L[k][i] = a
    return LTDL(L, D_inverse)
