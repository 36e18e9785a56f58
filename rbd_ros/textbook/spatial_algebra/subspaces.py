# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Subspaces of motions and forces, of floats (book 3.3): complements and decompositions.

Motions and forces have no scalar product among themselves, so nothing is at right angles to a
motion but forces: the orthogonal complement of a subspace of motions is one of forces, those that
do no work along it, and the other way round.
"""

from __future__ import annotations

from typing import Sequence, Tuple, Type, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from rbd_ros.spatial.spatial_vectors import ForceVector, MotionSubspace, MotionVector

V = TypeVar('V', MotionVector, ForceVector)
Motions = Union[MotionSubspace, Sequence[MotionVector]]
Vectors = Union[Motions, Sequence[ForceVector], Sequence[Union[MotionVector, ForceVector]]]

# A singular value below this share of the largest one is zero up to rounding.
_ROUNDING = 1e-10


def complement(S: Motions) -> Tuple[ForceVector, ...]:
    """Return the forces T that span the orthogonal complement of S: T^T S = 0 (book 3.3).

    :param S: motions, (6, n), not necessarily independent
    :return: 6 - rank(S) independent forces

    >>> from rbd_ros.textbook.spatial_algebra.subspaces import complement
    >>> hinge = [MotionVector((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))]
    >>> len(complement(hinge))  # what its bearing carries
    5
    """
    return _complement(S, ForceVector)


def complement_of_forces(T: Sequence[ForceVector]) -> MotionSubspace:
    """Return the motions S that span the orthogonal complement of the forces T.

    The degree of freedom they leave.

    :param T: forces, (6, n), not necessarily independent
    :return: 6 - rank(T) independent motions

    >>> from rbd_ros.textbook.spatial_algebra.subspaces import complement_of_forces
    >>> rod = [ForceVector((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))]  # holds along x
    >>> len(complement_of_forces(rod).columns)
    5
    """
    return MotionSubspace(_complement(T, MotionVector))


def reciprocal_basis(basis: Sequence[MotionVector]) -> Tuple[ForceVector, ...]:
    """Return the basis of forces dual to one of motions: d_i . e_j is 1 where i = j, else 0.

    Book 2.1.

    A motion's coordinates in `basis` are its scalar products with these forces.

    :param basis: six independent motions
    :raises ValueError: if they are no basis

    >>> from rbd_ros.textbook.spatial_algebra.subspaces import reciprocal_basis
    >>> basis = [MotionVector.from_array(row) for row in np.eye(6) + np.eye(6, k=1)]
    >>> dual = reciprocal_basis(basis)
    >>> dual[0].dot(basis[0]), dual[0].dot(basis[1])
    (1.0, 0.0)
    """
    if len(basis) != 6 or rank(basis) != 6:
        raise ValueError(f'a basis needs six independent motions, got {len(basis)}')
    return tuple(ForceVector.from_array(row) for row in np.linalg.inv(_matrix(basis)).tolist())


def rank(vectors: Vectors) -> int:
    """Return the dimension of the subspace that motions or forces span.

    >>> from rbd_ros.textbook.spatial_algebra.subspaces import rank
    >>> axis = MotionVector((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    >>> rank([axis, axis * 2.0])
    1
    """
    matrix = _matrix(_columns(vectors))
    return int(np.linalg.matrix_rank(matrix, rtol=_ROUNDING)) if matrix.size else 0


def same_space(first: Vectors, second: Vectors) -> bool:
    """Return whether two sets of vectors span the same subspace.

    :raises TypeError: if one is of motions and the other of forces

    >>> from rbd_ros.textbook.spatial_algebra.subspaces import same_space
    >>> axis = MotionVector((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    >>> same_space([axis], [axis * -3.0])
    True
    """
    both = (*_columns(first), *_columns(second))
    if len({type(vector) for vector in both}) > 1:
        raise TypeError('motions and forces span no common space')
    return rank(first) == rank(both) == rank(second)


def decompose(vector: V, *subspaces: Vectors) -> Tuple[V, ...]:
    """Return the parts of a vector in subspaces whose direct sum holds it (book 3.3).

    There is only one way.

    :param vector: a motion or a force
    :param subspaces: two or more sets of vectors of its space, all of them independent
    :return: one part for each subspace, whose sum is the vector
    :raises TypeError: for vectors of the other space
    :raises ValueError: if the vectors are dependent, or the vector is not in the sum

    >>> from rbd_ros.textbook.spatial_algebra.subspaces import decompose
    >>> turn, slide = MotionVector((0, 0, 1), (0, 0, 0)), MotionVector((0, 0, 0), (0, 0, 1))
    >>> parts = decompose(MotionVector((0, 0, 2), (0, 0, 3)), [turn], [slide])
    >>> np.allclose(parts[0].angular, (0, 0, 2)), np.allclose(parts[1].linear, (0, 0, 3))
    (True, True)
    """
    sets = [_columns(subspace) for subspace in subspaces]
    every = [column for columns in sets for column in columns]
    if any(type(column) is not type(vector) for column in every):
        raise TypeError(
            f'a {type(vector).__name__} cannot be split among subspaces of another space'
        )
    if rank(every) < len(every):
        raise ValueError('the sum of the subspaces is not direct: their vectors are dependent')
    matrix, target = _matrix(every), vector.to_array().astype(float)
    coordinates = np.linalg.lstsq(matrix, target, rcond=None)[0]
    if np.abs(matrix @ coordinates - target).max() > _ROUNDING * np.abs(target).max():
        raise ValueError('the vector is not in the sum of the subspaces')
    parts, at = [], 0
    for columns in sets:
        part = _matrix(columns) @ coordinates[at : at + len(columns)]
        parts.append(type(vector).from_array(part.tolist()))
        at += len(columns)
    return tuple(parts)


def _columns(vectors: Vectors) -> Tuple[Union[MotionVector, ForceVector], ...]:
    return tuple(vectors.columns if isinstance(vectors, MotionSubspace) else vectors)


def _matrix(columns: Sequence[Union[MotionVector, ForceVector]]) -> NDArray[np.float64]:
    return np.array([list(column) for column in columns], dtype=float).reshape(-1, 6).T


def _complement(vectors: Vectors, space: Type[V]) -> Tuple[V, ...]:
    """Return the vectors of `space` that are orthogonal to all `vectors` of the dual space."""
    columns = _columns(vectors)
    wrong = [type(column).__name__ for column in columns if type(column) is space]
    if wrong:
        raise TypeError(f'a complement of {wrong[0]}s is not in their own space')
    rows = _matrix(columns).T
    singular, across = np.linalg.svd(rows)[1:]
    used = int(np.sum(singular > _ROUNDING * max(singular, default=0.0)))
    return tuple(space.from_array(row) for row in across[used:].tolist())
