# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A step of Newton's method for frictional contact, by the matrix of its equations."""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.compiler.loops import compiled, load_vec, simd_range, Vec, Vec3
from rbd_ros.constraints.friction_space import (
    CONTACTS,
    FIRST,
    FloatArray,
    FrictionSpace,
    IMMOVABLE,
    MOMENTS,
    ROWS,
    SECOND,
    size_of,
)
from rbd_ros.constraints.solvers.dense import (
    clear,
    factorize,
    factorize_pivoted,
    solve_factorized,
    solve_pivoted,
)

#: Minimum compliance of a step near a solution: one step of refinement makes up for it.
LEAST = 1e-9


@compiled
def find_step(space: FrictionSpace, t: float, added: float) -> None:
    """Compute the full Newton step of the unknowns.

    :param t: unit of compliance
    :param added: compliance of each force in this step
    """
    J, step, n = space.factor, space.step, size_of(space)
    slides = find_derivatives(space)
    count = list_unknowns(space)
    if slides:
        # Friction follows the normal force, but not the reverse: the matrix is not symmetric.
        for a in range(count):
            enter_equation(space, t, added, a, count)
        factorize_pivoted(J, space.order, count)
    else:
        for a in range(count):
            into, row = J[a], space.A[space.unknown[a]]
            for b in range(a, count):
                into[b] = row[space.unknown[b]]
            into[a] += added
        factorize(J, count)
    change, effect = space.change, space.effect
    clear(change, n)
    for _ in range(2 if added <= LEAST else 1):
        # One step of iterative refinement with the compliance term: if the matrix is not singular,
        # the error becomes of second order.
        for a in range(count):
            step[a] = space.rest[space.unknown[a]] + added * change[space.unknown[a]]
        if slides:
            solve_pivoted(J, space.order, step, count)
        else:
            solve_factorized(J, step, count)
        for a in range(count):
            change[space.unknown[a]] = step[a]
        apply_derivatives(space, change)
    clear(effect, n)
    for a in range(count):
        row, dx = space.A[space.unknown[a]], change[space.unknown[a]]
        for j in simd_range(n):
            effect[j] += dx * row[j]
    for i in range(n):
        # f + A dx + added dx = dz, and dw = dx - dz / t: for all unknowns, open contacts included.
        change[i] += (space.rest[i] - effect[i] - added * change[i]) / t


@compiled
def find_derivatives(space: FrictionSpace) -> bool:
    """Compute the derivatives P of contact forces and moments; return whether any slides."""
    w, contacts, slides = space.w, space.sizes[CONTACTS], False
    for c in range(contacts):
        i, P = 3 * c, space.derivative[c]
        P[0] = Vec(1.0, 0.0, 0.0)
        P[1], P[2] = disc_derivative(Vec(max(w[i], 0.0), w[i + 1], w[i + 2]))
        if not (w[i] > 0.0 and space.A[i, i] > IMMOVABLE):
            for r in range(3):
                P[r] = Vec(0.0, 0.0, 0.0)
        slides = slides or P[1, 0] != 0.0 or P[2, 0] != 0.0
    for k in range(space.sizes[MOMENTS]):
        c, i = space.moment_contact[k], 3 * contacts + space.sizes[ROWS] + k
        M = space.moment_derivative
        if space.part[k] == SECOND:
            continue
        second = w[i + 1] if space.part[k] == FIRST else 0.0
        M[k], across = disc_derivative(Vec(max(w[3 * c], 0.0), w[i], second))
        slides = slides or M[k, 0] != 0.0
        if space.part[k] == FIRST:
            M[k + 1] = across
            slides = slides or across[0] != 0.0
    return slides


@compiled
def disc_derivative(w: Vec3) -> Tuple[Vec3, Vec3]:
    """Return the derivatives, by w, of both elements of the nearest point of a disc.

    :param w: its radius, and the point
    """
    bound, w_1, w_2 = w
    length = math.sqrt(w_1 * w_1 + w_2 * w_2)
    if length <= bound:
        return Vec(0.0, 1.0, 0.0), Vec(0.0, 0.0, 1.0)
    # On the rim the point grows with the radius, along d, and turns by bound / length.
    turn, d_1, d_2 = bound / length, w_1 / length, w_2 / length
    return (
        Vec(d_1, turn * d_2 * d_2, -turn * d_1 * d_2),
        Vec(d_2, -turn * d_1 * d_2, turn * d_1 * d_1),
    )


