# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Solve for the forces of contacts with friction, by a selectable solver."""

from __future__ import annotations

import math
from typing import Any, get_args, Literal, NamedTuple, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.compiler.loops import allocate, Record
from rbd_ros.constraints.friction import (
    Array,
    FrictionProblem,
    moments_of,
    NotSolvedError,
    Residuals,
    residuals,
)
from rbd_ros.constraints.friction_space import (
    ALONE,
    AT_REST,
    FIRST,
    FrictionSpace,
    NEWTON_STEPS,
    SECOND,
    SWEEPS,
)
from rbd_ros.constraints.solvers.friction_solver import solve_space

#: Solvers: Newton's method, with Gauss-Seidel sweeps where it stalls; sweeps alone.
FrictionSolver = Literal['newton', 'sweeps']
FRICTION_SOLVERS = get_args(FrictionSolver)


class FrictionSolution(NamedTuple):
    """Forces of contacts with friction.

    :param force: forces lambda, (N,): a solution, or the best found
    :param velocity: velocities G lambda + g, (N,)
    :param state: 'open', 'stick' or 'slide' of each contact, (n,)
    :param residuals: distance of the forces from a solution
    :param converged: whether the residuals are within the tolerance
    :param iterations: number of sweeps and Newton steps
    :param certificate: None, or a proof that the problem has no solution, (N,): forces along
        normals and rows that cause no velocities, but whose work with g is negative. With any
        forces, some contact then penetrates or some row violates its constraint
    """

    force: Any
    velocity: Any
    state: Any
    residuals: Residuals
    converged: bool
    iterations: Tuple[int, int]
    certificate: Any


def solve_friction(
    problem: FrictionProblem,
    solver: FrictionSolver = 'newton',
    start: Optional[ArrayLike] = None,
    tolerance: float = 1e-10,
    iterations: int = 2000,
) -> FrictionSolution:
    """Solve a contact problem with friction.

    With redundant contacts, forces are not unique; the solver finds some near the start. If such
    contacts slide while the body turns, velocities are not unique either, as friction depends on
    how the contacts share the load; compliance makes both unique. A contact that may open as
    well as stick or slide opens in a sweep. The solver always ends and raises no error: without a
    solution, `converged` is false.

    :param problem: as `friction_problem` returns it
    :param solver: one of `FRICTION_SOLVERS`
    :param start: initial forces (warm start), (N,); default zero
    :param tolerance: velocity error of a solution relative to the largest velocity without
        forces; rounding errors of the forces' effects are always accepted
    :param iterations: maximum number of sweeps and Newton steps together
    :raises ValueError: for an unknown solver, a start of another shape or not finite, a tolerance
        that is not positive, or less than one iteration

    >>> from rbd_ros.constraints import friction_problem
    >>> from rbd_ros.constraints import solve_friction
    >>> problem = friction_problem(np.eye(3), [-1.0, 0.5, 0.0], [0.3])
    >>> found = solve_friction(problem)  # it slides, slowed down by friction
    >>> found.force, found.velocity, found.state[0]
    (array([ 1. , -0.3,  0. ]), array([0. , 0.2, 0. ]), 'slide')
    """
    if solver not in FRICTION_SOLVERS:
        raise ValueError(f'unknown solver {solver!r}; there are {", ".join(FRICTION_SOLVERS)}')
    if not 0.0 < tolerance < math.inf or iterations < 1 or iterations != int(iterations):
        raise ValueError('tolerance must be positive, and iterations a whole number of at least 1')
    size = len(problem.g)
    first = np.zeros(size) if start is None else np.asarray(start, dtype=float)
    if first.shape != (size,) or not np.isfinite(first).all():
        raise ValueError(f'start must be finite and have shape ({size},), got {first.shape}')
    space, scale = scaled_space(problem)
    # A frictionless tangent has the unit zero: its force stays zero for any start.
    np.divide(first, scale, out=space.x, where=scale > 0.0)
    method = FRICTION_SOLVERS.index(solver)
    converged = solve_space(Record(space), method, int(iterations), tolerance) == 1
    force = scale * space.x
    return FrictionSolution(
        force,
        problem.velocity(force),
        _states(problem, force),
        residuals(problem, force),
        converged,
        (int(space.report[SWEEPS]), int(space.report[NEWTON_STEPS])),
        None if converged else _certificate(problem),
    )


