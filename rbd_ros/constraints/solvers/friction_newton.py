# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Newton's method for frictional contact, on equations that hold in every contact state.

The force x of a contact and the velocity z complementary to it share one unknown w
(Alart and Curnier 1991): with a unit t of compliance,

    x_n = max(w_n, 0),  x_t = w_t or, beyond the limit x_n of friction, x_n w_t / |w_t|,
    z = t (x - w)

Then all contact conditions hold, and the equation of motion remains: f(w) = A x + b - z = 0.
Moments are bounded by x_n like x_t, rows by their bounds. Contact states are never guessed: f is
differentiable except where they change, and any generalized derivative there will do (Qi and Sun
1993). With P the derivative of x by w, zero for open contacts and at bounds, a step dw solves

    (A P + t (1 - P)) dw = -f

for the other unknowns. Redundant contacts make the matrix singular; a compliance of the step alone
bounds the step (Levenberg and Marquardt), and grows where |f| does not fall enough.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.compiler.loops import compiled
from rbd_ros.constraints.friction_space import (
    clamp,
    CONTACTS,
    FIRST,
    FloatArray,
    FrictionSpace,
    IMMOVABLE,
    is_small,
    MOMENTS,
    nearest_in_disc,
    NEWTON_STEPS,
    RANK,
    refresh,
    residual,
    return_to_best,
    ROWS,
    SECOND,
    size_of,
    TOLERANCE,
)
from rbd_ros.constraints.solvers.friction_low_rank import find_low_rank_step
from rbd_ros.constraints.solvers.friction_newton_step import find_step, LEAST

#: Unit t of compliance, of blocks whose largest element is one; number of steps without half the
#: residual after which it is reduced, and by which factor.
UNIT, PATIENCE, SMALLER = 0.4, 40, 0.3

#: Compliance of the first step, per |f|, far from a solution.
FAR = 3.0

#: The same per largest force: |f| is known up to rounding, which a singular matrix would amplify.
NOISE = 3e-8

#: Minimum compliance of a step far from a solution, and maximum; its factors after a full step and
#: after a failed one.
FINEST, MOST, RELAXED, TIGHTENED = 1e-13, 10.0, 0.1, 8.0

#: Residual relative to the tolerance above which one more step improves the last digits.
POLISHED = 1e-4

#: Maximum number of halvings; required relative decrease of |f| by a step; accepted growth,
#: relative to the previous |f|.
HALVES, DECREASE, GROWTH = 4, 0.1, 0.95


@compiled
def newton(space: FrictionSpace, compliance: float, limit: int, start: float) -> bool:
    """Attempt to solve from the present forces and velocities; return whether it is solved.

    :param compliance: compliance of each force beyond `center`, by which redundant contacts share
        a load; zero for the problem itself
    :param limit: maximum number of steps
    :param start: compliance of the first step per |f|, and with `compliance` the maximum of each;
        zero near a solution
    """
    t = UNIT
    enter_unknowns(space, t)
    size = evaluate(space, t, compliance)
    before, since, goal = size, 0, math.inf
    # Only the minimum compliance stops creep that is slower than the first one allows.
    least = LEAST if start == 0.0 else FINEST
    first = max(start * size, NOISE * largest_of(space.x, size_of(space)))
    damping = max(least, min(first, 1.0))
    for _ in range(limit):
        # Compliant contacts are judged by |f|, rigid ones by the residual, which saves the best.
        now = size if compliance > 0.0 else residual(space)
        if is_small(space, now):
            if compliance == 0.0:
                polish(space, t, now)
            return True
        since += 1
        if now < goal:
            goal, since = 0.5 * now, 0
        if not now < math.inf:
            break
        if since > PATIENCE:
            # At a local minimum of |f| that is no solution: with another unit, |f| has others.
            t = SMALLER * t
            enter_unknowns(space, t)
            before = size = evaluate(space, t, compliance)
            since, goal = 0, math.inf
            damping = max(least, min(FAR * size, 1.0))
        if compliance > 0.0 and space.report[RANK] > 0.0:
            find_low_rank_step(space, t, damping + compliance)
        else:
            find_step(space, t, damping + compliance)
        space.report[NEWTON_STEPS] += 1.0
        length, found = search(space, t, compliance, size, before)
        size, before = found, size
        if length == 1.0:
            damping = max(RELAXED * damping, least)
            if compliance > 0.0:
                damping = max(min(damping, start * size), least)
        elif length == 0.0:
            damping = min(TIGHTENED * damping, MOST)
    if compliance == 0.0:
        return_to_best(space)
    return False


