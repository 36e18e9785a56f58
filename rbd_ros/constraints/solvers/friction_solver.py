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
    iterations_left,
    refresh,
    return_to_best,
    size_of,
    TOLERANCE,
)
from rbd_ros.constraints.solvers.dense import clear
from rbd_ros.constraints.solvers.friction_load_sharing import share_load
from rbd_ros.constraints.solvers.friction_newton import FAR, newton
from rbd_ros.constraints.solvers.friction_sweeps import sweep_until

#: Newton's method, with sweeps where it stalls; sweeps alone.
COMBINED, SWEEPS_ALONE = 0, 1

#: Maximum number of Newton steps of the first attempt, of the second, and of later ones.
FEW_STEPS, FIRST_STEPS, MORE_STEPS = 20, 100, 300

#: Number of sweeps between attempts; the last ones double each time.
FEW_SWEEPS = 10


@compiled
def solve_friction_space(space: FrictionSpace, method: int, limit: int, tolerance: float) -> bool:
    """Solve from the present forces x; return whether they are a solution in the end.

    x and u become the solution, or the best found.

    :param method: COMBINED or SWEEPS_ALONE
    :param limit: maximum number of sweeps and Newton steps together
    :param tolerance: see `solve_friction`
    """
    begin_report(space, tolerance)
    if is_solved(space):
        return True
    solved: bool = search_solution(space, method, limit)
    return solved


@compiled
def begin_report(space: FrictionSpace, tolerance: float) -> None:
    """Clear the report, which forgets the best forces of the previous problem."""
    for k in range(len(space.report)):
        space.report[k] = 0.0
    space.report[BEST], space.report[TOLERANCE] = math.inf, tolerance


@compiled
def search_solution(space: FrictionSpace, method: int, limit: int) -> bool:
    """Search for a solution from forces that are none; see `solve_friction_space`."""
    report = space.report
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
def solve_redundant(space: FrictionSpace, limit: int, tolerance: float) -> bool:
    """Solve for the smallest forces; return whether the forces are a solution in the end.

    The start is kept if it is a solution, and forces near it where all contacts stick. If no
    smallest forces are found, any are.

    :param limit: maximum number of sweeps and Newton steps together
    :param tolerance: see `solve_friction`
    """
    begin_report(space, tolerance)
    if is_solved(space):
        return True
    if not any_slides(space):
        if newton(space, 0.0, iterations_left(space, FEW_STEPS, limit), 0.0):
            if not any_slides(space):
                return True
    if share_load(space, limit):
        return True
    # From there, without the best forces so far, which may be a dead end: `center` keeps them.
    best, n = space.report[BEST], size_of(space)
    for i in range(n):
        space.center[i] = space.best[i]
    space.report[BEST] = math.inf
    solved: bool = search_solution(space, COMBINED, limit)
    if not solved and best < space.report[BEST]:
        for i in range(n):
            space.x[i] = space.center[i]
        solved = is_solved(space)
    return solved


@compiled
def any_slides(space: FrictionSpace) -> bool:
    """Return whether the friction force of any contact is at its bound."""
    x = space.x
    for i in range(0, 3 * space.sizes[CONTACTS], 3):
        friction = math.sqrt(x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2])
        if x[i] > 0.0 and friction >= (1.0 - 1e-9) * x[i]:
            return True
    return False


@entry_point
def solve_space(space: FrictionSpace, method: int, limit: int, tolerance: float) -> int:
    """Return `solve_friction_space`, as Python calls it."""
    return 1 if solve_friction_space(space, method, limit, tolerance) else 0
