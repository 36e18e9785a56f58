# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Gauss' principle of least constraint with inequalities: a program in qdd (book eq 11.44).

    minimize (qdd - qdd_free)^T H (qdd - qdd_free) / 2  subject to  T^T qdd + bias >= 0

The dual method of Goldfarb and Idnani (Mathematical Programming 27, 1983) starts from the free
motion and adds one violated contact after another, removing those whose force would become
negative. It never has more active contacts than DoFs, and its multipliers are the contact forces.
A contact that can neither be added nor exchanged proves that there is no solution.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Tuple

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.constraints.friction import NotSolvedError
from rbd_ros.textbook.complementarity.lcp_problem import (
    Array,
    BALANCE,
    IMMOVABLE,
    InfeasibleContactError,
    ROUNDING,
    TOLERANCE,
)

#: Accelerations below this fraction of the largest, and components of normals outside the span of
#: others below this fraction, are zero.
VIOLATION, DEPENDENT = 1e-11, 1e-9
#: Maximum number of steps per contact; one or two are usual.
STEPS = 50


class GaussSolution(NamedTuple):
    """Solution of the program in the accelerations.

    :param a: accelerations qdd, (nv,) [rad/s^2, m/s^2]
    :param force: contact forces lambda, (r,) [N], of independent contact normals
    :param acceleration: separation accelerations T^T qdd + bias, (r,) [m/s^2]
    :param active: which forces are positive, (r,) of bool
    :param iterations: number of steps
    """

    a: Any
    force: Any
    acceleration: Any
    active: Any
    iterations: int


def solve_gauss(H: ArrayLike, free: ArrayLike, T: ArrayLike, bias: ArrayLike) -> GaussSolution:
    """Return the non-penetrating accelerations nearest to those without contact forces.

    :param H: inertia matrix, (nv, nv), positive-definite
    :param free: accelerations without contact forces H^-1 (tau - C), (nv,)
    :param T: contact normals in joint space by columns, (nv, r)
    :param bias: Tdot^T v, (r,) [m/s^2]
    :raises ValueError: for wrong shapes or numbers that are not finite
    :raises InfeasibleContactError: if every motion penetrates
    :raises NotSolvedError: if rounding prevents a decision
    :raises numpy.linalg.LinAlgError: if H is not positive-definite

    >>> from rbd_ros.textbook.complementarity import solve_gauss
    >>> H, T = np.eye(2), np.array([[0.0], [1.0]])  # 1 kg, and the ground below
    >>> solve_gauss(H, np.array([0.0, -9.81]), T, np.zeros(1)).a
    array([0., 0.])
    """
    inertia, start, normals, rest = (np.asarray(x, dtype=float) for x in (H, free, T, bias))
    n, r = len(start), len(rest)
    if inertia.shape != (n, n) or normals.shape != (n, r):
        raise ValueError(
            f'H must have shape {(n, n)} and T {(n, r)}, got {inertia.shape} and {normals.shape}'
        )
    if not all(np.isfinite(x).all() for x in (inertia, start, normals, rest)):
        raise ValueError('H, free, T and bias must be finite')
    # With H = L L^T and y = L^T (qdd - free), the solution is the shortest y with A^T y + d >= 0.
    # Columns of unit length and d of at most one make all contacts comparable.
    L = np.linalg.cholesky(inertia)
    A, d = np.linalg.solve(L, normals), normals.T @ start + rest
    size = np.linalg.norm(A, axis=0)
    movable = size > IMMOVABLE * size.max(initial=0.0)
    moved = np.flatnonzero(movable)
    for i in np.flatnonzero(~movable & (d < -VIOLATION * np.abs(d).max(initial=0.0))):
        raise InfeasibleContactError(np.eye(r)[i], float(d[i]))  # which no motion changes
    A, goal = A[:, moved] / size[moved], d[moved] / size[moved]
    unit = float(np.abs(goal).max(initial=0.0))
    if unit > 0.0:
        goal = goal / unit
    solved, proof, steps = _shortest(A, goal)
    if not solved:
        mu = np.zeros(r)
        mu[moved] = proof / size[moved]
        mu /= mu.sum()
        raise InfeasibleContactError(mu, float(mu @ d))
    force = np.zeros(r)
    force[moved] = unit * proof / size[moved]
    a = start + unit * np.linalg.solve(L.T, A @ proof)
    separation = np.where(force > 0.0, 0.0, normals.T @ a + rest)
    return GaussSolution(a, force, separation, force > 0.0, steps)


def _shortest(A: Array, d: Array) -> Tuple[bool, Array, int]:
    """Return the shortest y with A^T y + d >= 0, as y = A x with x >= 0.

    :param A: matrix of columns of unit length, (n, r)
    :param d: vector, (r,), of elements of at most one
    :return: True, x and the number of steps; if there is no such y, False, a proof of it, x >= 0
        with A x = 0 and x . d < 0, and the number of steps
    :raises NotSolvedError: if rounding prevents convergence
    """
    r = len(d)
    x, working, settled = np.zeros(r), np.zeros(r, dtype=bool), np.zeros(r, dtype=bool)
    steps, limit = 0, STEPS * r
    while True:
        excess = np.where(working | settled, 0.0, A.T @ (A @ x) + d)
        if excess.min(initial=0.0) >= -(VIOLATION + ROUNDING * x.max(initial=0.0)):
            # Larger forces result from division by rounding errors, and prove nothing.
            if not x.max(initial=0.0) < 1.0 / BALANCE:
                raise NotSolvedError(
                    'the contact forces are too large to distinguish from rounding errors'
                )
            return True, x, steps
        entering = int(np.argmin(excess))
        while True:
            if steps == limit:
                raise NotSolvedError(f'the solver did not converge within {limit} steps')
            steps += 1
            shares = np.zeros(r)
            shares[working] = np.linalg.lstsq(A[:, working], A[:, entering], rcond=None)[0]
            across = A[:, entering] - A @ shares
            square = float(across @ across)
            # Step length until a force would become negative, and until the contact is satisfied.
            blocking = working & (shares > DEPENDENT)
            ratios = np.where(blocking, x, np.inf) / np.where(blocking, shares, 1.0)
            to_drop = float(ratios.min())
            to_reach = np.inf
            if square > DEPENDENT**2:
                to_reach = -float(A[:, entering] @ (A @ x) + d[entering]) / square
            step = min(to_drop, to_reach)
            if step == np.inf:
                proof = np.maximum(-shares, 0.0)
                proof[entering] = 1.0
                if proof @ d < -2.0 * TOLERANCE:
                    return False, proof, steps
                # Almost without a solution: counted as rounding.
                settled[entering] = True
                break
            x = np.maximum(x - step * shares, 0.0)
            x[entering] += step
            if to_reach <= to_drop:
                working[entering] = True
                break
            leaving = int(np.argmin(ratios))
            working[leaving] = False
            x[leaving] = 0.0
