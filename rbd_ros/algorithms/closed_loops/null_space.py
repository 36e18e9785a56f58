# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Method 3: the equations of motion in the nullspace of the constraints (book 8.5)."""

from typing import Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.algorithms.closed_loops.constraint_rank import ConstraintRank

Array = NDArray[np.float64]


def null_space_solution(
    H: Array, tau: Array, K: Array, k: Array, independent: ConstraintRank
) -> Tuple[Array, Array]:
    """Return the accelerations qdd = G ydd + g, and the required constraint forces.

    Book eq 8.42-8.46.

    :param H: joint-space inertia matrix, (nv, nv)
    :param tau: generalized forces tau - C + tau^a, (nv,)
    :param K: Jacobian of the constraints, (n^c, nv)
    :param k: their right-hand side, stabilization included, (n^c,)
    :param independent: rank and subspaces of K
    :return: qdd, (nv,), and lambda, (n^c,), the shortest one
    :raises numpy.linalg.LinAlgError: if G^T H G is singular

    >>> from rbd_ros.algorithms.closed_loops.constraint_rank import constraint_rank
    >>> from rbd_ros.algorithms.closed_loops.null_space import null_space_solution
    >>> H, C, K, k = terms[:4]
    >>> a4, multipliers = null_space_solution(H, -C, K, k, constraint_rank(K))
    >>> np.allclose(K @ a4, k)
    True
    """
    G, g = independent.G, particular_solution(k, independent)
    ydd = np.linalg.solve(G.T @ H @ G, G.T @ (tau - H @ g))
    qdd = G @ ydd + g
    multipliers: Array = independent.U @ (independent.V.T @ (H @ qdd - tau) / independent.s)
    return qdd, multipliers


def particular_solution(k: Array, independent: ConstraintRank) -> Array:
    """Return the minimum-norm least-squares solution g of K g = k (book eq 8.44).

    :param k: right-hand side of the constraints, (n^c,)
    :param independent: rank and subspaces of K
    :return: (nv,)
    """
    g: Array = independent.V @ (independent.U.T @ k / independent.s)
    return g
