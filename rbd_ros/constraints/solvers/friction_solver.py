# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Strategy of the frictional contact solvers: which method runs when."""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled, entry_point
from rbd_ros.constraints.friction_space import (
    BEST,
    CONTACTS,
    FrictionSpace,
    is_solved,
    NEWTON_STEPS,
    refresh,
    return_to_best,
    size_of,
    SWEEPS,
    TOLERANCE,
)
from rbd_ros.constraints.solvers.friction_newton import clear, FAR, newton
from rbd_ros.constraints.solvers.friction_sweeps import sweep_until

#: Newton's method, with sweeps where it stalls; sweeps alone.
COMBINED, SWEEPS_ALONE = 0, 1

#: Maximum number of Newton steps of the first attempt, of the second, and of later ones.
FEW_STEPS, FIRST_STEPS, MORE_STEPS = 20, 100, 300

#: Number of sweeps between attempts; the last ones double each time.
FEW_SWEEPS = 10

#: Compliance by which redundant contacts share a load, relative to the bodies' mobility.
COMPLIANCE = 1e-5

#: Maximum number of Newton steps with this compliance.
SHARED_STEPS = 20


@compiled
def solve_friction_space(space: FrictionSpace, method: int, limit: int, tolerance: float) -> bool:
    """Solve from the present forces x; return whether they are a solution in the end.

    x and u become the solution, or the best found.

    :param method: COMBINED or SWEEPS_ALONE
    :param limit: maximum number of sweeps and Newton steps together
    :param tolerance: see `solve_friction`
    """
    report = space.report
    for k in range(len(report)):
        report[k] = 0.0
    # Forget the best forces of the previous problem.
    report[BEST], report[TOLERANCE] = math.inf, tolerance
    if is_solved(space):
        return True
    solved: bool
    if method == SWEEPS_ALONE:
        solved = sweep_until(space, limit)
    else:
        number = FEW_SWEEPS
        solved = (
            newton(space, 0.0, iterations_left(space, FEW_STEPS, limit), 0.0)
            # If it does not converge at once, sweeps change the point.
            or sweep_until(space, iterations_left(space, number, limit))
            or newton(space, 0.0, iterations_left(space, FIRST_STEPS, limit), 0.0)
        )
        if not solved and iterations_left(space, 1, limit) > 0:
            # Without the best forces so far, which may be a dead end.
            report[BEST] = math.inf
            clear(space.x, size_of(space))
            refresh(space)
            solved = newton(space, 0.0, iterations_left(space, FIRST_STEPS, limit), 0.0)
        while not solved and iterations_left(space, 1, limit) > 0:
            solved = sweep_until(space, iterations_left(space, number, limit)) or newton(
                space, 0.0, iterations_left(space, MORE_STEPS, limit), FAR
            )
            number *= 2
    if not solved:
        return_to_best(space)
        solved = is_solved(space)
    return solved


@compiled
def iterations_left(space: FrictionSpace, requested: int, limit: int) -> int:
    """Return how many of the requested iterations are left.

    :param limit: maximum number of sweeps and Newton steps together
    """
    return min(requested, limit - int(space.report[SWEEPS] + space.report[NEWTON_STEPS]))


@compiled
def any_slides(space: FrictionSpace) -> bool:
    """Return whether the friction force of any contact is at its bound."""
    x = space.x
    for i in range(0, 3 * space.sizes[CONTACTS], 3):
        friction = math.sqrt(x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2])
        if x[i] > 0.0 and friction >= (1.0 - 1e-9) * x[i]:
            return True
    return False


@compiled
def prefer_sticking(space: FrictionSpace, method: int, limit: int, tolerance: float) -> None:
    """Replace a solution with sliding contacts by that of the smallest forces.

    Redundant rigid contacts can share a load in many ways, and with some of them a body slides
    that others hold: a body pinched between two faces turns about a line if two points carry all
    force. With a little compliance the load sharing is unique for any start; from there Newton's
    method changes forces as little as it must. So contacts that can stick do stick.

    :param method: see `solve_friction_space`
    :param limit: see `solve_friction_space`
    :param tolerance: see `solve_friction_space`
    """
    for i in range(size_of(space)):
        space.saved[i] = space.x[i]
    shared = newton(space, COMPLIANCE, min(SHARED_STEPS, limit), 0.0)
    if not (shared and solve_friction_space(space, method, limit, tolerance)):
        for i in range(size_of(space)):
            space.x[i] = space.saved[i]
        is_solved(space)


@entry_point
def solve_space(space: FrictionSpace, method: int, limit: int, tolerance: float) -> int:
    """Return `solve_friction_space`, as Python calls it."""
    return 1 if solve_friction_space(space, method, limit, tolerance) else 0
