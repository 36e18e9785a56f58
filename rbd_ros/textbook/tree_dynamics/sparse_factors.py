# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sparse factors of an inertia matrix, and products with them (book 6.5, tables 6.3 and 6.5).

The texts are the book's: they work in situ, are given the expanded parent array, and touch no
element that is zero because of branches, nor any above the diagonal. `H = L^T L` is a Cholesky
factorization from the last row to the first, which keeps the zeros; `H = L^T D L` takes no square
roots. Kernels use factorization.py, which finds the zeros itself.

Matrices are sequences of rows, such as lists or an array, of generic scalars.
"""

from typing import Any, List, MutableSequence, Sequence

from rbd_ros.algorithms.inertia_matrix.expanded_parents import above, Parents
from rbd_ros.spatial.scalar import Scalar, sqrt

Rows = Sequence[MutableSequence[Scalar]]
Vector = MutableSequence[Scalar]


def factorize_ltl(H: Any, parents: Parents) -> None:
    """Factorize H = L^T L in situ: the lower triangle of H becomes L (book table 6.3).

    :param H: symmetric positive-definite matrix with the zeros of the tree, (n, n)
    :param parents: expanded parent array, (n,)
    :raises ZeroDivisionError: if a pivot of floats is zero; one that is negative, of a matrix that
        is not positive definite, makes NaN

    >>> from rbd_ros.algorithms.inertia_matrix.expanded_parents import expanded_parents
    >>> from rbd_ros.textbook.tree_dynamics.sparse_factors import factorize_ltl, solve_ltl
    >>> L, x = robot.mass_matrix(q).tolist(), tau - robot.bias_force(q, v)
    >>> factorize_ltl(L, expanded_parents(model))  # in place: H = L^T L
    >>> solve_ltl(L, x, expanded_parents(model))
    >>> np.allclose(x, a)
    True
    """
    for k in reversed(range(len(parents))):
        H[k][k] = sqrt(H[k][k])
        for i in above(parents, k):
            H[k][i] = H[k][i] / H[k][k]
        for i in above(parents, k):
            for j in (i, *above(parents, i)):
                H[i][j] = H[i][j] - H[k][i] * H[k][j]


def factorize_ltdl(H: Any, parents: Parents) -> None:
    """Factorize H = L^T D L in situ: D on the diagonal, L below it (book table 6.3).

    The diagonal of L is all ones and stored nowhere. D is positive if, and only if, H is positive
    definite.

    :param H: symmetric matrix with the zeros of the tree, (n, n)
    :param parents: expanded parent array, (n,)
    :raises ZeroDivisionError: if a pivot of floats is zero

    >>> from rbd_ros.algorithms.inertia_matrix.expanded_parents import expanded_parents
    >>> from rbd_ros.textbook.tree_dynamics.sparse_factors import factorize_ltdl, solve_ltdl
    >>> factors, x = robot.mass_matrix(q).tolist(), tau - robot.bias_force(q, v)
    >>> factorize_ltdl(factors, expanded_parents(model))  # in place: H = L^T D L
    >>> solve_ltdl(factors, x, expanded_parents(model))
    >>> np.allclose(x, a)
    True
    """
    for k in reversed(range(len(parents))):
        for i in above(parents, k):
            a = H[k][i] / H[k][k]
            for j in (i, *above(parents, i)):
                H[i][j] = H[i][j] - a * H[k][j]
            H[k][i] = a


def times(L: Rows, x: Sequence[Scalar], parents: Parents, unit: bool = False) -> List[Scalar]:
    """Return the product L x, (n,) (book table 6.5).

    :param L: lower-triangular factor, (n, n)
    :param x: vector, (n,)
    :param parents: expanded parent array, (n,)
    :param unit: whether the diagonal of L is all ones, and not read
    """
    y = _diagonal_times(L, x, unit)
    for i in reversed(range(len(y))):
        for j in above(parents, i):
            y[i] = y[i] + L[i][j] * x[j]
    return y


def times_transposed(
    L: Rows, x: Sequence[Scalar], parents: Parents, unit: bool = False
) -> List[Scalar]:
    """Return the product L^T x, (n,) (book table 6.5); arguments are those of `times`."""
    y = _diagonal_times(L, x, unit)
    for i in range(len(y)):
        for j in above(parents, i):
            y[j] = y[j] + L[i][j] * x[i]
    return y


def times_symmetric(H: Rows, x: Sequence[Scalar], parents: Parents) -> List[Scalar]:
    """Return the product H x of a symmetric matrix, (n,), of which the lower triangle is read.

    Table 6.5.

    :param H: symmetric matrix with the zeros of the tree, (n, n)
    :param x: vector, (n,)
    :param parents: expanded parent array, (n,)

    >>> from rbd_ros.algorithms.inertia_matrix.expanded_parents import expanded_parents
    >>> from rbd_ros.textbook.tree_dynamics.sparse_factors import times_symmetric
    >>> H = robot.mass_matrix(q)
    >>> np.allclose(times_symmetric(H.tolist(), a, expanded_parents(model)), H @ a)
    True
    """
    y = _diagonal_times(H, x, False)
    for i in reversed(range(len(y))):
        for j in above(parents, i):
            y[i] = y[i] + H[i][j] * x[j]
            y[j] = y[j] + H[i][j] * x[i]
    return y


def solve(L: Rows, x: Vector, parents: Parents, unit: bool = False) -> None:
    """Compute the solution L^-1 x, in situ: x becomes it (book table 6.5).

    :param L: lower-triangular factor, (n, n)
    :param x: right-hand side, (n,)
    :param parents: expanded parent array, (n,)
    :param unit: whether the diagonal of L is all ones, and not read
    """
    for i in range(len(x)):
        for j in above(parents, i):
            x[i] = x[i] - L[i][j] * x[j]
        if not unit:
            x[i] = x[i] / L[i][i]


def solve_transposed(L: Rows, x: Vector, parents: Parents, unit: bool = False) -> None:
    """Compute the solution L^-T x, in situ: x becomes it (book table 6.5).

    Arguments are those of `solve`.
    """
    for i in reversed(range(len(x))):
        if not unit:
            x[i] = x[i] / L[i][i]
        for j in above(parents, i):
            x[j] = x[j] - L[i][j] * x[i]


def solve_ltl(L: Rows, x: Vector, parents: Parents) -> None:
    """Compute the solution of H x = b by factors H = L^T L, in situ.

    x, which was b, becomes H^-1 b.

    :param L: result of `factorize_ltl`, (n, n)
    :param x: right-hand side, (n,)
    :param parents: expanded parent array, (n,)
    """
    solve_transposed(L, x, parents)
    solve(L, x, parents)


def solve_ltdl(factors: Rows, x: Vector, parents: Parents) -> None:
    """Compute the solution of H x = b by factors H = L^T D L, in situ.

    x, which was b, becomes H^-1 b.

    :param factors: result of `factorize_ltdl`, (n, n)
    :param x: right-hand side, (n,)
    :param parents: expanded parent array, (n,)
    """
    solve_transposed(factors, x, parents, unit=True)
    for i in range(len(x)):
        x[i] = x[i] / factors[i][i]
    solve(factors, x, parents, unit=True)


def _diagonal_times(L: Rows, x: Sequence[Scalar], unit: bool) -> List[Scalar]:
    """Return the product of the diagonal with a vector, (n,)."""
    return [value if unit else L[i][i] * value for i, value in enumerate(x)]
