# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Linear complementarity problems, and their solutions by enumeration of active sets."""

from itertools import combinations

import numpy as np


def enumerated(M, d, tolerance=1e-9):
    """Return the solution (force, acceleration) by enumeration of the active sets, or None.

    Each set is solved by least squares, so that consistent sets with dependent columns are solved
    as
    well.
    """
    r = len(d)
    scale = np.abs(d).max(initial=0.0) or 1.0
    for count in range(r + 1):
        for active in map(list, combinations(range(r), count)):
            force = np.zeros(r)
            if count:
                force[active] = np.linalg.lstsq(M[np.ix_(active, active)], -d[active], rcond=None)[
                    0
                ]
            rate = M @ force + d
            size = tolerance * scale * (1.0 + np.abs(M).max() * np.abs(force).max(initial=0.0))
            closed = not count or np.abs(rate[active]).max() < size
            if closed and force.min(initial=0.0) >= -1e-12 and rate.min(initial=0.0) > -size:
                return force, rate
    return None


def random_problem(rng, contacts, rank, kind):
    """Return the matrix M = T^T H^-1 T of a rank at most, T, H, and d of a kind.

    :param kind: 'any': most of them without solution if contacts depend on each other; 'feasible':
        d of a possible motion; 'tied': small integers, so that ties abound
    """
    if kind == 'tied':
        T = rng.integers(-1, 2, (rank, contacts)).astype(float)
        H = np.eye(rank)
        free = rng.integers(-2, 3, rank).astype(float)
        d = T.T @ free
        if rng.random() < 0.5:
            d = d + rng.integers(0, 2, contacts)
    else:
        T = rng.normal(size=(rank, contacts))
        root = rng.normal(size=(rank, rank + 2))
        H = root @ root.T
        d = rng.normal(size=contacts)
        if kind == 'feasible':
            # d = M x0 + w with w >= 0 would be solved by -x0, for x0 of any sign.
            d = T.T @ rng.normal(size=rank) + np.where(
                rng.random(contacts) < 0.3, rng.random(contacts), 0.0
            )
    return T.T @ np.linalg.solve(H, T), T, H, d