@compiled
def largest_of(x: FloatArray, n: int) -> float:
    """Return the largest of the first elements."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(x[i]))
    return largest


@compiled
def polish(space: FrictionSpace, t: float, now: float) -> None:
    """Make one more step for the last digits of a solution, the next warm start.

    :param t: unit of compliance
    :param now: its residual
    """
    if now <= POLISHED * space.report[TOLERANCE]:
        return
    find_step(space, t, LEAST)
    move(space, 1.0)
    evaluate(space, t, 0.0)
    if residual(space) > now:
        return_to_best(space)
        residual(space)


@compiled
def search(
    space: FrictionSpace, t: float, compliance: float, size: float, before: float
) -> Tuple[float, float]:
    """Move until |f| falls or hardly grows; return the step length, and |f| there.

    :param t: unit of compliance
    :param compliance: see `newton`
    :param size: |f| now
    :param before: |f| before the last step
    """
    length = 1.0
    move(space, length)
    for _ in range(HALVES + 1):
        found = evaluate(space, t, compliance)
        if found < (1.0 - DECREASE * length) * size + GROWTH * before:
            return length, found
        # Go back by half of the last step.
        length *= 0.5
        move(space, -length)
    move(space, -length)
    return 0.0, evaluate(space, t, compliance)


@compiled
def enter_unknowns(space: FrictionSpace, t: float) -> None:
    """Compute the unknowns w from the present forces and velocities.

    :param t: unit of compliance
    """
    for i in range(size_of(space)):
        space.w[i] = space.x[i] - space.u[i] / t


@compiled
def move(space: FrictionSpace, length: float) -> None:
    """Change the unknowns by a multiple of the step."""
    for i in range(size_of(space)):
        space.w[i] += length * space.change[i]


@compiled
def evaluate(space: FrictionSpace, t: float, compliance: float) -> float:
    """Compute forces, velocities and -f; return |f|.

    :param t: unit of compliance
    :param compliance: see `newton`
    """
    w, x, contacts, rows = space.w, space.x, space.sizes[CONTACTS], space.sizes[ROWS]
    for c in range(contacts):
        i = 3 * c
        x[i] = max(w[i], 0.0) if space.A[i, i] > IMMOVABLE else 0.0
        x[i + 1], x[i + 2] = nearest_in_disc(w[i + 1], w[i + 2], x[i])
    for k in range(rows):
        i = 3 * contacts + k
        x[i] = clamp(w[i], space.low[k], space.high[k])
    for k in range(space.sizes[MOMENTS]):
        i, bound = 3 * contacts + rows + k, x[3 * space.moment_contact[k]]
        if space.part[k] == FIRST:
            x[i], x[i + 1] = nearest_in_disc(w[i], w[i + 1], bound)
        elif space.part[k] != SECOND:
            x[i] = clamp(w[i], -bound, bound)
    refresh(space)
    total = 0.0
    for i in range(size_of(space)):
        rest = t * (x[i] - w[i]) - compliance * (x[i] - space.center[i]) - space.u[i]
        if i < 3 * contacts and space.A[i - i % 3, i - i % 3] <= IMMOVABLE:
            # No force moves this contact.
            rest = 0.0
        space.rest[i] = rest
        total += rest * rest
    return math.sqrt(total)
