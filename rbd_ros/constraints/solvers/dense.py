"""Dense linear systems in compiled loops: leading parts of larger arrays, nothing allocated."""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled
from rbd_ros.constraints.friction_space import FloatArray


@compiled
def solve_leading(A: FloatArray, x: FloatArray, n: int) -> None:
    """Replace x by the solution of A x' = x (Gaussian elimination with partial pivoting).

    :param A: matrix, (n, n) or larger; its leading part is destroyed
    :param x: right-hand side, then solution, (n,) or longer
    :param n: size of the system; where a pivot is zero, so is the unknown
    """
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(k, n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            x[k], x[pivot] = x[pivot], x[k]
        above = A[k]
        if above[k] == 0.0:
            continue
        scale = 1.0 / above[k]
        for i in range(k + 1, n):
            below = A[i]
            part = below[k] * scale
            if part != 0.0:
                for j in range(k + 1, n):
                    below[j] -= part * above[j]
                x[i] -= part * x[k]
    for k in range(n - 1, -1, -1):
        row = A[k]
        total = x[k]
        for j in range(k + 1, n):
            total -= row[j] * x[j]
        x[k] = total / row[k] if row[k] != 0.0 else 0.0


@compiled
def cholesky(A: FloatArray, n: int) -> None:
    """Replace a symmetric positive-definite matrix by its lower factor, A = L L^T.

    :param A: matrix, (n, n) or larger, of whose leading part the lower half is read and replaced
    :param n: size of that part
    """
    for i in range(n):
        row = A[i]
        for j in range(i + 1):
            other = A[j]
            total = row[j]
            for k in range(j):
                total -= row[k] * other[k]
            if i == j:
                row[j] = math.sqrt(max(total, 1e-300))
            else:
                row[j] = total / other[j]


@compiled
def solve_cholesky(L: FloatArray, x: FloatArray, n: int) -> None:
    """Replace x by the solution of L L^T x' = x.

    :param L: what `cholesky` leaves, (n, n) or larger
    :param x: right-hand side, then solution, (n,) or longer
    :param n: size of the system
    """
    for i in range(n):
        row = L[i]
        total = x[i]
        for j in range(i):
            total -= row[j] * x[j]
        x[i] = total / row[i]
    for i in range(n - 1, -1, -1):
        row = L[i]
        x[i] /= row[i]
        for j in range(i):
            x[j] -= row[j] * x[i]
