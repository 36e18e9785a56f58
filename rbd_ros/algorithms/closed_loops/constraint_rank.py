# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rank of the loop constraints, and independent ones among them (book 8.5, 8.10).

They depend on numbers, not only on the model: the rank may change with the motion.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

#: Singular values of K below this part of the largest count as zero.
RANK_TOLERANCE = 1e-9


class ConstraintRank(NamedTuple):
    """Singular value decomposition K = U diag(s) V^T as far as the constraints are independent.

    :param rank: rank r of K
    :param U: orthonormal basis of range(K), (n^c, r): the constraints U^T K qdd = U^T k are
        independent, and equivalent to all of them
    :param s: singular values, (r,)
    :param V: orthonormal basis of range(K^T), (nv, r)
    :param G: orthonormal basis of the null space of K, (nv, nv - r), book eq 8.43
    """

    rank: int
    U: Any
    s: Any
    V: Any
    G: Any


def constraint_rank(K: Array, tolerance: float = RANK_TOLERANCE) -> ConstraintRank:
    """Rank and subspaces of a constraint Jacobian.

    :param K: Jacobian of the constraints, (n^c, nv), finite
    :param tolerance: singular values below this part of the largest count as zero

    >>> from rbd_ros.algorithms.closed_loops.constraint_rank import constraint_rank
    >>> constraint_rank(terms.K).rank  # of five rows
    2
    """
    U, s, Vt = np.linalg.svd(K)
    rank = int(np.count_nonzero(s > tolerance * max(s, default=0.0)))
    return ConstraintRank(rank, U[:, :rank], s[:rank], Vt[:rank].T, Vt[rank:].T)


def rank_of(K: ArrayLike, tolerance: float = RANK_TOLERANCE) -> int:
    """Return the rank of a matrix.

    :param K: matrix, (n^c, nv), finite
    :param tolerance: singular values below this part of the largest count as zero

    >>> from rbd_ros.algorithms.closed_loops.constraint_rank import rank_of
    >>> rank_of([[1.0, 2.0], [2.0, 4.0]])
    1
    """
    s = np.linalg.svd(np.asarray(K, dtype=float), compute_uv=False)
    return int(np.count_nonzero(s > tolerance * max(s, default=0.0)))