def scaled_space(problem: FrictionProblem) -> Tuple[FrictionSpace, Array]:
    """Return buffers of compiled loops with the scaled problem, and the unit of each force.

    :param problem: as `friction_problem` returns it
    """
    n, size = problem.contacts, len(problem.g)
    end = 3 * n + problem.rows
    space = allocate(FrictionSpace, N=size, n=n, m=size - 3 * n)
    space.sizes[:] = n, problem.rows, size - end
    at = 0
    for c, rows, coefficient in zip(*moments_of(problem)):
        space.part[at : at + rows] = (ALONE,) if rows == 1 else (FIRST, SECOND)
        space.moment_contact[at : at + rows], space.coefficient[at : at + rows] = c, coefficient
        at += rows
    matrix = problem.G + np.diag(problem.compliance)
    scale = np.ones(size)
    # D = diag(1, mu_1, mu_2): cones become Lorentz cones. The steps below are those of
    # `scale_space`, vectorized; both must give the same problem.
    scale[: 3 * n].reshape(n, 3)[:, 1:] = problem.friction
    scale[end:] = space.coefficient[:at]
    # One maximum per contact, so that cones stay cones.
    largest = scale * scale * np.diag(matrix)
    blocks = largest[: 3 * n].reshape(n, 3).max(axis=1, initial=0.0)
    np.maximum.at(blocks, space.moment_contact[:at], largest[end:])
    # One unit for a contact with its moments, which are in the cone of the same normal force.
    largest[: 3 * n], largest[end:] = np.repeat(blocks, 3), blocks[space.moment_contact[:at]]
    all_of_them = float(largest.max(initial=0.0)) or 1.0
    scale /= np.sqrt(np.where(largest > 1e-24 * all_of_them, largest, all_of_them))
    # Velocities are relative to the largest one without forces, and so are tolerances.
    unit = float(np.abs(scale * problem.g).max(initial=0.0))
    unit = unit if unit > AT_REST else 1.0
    np.multiply(matrix * scale, scale[:, None], out=space.A)
    np.multiply(problem.g, scale / unit, out=space.b)
    scale = scale * unit
    np.divide(problem.low, scale[3 * n : end], out=space.low[: problem.rows])
    np.divide(problem.high, scale[3 * n : end], out=space.high[: problem.rows])
    return space, scale


def _states(problem: FrictionProblem, force: Array) -> Any:
    """Return the state of each contact by its force: it slides on the boundary of its cone."""
    forces = force[: 3 * problem.contacts].reshape(-1, 3)
    parts = np.divide(
        forces[:, 1:],
        problem.friction,
        out=np.zeros_like(forces[:, 1:]),
        where=problem.friction > 0.0,
    )
    at_boundary = np.linalg.norm(parts, axis=1) >= forces[:, 0] * (1.0 - 1e-9)
    return np.where(forces[:, 0] <= 0.0, 'open', np.where(at_boundary, 'slide', 'stick'))


def _certificate(problem: FrictionProblem) -> Optional[Array]:
    """Return a proof that no forces satisfy the constraints of normals and rows, or None.

    Friction and moments do not matter: G is positive-semidefinite, so forces along normals and
    rows that cause no velocities there cause none anywhere.
    """
    # Imported here: only the proof needs the LCP of the textbook package.
    from rbd_ros.textbook.complementarity.lcp import infeasibility

    n, size = problem.contacts, len(problem.g)
    rows = np.arange(3 * n, 3 * n + problem.rows)
    # A row with two finite bounds can have any velocity at them.
    up = np.concatenate([np.arange(0, 3 * n, 3), rows[np.isinf(problem.high)]])
    down = rows[np.isinf(problem.low)]
    # E maps nonnegative forces to those of the problem. A row without bounds, as of a loop, has a
    # column of either sign.
    E = np.zeros((size, len(up) + len(down)))
    E[up, np.arange(len(up))] = 1.0
    E[down, len(up) + np.arange(len(down))] = -1.0
    try:
        found = infeasibility(E.T @ (problem.G + np.diag(problem.compliance)) @ E, E.T @ problem.g)
    except NotSolvedError:
        return None
    return None if found is None else E @ found.certificate
