# SPDX-License-Identifier: Apache-2.0
"""Torsional and rolling friction at contacts, in compiled loops: moments that normal forces bound.

A moment is at its bound only against a rotation: the law of tangential forces, with a cone of its
own. The bound follows from the present normal force; sweeps solve one after the other, Newton's
method both at once.
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled
from rbd_ros.constraints.friction_space import (
    ALONE,
    apply_row_force,
    clamp,
    CONTACTS,
    FIRST,
    FloatArray,
    FrictionSpace,
    IMMOVABLE,
    length_of,
    MOMENTS,
    OPEN,
    ROWS,
    SECOND,
    SLIDE,
    STICK,
)

#: Steps in which the size of a sliding moment is found; a few are usual.
ROOT_STEPS = 50


@compiled
def sweep_moments(space: FrictionSpace) -> bool:
    """Solve each moment once; return whether all states are as before."""
    x, state = space.x, space.state
    first, block = first_moment(space), space.sizes[CONTACTS] + space.sizes[ROWS]
    same = True
    for k in range(space.sizes[MOMENTS]):
        # Solved together with the first element: a disc bounds both, not an interval each.
        if space.part[k] == SECOND:
            continue
        i, bound = first + k, max(x[3 * space.moment_contact[k]], 0.0)
        before, before_1 = x[i], 0.0
        if space.part[k] == ALONE:
            found = solve_alone(space, k, i, bound)
        else:
            before_1 = x[i + 1]
            # The effects of both elements on u follow one by one; that of the first is added
            # below, for either kind.
            found = solve_pair(space, k, i, bound)
            apply_row_force(space, i + 1, x[i + 1] - before_1)
            state[block + k + 1] = found
        apply_row_force(space, i, x[i] - before)
        same = same and found == state[block + k]
        state[block + k] = found
    return same


@compiled
def first_moment(space: FrictionSpace) -> int:
    """Return the first of the rows of moments."""
    first: int = 3 * space.sizes[CONTACTS] + space.sizes[ROWS]
    return first


@compiled
def solve_alone(space: FrictionSpace, k: int, i: int, bound: float) -> int:
    """Solve a moment of one element; return its state.

    :param k: number of the row of moments
    :param i: its row
    :param bound: maximum moment
    """
    x, effect = space.x, space.A[i, i]
    # No moment changes the rotation: none is the one among all that are possible.
    if effect <= IMMOVABLE:
        x[i] = 0.0
        return STICK
    sticking = x[i] - space.u[i] / effect
    x[i] = clamp(sticking, -bound, bound)
    if abs(sticking) <= bound:
        return STICK
    # Along the velocity that it opposes.
    space.moment_direction[k] = -1.0 if sticking > 0.0 else 1.0
    return SLIDE


@compiled
def solve_pair(space: FrictionSpace, k: int, i: int, bound: float) -> int:
    """Solve a moment of two elements, (S + s 1) x = -p with |x| <= bound; return its state."""
    A, x, u = space.A, space.x, space.u
    S_11, S_12, S_22 = A[i, i], A[i, i + 1], A[i + 1, i + 1]
    if S_11 <= IMMOVABLE or S_22 <= IMMOVABLE:
        x[i] = x[i + 1] = 0.0
        return STICK
    # Angular velocity without this moment.
    p = u[i] - S_11 * x[i] - S_12 * x[i + 1]
    p_1 = u[i + 1] - S_12 * x[i] - S_22 * x[i + 1]
    size = math.sqrt(p * p + p_1 * p_1)
    if not bound > 0.0:
        x[i] = x[i + 1] = 0.0
        # With a bound of zero nothing resists, but Newton's method needs the direction: the bound
        # grows with the normal force.
        if size > 0.0:
            space.moment_direction[k], space.moment_direction[k + 1] = p / size, p_1 / size
            return SLIDE
        return STICK
    if solve_disc(S_11, S_12, S_22, p, p_1, bound, x, i) == STICK:
        return STICK
    length = math.sqrt(x[i] * x[i] + x[i + 1] * x[i + 1])
    space.moment_direction[k], space.moment_direction[k + 1] = -x[i] / length, -x[i + 1] / length
    x[i], x[i + 1] = -bound * space.moment_direction[k], -bound * space.moment_direction[k + 1]
    return SLIDE


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
    """Solve (S + s 1) x = -p with |x| <= bound, s = 0 where it is less; return the state.

    :param S_11: a symmetric matrix, positive definite
    :param p: velocity without x
    :param bound: maximum x, positive
    :param x: the result at i and i + 1; if it slides, of that length to rounding
    """
    size = math.sqrt(p * p + p_1 * p_1)
    # The largest eigenvalue bounds the root from below; from there Newton's method for 1 / |x|
    # comes up to it.
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
        # Within the disc without a sliding velocity: it sticks.
        if step == 0 and s == 0.0 and length <= bound:
            return STICK
        if length <= bound * (1.0 + 1e-15):
            break
        # -x . dx / ds, where (S + s 1) dx / ds = -x
        curvature = c * x[i] * x[i] - 2.0 * S_12 * x[i] * x[i + 1] + a * x[i + 1] * x[i + 1]
        # The secular equation 1 / |x(s)| = 1 / bound (More and Sorensen 1983): nearly linear in s,
        # where |x(s)| = bound has a pole, so that Newton's method takes a few steps.
        s += (length / bound - 1.0) * length * length * determinant / max(curvature, 1e-300)
    return SLIDE


@compiled
def holds(space: FrictionSpace, k: int) -> bool:
    """Return whether the contact of a row of moments is closed."""
    closed: bool = space.state[space.moment_contact[k]] != OPEN
    return closed


@compiled
def any_moment_slides(space: FrictionSpace) -> bool:
    """Return whether a moment of a closed contact is as large as it may be."""
    block = space.sizes[CONTACTS] + space.sizes[ROWS]
    for k in range(space.sizes[MOMENTS]):
        if space.state[block + k] == SLIDE and holds(space, k):
            return True
    return False


@compiled
def follow_normals(space: FrictionSpace) -> None:
    """Make sliding moments as large as their bounds, and those of open contacts zero."""
    first, block = first_moment(space), space.sizes[CONTACTS] + space.sizes[ROWS]
    for k in range(space.sizes[MOMENTS]):
        if not holds(space, k):
            space.x[first + k] = 0.0
        elif space.state[block + k] == SLIDE:
            space.x[first + k] = -space.moment_direction[k] * space.x[3 * space.moment_contact[k]]


@compiled
def correct_moments(space: FrictionSpace, floor: float) -> bool:
    """Change the states that moments or velocities contradict; return whether moments changed.

    :param floor: velocities that are rounding errors
    """
    x, u, state, moment_direction = space.x, space.u, space.state, space.moment_direction
    first, block, changed = first_moment(space), space.sizes[CONTACTS] + space.sizes[ROWS], False
    for k in range(space.sizes[MOMENTS]):
        part = space.part[k]
        if part == SECOND:
            continue
        i, b, bound = first + k, block + k, max(x[3 * space.moment_contact[k]], 0.0)
        length = length_of(x, i, part)
        # Sticking moments beyond their bound slide; those that slid already are shortened with it.
        if length > bound:
            for r in range(2 if part == FIRST else 1):
                moment_direction[k + r] = -x[i + r] / length
                x[i + r] *= bound / length
                state[b + r] = SLIDE
            changed = True
        elif state[b] == SLIDE and holds(space, k):
            speed = moment_direction[k] * u[i]
            if part == FIRST:
                speed += moment_direction[k + 1] * u[i + 1]
            # A moment along the velocity would drive the rotation instead of resisting it.
            if speed < -floor:
                for r in range(2 if part == FIRST else 1):
                    state[b + r] = STICK
    return changed


@compiled
def start_moments(space: FrictionSpace) -> None:
    """Compute the states of moments of another problem.

    They stick unless they are known to slide.
    """
    state, block = space.state, space.sizes[CONTACTS] + space.sizes[ROWS]
    for k in range(space.sizes[MOMENTS]):
        if space.part[k] != SECOND:
            length = length_of(space.moment_direction, k, space.part[k])
            # A direction of a new buffer has length zero.
            slides = state[block + k] == SLIDE and length > 0.5
            for r in range(2 if space.part[k] == FIRST else 1):
                state[block + k + r] = SLIDE if slides else STICK
    follow_normals(space)


@compiled
def speed_of(space: FrictionSpace, c: int) -> float:
    """Return the sum of what all moments of a contact turn with, by the velocities y."""
    total, first = 0.0, first_moment(space)
    for k in range(space.sizes[MOMENTS]):
        if space.moment_contact[k] == c and space.part[k] != SECOND:
            total += length_of(space.y, first + k, space.part[k])
    return total


@compiled
def project_with_moments(space: FrictionSpace, c: int) -> None:
    """Replace force and moments of a contact by the nearest ones that are allowed."""
    x, i, first = space.x, 3 * c, first_moment(space)
    sliding = math.sqrt(x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2])
    # Nearest point (n, t, m ...) with |t| <= n, |m| <= n: n = (x_n + the sum of those lengths that
    # exceed n) / (1 + their number), by the optimality conditions; lengths of others stay.
    normal = x[i]
    # Each round takes in what is longer than the normal force; after all, nothing is left.
    for _ in range(4):
        total, count = x[i], 1
        if sliding > normal:
            total += sliding
            count += 1
        for k in range(space.sizes[MOMENTS]):
            if space.moment_contact[k] == c and space.part[k] != SECOND:
                length = length_of(x, first + k, space.part[k])
                if length > normal:
                    total += length
                    count += 1
        normal = total / count
    normal = max(normal, 0.0)
    x[i] = normal
    if sliding > normal:
        x[i + 1] *= normal / sliding
        x[i + 2] *= normal / sliding
    for k in range(space.sizes[MOMENTS]):
        if space.moment_contact[k] == c and space.part[k] != SECOND:
            length = length_of(x, first + k, space.part[k])
            if length > normal:
                x[first + k] *= normal / length
                if space.part[k] == FIRST:
                    x[first + k + 1] *= normal / length


@compiled
def moment_states(space: FrictionSpace) -> None:
    """Compute the states of moments, as the projections have left them."""
    y, z = space.y, space.z
    first, block = first_moment(space), space.sizes[CONTACTS] + space.sizes[ROWS]
    for k in range(space.sizes[MOMENTS]):
        if space.part[k] == SECOND:
            continue
        i, bound = first + k, z[3 * space.moment_contact[k]]
        length, speed = length_of(z, i, space.part[k]), length_of(y, i, space.part[k])
        # On its boundary up to rounding, and turning, it slides; else it sticks.
        sticks = length < bound * (1.0 - 1e-9) or speed <= 0.0 or length <= 0.0
        for r in range(2 if space.part[k] == FIRST else 1):
            space.state[block + k + r] = STICK if sticks else SLIDE
            if not sticks:
                space.moment_direction[k + r] = -z[i + r] / length
