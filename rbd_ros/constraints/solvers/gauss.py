"""Gauss' principle of least constraint with inequalities: a program in qdd (book eq 11.44).

    minimize (qdd - qdd_free)^T H (qdd - qdd_free) / 2  subject to  T^T qdd + bias >= 0

The dual method of Goldfarb and Idnani (Mathematical Programming 27, 1983) begins with the free
motion and takes in one violated contact after another, letting go of those whose force would turn
negative. It has no more active contacts than freedoms, however many contacts there are, and gives
the contact forces as its multipliers. A contact that can neither be taken in nor exchanged proves
that there is no solution.
"""

from __future__ import annotations

from typing import Any, List, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.constraints.problem import Array, InfeasibleContactError, NotSolvedError

#: Accelerations below this part of the largest are zero, and so are normals that depend on others.
VIOLATION, DEPENDENT = 1e-11, 1e-9


class GaussSolution(NamedTuple):
    """Solution of the program in the accelerations.

    :param a: accelerations qdd, (nv,) [rad/s^2, m/s^2]
    :param force: contact forces lambda, (r,) [N], of independent contact normals
    :param acceleration: separation accelerations T^T qdd + bias, (r,) [m/s^2]
    :param active: which forces are positive, (r,) of bool
    :param iterations: steps that the solver took
    """

    a: Any
    force: Any
    acceleration: Any
    active: Any
    iterations: int


def solve_gauss(H: ArrayLike, free: ArrayLike, T: ArrayLike, bias: ArrayLike) -> GaussSolution:
    """Accelerations nearest to those without contact forces that let no contact penetrate.

    :param H: inertia matrix, (nv, nv), positive-definite
    :param free: accelerations without contact forces H^-1 (tau - C), (nv,)
    :param T: contact normals in joint space by columns, (nv, r)
    :param bias: Tdot^T v, (r,) [m/s^2]
    :raises ValueError: for wrong shapes or numbers that are not finite
    :raises InfeasibleContactError: if every motion penetrates
    :raises numpy.linalg.LinAlgError: if H is not positive-definite
    """
    inertia, start, normals, rest = (np.asarray(x, dtype=float) for x in (H, free, T, bias))
    n, r = len(start), len(rest)
    if inertia.shape != (n, n) or normals.shape != (n, r):
        raise ValueError(
            f'H must have shape {(n, n)} and T {(n, r)}, got {inertia.shape} and {normals.shape}'
        )
    if not all(np.isfinite(x).all() for x in (inertia, start, normals, rest)):
        raise ValueError('H, free, T and bias must be finite')
    # With H = L L^T and y = L^T (qdd - free) the shortest y with A^T y + d >= 0 is wanted.
    L = np.linalg.cholesky(inertia)
    A = np.linalg.solve(L, normals)
    d = normals.T @ start + rest
    size = np.linalg.norm(A, axis=0)
    tolerance = VIOLATION * np.maximum(size, size.max(initial=0.0)) * _scale(d, size)
    force, steps = _shortest(A, d, size, tolerance)
    a = start + np.linalg.solve(L.T, A @ force)
    separation = np.where(force > 0.0, 0.0, normals.T @ a + rest)
    return GaussSolution(a, force, separation, force > 0.0, steps)


def _scale(d: Array, size: Array) -> float:
    """Largest length of y that a single contact asks for, of those that it can ask."""
    seen = size > 0.0
    return float(np.abs(d[seen] / size[seen]).max(initial=0.0)) or 1.0


def _shortest(A: Array, d: Array, size: Array, tolerance: Array) -> Any:
    """Multipliers of the shortest y = A lambda with A^T y + d >= 0, and the number of steps."""
    r = len(d)
    force, active = np.zeros(r), np.zeros(0, dtype=int)
    working: List[int] = []
    steps, limit = 0, 50 * (r + 1)
    while True:
        excess = A.T @ (A @ force) + d
        excess[working] = 0.0
        scaled = np.where(excess < -tolerance, excess / np.where(size > 0.0, size, 1.0), 0.0)
        scaled = np.where((size == 0.0) & (excess < -tolerance), -np.inf, scaled)
        if not r or scaled.min() >= 0.0:
            return force, steps
        entering = int(np.argmin(scaled))
        while True:
            steps += 1
            if steps > limit:
                raise NotSolvedError(f'no end after {limit} steps')
            active = np.array(working, dtype=int)
            a = A[:, entering]
            shares = np.linalg.lstsq(A[:, active], a, rcond=None)[0]
            across = a - A[:, active] @ shares
            violation = float(a @ (A @ force) + d[entering])
            blocking = shares > DEPENDENT * (1.0 + np.abs(shares).max(initial=0.0))
            ratios = np.full(len(active), np.inf)
            ratios[blocking] = force[active[blocking]] / shares[blocking]
            to_drop = float(ratios.min(initial=np.inf))
            independent = np.linalg.norm(across) > DEPENDENT * size[entering]
            to_reach = -violation / float(across @ across) if independent else np.inf
            step = min(to_drop, to_reach)
            if step == np.inf:
                raise _refusal(active, shares, entering, d)
            force[active] -= step * shares
            force[entering] += step
            if to_reach <= to_drop:
                working.append(entering)
                break
            leaving = int(active[np.argmin(ratios)])
            force[leaving] = 0.0
            working.remove(leaving)
        np.maximum(force, 0.0, out=force)


def _refusal(active: Any, shares: NDArray[Any], entering: int, d: Array) -> InfeasibleContactError:
    """Error with the combination of normals that is zero: the one that could not be taken in."""
    mu = np.zeros(len(d))
    mu[active] = np.maximum(-shares, 0.0)
    mu[entering] = 1.0
    mu /= mu.sum()
    return InfeasibleContactError(mu, float(mu @ d))
