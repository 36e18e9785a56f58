# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Response of a tree to many generalized forces at once: columns of H^-1 B by factors of H.

The rest of the tree follows a force on the joints of some branch and its ancestors: there H x is
zero, so that x_i = -(sum of L_ij x_j over the j above i), and in the end a product T of the DoFs
where the rest is attached. T is the same for all forces on other branches, and has columns for the
degrees of freedom of the trunk only.
"""

from collections import Counter
from typing import Dict, FrozenSet, List, Optional, Sequence, Set, Tuple

from rbd_ros.algorithms.inertia_matrix.factorization import LTDL
from rbd_ros.spatial.scalar import is_zero, Scalar

Columns = List[List[Scalar]]


class Followers:
    """Rows of T: how a DoF without force follows those where its branch is attached.

    :param factors: factors of H
    :ivar factors: the same
    :ivar above: degrees of freedom above each one
    """

    def __init__(self, factors: LTDL):
        self.factors, self.above = factors, _above(factors)
        self._rows: Dict[Tuple[int, FrozenSet[int]], Dict[int, Scalar]] = {}

    def row(self, i: int, joined: FrozenSet[int]) -> Dict[int, Scalar]:
        """Return elements t_k with x_i = -(t_k x_k), summed over the DoFs `joined`, by k."""
        key = (i, joined)
        if key not in self._rows:
            row = self.factors.L[i]
            total: Dict[int, Scalar] = {k: l for k, l in row.items() if k in joined}
            for j, l in row.items():
                if j not in joined:
                    for k, t in self.row(j, joined & self.above[j]).items():
                        total[k] = total[k] - l * t if k in total else -(l * t)
            self._rows[key] = total
        return self._rows[key]

    def known(self, i: int, joined: FrozenSet[int]) -> Optional[Dict[int, Scalar]]:
        """Return the row of T as above if it was computed before."""
        return self._rows.get((i, joined))


def responses(factors: LTDL, forces: Sequence[Sequence[Scalar]]) -> Columns:
    """Return the solutions x of H x = b for many b, with few operations where H has zeros.

    :param forces: right-hand sides b, each (n,); known zeros are skipped
    :return: solutions, one for each of `forces`
    """
    return responses_by(Followers(factors), forces)


def responses_by(followers: Followers, forces: Sequence[Sequence[Scalar]]) -> Columns:
    """Return the solutions as those of `responses`.

    :param followers: rows of T; missing ones are added
    :param forces: right-hand sides, each (n,)
    """
    factors = followers.factors
    n, above = len(factors.L), followers.above
    touched = [
        set().union(*({i, *above[i]} for i, x in enumerate(b) if not is_zero(x))) for b in forces
    ]
    # Number of right-hand sides by which a DoF follows the same others: whether T pays off
    uses = Counter(
        (i, frozenset(above[i] & held)) for held in touched for i in range(n) if i not in held
    )
    found: Columns = []
    for b, held in zip(forces, touched):
        y = factors.solve_transposed(b)
        x: List[Scalar] = [0.0] * n
        for i, row in enumerate(factors.L):
            if i in held:
                x[i] = factors.D_inverse[i] * y[i]
            else:
                joined = frozenset(above[i] & held)
                if len(joined) < min(uses[i, joined], len(row)):
                    row = followers.row(i, joined)
            for j, l in row.items():
                x[i] = x[i] - l * x[j]
        found.append(x)
    return found


def _above(factors: LTDL) -> List[Set[int]]:
    """Return the nonzero columns of each row of L^-1, without the diagonal."""
    above: List[Set[int]] = []
    for row in factors.L:
        above.append(set(row).union(*(above[k] for k in row)))
    return above
