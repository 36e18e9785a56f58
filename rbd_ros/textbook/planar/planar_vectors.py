# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Planar motion vectors [omega, v_x, v_y] and force vectors [n, f_x, f_y] (book 2.16)."""

from __future__ import annotations

from typing import Iterable, Iterator, Tuple, Type, TypeVar

import numpy as np

from rbd_ros.spatial.quantities import require_scalar, Subspace, Vector
from rbd_ros.spatial.scalar import Scalar, ScalarArray
from rbd_ros.spatial.spatial_vectors import ForceVector, MotionVector

Vector2 = Tuple[Scalar, Scalar]

V = TypeVar('V', bound='_PlanarVector')
MotionOrForce = TypeVar('MotionOrForce', 'PlanarMotionVector', 'PlanarForceVector')


def vector2(values: Iterable[Scalar], what: str) -> Vector2:
    """Return the pair of scalars.

    :param values: two scalars
    :param what: name of the pair, for the message
    :raises ValueError: unless there are exactly two
    """
    result = tuple(x.item() if isinstance(x, np.generic) else x for x in values)
    if len(result) != 2:
        raise ValueError(f'{what} must have 2 elements, got {len(result)}')
    return result


def dot2(a: Vector2, b: Vector2) -> Scalar:
    """Return the scalar product of two pairs."""
    return a[0] * b[0] + a[1] * b[1]


class _PlanarVector(Vector):
    __slots__ = ('_angular', '_linear')
    _size = 3
    _angular: Scalar
    _linear: Vector2

    def __init__(self, angular: Scalar, linear: Vector2):
        require_scalar(angular, f'angular part of a {type(self).__name__}')
        self._angular = angular
        self._linear = vector2(linear, 'linear part')

    @classmethod
    def zero(cls: Type[V]) -> V:
        """Return the zero vector."""
        return cls(0, (0, 0))

    @classmethod
    def from_array(cls: Type[V], values: Iterable[Scalar]) -> V:
        """Return the vector with the given three coordinates, (3,), angular part first.

        :raises ValueError: unless there are exactly three
        """
        values = tuple(values)
        if len(values) != 3:
            raise ValueError(f'{cls.__name__} takes 3 coordinates, got {len(values)}')
        return cls(values[0], values[1:])

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self._angular, *self._linear))

    def __add__(self: V, other: V) -> V:
        self._same_space(other, '+')
        return type(self).from_array(a + b for a, b in zip(self, other))

    def __sub__(self: V, other: V) -> V:
        self._same_space(other, '-')
        return type(self).from_array(a - b for a, b in zip(self, other))

    def __neg__(self: V) -> V:
        return type(self).from_array(-a for a in self)

    def __mul__(self: V, factor: Scalar) -> V:
        require_scalar(factor, f'{type(self).__name__} *')
        return type(self).from_array(factor * a for a in self)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._angular}, {self._linear})'


