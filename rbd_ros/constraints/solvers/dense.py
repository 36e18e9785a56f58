"""Dense linear systems in compiled loops: leading parts of larger arrays, nothing allocated."""

from __future__ import annotations

from rbd_ros.compiler.loops import compiled, side_by_side
from rbd_ros.constraints.friction_space import FloatArray, IntArray

#: A pivot below this is a rounding error, of matrices whose elements are of the order of one.
NOTHING = 1e-15


@compiled
def factorise_pivoted(A: FloatArray, order: IntArray, n: int) -> None:
    """Replace a matrix by its factors, P A = L R (Gaussian elimination with partial pivoting).

    :param A: matrix, (n, n) or larger, whose leading part becomes R and, below the diagonal, L
    :param order: which row was exchanged with each, a result, (n,) or longer
    :param n: size of the leading part
    """
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[pivot, k]):
                pivot = i
        order[k] = pivot
        if pivot != k:
            for j in range(n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
        above = A[k]
        if above[k] == 0.0:
            continue
        scale = 1.0 / above[k]
        for i in range(k + 1, n):
            below = A[i]
            part = below[k] * scale
            below[k] = part
            if part != 0.0:
                for j in side_by_side(k + 1, n):
                    below[j] -= part * above[j]


@compiled
def solve_pivoted(A: FloatArray, order: IntArray, x: FloatArray, n: int) -> None:
    """Replace x by the solution of A x' = x.

    :param A: what `factorise_pivoted` leaves, (n, n) or larger
    :param order: likewise, (n,) or longer
    :param x: right-hand side, then solution, (n,) or longer
    :param n: size of the system; where a pivot is zero, so is the unknown
    """
    for k in range(n):
        pivot = order[k]
        x[k], x[pivot] = x[pivot], x[k]
    for i in range(1, n):
        row, total = A[i], x[i]
        for k in range(i):
            total -= row[k] * x[k]
        x[i] = total
    for k in range(n - 1, -1, -1):
        row, total = A[k], x[k]
        for j in range(k + 1, n):
            total -= row[j] * x[j]
        x[k] = total / row[k] if row[k] != 0.0 else 0.0


@compiled
def factorise(A: FloatArray, n: int) -> None:
    """Replace a symmetric positive-definite matrix by its factors, A = L D L^T.

    Above the diagonal, D L^T is left, below it L, and on it the inverse of D: all that solving
    asks for lies in rows. What depends on unknowns before it is zero.

    :param A: matrix, (n, n) or larger, of whose leading part the upper half is read
    :param n: size of that part
    """
    for k in range(n):
        above = A[k]
        inverse = 1.0 / above[k] if above[k] > NOTHING else 0.0
        above[k] = inverse
        for i in range(k + 1, n):
            below = A[i]
            part = above[i] * inverse
            below[k] = part
            if part != 0.0:
                for j in side_by_side(i, n):
                    below[j] -= part * above[j]


@compiled
def solve_factorised(A: FloatArray, x: FloatArray, n: int) -> None:
    """Replace x by the solution of A x' = x.

    :param A: what `factorise` leaves, (n, n) or larger
    :param x: right-hand side, then solution, (n,) or longer
    :param n: size of the system
    """
    for k in range(n):
        above = A[k]
        x[k] *= above[k]
        part = x[k]
        for i in side_by_side(k + 1, n):
            x[i] -= part * above[i]
    for k in range(n - 1, 0, -1):
        below, part = A[k], x[k]
        for j in side_by_side(k):
            x[j] -= part * below[j]
