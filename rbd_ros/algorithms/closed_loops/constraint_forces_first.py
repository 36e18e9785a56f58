# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Method 2: constraint forces first, accelerations by them (book 8.5, eq 8.37 to 8.41).

Either by the factors of the inertia matrix, or without one at all, by forward dynamics of the
spanning tree (Featherstone and Orin, Robot dynamics: equations and algorithms, 2000, eq 21).
"""

from typing import Callable, Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.algorithms.closed_loops.constraint_rank import ConstraintRank
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl

Array = NDArray[np.float64]


def constraint_forces_first(
    H: Array, tau: Array, K: Array, k: Array, independent: ConstraintRank
) -> Tuple[Array, Array]:
    """Return the accelerations and constraint forces by A = K H^-1 K^T (book 8.5, method 2).

    The factors H = L^T D L keep the sparsity that branches induce.

    :param H: joint-space inertia matrix, (nv, nv)
    :param tau: generalized forces tau - C + tau^a, (nv,)
    :param K: Jacobian of the constraints, (n^c, nv)
    :param k: their right-hand side, stabilization included, (n^c,)
    :param independent: rank and subspaces of K
    :return: qdd, (nv,), and lambda, (n^c,)
    :raises ZeroDivisionError: if H is singular

    >>> from rbd_ros.algorithms.closed_loops.constraint_forces_first import constraint_forces_first
    >>> from rbd_ros.algorithms.closed_loops.constraint_rank import constraint_rank
    >>> H, C, K, k = terms[:4]
    >>> a4, multipliers = constraint_forces_first(H, -C, K, k, constraint_rank(K))
    >>> np.allclose(K @ a4, k), np.allclose(H @ a4 + C, K.T @ multipliers)
    (True, True)
    """
    factors = ltdl(H.tolist())
    D_inverse = np.array(factors.D_inverse)
    Y = np.array([factors.solve_transposed(row) for row in K.tolist()]).reshape(K.shape).T
    z = np.array(factors.solve_transposed(tau.tolist()))
    A = Y.T @ (D_inverse[:, None] * Y)
    b = k - Y.T @ (D_inverse * z)
    multipliers = solve_for_forces(A, b, independent)
    return np.array(factors.solve((tau + K.T @ multipliers).tolist())), multipliers


def constraint_forces_by_forward_dynamics(
    accelerate: Callable[[Array], Array],
    tau: Array,
    K: Array,
    k: Array,
    independent: ConstraintRank,
) -> Tuple[Array, Array]:
    """Return the accelerations and constraint forces by algorithms of O(n) (paper, eq 21).

    Columns of H^-1 K^T are the responses of the spanning tree to forces K^T e_j, at rest without
    gravity: O(n n^c) for all of them, and O(n (n^c)^2 + (n^c)^3) in total.

    :param accelerate: H^-1 times each row, (N, nv) from (N, nv): forward dynamics of the tree
    :param tau: generalized forces tau - C + tau^a, (nv,)
    :param K: Jacobian of the constraints, (n^c, nv)
    :param k: their right-hand side, stabilization included, (n^c,)
    :param independent: rank and subspaces of K
    :return: qdd, (nv,), and lambda, (n^c,)
    """
    responses = accelerate(np.vstack([K, tau]))
    columns, free = responses[:-1].T, responses[-1]
    multipliers = solve_for_forces(K @ columns, k - K @ free, independent)
    return free + columns @ multipliers, multipliers


def solve_for_forces(A: Array, b: Array, independent: ConstraintRank) -> Array:
    """Return the shortest solution of A lambda = b, A^+ b (book eq 8.41 with z = 0).

    A has the range of K: on it A is regular, and its pseudo-inverse is U (U^T A U)^-1 U^T.
    The rank is that of K: A has the squares of its singular values.

    :param A: K H^-1 K^T, (n^c, n^c)
    :param b: right-hand side, (n^c,)
    :param independent: rank and subspaces of K
    :return: lambda, (n^c,); least squares if A lambda = b has no solution
    """
    U = independent.U
    solution: Array = U @ np.linalg.solve(U.T @ A @ U, U.T @ b)
    return solution
