# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quadratic program in the contact forces: minimize x . M x / 2 + x . d, x >= 0 (book eq 11.43).

With M = A^T A its dual is the point y of minimum length with A^T y + d >= 0, and that is a
nonnegative least-squares problem (Lawson and Hanson, Solving least squares problems, 1974, ch.
23): u >= 0 that minimizes |A u|^2 + (1 + d . u)^2. At the minimum rho = 1 + d . u is the square of
its length. Either rho > 0, and x = u / rho solves the program, or rho = 0, where A u = 0 and d . u
= -1: then it is unbounded, and the contact problem has no solution.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.constraints.friction import NotSolvedError
from rbd_ros.textbook.complementarity.lcp_problem import Array

#: Eigenvalues of M below this, times their number, are rounding.
RANK = 1e-13
#: Slopes below this fraction of |f| are zero.
GRADIENT = 1e-13
#: Maximum number of steps per element, plus one; one or two are usual.
STEPS = 20


class LeastSquares(NamedTuple):
    """Solution of a nonnegative least-squares problem.

    :param u: the solution, (n,)
    :param positive: indices of its positive elements; their columns are independent
    :param steps: number of least-squares problems solved
    """

    u: Array
    positive: NDArray[Any]
    steps: int


def force_qp(M: Array, d: Array) -> LeastSquares:
    """Return the direction u of the solution x = u / rho, or of an unbounded ray.

    :param M: symmetric positive-semidefinite matrix, (r, r), of unit diagonal
    :param d: vector, (r,), of elements of at most one
    :raises NotSolvedError: if rounding prevents convergence
    """
    values, vectors = np.linalg.eigh(M)
    kept = values > RANK * len(values)
    A = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    # Eigenvectors of a force that accelerates nothing are rounding errors.
    A[:, np.diag(M) < RANK] = 0.0
    E = np.vstack([A, -d])
    f = np.zeros(len(E))
    f[-1] = 1.0
    return nonnegative_least_squares(E, f)


def nonnegative_least_squares(E: Array, f: Array) -> LeastSquares:
    """Return the vector u >= 0 that minimizes |E u - f| (Lawson and Hanson, algorithm NNLS).

    :param E: matrix, (m, n)
    :param f: vector, (m,)
    :raises NotSolvedError: if rounding prevents convergence
    """
    n = E.shape[1]
    u, positive, rejected = np.zeros(n), np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    size = np.linalg.norm(E, axis=0)
    unit = E / np.where(size > 0.0, size, 1.0)
    tolerance = GRADIENT * float(np.linalg.norm(f))
    limit = STEPS * (n + 1)
    for steps in range(limit):
        # In units of each column's length, so that the scale of a column does not matter.
        slope = np.where(positive | rejected, 0.0, unit.T @ (f - unit @ u))
        if slope.max(initial=0.0) <= tolerance:
            return LeastSquares(u / np.where(positive, size, 1.0), np.flatnonzero(positive), steps)
        entering = int(np.argmax(slope))
        positive[entering] = True
        z = _free_solution(unit, f, positive)
        if not z[entering] > 0.0:  # a slope of nothing but rounding
            positive[entering], rejected[entering] = False, True
            continue
        rejected[:] = False
        while z[positive].min(initial=np.inf) <= 0.0:
            # As far towards z as all elements stay nonnegative; the first to reach zero is
            # removed.
            blocking = positive & (z <= 0.0)
            shares = np.where(blocking, u, np.inf) / np.where(blocking, u - z, 1.0)
            leaving = int(np.argmin(shares))
            u = np.where(positive, u + shares[leaving] * (z - u), 0.0)
            positive[leaving] = False
            u[leaving] = 0.0
            z = _free_solution(unit, f, positive)
        u = z
    raise NotSolvedError(f'the solver did not converge within {limit} steps')


def _free_solution(E: Array, f: Array, positive: NDArray[Any]) -> Array:
    """Return the least-squares solution in which only some elements are not zero."""
    z = np.zeros(E.shape[1])
    z[positive] = np.linalg.lstsq(E[:, positive], f, rcond=None)[0]
    return z
