# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Frictional contact problems in compiled loops: rows and cones, and the solvers' buffers.

With D = diag(1, mu_1, mu_2) of each contact, every friction cone becomes the self-dual Lorentz
cone |x_t| <= x_n. Contacts and rows are scaled once more, so that the largest element of their
diagonal block is one. With u = A x + b the problem is

    contacts:  K contains x,  u + (|u_t|, 0, 0),  and they are orthogonal           (De Saxce)
    rows:      x in [low, high],  u = 0 between,  u >= 0 at low,  u <= 0 at high
    moments:   |x| <= x_n of a contact,  and where it is as large,  u = -s x with s >= 0

Torsional friction has one row of moments; rolling friction has two, whose length is bounded. They
resist rotation as tangential forces resist sliding.

A space is allocated for a maximum problem. A smaller one uses the leading parts of the arrays;
nothing beyond them is read or written.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.compiler.loops import (
    compiled,
    floats,
    integers,
    load_vec,
    norm,
    simd_range,
    Vec,
    Vec3,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: States of contacts.
OPEN, STICK, SLIDE = 0, 1, 2

#: Indices into `sizes`.
CONTACTS, ROWS, MOMENTS = 0, 1, 2

#: Kinds of rows of moments: a moment by itself, or the first or second element of one.
ALONE, FIRST, SECOND = 0, 1, 2

#: Indices into `report`.
RESIDUAL, FLOOR, BEST, SWEEPS, NEWTON_STEPS, TOLERANCE, RANK = 0, 1, 2, 3, 4, 5, 6

#: A diagonal element below this fraction of the block's largest is a rounding error.
IMMOVABLE = 1e-14

#: Maximum residual that rounding may explain, and maximum rounding error of the forces of a
#: solution: unbounded forces solve nothing.
COARSEST = 1e-7

#: Residual of forces that are taken although they are not solved to the tolerance, where the last
#: digits would take many times longer.
ROUGH = 1e-6

#: Velocities over square root of mobility below which everything is at rest: products of smaller
#: ones underflow [(kg m^2/s^2)^1/2].
AT_REST = 1e-100

#: Unit of rounding.
EPSILON = 2.220446049250313e-16


class FrictionSpace(NamedTuple):
    """Buffers for a scaled problem of up to n contacts and m rows, N = 3n + m, and its solution.

    :param sizes: number of contacts, rows and rows of moments of the problem; in A they follow
        each other without gaps, and rows and moments share the space of the rows
    :param moment_contact: contact whose normal force bounds each row of moments
    :param part: ALONE, FIRST or SECOND, of each row of moments
    :param coefficient: moment per normal force of each row of moments, see `scale_space`
    :param A: matrix of the scaled problem, compliance included
    :param b: scaled velocities without forces, of elements of at most one
    :param low: minimum force of each row; may be -inf
    :param high: maximum force of each row; may be inf
    :param scale: unit of each force, see `scale_space`
    :param x: scaled forces: the start, then the result
    :param u: scaled velocities A x + b
    :param best: the best forces so far
    :param center: forces at which compliance has no effect (friction_load_sharing.py)
    :param slip: sliding velocity per friction force of each contact, for the next sweep
    :param report: residual and other figures, see above
    :param w: unknown of each force in Newton's method (friction_newton.py)
    :param rest: residuals f of these equations, negated
    :param change: changes of the unknowns by a step
    :param effect: changes of u by the changes of the forces
    :param derivative: derivatives of the forces of each contact by its unknowns
    :param moment_derivative: likewise of each row of moments, by the unknowns of its bound, of its
        first and of its second element
    :param unknown: row of A of each unknown that changes its force
    :param first: number of the first unknown of each contact among these; -1 if there is none
    :param factor: matrix of these, then its factors
    :param order: pivot rows of the factorization
    :param root: B with A = B B^T, its first columns (friction_low_rank.py)
    :param step: right-hand side, then solution
    """

    sizes: IntArray = integers(3)
    moment_contact: IntArray = integers('m')
    part: IntArray = integers('m')
    coefficient: FloatArray = floats('m')
    A: FloatArray = floats('N', 'N')
    b: FloatArray = floats('N')
    low: FloatArray = floats('m')
    high: FloatArray = floats('m')
    scale: FloatArray = floats('N')
    x: FloatArray = floats('N')
    u: FloatArray = floats('N')
    best: FloatArray = floats('N')
    center: FloatArray = floats('N')
    slip: FloatArray = floats('n')
    report: FloatArray = floats(7)
    w: FloatArray = floats('N')
    rest: FloatArray = floats('N')
    change: FloatArray = floats('N')
    effect: FloatArray = floats('N')
    derivative: FloatArray = floats('n', 3, 3)
    moment_derivative: FloatArray = floats('m', 3)
    unknown: IntArray = integers('N')
    first: IntArray = integers('n')
    factor: FloatArray = floats('N', 'N')
    order: IntArray = integers('N')
    root: FloatArray = floats('N', 'N')
    step: FloatArray = floats('N')


@compiled
def size_of(space: FrictionSpace) -> int:
    """Return the number of forces of the problem: contacts, rows and moments."""
    size: int = 3 * space.sizes[CONTACTS] + space.sizes[ROWS] + space.sizes[MOMENTS]
    return size


@compiled
def refresh(space: FrictionSpace) -> None:
    """Compute u = A x + b."""
    b, x, u = space.b, space.x, space.u
    contacts = space.sizes[CONTACTS]
    for i in range(size_of(space)):
        u[i] = b[i]
    for c in range(contacts):
        apply_contact_force(space, 3 * c, x[3 * c], x[3 * c + 1], x[3 * c + 2])
    for k in range(space.sizes[ROWS] + space.sizes[MOMENTS]):
        apply_row_force(space, 3 * contacts + k, x[3 * contacts + k])


@compiled
def apply_contact_force(space: FrictionSpace, i: int, f: float, f_1: float, f_2: float) -> None:
    """Add the effect of a change of a contact's force to the velocities u.

    :param i: first row of the contact
    """
    if f != 0.0 or f_1 != 0.0 or f_2 != 0.0:
        first, second, third, u = space.A[i], space.A[i + 1], space.A[i + 2], space.u
        for j in simd_range(size_of(space)):
            u[j] += f * first[j] + f_1 * second[j] + f_2 * third[j]


@compiled
def apply_row_force(space: FrictionSpace, i: int, f: float) -> None:
    """Add the effect of a change of a row's force to the velocities u."""
    if f != 0.0:
        effect, u = space.A[i], space.u
        for j in simd_range(size_of(space)):
            u[j] += f * effect[j]


@compiled
def find_floor(space: FrictionSpace) -> None:
    """Find the level of rounding errors of the velocities."""
    A, b, x = space.A, space.b, space.x
    n, largest = size_of(space), 0.0
    for i in range(n):
        row = A[i]
        size = abs(b[i])
        for j in range(n):
            size += abs(row[j] * x[j])
        largest = max(largest, size)
    space.report[FLOOR] = 8.0 * EPSILON * largest


@compiled
def clamp(value: float, low: float, high: float) -> float:
    """Return the number in an interval that is nearest to a value."""
    return min(max(value, low), high)


@compiled
def contact_residual(x: Vec3, u: Vec3) -> float:
    """Return a contact's residual: x less the projection of x - u - (|u_t|, 0, 0).

    :param x: its scaled force
    :param u: its scaled velocity
    """
    # The natural map of the complementarity K contains x, u + Phi(u) in K (Acary, Bremond and
    # Huber 2018): x solves it if and only if it is its own projection.
    s = math.sqrt(u[1] * u[1] + u[2] * u[2])
    d = u[0] + s
    w, w_1, w_2 = x - Vec(d, u[1], u[2])
    length = math.sqrt(w_1 * w_1 + w_2 * w_2)
    # Exact, where the difference would cancel: forces may be large, velocities small.
    if length <= w:
        return math.sqrt(d * d + s * s)
    if length <= -w:
        return norm(x)
    # Projection onto the boundary of the Lorentz cone, for w outside the cone and its polar.
    part = 0.5 * (w + length)
    return norm(x - Vec(part, part * w_1 / length, part * w_2 / length))


@compiled
def nearest_in_disc(w_1: float, w_2: float, bound: float) -> Tuple[float, float]:
    """Return the point of a disc about zero that is closest to w."""
    length = math.sqrt(w_1 * w_1 + w_2 * w_2)
    if length <= bound:
        return w_1, w_2
    part = bound / length
    return part * w_1, part * w_2


@compiled
def length_of(x: FloatArray, i: int, part: int) -> float:
    """Return the length of a moment.

    :param x: its elements, among others
    :param i: the first of them
    :param part: ALONE or FIRST
    """
    if part == FIRST:
        return math.sqrt(x[i] * x[i] + x[i + 1] * x[i + 1])
    length: float = abs(x[i])
    return length


@compiled
def moment_residual(x: FloatArray, u: FloatArray, i: int, part: int, bound: float) -> float:
    """Return a moment's residual: x less the nearest to x - u of those allowed.

    :param i: first row of the moment
    :param part: ALONE or FIRST
    :param bound: maximum moment
    """
    w, w_1 = x[i] - u[i], 0.0
    if part == FIRST:
        w_1 = x[i + 1] - u[i + 1]
    length = math.sqrt(w * w + w_1 * w_1)
    if length <= bound:
        turning: float = length_of(u, i, part)
        return turning
    e = x[i] - w * (bound / length)
    e_1 = x[i + 1] - w_1 * (bound / length) if part == FIRST else 0.0
    return math.sqrt(e * e + e_1 * e_1)


@compiled
def worse_of(one: float, other: float) -> float:
    """Return the larger residual; NaN is larger than any number."""
    if one <= other:
        return other
    if other <= one:
        return one
    return math.inf


@compiled
def residual(space: FrictionSpace) -> float:
    """Return the largest residual of contacts and rows, and remember the best forces.

    :return: zero for a solution, relative to the largest velocity without forces; infinite for
        forces whose rounding errors exceed it
    """
    x, u = space.x, space.u
    contacts = space.sizes[CONTACTS]
    worst = 0.0
    for i in range(size_of(space)):
        worst += abs(x[i])
    # Forces of 1e9 times the problem's unit balance only by rounding: their residual means
    # nothing.
    worst = math.inf if EPSILON * worst > COARSEST else 0.0
    for c in range(contacts):
        each = contact_residual(load_vec(x, 3, 3 * c), load_vec(u, 3, 3 * c))
        worst = worse_of(worst, each)
    for k in range(space.sizes[ROWS]):
        i = 3 * contacts + k
        # The natural map of an interval. Inside it, x - (x - u) would cancel the digits of a small
        # u beside a large x.
        each = abs(x[i] - clamp(x[i] - u[i], space.low[k], space.high[k]))
        if space.low[k] <= x[i] - u[i] <= space.high[k]:
            each = abs(u[i])
        worst = worse_of(worst, each)
    for k in range(space.sizes[MOMENTS]):
        if space.part[k] != SECOND:
            # The bound is that of the present normal force, not one fixed within a step.
            i = 3 * contacts + space.sizes[ROWS] + k
            each = moment_residual(
                x, u, i, space.part[k], max(x[3 * space.moment_contact[k]], 0.0)
            )
            worst = worse_of(worst, each)
    if worst < space.report[BEST]:
        space.report[BEST] = worst
        for i in range(size_of(space)):
            space.best[i] = x[i]
    space.report[RESIDUAL] = worst
    return worst


@compiled
def return_to_best(space: FrictionSpace) -> None:
    """Restore the best forces so far."""
    if space.report[BEST] < math.inf:
        for i in range(size_of(space)):
            space.x[i] = space.best[i]
    refresh(space)


@compiled
def is_solved(space: FrictionSpace) -> bool:
    """Return whether the forces solve the problem to the tolerance; recompute the velocities."""
    refresh(space)
    solved: bool = is_small(space, residual(space))
    return solved


@compiled
def is_small(space: FrictionSpace, worst: float) -> bool:
    """Return whether a residual is below the tolerance or at rounding level."""
    report = space.report
    if worst <= report[TOLERANCE]:
        return True
    # An upper bound at low cost: elements of A are at most one.
    largest, total = 0.0, 0.0
    for i in range(size_of(space)):
        largest = max(largest, abs(space.b[i]))
        total += abs(space.x[i])
    report[FLOOR] = 8.0 * EPSILON * (largest + total)
    # The exact floor costs a product with the matrix: only if this bound could decide.
    if not worst <= report[FLOOR]:
        return False
    find_floor(space)
    small: bool = worst <= min(report[FLOOR], COARSEST)
    return small


@compiled
def scale_space(space: FrictionSpace, friction: FloatArray) -> float:
    """Scale a problem in place; return U, with force times velocity = U^2 x u.

    Before, A (compliance included) and b belong to velocities and forces; x, low and high are
    forces, and `coefficient` has moments per normal force. Afterwards all are scaled, and forces
    are `scale` times x (`unscale_forces`).

    :param friction: coefficients along both tangents of each contact, (n, 2)
    """
    A, scale, n = space.A, space.scale, size_of(space)
    for i in range(n):
        scale[i] = A[i, i]
    unit: float = find_units(space, friction)
    for i in range(n):
        row, own = A[i], scale[i]
        # Only the lower triangle is scaled and mirrored: A stays exactly symmetric.
        for j in range(i):
            row[j] *= own * scale[j]
            A[j, i] = row[j]
        row[i] *= own * own
    scale_vectors(space, unit)
    return unit


@compiled
def find_units(space: FrictionSpace, friction: FloatArray) -> float:
    """Find the units of a problem that is not scaled yet; return U, see `scale_space`.

    `scale` holds the diagonal elements of A and gets the units of the forces, which times U are
    those of x.

    :param friction: see `scale_space`
    """
    b, scale = space.b, space.scale
    contacts, n = space.sizes[CONTACTS], size_of(space)
    largest = 0.0
    for c in range(contacts):
        i = 3 * c
        # One maximum per contact, so that cones stay cones.
        for r in range(2):
            mu = friction[c, r]
            scale[i] = max(scale[i], mu * mu * scale[i + 1 + r])
    first = 3 * contacts + space.sizes[ROWS]
    for k in range(space.sizes[MOMENTS]):
        i, by = 3 * space.moment_contact[k], space.coefficient[k]
        # A moment has the unit of its contact, so that its cone is a Lorentz cone.
        scale[i] = max(scale[i], by * by * scale[first + k])
    for k in range(space.sizes[MOMENTS]):
        scale[first + k] = scale[3 * space.moment_contact[k]]
    for c in range(contacts):
        largest = max(largest, scale[3 * c])
    for i in range(3 * contacts, n):
        largest = max(largest, scale[i])
    # Nothing can move: any finite unit is right.
    if not largest > 0.0:
        largest = 1.0
    for c in range(contacts):
        own = unit_of(scale[3 * c], largest)
        scale[3 * c] = own
        for r in range(2):
            scale[3 * c + 1 + r] = own * friction[c, r]
    for i in range(3 * contacts, n):
        scale[i] = unit_of(scale[i], largest)
    for k in range(space.sizes[MOMENTS]):
        scale[first + k] *= space.coefficient[k]
    unit = 0.0
    for i in range(n):
        unit = max(unit, abs(scale[i] * b[i]))
    # The unit of velocity: b has elements of at most one, so residuals compare with the tolerance.
    return unit if unit > AT_REST else 1.0


@compiled
def scale_vectors(space: FrictionSpace, unit: float) -> None:
    """Scale all of a problem but A, by the units of `find_units`.

    :param unit: U
    """
    b, x, scale, contacts = space.b, space.x, space.scale, space.sizes[CONTACTS]
    for i in range(size_of(space)):
        b[i] *= scale[i] / unit
        scale[i] *= unit
        x[i] = x[i] / scale[i] if scale[i] > 0.0 else 0.0
    for k in range(space.sizes[ROWS]):
        space.low[k] /= scale[3 * contacts + k]
        space.high[k] /= scale[3 * contacts + k]


@compiled
def energy_line_search(space: FrictionSpace) -> None:
    """Scale forces that are no solution by the factor that removes most energy.

    Forces of a solution do no work but that of friction: x . u <= 0 where no row requires a
    force. Larger multiples of x would add energy.
    """
    b, x, u = space.b, space.x, space.u
    n, before, after = size_of(space), 0.0, 0.0
    for i in range(n):
        before += x[i] * b[i]
        after += x[i] * u[i]
    if not after > 0.0:
        return
    # The energy of t x is a parabola in t, of slope x . b = before at 0 and x . u = after at 1.
    # The minimum is at slope zero; if x adds energy from the start, t = 0.
    part = -before / (after - before) if before < 0.0 else 0.0
    for i in range(n):
        x[i] *= part
    refresh(space)


@compiled
def unit_of(mobility: float, largest: float) -> float:
    """Return the unit of a force that scales its inverse inertia to one.

    :param mobility: largest diagonal element of its block
    :param largest: that of all blocks, used instead of a mobility at rounding level
    """
    return 1.0 / math.sqrt(mobility if mobility > 1e-24 * largest else largest)


@compiled
def unscale_forces(space: FrictionSpace) -> None:
    """Replace the scaled forces x by forces."""
    for i in range(size_of(space)):
        space.x[i] *= space.scale[i]


@compiled
def iterations_left(space: FrictionSpace, requested: int, limit: int) -> int:
    """Return how many of the requested iterations are left.

    :param limit: maximum number of sweeps and Newton steps together
    """
    return min(requested, limit - int(space.report[SWEEPS] + space.report[NEWTON_STEPS]))
