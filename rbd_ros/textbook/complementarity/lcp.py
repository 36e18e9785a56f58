# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact forces and separation accelerations, by a selectable solver (book 11.5)."""

from __future__ import annotations

from typing import Callable, Dict, get_args, Literal, Optional

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.constraints.friction import NotSolvedError
from rbd_ros.textbook.complementarity.force_qp import force_qp
from rbd_ros.textbook.complementarity.lcp_problem import (
    InfeasibleContactError,
    LcpProblem,
    LcpSolution,
)
from rbd_ros.textbook.complementarity.lemke import lemke

#: Solvers of the contact problem: pivots of the problem itself, or the program in the forces.
Method = Literal['lemke', 'qp']
METHODS = get_args(Method)


def solve_lcp(M: ArrayLike, d: ArrayLike, method: Method = 'lemke') -> LcpSolution:
    """Solve the contact problem zeta_dot = M lambda + d (book eq 11.42).

    Its solution is unique if M is positive-definite. Otherwise there may be none or many; all have
    the same accelerations, and the one returned is basic.

    :param M: separation accelerations per contact force, (r, r) [1/kg], symmetric and
        positive-semidefinite, as `robot.contacts` gives it
    :param d: separation accelerations without contact forces, (r,) [m/s^2]
    :param method: one of `METHODS`; they differ only in the choice among many solutions
    :raises ValueError: for an unknown method, wrong shapes, numbers that are not finite, or a
        matrix that is not symmetric and positive-semidefinite
    :raises InfeasibleContactError: if there is no solution, with the proof of it

    >>> from rbd_ros.textbook.complementarity import solve_lcp
    >>> M, d = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-9.81, 1.0])
    >>> found = solve_lcp(M, d)  # the first contact pushes, the second one opens
    >>> found.force, found.acceleration  # [N], [m/s^2]
    (array([4.905, 0.   ]), array([0.   , 5.905]))
    """
    if method not in METHODS:
        raise ValueError(f'unknown method {method!r}; there are {", ".join(METHODS)}')
    problem = LcpProblem.of(M, d)
    # If rounding misleads one solver, another one is tried. A problem that is almost without a
    # solution counts as solvable.
    for attempt in (problem, problem.relaxed()):
        for name in (method, *(x for x in METHODS if x != method)):
            try:
                solution = _SOLVERS[name](attempt)
            except NotSolvedError:
                continue
            if solution is not None:
                return solution
    raise NotSolvedError('the contact problem is too badly conditioned for double precision')


def infeasibility(M: ArrayLike, d: ArrayLike) -> Optional[InfeasibleContactError]:
    """Return the reason why a contact problem has no solution; None if it has one.

    Arguments are those of `solve_lcp`.

    >>> from rbd_ros.textbook.complementarity import infeasibility
    >>> infeasibility(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-9.81, 1.0])) is None
    True
    """
    try:
        solve_lcp(M, d)
    except InfeasibleContactError as error:
        return error
    return None


def _by_pivots(problem: LcpProblem) -> Optional[LcpSolution]:
    end = lemke(problem.M, problem.d)
    if end.solved:
        return problem.solution_of(end.active, end.pivots)
    error = problem.infeasibility(end.direction)
    if error is not None:
        raise error
    return None


def _by_program(problem: LcpProblem) -> Optional[LcpSolution]:
    u, positive, steps = force_qp(problem.M, problem.d)
    error = problem.infeasibility(u) if np.any(u > 0.0) else None
    if error is not None:
        raise error
    return problem.solution_of(positive, steps)


_SOLVERS: Dict[str, Callable[[LcpProblem], Optional[LcpSolution]]] = {
    'lemke': _by_pivots,
    'qp': _by_program,
}
