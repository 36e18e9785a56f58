# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sets of current contacts, and of active ones that transmit forces (book 11.5)."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.array_types import FloatArray
from rbd_ros.textbook.complementarity import solve_lcp

# A normal is independent of others if at least this part of its contact's inverse inertia is left.
_INDEPENDENT = 1e-9


class ContactSets(NamedTuple):
    """Current and active contacts.

    :param current: whether each contact persists, zeta = zeta' = 0, (c,) of bool
    :param active: numbers of current contacts whose normals are a basis of those of all current
        ones; every contact with a force is among them
    :param force: maximum contact force [N]
    """

    current: NDArray[np.bool_]
    active: Tuple[int, ...]
    force: float


def contact_sets(
    M: FloatArray, d: FloatArray, resting: Sequence[int], pulling: Optional[int] = None
) -> ContactSets:
    """Solve the contact problem for the contacts at rest (book eq 11.42).

    :param M: separation accelerations per force of all contacts, (c, c) [1/kg]
    :param d: separation accelerations without contact forces, (c,) [m/s^2]
    :param resting: numbers of the contacts that touch without separating
    :param pulling: number of an active contact whose force has been found to become negative
    :raises InfeasibleContactError: if no forces prevent penetration
    """
    current = np.zeros(len(d), dtype=bool)
    k = np.array(resting, dtype=np.int64)
    if not len(k):
        return ContactSets(current, (), 0.0)
    solution = solve_lcp(M[np.ix_(k, k)], d[k])
    current[k[solution.persists]] = True
    active: List[int] = k[solution.active].tolist()
    if pulling is not None and pulling not in active and _is_independent(M, active, pulling):
        # The contact breaks, though rounding may still hide its acceleration. (If its normal
        # depends on those of others, it persists because they do, and only its force vanishes.)
        current[pulling] = False
    # On rare occasions the contacts with forces are too few for a basis.
    for i in np.flatnonzero(current).tolist():
        if i != pulling and i not in active and _is_independent(M, active, i):
            active.append(i)
    return ContactSets(current, tuple(active), float(solution.force.max()))


def _is_independent(M: FloatArray, active: List[int], i: int) -> bool:
    """Return whether the normal of a contact is independent of those of the active ones."""
    k, left = active, float(M[i, i])
    if k:
        left -= float(M[i, k] @ np.linalg.solve(M[np.ix_(k, k)], M[k, i]))
    return left > _INDEPENDENT * float(M[i, i])
