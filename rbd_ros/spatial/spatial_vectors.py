# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion vectors (space M6) and force vectors (space F6) in Pluecker coordinates.

The angular part comes first (book 2.2 to 2.9). The two spaces are dual: the scalar product of a
motion and a force is the power, but two motions have none. Operations that the book's rules of use
(2.7) forbid raise TypeError.
"""

from __future__ import annotations

from typing import Iterable, Iterator, NoReturn, Type, TypeVar

import numpy as np

from rbd_ros.spatial import linear3
from rbd_ros.spatial.linear3 import Vector3, ZERO3
from rbd_ros.spatial.quantities import require_scalar, Subspace, Vector
from rbd_ros.spatial.scalar import Scalar, ScalarArray

V = TypeVar('V', bound='_SpatialVector')
MotionOrForce = TypeVar('MotionOrForce', 'MotionVector', 'ForceVector')


class _SpatialVector(Vector):
    __slots__ = ('_upper', '_lower')
    _size = 6
    _upper: Vector3
    _lower: Vector3

    def __init__(self, upper: Vector3, lower: Vector3):
        self._upper = upper if type(upper) is tuple and len(upper) == 3 else linear3.vector3(upper)
        self._lower = lower if type(lower) is tuple and len(lower) == 3 else linear3.vector3(lower)

    @classmethod
    def zero(cls: Type[V]) -> V:
        """Return the zero vector."""
        return cls(ZERO3, ZERO3)

    @classmethod
    def from_array(cls: Type[V], values: Iterable[Scalar]) -> V:
        """Return the vector with the given six Pluecker coordinates, (6,), angular part first.

        :raises ValueError: if there are not exactly six
        """
        values = tuple(values)
        if len(values) != 6:
            raise ValueError(f'{cls.__name__} takes 6 coordinates, got {len(values)}')
        return cls(linear3.vector3(values[:3]), linear3.vector3(values[3:]))

    def __iter__(self) -> Iterator[Scalar]:
        return iter(self._upper + self._lower)

    def __add__(self: V, other: V) -> V:
        self._same_space(other, '+')
        return type(self)(
            linear3.add(self._upper, other._upper), linear3.add(self._lower, other._lower)
        )

    def __sub__(self: V, other: V) -> V:
        self._same_space(other, '-')
        return type(self)(
            linear3.subtract(self._upper, other._upper),
            linear3.subtract(self._lower, other._lower),
        )

    def __neg__(self: V) -> V:
        return type(self)(linear3.negate(self._upper), linear3.negate(self._lower))

    def __mul__(self: V, factor: Scalar) -> V:
        require_scalar(factor, f'{type(self).__name__} *')
        return type(self)(linear3.scale(factor, self._upper), linear3.scale(factor, self._lower))

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._upper}, {self._lower})'


class MotionVector(_SpatialVector):
    """Element of M6: a spatial velocity, a spatial acceleration, a joint axis.

    :param angular: angular part omega, (3,) [rad/s, ...]
    :param linear: linear part v_O of the body-fixed point at the origin, (3,) [m/s, ...]

    >>> v = MotionVector((0.0, 0.0, 2.0), (0.1, 0.0, 0.0))  # [rad/s], [m/s]
    >>> v.angular, v.linear, v.velocity_at((0.5, 0.0, 0.0))  # of the point there [m/s]
    ((0.0, 0.0, 2.0), (0.1, 0.0, 0.0), (0.1, 1.0, 0.0))
    >>> v.dot(ForceVector((0.0, 0.0, 3.0), (0.0, 0.0, 0.0)))  # power [W]
    6.0
    >>> v.cross(MotionVector((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))).to_array()
    array([0., 2., 0., 0., 0., 0.])
    >>> m = MotionVector.from_array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    >>> np.allclose(v.cross_matrix() @ m.to_array(), v.cross(m).to_array())
    True
    >>> np.allclose(v.cross_force_matrix(), -v.cross_matrix().T), v - v == MotionVector.zero()
    (True, True)
    """

    __slots__ = ()

    def __init__(self, angular: Vector3, linear: Vector3):
        super().__init__(angular, linear)

    @property
    def angular(self) -> Vector3:
        """Angular part, (3,)."""
        return self._upper

    @property
    def linear(self) -> Vector3:
        """Linear part at the coordinate origin, (3,)."""
        return self._lower

    def dot(self, force: ForceVector) -> Scalar:
        """Return the scalar product m . f, the power of `force` along this motion (6m + 5a).

        :raises TypeError: for anything but a force
        """
        if not isinstance(force, ForceVector):
            raise TypeError(
                f'motion . {type(force).__name__}: a motion vector has a scalar product with '
                'forces only'
            )
        return linear3.dot(self._upper, force.moment) + linear3.dot(self._lower, force.linear)

    def cross(self, other: MotionOrForce) -> MotionOrForce:
        """Return the cross product v x m with a motion or v x* f with a force (eq 2.29 to 2.32).

        Either takes 18m + 12a.

        :raises TypeError: for anything else
        """
        omega, v = self._upper, self._lower
        if isinstance(other, MotionVector):
            return MotionVector(
                linear3.cross(omega, other.angular),
                linear3.add(linear3.cross(omega, other.linear), linear3.cross(v, other.angular)),
            )
        if isinstance(other, ForceVector):
            return ForceVector(
                linear3.add(linear3.cross(omega, other.moment), linear3.cross(v, other.linear)),
                linear3.cross(omega, other.linear),
            )
        raise TypeError(
            f'motion x {type(other).__name__}: only a motion or a force can be crossed with a '
            'motion'
        )

    def velocity_at(self, point: Vector3) -> Vector3:
        """Return the velocity (3,) of the body-fixed `point`, v_O + omega x OP (eq 2.1)."""
        return linear3.add(self._lower, linear3.cross(self._upper, linear3.vector3(point)))

    def cross_matrix(self) -> ScalarArray:
        """Return the matrix v x of the cross product with motions, (6, 6) (the book's crm)."""
        w: ScalarArray = np.array(linear3.skew(self._upper))
        v: ScalarArray = np.array(linear3.skew(self._lower))
        return np.block([[w, np.zeros((3, 3))], [v, w]])

    def cross_force_matrix(self) -> ScalarArray:
        """Return the matrix v x* of the cross product with forces, (6, 6) (the book's crf)."""
        matrix: ScalarArray = -self.cross_matrix().T
        return matrix


class ForceVector(_SpatialVector):
    """Element of F6: a spatial force, a momentum, an impulse.

    :param moment: moment n_O about the coordinate origin, (3,) [N m, ...]
    :param linear: linear force f, (3,) [N, ...]

    >>> f = ForceVector.at_point((0.0, 0.0, 10.0), (0.5, 0.0, 0.0))  # [N], [m]
    >>> f.moment, f.linear, f.moment_about((0.5, 0.0, 0.0))  # [N m], [N], [N m]
    ((0.0, -5.0, 0.0), (0.0, 0.0, 10.0), (0.0, 0.0, 0.0))
    >>> f.dot(MotionVector((0.0, 0.0, 0.0), (0.0, 0.0, 2.0)))  # power [W]
    20.0
    >>> (f + ForceVector.from_array([0, 0, 1, 0, 0, 0])).to_array(), f - f == ForceVector.zero()
    (array([ 0., -5.,  1.,  0.,  0., 10.]), True)
    >>> f.cross(f)
    Traceback (most recent call last):
        ...
    TypeError: force x ForceVector: a force is crossed by a motion, v.cross(f)
    """

    __slots__ = ()

    def __init__(self, moment: Vector3, linear: Vector3):
        super().__init__(moment, linear)

    @property
    def moment(self) -> Vector3:
        """Moment about the coordinate origin, (3,)."""
        return self._upper

    @property
    def linear(self) -> Vector3:
        """Linear force, (3,)."""
        return self._lower

    @classmethod
    def at_point(cls, linear: Vector3, point: Vector3, moment: Vector3 = ZERO3) -> ForceVector:
        """Return the force along a line through `point`, plus a moment, as a spatial force.

        :param linear: linear force, (3,) [N]
        :param point: a point of its line of action, (3,) [m]
        :param moment: moment added to it, (3,) [N m]
        """
        linear, point = linear3.vector3(linear), linear3.vector3(point)
        return cls(linear3.add(linear3.vector3(moment), linear3.cross(point, linear)), linear)

    def dot(self, motion: MotionVector) -> Scalar:
        """Return the scalar product f . m, the power along `motion` (6m + 5a, book eq 2.11).

        :raises TypeError: for anything but a motion
        """
        if not isinstance(motion, MotionVector):
            raise TypeError(
                f'force . {type(motion).__name__}: a force vector has a scalar product with '
                'motions only'
            )
        return motion.dot(self)

    def cross(self, other: object) -> NoReturn:
        """Raise TypeError: a force can only be the right operand of a cross product.

        :raises TypeError: always
        """
        raise TypeError(
            f'force x {type(other).__name__}: a force is crossed by a motion, v.cross(f)'
        )

    def moment_about(self, point: Vector3) -> Vector3:
        """Return the moment (3,) about `point`, n_P = n_O + f x OP (book eq 2.6)."""
        return linear3.add(self._upper, linear3.cross(self._lower, linear3.vector3(point)))


class MotionSubspace(Subspace[MotionVector, ForceVector]):
    """Motion subspace matrix S, 6 x n, as its n columns.

    ``S @ rates`` is a motion vector, ``S.T @ force`` is a list of n generalized forces.

    :param columns: motion vectors that span the subspace

    >>> S = MotionSubspace([MotionVector((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))])  # a hinge about z
    >>> (S @ [0.5]).angular, S.T @ ForceVector((1.0, 2.0, 3.0), (0.0, 0.0, 0.0))
    ((0.0, 0.0, 0.5), [3.0])
    """

    __slots__ = ()
    _space = MotionVector
