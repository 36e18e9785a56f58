# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""General solution x = G y + g of linear constraints K x = k (book 8.8, eq 8.48 to 8.51).

Numbers decide the pivots, so it works on arrays of floats, not on generic scalars.
"""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: A pivot below this fraction of the largest element of K is rounding.
TOLERANCE = 1e-10


class Elimination(NamedTuple):
    """General solution x = G y + g of K x = k, with y a part of x.

    :param G: null space of K, (n, n - r), with an identity block in the rows of `independent`
    :param g: a solution, (n,), zero in the rows of `independent`
    :param rank: rank r of K
    :param independent: indices of y in x, (n - r,), in ascending order
    :param rows: independent rows of K, (r,), in the order of their use
    """

    G: Floats
    g: Floats
    rank: int
    independent: Tuple[int, ...]
    rows: Tuple[int, ...]


class InconsistentConstraintsError(ValueError):
    """No x solves K x = k, or none with the requested independent elements."""


def eliminate(
    K: ArrayLike,
    k: Optional[ArrayLike] = None,
    *,
    independent: Optional[Sequence[int]] = None,
    free_columns: Sequence[int] = (),
    tolerance: float = TOLERANCE,
) -> Elimination:
    """Return the Gaussian elimination with a rank test (book 8.8, eq 8.51).

    Pivoting is complete, by rows and columns, unless the independent elements are given, when it
    is by rows alone.

    :param K: constraints, (m, n)
    :param k: their right-hand side, (m,); zeros by default
    :param independent: indices of y in x, n - r of them; by default those left by pivoting
    :param free_columns: columns of K known to be zero, as of joints on no loop
    :param tolerance: pivots below this fraction of the largest element of K count as zero
    :return: G, g, the rank, and the independent elements and rows
    :raises ValueError: for wrong shapes, or declared zero columns that are not zero
    :raises InconsistentConstraintsError: if k is not in the range of K, or the requested elements
        are not independent, or too few

    >>> from rbd_ros.algorithms.closed_loops.elimination import eliminate
    >>> found = eliminate(terms.K, terms.k, independent=[0])
    >>> found.rank, found.G[:, 0]  # velocities of the joints per velocity of the first one
    (2, array([ 1.   , -1.72 ,  1.811]))
    """
    A = np.array(K, dtype=float)
    if A.ndim != 2:
        raise ValueError(f'K must be a matrix (m, n), got shape {A.shape}')
    m, n = A.shape
    b = np.zeros(m) if k is None else np.array(k, dtype=float)
    if b.shape != (m,):
        raise ValueError(f'k must have shape ({m},) like the rows of K, got {b.shape}')
    for given in (free_columns, () if independent is None else independent):
        if len(set(given)) != len(given) or not set(given) <= set(range(n)):
            raise ValueError(f'columns must be different numbers below {n}, got {list(given)}')
    if np.any(A[:, list(free_columns)]):
        raise ValueError(
            'free_columns: some of these columns of K are not zero; name zero columns only'
        )
    scale = float(np.abs(A).max(initial=0.0))

    rows = list(range(m))
    spared = set(free_columns) | set(() if independent is None else independent)
    columns = [j for j in range(n) if j not in spared]
    rank = 0
    while rank < min(m, len(columns)):
        # Partial pivoting takes the columns in order: all of them must become dependent.
        width = len(columns) if independent is None else rank + 1
        rest = np.abs(A[rank:, columns[rank:width]])
        i, j = divmod(int(rest.argmax()), rest.shape[1])
        if rest[i, j] <= tolerance * scale:
            break
        A[[rank, rank + i]], b[[rank, rank + i]] = A[[rank + i, rank]], b[[rank + i, rank]]
        rows[rank], rows[rank + i] = rows[rank + i], rows[rank]
        columns[rank], columns[rank + j] = columns[rank + j], columns[rank]
        factors = A[rank + 1 :, columns[rank]] / A[rank, columns[rank]]
        A[rank + 1 :] -= np.outer(factors, A[rank])
        A[rank + 1 :, columns[rank]] = 0.0
        b[rank + 1 :] -= factors * b[rank]
        rank += 1

    size = np.abs(b).max(initial=0.0) if k is None else np.abs(np.asarray(k)).max(initial=0.0)
    if np.abs(b[rank:]).max(initial=0.0) > max(m, n) * tolerance * size:
        raise InconsistentConstraintsError('k is not in the range of K: no x solves K x = k')
    if independent is not None and (rank < len(columns) or _left(A, rank) > tolerance * scale):
        raise InconsistentConstraintsError(
            f'the {len(independent)} elements {list(independent)} are not independent variables '
            'of these constraints: they do not determine the other elements; choose other ones'
        )
    dependent = columns[:rank]
    left = sorted(set(range(n)) - set(dependent))
    U = A[:rank, dependent]
    G, g = np.zeros((n, n - rank)), np.zeros(n)
    G[left, range(n - rank)] = 1.0
    if rank:
        solved = _back_substituted(U, np.column_stack([-A[:rank, left], b[:rank]]))
        G[dependent], g[dependent] = solved[:, :-1], solved[:, -1]
    return Elimination(G, g, rank, tuple(left), tuple(rows[:rank]))


def _left(A: Floats, rank: int) -> float:
    """Return the largest element in the rows without a pivot."""
    return float(np.abs(A[rank:]).max(initial=0.0))


def _back_substituted(U: Floats, B: Floats) -> Floats:
    """Return the solution X of U X = B with U upper triangular, (r, r)."""
    X: List[Floats] = []
    for i in reversed(range(len(U))):
        done = sum((U[i, i + 1 + k] * x for k, x in enumerate(X)), np.zeros(B.shape[1]))
        X.insert(0, (B[i] - done) / U[i, i])
    return np.array(X)
