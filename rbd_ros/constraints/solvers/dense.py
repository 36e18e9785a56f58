# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dense linear systems in compiled loops, on leading parts of arrays, without allocation."""

from __future__ import annotations

from rbd_ros.compiler.loops import compiled, simd_range
from rbd_ros.constraints.friction_space import FloatArray, IntArray

#: A smaller pivot is a rounding error in matrices with elements of the order of one.
NOTHING = 1e-15


@compiled
def factorize_pivoted(A: FloatArray, order: IntArray, n: int) -> None:
    """Replace a matrix by its factors, P A = L R (Gaussian elimination with partial pivoting).

    Zeros are skipped: bodies in a row are coupled with their neighbors only.

    :param A: matrix, (n, n) or larger, whose leading part becomes R and, below the diagonal, L
    :param order: row exchanged with each row, a result, (n,) or longer
    :param n: size of the leading part
    """
    for k in range(0, n - 1, 2):
        # Two columns at a time halve the loads and stores of the rows below.
        first, second = A[k], A[k + 1]
        exchange_rows(A, order, k, n)
        # A column of zeros has no pivot: its unknown becomes zero instead of infinite.
        scale = 1.0 / first[k] if first[k] != 0.0 else 0.0
        for i in range(k + 1, n):
            A[i, k] *= scale
            A[i, k + 1] -= A[i, k] * first[k + 1]
        exchange_rows(A, order, k + 1, n)
        scale = 1.0 / second[k + 1] if second[k + 1] != 0.0 else 0.0
        part = second[k]
        # Rows below need the complete second pivot row.
        for j in simd_range(k + 2, n):
            second[j] -= part * first[j]
        for i in range(k + 2, n):
            below = A[i]
            below[k + 1] *= scale
            part, other = below[k], below[k + 1]
            if part != 0.0 or other != 0.0:
                for j in simd_range(k + 2, n):
                    below[j] -= part * first[j] + other * second[j]
    if n % 2 == 1:
        order[n - 1] = n - 1


@compiled
def exchange_rows(A: FloatArray, order: IntArray, k: int, n: int) -> None:
    """Exchange row k with the one at or below it that has the largest element of column k.

    :param order: number of that row; element k is a result
    """
    pivot = k
    for i in range(k + 1, n):
        if abs(A[i, k]) > abs(A[pivot, k]):
            pivot = i
    order[k] = pivot
    if pivot != k:
        for j in range(n):
            A[k, j], A[pivot, j] = A[pivot, j], A[k, j]


@compiled
def solve_pivoted(A: FloatArray, order: IntArray, x: FloatArray, n: int) -> None:
    """Replace x by the solution of A x' = x.

    :param A: result of `factorize_pivoted`, (n, n) or larger
    :param order: likewise, (n,) or longer
    :param x: right-hand side, then solution, (n,) or longer
    :param n: size of the system; an unknown with a zero pivot is zero
    """
    for k in range(n):
        # Row exchanges in the order of factorization: P b.
        pivot = order[k]
        x[k], x[pivot] = x[pivot], x[k]
    # Forward with L, of unit diagonal; below, backward with R. Both read rows, in memory order.
    for i in range(1, n):
        x[i] -= product_of_parts(A[i], x, 0, i)
    for k in range(n - 1, -1, -1):
        row = A[k]
        left = x[k] - product_of_parts(row, x, k + 1, n)
        x[k] = left / row[k] if row[k] != 0.0 else 0.0


@compiled
def product_of_parts(x: FloatArray, y: FloatArray, first: int, end: int) -> float:
    """Return the scalar product of parts of two vectors, by four independent sums.

    :param first: index of the first element
    :param end: index after the last element
    """
    a = b = c = d = 0.0
    in_fours = end - (end - first) % 4
    for k in range(first, in_fours, 4):
        a += x[k] * y[k]
        b += x[k + 1] * y[k + 1]
        c += x[k + 2] * y[k + 2]
        d += x[k + 3] * y[k + 3]
    for k in range(in_fours, end):
        a += x[k] * y[k]
    return (a + b) + (c + d)


@compiled
def factorize(A: FloatArray, n: int) -> None:
    """Replace a symmetric positive-definite matrix by its factors, A = L D L^T.

    The upper triangle becomes D L^T, the lower one L, and the diagonal the inverse of D: solving
    reads rows only. Unknowns that depend on others are zero.

    :param A: matrix, (n, n) or larger, of whose leading part the upper half is read
    :param n: size of that part
    """
    for k in range(n):
        above = A[k]
        # A pivot of zero or less is rounding of a semidefinite matrix: other unknowns determine
        # this one.
        inverse = 1.0 / above[k] if above[k] > NOTHING else 0.0
        above[k] = inverse
        for i in range(k + 1, n):
            below = A[i]
            # l_ik = d_k^-1 (D L^T)_ki. Right-looking: the rest of the matrix is updated at once.
            part = above[i] * inverse
            below[k] = part
            if part != 0.0:
                for j in simd_range(i, n):
                    below[j] -= part * above[j]


@compiled
def solve_factorized(A: FloatArray, x: FloatArray, n: int) -> None:
    """Replace x by the solution of A x' = x.

    :param A: result of `factorize`, (n, n) or larger
    :param x: right-hand side, then solution, (n,) or longer
    :param n: size of the system
    """
    for k in range(n):
        above = A[k]
        # L y = x by columns of L, which are rows of D L^T over d: y / d is ready for back
        # substitution.
        x[k] *= above[k]
        part = x[k]
        for i in simd_range(k + 1, n):
            x[i] -= part * above[i]
    for k in range(n - 1, 0, -1):
        below, part = A[k], x[k]
        for j in simd_range(k):
            x[j] -= part * below[j]


@compiled
def clear(x: FloatArray, n: int) -> None:
    """Set the first elements to zero."""
    for i in range(n):
        x[i] = 0.0