@compiled
def list_unknowns(space: FrictionSpace) -> int:
    """List the unknowns whose forces can change, in their order; return their number."""
    contacts, rows, count = space.sizes[CONTACTS], space.sizes[ROWS], 0
    for c in range(contacts):
        space.first[c] = -1
        if space.derivative[c, 0, 0] > 0.0:
            space.first[c] = count
            for r in range(3):
                space.unknown[count + r] = 3 * c + r
            count += 3
    for k in range(rows):
        if row_can_change(space, k):
            space.unknown[count] = 3 * contacts + k
            count += 1
    for k in range(space.sizes[MOMENTS]):
        if space.first[space.moment_contact[k]] >= 0:
            space.unknown[count] = 3 * contacts + rows + k
            count += 1
    return count


@compiled
def row_can_change(space: FrictionSpace, k: int) -> bool:
    """Return whether the force of a row is between its bounds and moves anything."""
    i = 3 * space.sizes[CONTACTS] + k
    inside: bool = space.low[k] < space.w[i] < space.high[k] and space.A[i, i] > IMMOVABLE
    return inside


@compiled
def enter_equation(space: FrictionSpace, t: float, added: float, a: int, count: int) -> None:
    """Enter a row of (A + added - t) P + t.

    :param t: unit of compliance
    :param added: compliance of each force in this step
    :param a: number of the unknown whose equation it is
    :param count: number of unknowns
    """
    i, into = space.unknown[a], space.factor[a]
    row, own = space.A[i], space.A[i, i]
    row[i] += added - t
    b = 0
    for c in range(space.sizes[CONTACTS]):
        if space.first[c] >= 0:
            P, at = space.derivative[c], 3 * c
            into[b] = row[at] + row[at + 1] * P[1, 0] + row[at + 2] * P[2, 0]
            into[b + 1] = row[at + 1] * P[1, 1] + row[at + 2] * P[2, 1]
            into[b + 2] = row[at + 1] * P[1, 2] + row[at + 2] * P[2, 2]
            b += 3
    first = 3 * space.sizes[CONTACTS] + space.sizes[ROWS]
    while b < count and space.unknown[b] < first:
        into[b] = row[space.unknown[b]]
        b += 1
    while b < count:
        k = space.unknown[b] - first
        v, normal = row[first + k], space.first[space.moment_contact[k]]
        by_bound, by_first, by_second = load_vec(space.moment_derivative[k], 3)
        into[normal] += v * by_bound
        if space.part[k] == SECOND:
            into[b - 1] += v * by_first
            into[b] += v * by_second
        else:
            into[b] = v * by_first
            if space.part[k] == FIRST:
                into[b + 1] = v * by_second
        b += 1
    row[i] = own
    into[a] += t


@compiled
def apply_derivatives(space: FrictionSpace, change: FloatArray) -> None:
    """Replace changes of the unknowns by changes of the forces.

    :param change: (N,)
    """
    contacts = space.sizes[CONTACTS]
    first = 3 * contacts + space.sizes[ROWS]
    for k in range(space.sizes[MOMENTS]):
        if space.part[k] != SECOND:
            normal, w_1 = change[3 * space.moment_contact[k]], change[first + k]
            w_2 = change[first + k + 1] if space.part[k] == FIRST else 0.0
            w = Vec(normal, w_1, w_2)
            change[first + k] = load_vec(space.moment_derivative[k], 3) @ w
            if space.part[k] == FIRST:
                change[first + k + 1] = load_vec(space.moment_derivative[k + 1], 3) @ w
    for c in range(contacts):
        P, w = space.derivative[c], load_vec(change, 3, 3 * c)
        for r in range(3):
            change[3 * c + r] = load_vec(P[r], 3) @ w
