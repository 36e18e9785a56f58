# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Independent constraints of kinematic loops, and the motions that they allow.

With H = L^T D L, kinetic energy is half the squared length of z = D^1/2 L v, and the loops keep z
orthogonal to the rows G = K L^-1 D^-1/2. Householder reflections with pivoting take G to
triangular form and show its rank. The remainder of redundant rows is rounding; in a singular
configuration, rows with a remainder below `TOLERANCE` are dropped. So no correction is larger than
the error that it removes divided by the tolerance.
"""

from __future__ import annotations

import math

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import State
from rbd_ros.simulation.records.workspace import Loops
from rbd_ros.simulation.stepping.joint_law import is_held
from rbd_ros.simulation.stepping.linear import (
    add_scaled,
    clear,
    copy_rows,
    dot,
    factorize,
    to_momentum_units,
    to_velocity,
)

#: Remainder of a constraint, relative to its natural size, that counts as zero: far above
#: rounding, and passed in less than a step at a singular configuration.
TOLERANCE = 1e-7

#: Indices into `Loops.counts`.
RANK, HELD, HELD_RANK, FIXED = range(4)


@compiled
def find_loops(model: SimulationModel, state: State, mass: FloatArray, loops: Loops) -> None:
    """Compute the constraints in the present state, and their directions.

    :param mass: mass matrix with implicit damping, (nv, nv)
    """
    # K and k of K a = k, and the position error, of the tree's present configuration.
    call_kernel(model.loop_constraints, state.packed, loops.found)
    loops.counts[FIXED] = 0
    find_directions(model, mass, loops.jacobian, loops)


@compiled
def fix_held(segment: IntArray, loops: Loops) -> None:
    """Exclude joints that friction or a limit holds from corrections.

    :param segment: segment of its law for each joint, (nv,)
    """
    loops.counts[FIXED] = 0
    for i in range(len(segment)):
        loops.fixed[i] = 1 if is_held(segment[i]) else 0
        if loops.fixed[i] == 1:
            loops.counts[FIXED] = 1


@compiled
def find_directions(model: SimulationModel, mass: FloatArray, K: FloatArray, loops: Loops) -> None:
    """Compute `factor`, `rows`, `reflectors` and the rank; fixed joints are excluded.

    :param mass: mass matrix, (nv, nv)
    :param K: Jacobian of the constraints, (n^c, nv)
    """
    n, tree, factor, rows = len(mass), model.tree, loops.factor, loops.rows
    find_references(model, mass, K, loops.reference)
    copy_rows(mass, factor)
    copy_rows(K, rows)
    if loops.counts[FIXED] == 1:
        for i in range(n):
            if loops.fixed[i] == 1:
                for j in range(n):
                    # A fixed joint is decoupled, not removed: indices and sparsity stay.
                    factor[i, j] = 0.0
                    factor[j, i] = 0.0
                factor[i, i] = 1.0
                for c in range(len(K)):
                    rows[c, i] = 0.0
    factorize(factor, tree)
    for c in range(len(K)):
        to_momentum_units(factor, tree, rows[c])
    loops.counts[RANK] = triangulate(
        rows, loops.reflectors, loops.reference, loops.order, len(K), n
    )


@compiled
def find_references(
    model: SimulationModel, mass: FloatArray, K: FloatArray, reference: FloatArray
) -> None:
    """Compute the scale of each row, that of the largest row of its loop."""
    for loop in range(len(model.loop_first) - 1):
        largest = 0.0
        for c in range(model.loop_first[loop], model.loop_first[loop + 1]):
            square = 0.0
            # K_ci^2 / H_ii is the contribution of joint i alone to the squared length of the row
            # under H^-1, independent of units.
            for i in range(len(mass)):
                square += K[c, i] * K[c, i] / mass[i, i]
            largest = max(largest, square)
        for c in range(model.loop_first[loop], model.loop_first[loop + 1]):
            reference[c] = math.sqrt(largest)


@compiled
def triangulate(
    rows: FloatArray,
    reflectors: FloatArray,
    reference: FloatArray,
    order: IntArray,
    count: int,
    width: int,
) -> int:
    """Replace rows by their triangular factor: rows = T Q^T, Q the product of the reflections.

    :param rows: (count, width) or larger; the rows of T come in the order of `order`
    :param reflectors: unit vectors of the reflections, a result
    :param reference: scale of each row, reordered likewise
    :param order: original index of each row, a result
    :return: rank
    """
    for c in range(count):
        order[c] = c
    for k in range(min(count, width)):
        pivot, largest = k, 0.0
        for c in range(k, count):
            square = 0.0
            for j in range(k, width):
                square += rows[c, j] * rows[c, j]
            # Relative to the scale of the row: rows differ in their units.
            size = square / (reference[c] * reference[c]) if reference[c] > 0.0 else 0.0
            if size > largest:
                pivot, largest = c, size
        # Negated, so that NaN ends it.
        if not largest > TOLERANCE * TOLERANCE:
            return k
        if pivot != k:
            for j in range(width):
                rows[k, j], rows[pivot, j] = rows[pivot, j], rows[k, j]
            reference[k], reference[pivot] = reference[pivot], reference[k]
            order[k], order[pivot] = order[pivot], order[k]
        # Householder QR of the transposed rows with column pivoting (Golub and Van Loan, section
        # 5.4): the diagonal decreases, so the first small element shows the rank.
        reflect_rows(rows, reflectors[k], k, count, width)
    return min(count, width)


@compiled
def reflect_rows(rows: FloatArray, u: FloatArray, k: int, count: int, width: int) -> None:
    """Apply a Householder reflection that zeroes row k beyond its diagonal.

    :param u: unit vector of the reflection, a result
    """
    square = 0.0
    for j in range(k, width):
        square += rows[k, j] * rows[k, j]
    # The sign without cancellation.
    end = -math.copysign(math.sqrt(square), rows[k, k])
    for j in range(width):
        u[j] = rows[k, j] if j >= k else 0.0
    u[k] -= end
    size = math.sqrt(dot(u, u))
    for j in range(width):
        u[j] /= size
    for c in range(k, count):
        reflect(u, rows[c], width)
    rows[k, k] = end
    for j in range(k + 1, width):
        rows[k, j] = 0.0


@compiled
def reflect(u: FloatArray, x: FloatArray, width: int) -> None:
    """Replace x by its reflection x - 2 u u^T x."""
    along = 0.0
    for j in range(width):
        along += u[j] * x[j]
    for j in range(width):
        x[j] -= 2.0 * along * u[j]


@compiled
def respond(model: SimulationModel, loops: Loops, x: FloatArray) -> None:
    """Replace an impulse, or force, by the velocity that it causes with closed loops."""
    n, rank, tree = len(x), loops.counts[RANK], model.tree
    to_momentum_units(loops.factor, tree, x)
    # P = 1 - Q_1 Q_1^T: transform to reflected coordinates, drop the components along constraints,
    # and transform back.
    for k in range(rank):
        reflect(loops.reflectors[k], x, n)
    # The first ones are along the constraints.
    for k in range(rank):
        x[k] = 0.0
    for k in range(rank - 1, -1, -1):
        reflect(loops.reflectors[k], x, n)
    to_velocity(loops.factor, tree, x)


@compiled
def correct(model: SimulationModel, loops: Loops, error: FloatArray, x: FloatArray) -> None:
    """Compute the velocity of minimum kinetic energy with K x = `error`.

    :param error: by row of K, (n^c,)
    :param x: the result, (nv,)
    """
    n, rank, tree, T = len(x), loops.counts[RANK], model.tree, loops.rows
    clear(x)
    for k in range(rank):
        # T T^T would square the condition number; T y = error and x = Q y give the shortest x.
        rest = error[loops.order[k]]
        for j in range(k):
            rest -= T[k, j] * x[j]
        x[k] = rest / T[k, k]
    for k in range(rank - 1, -1, -1):
        reflect(loops.reflectors[k], x, n)
    to_velocity(loops.factor, tree, x)


@compiled
def add_multipliers(
    model: SimulationModel, loops: Loops, rest: FloatArray, scale: float, force: FloatArray
) -> None:
    """Add the part K^T lambda of a generalized force; redundant rows have no multipliers.

    :param rest: force that is K^T lambda along the constraints; destroyed, (nv,)
    :param scale: factor of the added force
    :param force: sum, (nv,)
    """
    n, rank, tree, T = len(rest), loops.counts[RANK], model.tree, loops.rows
    to_momentum_units(loops.factor, tree, rest)
    for k in range(rank):
        reflect(loops.reflectors[k], rest, n)
    for k in range(rank - 1, -1, -1):
        # Back substitution with T^T: multipliers of independent rows.
        for j in range(k + 1, rank):
            rest[k] -= T[j, k] * rest[j]
        rest[k] /= T[k, k]
        add_scaled(scale * rest[k], loops.jacobian[loops.order[k]], force)


@compiled
def find_basis(model: SimulationModel, loops: Loops) -> None:
    """Compute `basis`, velocities with closed loops, orthonormal under the mass matrix."""
    n, rank, tree = len(loops.factor), loops.counts[RANK], model.tree
    for f in range(n - rank):
        x = loops.basis[f]
        clear(x)
        # Columns of Q after the rank are orthogonal to all rows: H^-1/2 of them are motions with
        # closed loops.
        x[rank + f] = 1.0
        for k in range(rank - 1, -1, -1):
            reflect(loops.reflectors[k], x, n)
        to_velocity(loops.factor, tree, x)