class PlanarMotionVector(_PlanarVector):
    """Element of M3: a velocity or an acceleration in the plane.

    :param angular: angular part omega about the plane's normal [rad/s, ...]
    :param linear: linear part of the body-fixed point at the origin, (2,) [m/s, ...]

    >>> v = PlanarMotionVector(2.0, (0.1, 0.0))  # [rad/s], [m/s]
    >>> v.angular, v.linear, v.velocity_at((0.5, 0.0))  # of the point there [m/s]
    (2.0, (0.1, 0.0), (0.1, 1.0))
    >>> v.dot(PlanarForceVector(3.0, (0.0, 0.0)))  # power [W]
    6.0
    >>> m = PlanarMotionVector.from_array([0.0, 1.0, 0.0])
    >>> v.cross(m), np.allclose(v.cross_matrix() @ m.to_array(), v.cross(m).to_array())
    (PlanarMotionVector(0, (0.0, 2.0)), True)
    >>> np.allclose(v.cross_force_matrix(), -v.cross_matrix().T)
    True
    >>> PlanarMotionVector.of(v.spatial()) == v, v - v == PlanarMotionVector.zero()
    (True, True)
    """

    __slots__ = ()

    @classmethod
    def of(cls, motion: MotionVector) -> PlanarMotionVector:
        """Return the part of a spatial motion in the x-y plane."""
        return cls(motion.angular[2], motion.linear[:2])

    def spatial(self) -> MotionVector:
        """Return the spatial motion in the x-y plane."""
        return MotionVector((0, 0, self._angular), (*self._linear, 0))

    @property
    def angular(self) -> Scalar:
        """Angular part omega."""
        return self._angular

    @property
    def linear(self) -> Vector2:
        """Linear part at the coordinate origin, (2,)."""
        return self._linear

    def dot(self, force: PlanarForceVector) -> Scalar:
        """Return the scalar product m . f, the power of `force` along this motion (3m + 2a).

        :raises TypeError: for anything but a planar force
        """
        if not isinstance(force, PlanarForceVector):
            raise TypeError(
                f'planar motion . {type(force).__name__}: a planar motion has a scalar product '
                'with planar forces only'
            )
        return self._angular * force.moment + dot2(self._linear, force.linear)

    def cross(self, other: MotionOrForce) -> MotionOrForce:
        """Return the cross product v x m with a motion (4m + 2a, eq 2.76) or v x* f with a force.

        :raises TypeError: for anything else
        """
        omega, (x, y) = self._angular, self._linear
        if isinstance(other, PlanarMotionVector):
            mx, my = other.linear
            return PlanarMotionVector(
                0, (y * other.angular - omega * my, omega * mx - x * other.angular)
            )
        if isinstance(other, PlanarForceVector):
            fx, fy = other.linear
            return PlanarForceVector(x * fy - y * fx, (-(omega * fy), omega * fx))
        raise TypeError(
            f'planar motion x {type(other).__name__}: only a planar motion or force can be '
            'crossed with a planar motion'
        )

    def velocity_at(self, point: Vector2) -> Vector2:
        """Return the velocity (2,) of the body-fixed point at `point`, (2,) [m]."""
        (x, y), (px, py) = self._linear, vector2(point, 'point')
        return x - self._angular * py, y + self._angular * px

    def cross_matrix(self) -> ScalarArray:
        """Return the matrix v x of the cross product with motions, (3, 3) (table A.1, eq 2.75)."""
        omega, x, y = self
        return np.array([[0, 0, 0], [y, 0, -omega], [-x, omega, 0]])

    def cross_force_matrix(self) -> ScalarArray:
        """Return the matrix v x* of the cross product with forces, (3, 3) (crf of table A.1)."""
        omega, x, y = self
        return np.array([[0, -y, x], [0, 0, -omega], [0, omega, 0]])


class PlanarForceVector(_PlanarVector):
    """Element of F3: a force or a momentum in the plane.

    :param moment: moment n about the coordinate origin [N m, ...]
    :param linear: linear force, (2,) [N, ...]

    >>> f = PlanarForceVector.at_point((0.0, 10.0), (0.5, 0.0))  # [N], [m]
    >>> f.moment, f.linear, f.dot(PlanarMotionVector(2.0, (0.0, 0.0)))  # [N m], [N], [W]
    (5.0, (0.0, 10.0), 10.0)
    >>> PlanarForceVector.of(f.spatial()) == f, f - f == PlanarForceVector.zero()
    (True, True)
    >>> PlanarForceVector.from_array(f.to_array()) == f
    True
    """

    __slots__ = ()

    @classmethod
    def of(cls, force: ForceVector) -> PlanarForceVector:
        """Return the part of a spatial force that does work in the x-y plane."""
        return cls(force.moment[2], force.linear[:2])

    def spatial(self) -> ForceVector:
        """Return the spatial force in the x-y plane."""
        return ForceVector((0, 0, self._angular), (*self._linear, 0))

    @classmethod
    def at_point(cls, linear: Vector2, point: Vector2, moment: Scalar = 0) -> PlanarForceVector:
        """Return the force that acts along a line through `point`, plus a moment.

        :param linear: linear force, (2,) [N]
        :param point: a point of its line of action, (2,) [m]
        :param moment: moment added to it [N m]
        """
        (fx, fy), (px, py) = vector2(linear, 'linear'), vector2(point, 'point')
        return cls(moment + (px * fy - py * fx), (fx, fy))

    @property
    def moment(self) -> Scalar:
        """Moment about the coordinate origin."""
        return self._angular

    @property
    def linear(self) -> Vector2:
        """Linear force, (2,)."""
        return self._linear

    def dot(self, motion: PlanarMotionVector) -> Scalar:
        """Return the scalar product f . m, the power along `motion` (3m + 2a).

        :raises TypeError: for anything but a planar motion
        """
        if not isinstance(motion, PlanarMotionVector):
            raise TypeError(
                f'planar force . {type(motion).__name__}: a planar force has a scalar product '
                'with planar motions only'
            )
        return motion.dot(self)


class PlanarMotionSubspace(Subspace[PlanarMotionVector, PlanarForceVector]):
    """Motion subspace matrix S, 3 x n, as its n columns.

    :param columns: planar motion vectors that span the subspace

    >>> S = PlanarMotionSubspace([PlanarMotionVector(1.0, (0.0, 0.0))])  # a hinge
    >>> (S @ [0.5]).angular, S.T @ PlanarForceVector(3.0, (0.0, 0.0))
    (0.5, [3.0])
    """

    __slots__ = ()
    _space = PlanarMotionVector
