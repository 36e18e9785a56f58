# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Base classes of all spatial quantities, vectors and subspaces, of six and of three dimensions.

A planar quantity (rbd_ros/textbook/planar) has the methods of the spatial one; this module has the
common ones.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Iterator, List, Sequence, Tuple, Type, TypeVar

import numpy as np

from rbd_ros.spatial.scalar import Scalar, ScalarArray

V = TypeVar('V', bound='Vector')
M = TypeVar('M', bound='Vector')
F = TypeVar('F', bound='Vector')


class SpatialQuantity:
    """Base class of everything that is not a scalar: vectors, transforms, inertias."""

    __slots__ = ()
    __array_ufunc__ = None  # so that numpy.float64(2) * vector calls the vector


def require_scalar(value: Scalar, operation: str) -> None:
    """Reject a spatial quantity or an array in place of a scalar.

    :raises TypeError: with the operation
    """
    if isinstance(value, SpatialQuantity) or hasattr(value, '__len__'):
        raise TypeError(f'{operation}: expected a scalar, got {type(value).__name__}')


class Vector(SpatialQuantity):
    """Motion or force: coordinates, angular part first; only vectors of one space can be added."""

    __slots__ = ()
    _size: ClassVar[int]

    @classmethod
    def zero(cls: Type[V]) -> V:
        """Return the zero vector."""
        raise NotImplementedError

    def dot(self, other: Any) -> Scalar:
        """Return the scalar product of a motion and a force."""
        raise NotImplementedError

    def to_array(self) -> ScalarArray:
        """Return the coordinates as an array, (6,) or in the plane (3,), angular part first."""
        return np.array(tuple(self))

    def __iter__(self) -> Iterator[Scalar]:
        raise NotImplementedError

    def __len__(self) -> int:
        return self._size

    def __add__(self: V, other: V) -> V:
        raise NotImplementedError

    def __mul__(self: V, factor: Scalar) -> V:
        raise NotImplementedError

    def __rmul__(self: V, factor: Scalar) -> V:
        return self.__mul__(factor)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash((type(self).__name__, tuple(self)))

    def _same_space(self, other: object, operation: str) -> None:
        if type(other) is not type(self):
            raise TypeError(
                f'{type(self).__name__} {operation} {type(other).__name__}: only vectors of one '
                'space can be combined'
            )


class Subspace(SpatialQuantity, Generic[M, F]):
    """Motion subspace matrix S of either space, as its n columns.

    :param columns: motions that span the subspace
    """

    __slots__ = ('columns',)
    _space: ClassVar[Type[Any]]

    def __init__(self, columns: Sequence[M]):
        self.columns: Tuple[M, ...] = tuple(columns)

    def __matmul__(self, rates: Sequence[Scalar]) -> M:
        if len(rates) != len(self.columns):
            raise ValueError(
                f'motion subspace of {len(self.columns)} columns times {len(rates)} rates'
            )
        total: M = self._space.zero()
        for column, rate in zip(self.columns, rates):
            total = total + column * rate
        return total

    @property
    def T(self) -> TransposedSubspace[M, F]:
        """Return the transpose S^T, which maps forces to generalized forces."""
        return TransposedSubspace(self)


class TransposedSubspace(SpatialQuantity, Generic[M, F]):
    """Transpose S^T of a motion subspace matrix.

    :param subspace: S
    """

    __slots__ = ('_subspace',)

    def __init__(self, subspace: Subspace[M, F]):
        self._subspace = subspace

    def __matmul__(self, force: F) -> List[Scalar]:
        return [column.dot(force) for column in self._subspace.columns]
