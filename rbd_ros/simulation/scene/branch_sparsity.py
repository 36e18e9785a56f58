# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Impulses in the robot's tree, along the path from their link to the base.

Rows of a contact's Jacobian, and their products with L^-1 D^-1/2 (contact_problem.py), are zero
except on that path, so only these elements are read or written.
"""

from __future__ import annotations

from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.loops.loop_directions import RANK
from rbd_ros.simulation.records.simulation_model import SimulationModel, Tree
from rbd_ros.simulation.records.workspace import Problem
from rbd_ros.simulation.stepping.linear import add_scaled, clear, copy, dot


@compiled
def clear_along(tree: Tree, leaf: int, x: FloatArray) -> None:
    """Set x to zero on the path of a degree of freedom, or everywhere.

    :param leaf: the degree of freedom; -1: everywhere
    """
    # Rows without a single path, such as contacts of two links, have leaf -1: all DoFs.
    if leaf < 0:
        clear(x)
    else:
        for at in range(tree.path_first[leaf], tree.path_first[leaf + 1]):
            x[tree.path[at]] = 0.0


@compiled
def add_along(tree: Tree, leaf: int, scale: float, x: FloatArray, y: FloatArray) -> None:
    """Add `scale` x to y; see `clear_along`."""
    if leaf < 0:
        add_scaled(scale, x, y)
    else:
        for at in range(tree.path_first[leaf], tree.path_first[leaf + 1]):
            k = tree.path[at]
            y[k] += scale * x[k]


@compiled
def dot_along(tree: Tree, leaf: int, x: FloatArray, y: FloatArray) -> float:
    """Return the scalar product; see `clear_along`."""
    total = 0.0
    if leaf < 0:
        for k in range(len(x)):
            total += x[k] * y[k]
    else:
        for at in range(tree.path_first[leaf], tree.path_first[leaf + 1]):
            k = tree.path[at]
            total += x[k] * y[k]
    return total


@compiled
def add_rows_along(
    tree: Tree, leaf: int, weights: FloatArray, X: FloatArray, y: FloatArray
) -> None:
    """Add `weights` X to y, all three rows in one pass; see `clear_along`.

    :param weights: (3,)
    :param X: (3, nv)
    :param y: the sum, (nv,)
    """
    a, b, c = weights[0], weights[1], weights[2]
    first, second, third = X[0], X[1], X[2]
    if leaf < 0:
        for k in range(len(y)):
            y[k] = y[k] + a * first[k] + b * second[k] + c * third[k]
    else:
        for at in range(tree.path_first[leaf], tree.path_first[leaf + 1]):
            k = tree.path[at]
            y[k] = y[k] + a * first[k] + b * second[k] + c * third[k]


@compiled
def rows_along(tree: Tree, leaf: int, X: FloatArray, y: FloatArray) -> Tuple[float, float, float]:
    """Return the scalar products of three rows and y, in one pass; see `clear_along`.

    :param X: (3, nv)
    :param y: (nv,)
    """
    # Three independent sums in one pass: the index of the path is read once.
    a = b = c = 0.0
    first, second, third = X[0], X[1], X[2]
    if leaf < 0:
        for k in range(len(y)):
            a += first[k] * y[k]
            b += second[k] * y[k]
            c += third[k] * y[k]
    else:
        for at in range(tree.path_first[leaf], tree.path_first[leaf + 1]):
            k = tree.path[at]
            a += first[k] * y[k]
            b += second[k] * y[k]
            c += third[k] * y[k]
    return a, b, c


@compiled
def squares_along(tree: Tree, leaf: int, X: FloatArray) -> Tuple[float, float, float]:
    """Return the squared lengths of three rows, in one pass; see `clear_along`.

    :param X: (3, nv)
    """
    a = b = c = 0.0
    first, second, third = X[0], X[1], X[2]
    if leaf < 0:
        for k in range(len(first)):
            a += first[k] * first[k]
            b += second[k] * second[k]
            c += third[k] * third[k]
    else:
        for at in range(tree.path_first[leaf], tree.path_first[leaf + 1]):
            k = tree.path[at]
            a += first[k] * first[k]
            b += second[k] * second[k]
            c += third[k] * third[k]
    return a, b, c


@compiled
def half_solve(
    model: SimulationModel, problem: Problem, root: FloatArray, J: FloatArray, y: FloatArray
) -> None:
    """Compute a row of Y; see the beginning of this file.

    :param root: D^-1/2, (nv,)
    :param J: row of a Jacobian, (nv,)
    :param y: the result, (nv,)
    """
    if model.has_loops:
        # With loops, rows of the basis span the closed velocities, orthonormal under H.
        loops, n = problem.loops, len(y)
        clear(y)
        for k in range(n - loops.counts[RANK]):
            y[k] = dot(loops.basis[k], J)
    else:
        tree = model.tree
        # Back substitution of y = L^-T J with the sparsity of L (book 6.5), then D^-1/2.
        copy(J, y)
        for i in range(len(y) - 1, -1, -1):
            # A contact is moved by few joints of a robot with legs or arms.
            if y[i] == 0.0:
                continue
            row, own = problem.factor[i], y[i]
            for at in range(tree.row_first[i], tree.row_first[i + 1]):
                y[tree.row_index[at]] -= row[tree.row_index[at]] * own
            y[i] = own * root[i]


@compiled
def half_solve_rows(
    model: SimulationModel,
    problem: Problem,
    root: FloatArray,
    leaf: int,
    J: FloatArray,
    Y: FloatArray,
) -> None:
    """Compute three rows of Y in one pass, with independent sums.

    :param root: D^-1/2, (nv,)
    :param leaf: see `SceneWork`
    :param J: rows of a Jacobian, (3, nv)
    :param Y: the result, (3, nv)
    """
    if leaf < 0:
        for r in range(3):
            half_solve(model, problem, root, J[r], Y[r])
        return
    tree = model.tree
    J_0, J_1, J_2, Y_0, Y_1, Y_2 = J[0], J[1], J[2], Y[0], Y[1], Y[2]
    # The same along the path; scaling comes last, as L applies to unscaled elements.
    first, end = tree.path_first[leaf], tree.path_first[leaf + 1]
    for at in range(first, end):
        i = tree.path[at]
        a, b, c = J_0[i], J_1[i], J_2[i]
        # Rows of L with an entry here come before it on the path, which begins at the leaf.
        for before in range(first, at):
            k = tree.path[before]
            factor = problem.factor[k, i]
            a -= factor * Y_0[k]
            b -= factor * Y_1[k]
            c -= factor * Y_2[k]
        Y_0[i], Y_1[i], Y_2[i] = a, b, c
    for at in range(first, end):
        i = tree.path[at]
        by = root[i]
        Y_0[i], Y_1[i], Y_2[i] = Y_0[i] * by, Y_1[i] * by, Y_2[i] * by


@compiled
def finish_half_solve(
    model: SimulationModel, problem: Problem, root: FloatArray, y: FloatArray, v: FloatArray
) -> None:
    """Compute the velocity of a sum of rows of Y.

    :param root: D^-1/2, (nv,)
    :param y: the sum; destroyed, (nv,)
    :param v: the result, (nv,)
    """
    if model.has_loops:
        loops, n = problem.loops, len(y)
        clear(v)
        for k in range(n - loops.counts[RANK]):
            add_scaled(y[k], loops.basis[k], v)
    else:
        tree = model.tree
        # v = L^-1 D^-1/2 y by forward substitution: parents come before their children.
        for i in range(len(y)):
            row, total = problem.factor[i], y[i] * root[i]
            for at in range(tree.row_first[i], tree.row_first[i + 1]):
                total -= row[tree.row_index[at]] * y[tree.row_index[at]]
            y[i] = total
        copy(y, v)
