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

from rbd_ros.constraints.problem import Array, NotSolvedError

#: Eigenvalues of M below this part of the largest are rounding.
RANK = 1e-13
#: Gradients below this are zero.
GRADIENT = 1e-13
#: Elements that a step leaves no larger than this are zero.
TINY = 1e-15
#: Maximum number of steps for each element and one more; one or two for each is usual.
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
    """Direction u of the solution x = u / rho, or of a ray along which the program is unbounded.

    :param M: symmetric positive-semidefinite matrix, (r, r), of unit diagonal
    :param d: vector, (r,), of elements of at most one
    :raises NotSolvedError: if rounding keeps it from ending
    """
    values, vectors = np.linalg.eigh(M)
    kept = values > RANK * max(values[-1], 1.0) if len(values) else np.zeros(0, dtype=bool)
    A = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    E = np.vstack([A, -d])
    f = np.zeros(len(E))
    f[-1] = 1.0
    return nonnegative_least_squares(E, f)


def nonnegative_least_squares(E: Array, f: Array) -> LeastSquares:
    """Vector u >= 0 that minimizes |E u - f| (Lawson and Hanson, algorithm NNLS).

    :param E: matrix, (m, n)
    :param f: vector, (m,)
    :raises NotSolvedError: if rounding keeps it from ending
    """
    n = E.shape[1]
    u, positive = np.zeros(n), np.zeros(n, dtype=bool)
    size = np.linalg.norm(E, axis=0)
    tolerance = GRADIENT * size * max(float(np.linalg.norm(f)), 1.0)
    refused = np.zeros(n, dtype=bool)
    limit = STEPS * (n + 1)
    for steps in range(limit):
        gradient = E.T @ (f - E @ u)
        open_ = ~positive & ~refused & (gradient > tolerance)
        if not open_.any():
            return LeastSquares(u, np.flatnonzero(positive), steps)
        # The steepest in proportion to its column, so that the scale of a column is no matter.
        slope = np.where(open_, gradient / np.where(size > 0.0, size, 1.0), -np.inf)
        entering = int(np.argmax(slope))
        positive[entering] = True
        z = _free_solution(E, f, positive)
        if not z[entering] > 0.0:  # a gradient of nothing but rounding
            positive[entering] = False
            refused[entering] = True
            continue
        refused[:] = False
        while z[positive].min() <= 0.0:
            blocking = positive & (z <= 0.0)
            share = np.min(u[blocking] / (u[blocking] - z[blocking]))
            u += share * (z - u)
            leaving = blocking & (u <= share * TINY + TINY)
            if not leaving.any():
                leaving = blocking & (u == u[blocking].min())
            positive &= ~leaving
            u[~positive] = 0.0
            z = _free_solution(E, f, positive)
            if not positive.any():
                break
        u = z
    raise NotSolvedError(f'no end after {limit} steps')


def _free_solution(E: Array, f: Array, positive: NDArray[Any]) -> Array:
    z = np.zeros(E.shape[1])
    if positive.any():
        z[positive] = np.linalg.lstsq(E[:, positive], f, rcond=None)[0]
    return z
