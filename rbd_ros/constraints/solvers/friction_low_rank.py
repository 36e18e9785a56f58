# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A step of Newton's method for redundant contacts, in as many unknowns as their bodies can move.

The matrix A of n contacts has at most the rank r of degrees of freedom. Cholesky's method with
pivoting finds A = B B^T, with r columns in B (Higham, Accuracy and Stability of Numerical
Algorithms, 10.3). With a compliance c, the step of friction_newton.py is by Woodbury's formula

    (1 + B^T E B) y = B^T E (-f),    dx = E (-f - B y),    E = P (c P + t (1 - P))^-1

where E has a block for each contact: 1 / c for one that sticks, and for one that slides along d,
with e across d and the part p of its force at the bound, by De Saxce's term not symmetric,

    E = [[1 / c, 0], [d / c, s e e^T]],    s = p / (c p + t (1 - p))
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled, simd_range
from rbd_ros.constraints.friction_space import (
    CONTACTS,
    FrictionSpace,
    MOMENTS,
    RANK,
    ROWS,
    size_of,
)
from rbd_ros.constraints.solvers.dense import (
    clear,
    factorize,
    factorize_pivoted,
    product_of_parts,
    solve_factorized,
    solve_pivoted,
)
from rbd_ros.constraints.solvers.friction_newton_step import find_derivatives, row_can_change

#: Largest remaining diagonal element of A, of elements of at most one, that is a rounding error.
NOTHING = 1e-13


@compiled
def find_root(space: FrictionSpace) -> None:
    """Find B and its rank; the rank is zero where the matrix is as fast: beyond half the size."""
    A, B, rest, n = space.A, space.root, space.step, size_of(space)
    space.report[RANK] = 0.0
    if space.sizes[MOMENTS] > 0:
        return
    for i in range(n):
        rest[i] = A[i, i]
    for k in range(n // 2 + 1):
        pivot = 0
        for i in range(n):
            if rest[i] > rest[pivot]:
                pivot = i
        if rest[pivot] <= NOTHING:
            space.report[RANK] = float(k)
            return
        scale, own = 1.0 / math.sqrt(rest[pivot]), B[pivot]
        for i in range(n):
            B[i, k] = scale * (A[pivot, i] - product_of_parts(B[i], own, 0, k))
            rest[i] -= B[i, k] * B[i, k]
        rest[pivot] = 0.0


@compiled
def find_low_rank_step(space: FrictionSpace, t: float, added: float) -> None:
    """Compute the full Newton step of the unknowns; see `find_step`.

    :param t: unit of compliance
    :param added: compliance of each force in this step
    """
    K, y, rank, n = space.factor, space.step, int(space.report[RANK]), size_of(space)
    slides = find_derivatives(space)
    clear(y, rank)
    for a in range(rank):
        clear(K[a], rank)
        K[a, a] = 1.0
    for c in range(space.sizes[CONTACTS]):
        if space.derivative[c, 0, 0] > 0.0:
            add_contact(space, c, rank, t, added, slides)
    for k in range(space.sizes[ROWS]):
        if row_can_change(space, k):
            add_row(space, 3 * space.sizes[CONTACTS] + k, rank, added)
    # Without sliding contacts the matrix is symmetric.
    if slides:
        factorize_pivoted(K, space.order, rank)
        solve_pivoted(K, space.order, y, rank)
    else:
        factorize(K, rank)
        solve_factorized(K, y, rank)
    change, effect = space.change, space.effect
    for i in range(n):
        effect[i] = product_of_parts(space.root[i], y, 0, rank)
        change[i] = 0.0
    for c in range(space.sizes[CONTACTS]):
        if space.derivative[c, 0, 0] > 0.0:
            change_contact(space, c, t, added)
    for k in range(space.sizes[ROWS]):
        i = 3 * space.sizes[CONTACTS] + k
        if row_can_change(space, k):
            change[i] = (space.rest[i] - effect[i]) / added
    for i in range(n):
        # dw = dx - dz / t, as in `find_step`.
        change[i] += (space.rest[i] - effect[i] - added * change[i]) / t


@compiled
def across_of(part: float, t: float, added: float) -> float:
    """Return s: change of a sliding contact's force across its direction, per -f.

    :param part: p, the friction force relative to the unknown that it is the nearest to
    """
    return part / (added * part + t * (1.0 - part))


@compiled
def add_contact(
    space: FrictionSpace, c: int, rank: int, t: float, added: float, slides: bool
) -> None:
    """Add the part of a contact to 1 + B^T E B and to B^T E (-f).

    :param c: number of the contact
    :param rank: number of columns of B
    :param slides: whether any contact slides; else the upper half suffices
    """
    K, y, P, inverse = space.factor, space.step, space.derivative[c], 1.0 / added
    i = 3 * c
    b, b_1, b_2 = space.root[i], space.root[i + 1], space.root[i + 2]
    f, f_1, f_2 = space.rest[i], space.rest[i + 1], space.rest[i + 2]
    d_1, d_2 = P[1, 0], P[2, 0]
    sliding, s = d_1 != 0.0 or d_2 != 0.0, across_of(P[1, 1] + P[2, 2], t, added)
    for a in range(rank):
        g, g_1, g_2 = inverse * b[a], inverse * b_1[a], inverse * b_2[a]
        if sliding:
            across = s * (d_2 * b_1[a] - d_1 * b_2[a])
            g, g_1, g_2 = g + d_1 * g_1 + d_2 * g_2, d_2 * across, -d_1 * across
        y[a] += f * g + f_1 * g_1 + f_2 * g_2
        into = K[a]
        for k in simd_range(0 if slides else a, rank):
            into[k] += g * b[k] + g_1 * b_1[k] + g_2 * b_2[k]


@compiled
def add_row(space: FrictionSpace, i: int, rank: int, added: float) -> None:
    """Add the part of a row to 1 + B^T E B and to B^T E (-f).

    :param i: the row
    :param rank: number of columns of B
    """
    K, y, b = space.factor, space.step, space.root[i]
    for a in range(rank):
        g, into = b[a] / added, K[a]
        y[a] += space.rest[i] * g
        for k in simd_range(rank):
            into[k] += g * b[k]


@compiled
def change_contact(space: FrictionSpace, c: int, t: float, added: float) -> None:
    """Compute the change of a contact's force, E (-f - B y).

    :param c: number of the contact
    """
    i, P, change = 3 * c, space.derivative[c], space.change
    r = space.rest[i] - space.effect[i]
    r_1, r_2 = space.rest[i + 1] - space.effect[i + 1], space.rest[i + 2] - space.effect[i + 2]
    d_1, d_2 = P[1, 0], P[2, 0]
    change[i] = r / added
    if d_1 != 0.0 or d_2 != 0.0:
        across = across_of(P[1, 1] + P[2, 2], t, added) * (d_2 * r_1 - d_1 * r_2)
        change[i + 1] = d_1 * change[i] + d_2 * across
        change[i + 2] = d_2 * change[i] - d_1 * across
    else:
        change[i + 1], change[i + 2] = r_1 / added, r_2 / added
