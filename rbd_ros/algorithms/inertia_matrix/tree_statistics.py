# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Effect of a tree's shape on the cost of its inertia matrix (book 6.5 and 10.3.2).

Numbers of operations of the functions in this folder, by formulas of the depths of the bodies
alone: the book's table 6.6 and equations 10.4 to 10.12. Sines and cosines do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterable, NamedTuple

from rbd_ros.algorithms.inertia_matrix.expanded_parents import above, Parents


@dataclass(frozen=True)
class Cost:
    """Number of scalar operations; subtractions count as additions.

    :param multiplications: products, the book's m
    :param additions: sums and differences, a
    :param divisions: quotients, d
    """

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    square_roots: int = 0

    def __add__(self, other: Cost) -> Cost:
        """Return the cost of doing both."""
        return Cost(
            self.multiplications + other.multiplications,
            self.additions + other.additions,
            self.divisions + other.divisions,
            self.square_roots + other.square_roots,
        )

    def __rmul__(self, times: int) -> Cost:
        """Return the cost of doing it so many times."""
        return Cost(
            times * self.multiplications,
            times * self.additions,
            times * self.divisions,
            times * self.square_roots,
        )


_DIVISION, _STEP = Cost(divisions=1), Cost(multiplications=1, additions=1)
_ROOT, _PRODUCT = Cost(square_roots=1), Cost(multiplications=1)

# Adding and transforming inertias, and transforming vectors, by Denavit-Hartenberg and by general
# transforms (book 10.3).
INERTIA_SUM = Cost(0, 10)
DH_INERTIA, DH_VECTOR = Cost(32, 33), Cost(20, 12)
GENERAL_INERTIA, GENERAL_VECTOR = Cost(47, 48), Cost(24, 18)


class TreeStatistics(NamedTuple):
    """Depths of a tree, for cost formulas.

    :param n: number of joints, or of joint variables
    :param depth: largest number of joints between a body and the base, d
    :param D0: number of bodies that are no children of the base (eq 10.4)
    :param D1: ancestors of all bodies together, sum of d_k - 1 (eq 6.26 and 10.5): the nonzero
        elements below the diagonal
    :param D2: pairs of ancestors, equal ones too, sum of d_k (d_k - 1) / 2 (eq 6.27)
    """

    n: int
    depth: int
    D0: int
    D1: int
    D2: int

    @property
    def nonzeros(self) -> int:
        """Number of elements of the inertia matrix that are not zero: n + 2 D1."""
        return self.n + 2 * self.D1

    @property
    def density(self) -> float:
        """Fraction rho of nonzero elements of the inertia matrix (book 6.4)."""
        return self.nonzeros / self.n**2 if self.n else 1.0

    def sparse_costs(self) -> Dict[str, Cost]:
        """Return the cost of each function of sparse_factors.py (book table 6.6).

        A factor is `L`, or `unit L` with ones on its diagonal.
        """
        n, D1, D2 = self.n, self.D1, self.D2
        return {
            'factorize_ltl': n * _ROOT + D1 * _DIVISION + D2 * _STEP,
            'factorize_ltdl': D1 * _DIVISION + D2 * _STEP,
            'solve_ltl': 2 * n * _DIVISION + 2 * D1 * _STEP,
            'solve_ltdl': n * _DIVISION + 2 * D1 * _STEP,
            'L x': n * _PRODUCT + D1 * _STEP,
            'L^-1 x': n * _DIVISION + D1 * _STEP,
            'unit L x': D1 * _STEP,
            'unit L^-1 x': D1 * _STEP,
            'H x': n * _PRODUCT + 2 * D1 * _STEP,
        }


def tree_statistics(parents: Parents) -> TreeStatistics:
    """Return the depths of a tree.

    :param parents: parent of each body in the book's numbers, or the expanded parent array

    >>> from rbd_ros.algorithms.inertia_matrix.tree_statistics import tree_statistics
    >>> statistics = tree_statistics([0, 1, 2, 1])  # four bodies, one branch
    >>> statistics.depth, statistics.D1, statistics.D2
    (3, 4, 5)
    """
    depths = [1 + len(list(above(parents, k))) for k in range(len(parents))]
    return TreeStatistics(
        n=len(depths),
        depth=max(depths, default=0),
        D0=sum(parent != 0 for parent in parents),
        D1=sum(d - 1 for d in depths),
        D2=sum(d * (d - 1) // 2 for d in depths),
    )


def crba_cost(parents: Parents, general: Iterable[int] = ()) -> Cost:
    """Return the cost of the composite-rigid-body algorithm for revolute joints.

    Book eq 10.10 to 10.12.

    :param parents: parent of each body in the book's numbers, (n,)
    :param general: numbers of the bodies, from 1, whose transform from the parent is no
        Denavit-Hartenberg transform; children of the base do not matter

    >>> from rbd_ros.algorithms.inertia_matrix.tree_statistics import crba_cost
    >>> cost = crba_cost([0, 1, 2, 3, 4, 5])  # an arm of six hinges
    >>> cost.multiplications, cost.additions
    (460, 395)
    """
    subtree = [1] * len(parents)
    for i in reversed(range(len(parents))):
        if parents[i] != 0:
            subtree[parents[i] - 1] += subtree[i]
    others = set(general)
    total = Cost()
    for i, parent in enumerate(parents, start=1):
        if parent != 0:
            inertia, vector = (
                (GENERAL_INERTIA, GENERAL_VECTOR) if i in others else (DH_INERTIA, DH_VECTOR)
            )
            total = total + INERTIA_SUM + inertia + subtree[i - 1] * vector
    return total
