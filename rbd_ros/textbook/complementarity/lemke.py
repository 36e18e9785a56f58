# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lemke's method for linear complementarity problems (Cottle and Dantzig 1968; book 11.5).

An artificial variable z_0 makes w = M z + d + z_0 nonnegative. Pivots keep w . z = 0 and take z_0
to zero, where (z, w) is the solution. For a positive-semidefinite M the only other end is a ray,
whose direction proves infeasibility. Ties, which dependent rows often cause, are decided
lexicographically: so no basis repeats.
"""

from __future__ import annotations

from typing import Any, List, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.constraints.friction import NotSolvedError
from rbd_ros.textbook.complementarity.lcp_problem import Array

#: Minimum pivot, and maximum difference of equal ratios.
PIVOT, TIE = 1e-10, 1e-12
#: Maximum number of pivots per row, plus one; a few are usual.
PIVOTS = 50


class LemkeEnd(NamedTuple):
    """End of Lemke's method.

    :param solved: whether it found a solution
    :param active: indices of the forces in the basis
    :param direction: direction of the ray in the forces, (r,), if it ended on one
    :param pivots: number of pivots
    """

    solved: bool
    active: NDArray[Any]
    direction: Array
    pivots: int


def lemke(M: Array, d: Array) -> LemkeEnd:
    """Solve w = M z + d, w >= 0, z >= 0, w . z = 0.

    :param M: symmetric positive-semidefinite matrix, (r, r), of unit diagonal
    :param d: vector, (r,), of elements of at most one
    :raises NotSolvedError: if rounding prevents convergence
    """
    r = len(d)
    still, none = np.zeros(r), np.zeros(0, dtype=int)
    if not r or d.min() >= 0.0:
        return LemkeEnd(True, none, still, 0)
    artificial = 2 * r
    # Columns: w, z, z_0 and the values of the basic variables, of which w are the first.
    table = np.hstack([np.eye(r), -M, -np.ones((r, 1)), d[:, None]])
    basis = list(range(r))
    # z_0 enters at the most negative d: with z_0 added to each w, the basis is feasible (Lemke
    # 1965; Cottle, Pang and Stone, The Linear Complementarity Problem, chapter 4).
    row, entering = _lexicographic_minimum(table, np.arange(r), np.ones(r), basis, -1), artificial
    limit = PIVOTS * (r + 1)
    for pivots in range(1, limit + 1):
        table[row] /= table[row, entering]
        others = np.arange(r) != row
        table[others] -= np.outer(table[others, entering], table[row])
        leaving, basis[row] = basis[row], entering
        # Without z_0, the basis solves the problem.
        if leaving == artificial:
            active = np.array(sorted(k - r for k in basis if k >= r), dtype=int)
            return LemkeEnd(True, active, still, pivots)
        # One of each pair w_i, z_i is zero, so the complement of the leaving variable enters.
        entering = leaving + r if leaving < r else leaving - r  # its complement
        column = table[:, entering]
        rows = np.flatnonzero(column > PIVOT)
        # A secondary ray: for positive-semidefinite M it proves infeasibility.
        if not len(rows):
            ray = still.copy()
            if entering >= r:
                ray[entering - r] = 1.0
            for k, variable in enumerate(basis):
                if r <= variable < artificial:
                    ray[variable - r] = -column[k]
            return LemkeEnd(False, none, ray, pivots)
        row = _lexicographic_minimum(table, rows, column[rows], basis, artificial)
    raise NotSolvedError(f'the solver did not converge within {limit} pivots')


def _lexicographic_minimum(
    table: Array, rows: NDArray[Any], divisors: Array, basis: List[int], artificial: int
) -> int:
    """Return the row with the minimum of (value, row of the inverse basis) over its divisor.

    Among rows of equal value, that of the artificial variable ends the search.
    """
    inverse = range(len(basis))
    # Ties are decided by rows of the inverse basis: no basis repeats, so the method ends.
    for column in (-1, *inverse):
        ratios = table[rows, column] / divisors
        tied = ratios <= ratios.min() + TIE * (1.0 + abs(ratios.min()))
        rows, divisors = rows[tied], divisors[tied]
        if column == -1:
            for row in rows:
                if basis[row] == artificial:
                    return int(row)
        if len(rows) == 1:
            break
    return int(rows[np.argmax(divisors)])
