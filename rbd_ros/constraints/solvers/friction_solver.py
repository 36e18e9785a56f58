# SPDX-License-Identifier: Apache-2.0
"""Solvers of frictional contact, and how they follow one another."""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled, entry_point
from rbd_ros.constraints.friction_space import (
    BEST,
    CONTACTS,
    FLOOR,
    FrictionSpace,
    is_solved,
    refresh,
    RESIDUAL,
    return_to_best,
    size_of,
    TOLERANCE,
)
from rbd_ros.constraints.solvers.friction_admm import admm
from rbd_ros.constraints.solvers.friction_interior import (
    FARTHER_FORCE,
    interior,
    MIDDLE_FORCE,
    NEARER_FORCE,
)
from rbd_ros.constraints.solvers.friction_newton import (
    correct_start,
    guess_states,
    is_warm,
    newton,
)
from rbd_ros.constraints.solvers.friction_sweeps import SETTLED, sweep_until

#: Sweeps, then Newton's method, the interior-point method and ADMM; sweeps alone; ADMM alone.
COMBINED, SWEEPS_ALONE, ADMM_ALONE = 0, 1, 2

#: Maximum number of sweeps before an attempt of Newton's method, and how many attempts there are
#: before other methods.
FEW_SWEEPS, ATTEMPTS = 30, 2

#: Sweeps after all other methods before the next attempt of Newton's method, doubled each time.
MANY_SWEEPS = 100

#: Maximum number of steps of the interior-point method, with and without De Saxce's term, and of a
#: first attempt of ADMM.
FOLLOWING_LIMIT, AT_REST_LIMIT, FEW_STEPS = 60, 25, 60

#: Residual by the tolerance up to which forces of the step before are swept first, and how often.
NEARLY, FIRST_SWEEPS = 1e3, 2

#: Compliance by which redundant contacts share a load, by the mobility of what they touch.
COMPLIANCE = 1e-5

#: Maximum number of steps of such an attempt.
NEWTON_LIMIT = 20

#: Maximum number of steps of a first one without states of a problem before.
COLD_LIMIT = 2


@compiled
def solve_friction_space(space: FrictionSpace, method: int, limit: int, tolerance: float) -> bool:
    """Solve from the forces x that are there; return whether they are a solution in the end.

    The result is in x and u, or the best there was. What `state`, `direction` and `slip` hold is a
    start as well.

    :param method: COMBINED, SWEEPS_ALONE or ADMM_ALONE
    :param limit: maximum number of sweeps, and of steps of ADMM
    :param tolerance: see `solve_friction`
    """
    report = space.report
    for k in range(len(report)):
        report[k] = 0.0
    # The best forces of the last problem are not of this one.
    report[BEST], report[TOLERANCE] = math.inf, tolerance
    if is_solved(space):
        return True
    solved = False
    if method == COMBINED:
        few = NEWTON_LIMIT
        if is_warm(space):
            correct_start(space)
            # What the last step left is near: a sweep costs what looking at it costs.
            near = NEARLY * max(tolerance, report[FLOOR])
            if report[RESIDUAL] <= near and sweep_until(space, FIRST_SWEEPS, 3):
                return True
        else:
            # Most contacts stay where they are, and shares loads without friction at odds.
            guess_states(space)
            few = COLD_LIMIT
        if newton(space, few, False):
            return True
    if method == ADMM_ALONE:
        solved = admm(space, limit, False)
    else:
        if method == SWEEPS_ALONE:
            # States are never asked: it goes on to the limit.
            solved = sweep_until(space, limit, limit + 1)
        else:
            for attempt in range(ATTEMPTS):
                # The second time, states that looked settled were not.
                settled = SETTLED + 4 * attempt
                if not solved:
                    solved = sweep_until(space, min(limit, FEW_SWEEPS), settled)
                if not solved:
                    solved = newton(space, NEWTON_LIMIT, attempt > 0)
            if not solved:
                solved = (
                    interior(space, FOLLOWING_LIMIT, True, MIDDLE_FORCE)
                    # Where forces and velocities both vanish, it may stop halfway.
                    or admm(space, min(limit, FEW_STEPS), True)
                    # On other ways; where forces are not unique, it ends at others.
                    or interior(space, FOLLOWING_LIMIT, True, 0.0)
                    or interior(space, FOLLOWING_LIMIT, True, NEARER_FORCE)
                    or interior(space, AT_REST_LIMIT, False, FARTHER_FORCE)
                    or admm(space, limit, True)
                )
            more, used = MANY_SWEEPS, 0
            while not solved and used < limit:
                # What turns and slides under no large ratios is theirs after all.
                more = min(more, limit - used)
                solved = sweep_until(space, more, more + 1) or newton(space, NEWTON_LIMIT, True)
                used += more
                more *= 2
    if not solved:
        return_to_best(space)
        solved = is_solved(space)
    return solved


@compiled
def prefer_sticking(space: FrictionSpace, method: int, limit: int, tolerance: float) -> None:
    """Replace a solution in which something slides by that of the smallest forces.

    Rigid contacts that are redundant share a load in many ways, and with some of them a body
    slides that others hold: one pinched between two faces turns about a line if all force is at
    two points of it. With a little compliance they share it in one way, whatever came before; from
    there Newton's method changes forces by no more than it must. So what can stick sticks.

    :param method: see `solve_friction_space`
    :param limit: see `solve_friction_space`
    :param tolerance: see `solve_friction_space`
    """
    A, contacts, n = space.A, space.sizes[CONTACTS], size_of(space)
    for i in range(n):
        space.saved[i] = space.x[i]
    for i in range(3 * contacts):
        space.diagonal[i] = A[i, i]
        # The minimum of x . A x / 2 + x . b with a little of |x|^2 is unique, where A alone leaves
        # a flat.
        A[i, i] += COMPLIANCE
    refresh(space)
    # Residuals of the changed matrix are not comparable with those of the problem.
    space.report[BEST] = math.inf
    shared = newton(space, NEWTON_LIMIT, False)
    for i in range(3 * contacts):
        A[i, i] = space.diagonal[i]
    if not (shared and solve_friction_space(space, method, limit, tolerance)):
        for i in range(n):
            space.x[i] = space.saved[i]
        is_solved(space)


@entry_point
def solve_space(space: FrictionSpace, method: int, limit: int, tolerance: float) -> int:
    """Return `solve_friction_space`, as Python calls it."""
    return 1 if solve_friction_space(space, method, limit, tolerance) else 0
