# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Method 1: direct solution of the closed-loop equations of motion (book 8.5)."""

from typing import Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.algorithms.closed_loops.constraint_rank import ConstraintRank

Array = NDArray[np.float64]


def direct_solution(
    H: Array, tau: Array, K: Array, k: Array, independent: ConstraintRank
) -> Tuple[Array, Array]:
    """Return the accelerations and constraint forces by one linear system (book eq 8.36).

    The system of all constraints is singular if some depend on others. The independent ones,
    U^T K qdd = U^T k, replace them (least squares). Of the forces with the same effect,
    lambda = U mu is the shortest.

    :param H: joint-space inertia matrix, (nv, nv)
    :param tau: generalized forces tau - C + tau^a, (nv,)
    :param K: Jacobian of the constraints, (n^c, nv)
    :param k: their right-hand side, stabilization included, (n^c,)
    :param independent: rank and subspaces of K
    :return: qdd, (nv,), and lambda, (n^c,)
    :raises numpy.linalg.LinAlgError: if constraints and inertia leave a motion undetermined

    >>> from rbd_ros.algorithms.closed_loops.constraint_rank import constraint_rank
    >>> from rbd_ros.algorithms.closed_loops.direct_solution import direct_solution
    >>> H, C, K, k = terms[:4]
    >>> a4, multipliers = direct_solution(H, -C, K, k, constraint_rank(K))
    >>> np.allclose(a4, four_bar.loops.forward_dynamics(q4, v4, np.zeros(3)).a)
    True
    """
    n, U = len(H), independent.U
    Kr = U.T @ K
    system = np.block([[H, Kr.T], [Kr, np.zeros((len(Kr), len(Kr)))]])
    solution = np.linalg.solve(system, np.concatenate([tau, U.T @ k]))
    return solution[:n], -U @ solution[n:]
