# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Linear systems: the branch-sparse factorization H = L^T D L (book 6.5), a dense solver."""

from __future__ import annotations

import math

from rbd_ros.array_types import AnyArray, FloatArray
from rbd_ros.compiler.loops import compiled, simd_range
from rbd_ros.constraints.solvers.dense import product_of_parts
from rbd_ros.simulation.records.simulation_model import Tree


@compiled
def factorize(H: FloatArray, tree: Tree) -> None:
    """Replace H by its factors: D on the diagonal, L below it (book table 6.4).

    :param H: symmetric and positive definite, (n, n)
    """
    row_first, row_index = tree.row_first, tree.row_index
    # From the tips to the base, without fill-in: entries of bodies on different branches stay zero
    # (book 6.3).
    for k in range(len(H) - 1, -1, -1):
        scale = 1.0 / H[k, k]
        for at in range(row_first[k], row_first[k + 1]):
            i = row_index[at]
            a = H[k, i] * scale
            for further in range(at, row_first[k + 1]):
                j = row_index[further]
                H[i, j] -= a * H[k, j]
        # After the elimination above, which needs the original row.
        for at in range(row_first[k], row_first[k + 1]):
            H[k, row_index[at]] *= scale


@compiled
def solve_factorized(factor: FloatArray, tree: Tree, x: FloatArray) -> None:
    """Replace the right-hand side x by the solution of L^T D L x' = x (book table 6.5).

    :param factor: result of `factorize`, (n, n)
    :param x: right-hand side, then solution, (n,)
    """
    # Three systems in turn, in place: L^T from the tips to the base, D, and L back out.
    solve_upward(factor, tree, x)
    for i in range(len(x)):
        x[i] /= factor[i, i]
    solve_outward(factor, tree, x)


@compiled
def to_momentum_units(factor: FloatArray, tree: Tree, x: FloatArray) -> None:
    """Replace an impulse x by D^-1/2 L^-T x, whose squared length is x^T H^-1 x.

    :param factor: result of `factorize`, (n, n)
    :param x: impulse, then result, (n,)
    """
    solve_upward(factor, tree, x)
    for i in range(len(x)):
        x[i] /= math.sqrt(factor[i, i])


@compiled
def to_velocity(factor: FloatArray, tree: Tree, x: FloatArray) -> None:
    """Replace x by the velocity L^-1 D^-1/2 x: after `to_momentum_units`, H^-1 is applied.

    :param factor: result of `factorize`, (n, n)
    :param x: as `to_momentum_units` returns, then velocity, (n,)
    """
    for i in range(len(x)):
        x[i] /= math.sqrt(factor[i, i])
    solve_outward(factor, tree, x)


@compiled
def solve_upward(factor: FloatArray, tree: Tree, x: FloatArray) -> None:
    """Replace x by L^-T x, from the tips to the base."""
    for i in range(len(x) - 1, -1, -1):
        for at in range(tree.row_first[i], tree.row_first[i + 1]):
            x[tree.row_index[at]] -= factor[i, tree.row_index[at]] * x[i]


@compiled
def solve_outward(factor: FloatArray, tree: Tree, x: FloatArray) -> None:
    """Replace x by L^-1 x, from the base to the tips."""
    for i in range(len(x)):
        for at in range(tree.row_first[i], tree.row_first[i + 1]):
            x[i] -= factor[i, tree.row_index[at]] * x[tree.row_index[at]]


@compiled
def solve_dense(A: FloatArray, x: FloatArray) -> None:
    """Replace x by the solution of A x' = x (Gaussian elimination with partial pivoting).

    :param A: matrix, (n, n), which is destroyed; it need not be symmetric
    :param x: right-hand side, then solution, (n,)
    """
    n = len(x)
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            # Partial pivoting: multipliers of at most 1 do not amplify errors.
            if abs(A[i, k]) > abs(A[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(k, n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            x[k], x[pivot] = x[pivot], x[k]
        top = A[k]
        scale = 1.0 / top[k]
        for i in range(k + 1, n):
            row = A[i]
            a = row[k] * scale
            if a != 0.0:  # rows of held joints are zero except for the diagonal
                for j in simd_range(k + 1, n):
                    row[j] -= a * top[j]
                x[i] -= a * x[k]
    for k in range(n - 1, -1, -1):
        x[k] = (x[k] - product_of_parts(A[k], x, k + 1, n)) / A[k, k]


@compiled
def dot(a: FloatArray, b: FloatArray) -> float:
    """Return the scalar product."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@compiled
def copy(x: AnyArray, y: AnyArray) -> None:
    """Copy x to y."""
    for i in range(len(x)):
        y[i] = x[i]


@compiled
def copy_rows(A: FloatArray, B: FloatArray) -> None:
    """Copy the matrix A to B, or to its first rows."""
    for i in range(len(A)):
        copy(A[i], B[i])


@compiled
def clear(x: AnyArray) -> None:
    """Set x to zero."""
    for i in range(len(x)):
        # An integer, as x may hold integers; arrays of floats convert it.
        x[i] = 0


@compiled
def is_finite(x: FloatArray) -> bool:
    """Return whether all elements of x are finite."""
    for i in range(len(x)):
        if not abs(x[i]) < math.inf:
            return False
    return True


@compiled
def add_scaled(scale: float, x: FloatArray, y: FloatArray) -> None:
    """Add `scale` x to y."""
    for i in range(len(x)):
        y[i] += scale * x[i]
