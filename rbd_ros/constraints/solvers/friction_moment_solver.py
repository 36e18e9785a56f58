# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sweeps for torsional and rolling friction: moments bounded by normal forces.

A moment reaches its bound only against a rotation, like tangential forces, with a cone of its
own. The bound follows from the present normal force.
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled
from rbd_ros.constraints.friction_space import (
    ALONE,
    apply_row_force,
    clamp,
    CONTACTS,
    FloatArray,
    FrictionSpace,
    IMMOVABLE,
    MOMENTS,
    nearest_in_disc,
    ROWS,
    SECOND,
    SLIDE,
    STICK,
)

#: Maximum number of Newton steps for the size of a sliding moment; a few are usual.
ROOT_STEPS = 50


@compiled
def sweep_moments(space: FrictionSpace) -> None:
    """Solve each moment once."""
    x, first = space.x, first_moment(space)
    for k in range(space.sizes[MOMENTS]):
        # Solved together with the first element: a disc bounds both.
        if space.part[k] == SECOND:
            continue
        i, bound = first + k, max(x[3 * space.moment_contact[k]], 0.0)
        before, before_1 = x[i], 0.0
        if space.part[k] == ALONE:
            solve_alone(space, i, bound)
        else:
            before_1 = x[i + 1]
            # Each element's effect on u is added separately; that of the first follows below, for
            # either kind.
            solve_pair(space, i, bound)
            apply_row_force(space, i + 1, x[i + 1] - before_1)
        apply_row_force(space, i, x[i] - before)


@compiled
def first_moment(space: FrictionSpace) -> int:
    """Return the first of the rows of moments."""
    first: int = 3 * space.sizes[CONTACTS] + space.sizes[ROWS]
    return first


@compiled
def solve_alone(space: FrictionSpace, i: int, bound: float) -> None:
    """Solve a moment of one element.

    :param i: its row
    :param bound: maximum moment
    """
    x, effect = space.x, space.A[i, i]
    # No moment changes the rotation: it is zero.
    x[i] = clamp(x[i] - space.u[i] / effect, -bound, bound) if effect > IMMOVABLE else 0.0


@compiled
def solve_pair(space: FrictionSpace, i: int, bound: float) -> None:
    """Solve a moment of two elements, (S + s 1) x = -p with |x| <= bound."""
    A, x, u = space.A, space.x, space.u
    S_11, S_12, S_22 = A[i, i], A[i, i + 1], A[i + 1, i + 1]
    # p is the angular velocity without this moment.
    p = u[i] - S_11 * x[i] - S_12 * x[i + 1]
    p_1 = u[i + 1] - S_12 * x[i] - S_22 * x[i + 1]
    if S_11 <= IMMOVABLE or S_22 <= IMMOVABLE or not bound > 0.0:
        x[i] = x[i + 1] = 0.0
    elif solve_disc(S_11, S_12, S_22, p, p_1, bound, x, i) == SLIDE:
        # Exactly onto the bound: `solve_disc` stops at rounding.
        x[i], x[i + 1] = nearest_in_disc(x[i], x[i + 1], bound)


@compiled
def solve_disc(
    S_11: float,
    S_12: float,
    S_22: float,
    p: float,
    p_1: float,
    bound: float,
    x: FloatArray,
    i: int,
) -> int:
    """Solve (S + s 1) x = -p with |x| <= bound, s = 0 if it is less; return the state.

    :param S_11: a symmetric matrix, positive definite
    :param p: velocity without x
    :param bound: maximum |x|, positive
    :param x: the result at i and i + 1; a sliding one has this length up to rounding
    """
    size = math.sqrt(p * p + p_1 * p_1)
    # The largest eigenvalue bounds the root from below; Newton's method for 1 / |x| rises from
    # there.
    half, mean = 0.5 * (S_11 - S_22), 0.5 * (S_11 + S_22)
    s = max(size / bound - mean - math.sqrt(half * half + S_12 * S_12), 0.0)
    length = 0.0
    for step in range(ROOT_STEPS):
        a, c = S_11 + s, S_22 + s
        # x(s) = -(S + s 1)^-1 p, by Cramer's rule.
        determinant = max(a * c - S_12 * S_12, 1e-300)
        x[i] = (S_12 * p_1 - c * p) / determinant
        x[i + 1] = (S_12 * p - a * p_1) / determinant
        length = math.sqrt(x[i] * x[i] + x[i + 1] * x[i + 1])
        # Inside the disc without a sliding velocity: it sticks.
        if step == 0 and s == 0.0 and length <= bound:
            return STICK
        if length <= bound * (1.0 + 1e-15):
            break
        # -x . dx / ds, where (S + s 1) dx / ds = -x
        curvature = c * x[i] * x[i] - 2.0 * S_12 * x[i] * x[i + 1] + a * x[i + 1] * x[i + 1]
        # The secular equation 1 / |x(s)| = 1 / bound (More and Sorensen 1983) is nearly linear in
        # s, unlike |x(s)| = bound, which has a pole: Newton's method takes a few steps.
        s += (length / bound - 1.0) * length * length * determinant / max(curvature, 1e-300)
    return SLIDE
