# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Small dense matrices of generic scalars, as lists of rows, for inverse inertias.

An inverse inertia maps forces to motions, for which rbd_ros.spatial has no type. The caller keeps
track of coordinates.
"""

from typing import List, Sequence

from rbd_ros.algorithms.inertia_matrix.factorization import LTDL, ltdl
from rbd_ros.spatial import ArticulatedBodyInertia, linear3
from rbd_ros.spatial.scalar import Scalar

Vector = List[Scalar]
Matrix = List[List[Scalar]]
Rows = Sequence[Sequence[Scalar]]


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Return the scalar product of two vectors of equal length."""
    return sum((x * y for x, y in zip(a, b)), 0.0)


def apply(A: Rows, x: Sequence[Scalar]) -> Vector:
    """Return the product A x of a matrix and a vector."""
    return [dot(row, x) for row in A]


def combine(columns: Rows, x: Sequence[Scalar], size: int = 6) -> Vector:
    """Return the sum of columns, each times its element of `x`.

    :param columns: columns of a matrix, (n, size); there may be none
    :param x: factors, (n,)
    """
    total: Vector = [0.0] * size
    for column, factor in zip(columns, x):
        total = [t + factor * c for t, c in zip(total, column)]
    return total


def multiply(A: Rows, B: Rows) -> Matrix:
    """Return the product A B."""
    columns = list(zip(*B))
    return [[dot(row, column) for column in columns] for row in A]


def transposed(A: Rows) -> Matrix:
    """Return the transpose A^T."""
    return [list(row) for row in zip(*A)]


def add(a: Sequence[Scalar], b: Sequence[Scalar]) -> Vector:
    """Return the sum of two vectors."""
    return [x + y for x, y in zip(a, b)]


def subtract(a: Sequence[Scalar], b: Sequence[Scalar]) -> Vector:
    """Return the difference of two vectors."""
    return [x - y for x, y in zip(a, b)]


def add_matrices(A: Rows, B: Rows) -> Matrix:
    """Return the sum A + B."""
    return [add(a, b) for a, b in zip(A, B)]


def subtract_matrices(A: Rows, B: Rows) -> Matrix:
    """Return the difference A - B."""
    return [subtract(a, b) for a, b in zip(A, B)]


def symmetric(A: Rows) -> Matrix:
    """Return the lower triangle of `A` and its mirror image: bitwise symmetric."""
    n = range(len(A))
    return [[A[max(i, j)][min(i, j)] for j in n] for i in n]


def identity(n: int) -> Matrix:
    """Return the identity matrix, (n, n)."""
    return [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]


def zeros(rows: int, columns: int) -> Matrix:
    """Return the matrix of zeros."""
    return [[0.0] * columns for _ in range(rows)]


def solved(factors: LTDL, B: Rows) -> Matrix:
    """Return the solution X of H X = B, given factors of H.

    :param factors: factors of H, (n, n)
    :param B: right-hand sides, (n, m)
    """
    return transposed([factors.solve(column) for column in zip(*B)])


def inverse(H: Rows) -> Matrix:
    """Return the inverse of a symmetric positive-definite matrix, bitwise symmetric."""
    return symmetric(solved(ltdl(H), identity(len(H))))


def congruence(columns: Rows, A: Rows) -> Matrix:
    """Return the product T^T A T of a symmetric A, (n, n).

    :param columns: columns of T, n of them
    :param A: symmetric matrix
    """
    AT = [apply(A, column) for column in columns]
    return symmetric([[dot(a, column) for column in columns] for a in AT])


def rows_of(inertia: ArticulatedBodyInertia) -> Matrix:
    """Return the rows of the matrix [[I, H], [H^T, M]] of an inertia, (6, 6)."""
    I, H, M = linear3.full(inertia.I), inertia.H, linear3.full(inertia.M)
    upper = [[*a, *b] for a, b in zip(I, H)]
    return upper + [[*a, *b] for a, b in zip(linear3.transpose(H), M)]
