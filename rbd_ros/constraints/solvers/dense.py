# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dense linear systems in compiled loops, on leading parts of arrays, without allocation."""

from __future__ import annotations

from rbd_ros.compiler.loops import compiled, simd_range
from rbd_ros.constraints.friction_space import FloatArray, IntArray

#: A pivot below this is a rounding error, of matrices whose elements are of the order of one.
NOTHING = 1e-15


@compiled
def factorize_pivoted(A: FloatArray, order: IntArray, n: int) -> None:
    """Replace a matrix by its factors, P A = L R (Gaussian elimination with partial pivoting).

    Zeros are left out: of bodies in a row, each is coupled with its neighbors alone.

    :param A: matrix, (n, n) or larger, whose leading part becomes R and, below the diagonal, L
    :param order: which row was exchanged with each, a result, (n,) or longer
    :param n: size of the leading part
    """
    for k in range(0, n - 1, 2):
        # Two columns at a time: what is below them is loaded and stored half as often.
        first, second = A[k], A[k + 1]
        exchange_rows(A, order, k, n)
        # A column of zeros has no pivot: its unknown becomes zero when solved, nothing infinite
        # arises.
        scale = 1.0 / first[k] if first[k] != 0.0 else 0.0
        for i in range(k + 1, n):
            A[i, k] *= scale
            A[i, k + 1] -= A[i, k] * first[k + 1]
        exchange_rows(A, order, k + 1, n)
        scale = 1.0 / second[k + 1] if second[k + 1] != 0.0 else 0.0
        part = second[k]
        # The second pivot row has to be complete before rows below use it.
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
    """Exchange a row of a matrix and the one below with the largest element of column k.

    :param order: which row that was; element k is a result
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

    :param A: what `factorize_pivoted` leaves, (n, n) or larger
    :param order: likewise, (n,) or longer
    :param x: right-hand side, then solution, (n,) or longer
    :param n: size of the system; where a pivot is zero, so is the unknown
    """
    for k in range(n):
        # In the order in which rows were exchanged: P b.
        pivot = order[k]
        x[k], x[pivot] = x[pivot], x[k]
    # Forward with L, of unit diagonal; below, backward with R. Both read rows: memory in order.
    for i in range(1, n):
        x[i] -= product_of_parts(A[i], x, 0, i)
    for k in range(n - 1, -1, -1):
        row = A[k]
        left = x[k] - product_of_parts(row, x, k + 1, n)
        x[k] = left / row[k] if row[k] != 0.0 else 0.0


@compiled
def product_of_parts(x: FloatArray, y: FloatArray, first: int, end: int) -> float:
    """Return scalar product of parts of two vectors, by four sums that do not wait for each other.

    :param first: where the parts begin
    :param end: where they have ended
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

    Above the diagonal, D L^T is left, below it L, and on it the inverse of D: all that solving
    asks for lies in rows. What depends on unknowns before it is zero.

    :param A: matrix, (n, n) or larger, of whose leading part the upper half is read
    :param n: size of that part
    """
    for k in range(n):
        above = A[k]
        # A pivot of zero or less is rounding of a semidefinite matrix: the unknown is one of those
        # that others determine.
        inverse = 1.0 / above[k] if above[k] > NOTHING else 0.0
        above[k] = inverse
        for i in range(k + 1, n):
            below = A[i]
            # l_ik = d_k^-1 (D L^T)_ki. Right-looking: the rest of the matrix gets its update at
            # once.
            part = above[i] * inverse
            below[k] = part
            if part != 0.0:
                for j in simd_range(i, n):
                    below[j] -= part * above[j]


@compiled
def solve_factorized(A: FloatArray, x: FloatArray, n: int) -> None:
    """Replace x by the solution of A x' = x.

    :param A: what `factorize` leaves, (n, n) or larger
    :param x: right-hand side, then solution, (n,) or longer
    :param n: size of the system
    """
    for k in range(n):
        above = A[k]
        # L y = x by columns of L, which are the rows of D L^T times 1 / d: y / d is at hand for
        # the way back.
        x[k] *= above[k]
        part = x[k]
        for i in simd_range(k + 1, n):
            x[i] -= part * above[i]
    for k in range(n - 1, 0, -1):
        below, part = A[k], x[k]
        for j in simd_range(k):
            x[j] -= part * below[j]
