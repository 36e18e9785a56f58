# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Redundant contacts: the solution with the smallest forces, whatever the start.

More contacts than degrees of freedom can share a load in many ways, and with some of them a body
slides that others hold: a body pinched between two faces turns about a line if two points carry
all force. A little compliance makes the forces unique, and Newton's matrix regular. The compliance
is then removed by the proximal point method (Rockafellar 1976): each round solves

    u = A x + b + c (x - x_last)

from the last round's x, with the same contact states in most rounds, and its fixed point is a
solution without compliance. Errors fall by c over the least mobility in each round.
"""

from __future__ import annotations

from rbd_ros.compiler.loops import compiled
from rbd_ros.constraints.friction_space import (
    FrictionSpace,
    is_solved,
    iterations_left,
    size_of,
    TOLERANCE,
)
from rbd_ros.constraints.solvers.dense import clear
from rbd_ros.constraints.solvers.friction_low_rank import find_root
from rbd_ros.constraints.solvers.friction_newton import newton

#: Compliance by which redundant contacts share a load, relative to the bodies' mobility.
COMPLIANCE = 1e-6

#: Accepted error of forces that share a load, scaled.
FORCE_ERROR = 1e-6

#: Compliance of a step alone, per |f|, which keeps the step small (Yamashita and Fukushima 2001).
DAMPING = 1e-2

#: Maximum number of Newton steps with this compliance, of rounds that remove it, of steps in each,
#: and of steps without it for the last digits.
SHARED_STEPS, ROUNDS, ROUND_STEPS, LAST_STEPS = 25, 3, 10, 10


@compiled
def share_load(space: FrictionSpace, limit: int) -> bool:
    """Attempt to find the smallest forces; return whether they are a solution.

    :param limit: maximum number of sweeps and Newton steps together
    """
    n, tolerance = size_of(space), space.report[TOLERANCE]
    find_root(space)
    clear(space.center, n)
    # An error of the forces changes velocities by the compliance alone.
    space.report[TOLERANCE] = FORCE_ERROR * COMPLIANCE
    found = newton(space, COMPLIANCE, iterations_left(space, SHARED_STEPS, limit), DAMPING)
    for _ in range(ROUNDS):
        if not found or is_solved(space):
            break
        for i in range(n):
            space.center[i] = space.x[i]
        found = newton(space, COMPLIANCE, iterations_left(space, ROUND_STEPS, limit), DAMPING)
    space.report[TOLERANCE] = tolerance
    solved: bool = is_solved(space)
    if found and not solved:
        solved = newton(space, 0.0, iterations_left(space, LAST_STEPS, limit), 0.0)
    return solved
