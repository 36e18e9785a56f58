"""Planar vector algebra (book 2.16, table A.1): what moves in a plane, in three coordinates.

Motion vectors are [omega, v_x, v_y], force vectors [n, f_x, f_y]: coordinates 3, 4 and 5 of the
spatial ones. The types have the verbs of the spatial types, so a text of an algorithm reads the
same in the plane (rbd_ros/algorithms/planar.py).
"""

from __future__ import annotations

import math
from typing import Any, Iterable, Iterator, List, overload, Sequence, Tuple, Type, TypeVar

import numpy as np

from rbd_ros.spatial.inertia import RigidBodyInertia
from rbd_ros.spatial.scalar import cos, Scalar, ScalarArray, sin
from rbd_ros.spatial.transform import PluckerTransform
from rbd_ros.spatial.vectors import ForceVector, MotionVector, require_scalar, SpatialQuantity

Vector2 = Tuple[Scalar, Scalar]

#: Where the planar coordinates are among the six Pluecker coordinates.
COORDINATES = (2, 3, 4)

V = TypeVar('V', bound='_PlanarVector')
MotionOrForce = TypeVar('MotionOrForce', 'PlanarMotionVector', 'PlanarForceVector')
Q = TypeVar(
    'Q',
    'PlanarMotionVector',
    'PlanarForceVector',
    'PlanarInertia',
    'PlanarArticulatedInertia',
)


def _vector2(values: Iterable[Scalar], what: str) -> Vector2:
    result = tuple(x.item() if isinstance(x, np.generic) else x for x in values)
    if len(result) != 2:
        raise ValueError(f'{what} must have 2 elements, got {len(result)}')
    return result


def _dot(a: Vector2, b: Vector2) -> Scalar:
    return a[0] * b[0] + a[1] * b[1]


class _PlanarVector(SpatialQuantity):
    __slots__ = ('_angular', '_linear')
    _angular: Scalar
    _linear: Vector2

    def __init__(self, angular: Scalar, linear: Vector2):
        require_scalar(angular, f'angular part of a {type(self).__name__}')
        self._angular = angular
        self._linear = _vector2(linear, 'linear part')

    @classmethod
    def zero(cls: Type[V]) -> V:
        """Zero vector."""
        return cls(0, (0, 0))

    @classmethod
    def from_array(cls: Type[V], values: Iterable[Scalar]) -> V:
        """Vector with the given three coordinates, (3,), angular part first.

        :raises ValueError: if there are not exactly three
        """
        values = tuple(values)
        if len(values) != 3:
            raise ValueError(f'{cls.__name__} takes 3 coordinates, got {len(values)}')
        return cls(values[0], values[1:])

    def to_array(self) -> ScalarArray:
        """Three coordinates as an array, (3,), angular part first."""
        return np.array(tuple(self))

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self._angular, *self._linear))

    def __len__(self) -> int:
        return 3

    def _same_space(self, other: object, operation: str) -> None:
        if type(other) is not type(self):
            raise TypeError(
                f'{type(self).__name__} {operation} {type(other).__name__}: only vectors of one '
                'space can be combined'
            )

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

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash((type(self).__name__, tuple(self)))

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._angular}, {self._linear})'


class PlanarMotionVector(_PlanarVector):
    """Element of M3: a velocity or an acceleration in the plane.

    :param angular: angular part omega about the plane's normal [rad/s, ...]
    :param linear: linear part of the body-fixed point at the origin, (2,) [m/s, ...]
    """

    __slots__ = ()

    @classmethod
    def of(cls, motion: MotionVector) -> PlanarMotionVector:
        """Part in the x-y plane of a spatial motion; the rest of it is left out."""
        return cls(motion.angular[2], motion.linear[:2])

    def spatial(self) -> MotionVector:
        """Spatial motion in the x-y plane."""
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
        """Scalar product m . f, the power of `force` along this motion (3m + 2a).

        :raises TypeError: for anything but a planar force
        """
        if not isinstance(force, PlanarForceVector):
            raise TypeError(
                f'planar motion . {type(force).__name__}: a planar motion has a scalar product '
                'with planar forces only'
            )
        return self._angular * force.couple + _dot(self._linear, force.linear)

    def cross(self, other: MotionOrForce) -> MotionOrForce:
        """Cross product v x m with a motion (4m + 2a, book eq 2.76) or v x* f with a force.

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
        """Velocity (2,) of the body-fixed point at `point`, (2,) [m]."""
        (x, y), (px, py) = self._linear, _vector2(point, 'point')
        return x - self._angular * py, y + self._angular * px

    def cross_matrix(self) -> ScalarArray:
        """Matrix v x of the cross product with motions, (3, 3) (crm of table A.1, eq 2.75)."""
        omega, x, y = self
        return np.array([[0, 0, 0], [y, 0, -omega], [-x, omega, 0]])

    def cross_force_matrix(self) -> ScalarArray:
        """Matrix v x* of the cross product with forces, (3, 3) (crf of table A.1)."""
        omega, x, y = self
        return np.array([[0, -y, x], [0, 0, -omega], [0, omega, 0]])


class PlanarForceVector(_PlanarVector):
    """Element of F3: a force or a momentum in the plane.

    :param couple: moment n about the coordinate origin [N m, ...]
    :param linear: linear force, (2,) [N, ...]
    """

    __slots__ = ()

    @classmethod
    def of(cls, force: ForceVector) -> PlanarForceVector:
        """Part of a spatial force that does work in the x-y plane; the rest is left out."""
        return cls(force.couple[2], force.linear[:2])

    def spatial(self) -> ForceVector:
        """Spatial force in the x-y plane."""
        return ForceVector((0, 0, self._angular), (*self._linear, 0))

    @classmethod
    def at_point(cls, linear: Vector2, point: Vector2, couple: Scalar = 0) -> PlanarForceVector:
        """Force that acts along a line through `point`, plus a couple.

        :param linear: linear force, (2,) [N]
        :param point: a point of its line of action, (2,) [m]
        :param couple: couple added to it [N m]
        """
        (fx, fy), (px, py) = _vector2(linear, 'linear'), _vector2(point, 'point')
        return cls(couple + (px * fy - py * fx), (fx, fy))

    @property
    def couple(self) -> Scalar:
        """Moment about the coordinate origin."""
        return self._angular

    @property
    def linear(self) -> Vector2:
        """Linear force, (2,)."""
        return self._linear

    def dot(self, motion: PlanarMotionVector) -> Scalar:
        """Scalar product f . m, the power along `motion` (3m + 2a).

        :raises TypeError: for anything but a planar motion
        """
        if not isinstance(motion, PlanarMotionVector):
            raise TypeError(
                f'planar force . {type(motion).__name__}: a planar force has a scalar product '
                'with planar motions only'
            )
        return motion.dot(self)


class PlanarMotionSubspace(SpatialQuantity):
    """Motion subspace matrix S, 3 x n, as its n columns.

    :param columns: planar motion vectors that span the subspace
    """

    __slots__ = ('columns',)

    def __init__(self, columns: Sequence[PlanarMotionVector]):
        self.columns: Tuple[PlanarMotionVector, ...] = tuple(columns)

    def __matmul__(self, rates: Sequence[Scalar]) -> PlanarMotionVector:
        if len(rates) != len(self.columns):
            raise ValueError(
                f'motion subspace of {len(self.columns)} columns times {len(rates)} rates'
            )
        total = PlanarMotionVector.zero()
        for column, rate in zip(self.columns, rates):
            total = total + column * rate
        return total

    @property
    def T(self) -> _TransposedSubspace:
        """Transpose S^T, which maps forces to generalized forces."""
        return _TransposedSubspace(self)


class _TransposedSubspace(SpatialQuantity):
    __slots__ = ('_subspace',)

    def __init__(self, subspace: PlanarMotionSubspace):
        self._subspace = subspace

    def __matmul__(self, force: PlanarForceVector) -> List[Scalar]:
        return [column.dot(force) for column in self._subspace.columns]


class PlanarTransform(SpatialQuantity):
    """Transform BXA from A to B coordinates of the plane, kept as (c, s, r): 4 numbers.

    :param c: cosine of the angle by which B is turned from A
    :param s: sine of that angle
    :param r: position of the origin of B in A coordinates, (2,) [m]
    """

    __slots__ = ('c', 's', 'r')

    def __init__(self, c: Scalar = 1, s: Scalar = 0, r: Vector2 = (0, 0)):
        self.c, self.s, self.r = c, s, _vector2(r, 'r')

    @classmethod
    def identity(cls) -> PlanarTransform:
        """Identity transform."""
        return cls()

    @classmethod
    def xpln(cls, angle: Scalar, r: Vector2) -> PlanarTransform:
        """Shift of the origin to `r`, then rotation about it: Xpln of table A.1 (eq 2.77).

        :param angle: angle by which B is turned from A [rad]
        :param r: position of the origin of B in A coordinates, (2,) [m]
        """
        return cls(cos(angle), sin(angle), r)

    @classmethod
    def of(cls, X: PluckerTransform) -> PlanarTransform:
        """Transform within the x-y plane of frames that share its normal z.

        A shift along z is left out: planar bodies may lie one above the other.
        """
        return cls(X.E[0][0], X.E[0][1], X.r[:2])

    def spatial(self) -> PluckerTransform:
        """Spatial transform between the frames, both in the x-y plane."""
        c, s = self.c, self.s
        return PluckerTransform(((c, s, 0), (-s, c, 0), (0, 0, 1)), (*self.r, 0))

    @classmethod
    def from_matrix(cls, X: ScalarArray) -> PlanarTransform:
        """Transform with the given matrix for motions, (3, 3).

        :raises ValueError: for another shape
        """
        X = np.asarray(X)
        if X.shape != (3, 3):
            raise ValueError(f'a planar transform is 3x3, got {X.shape}')
        c, s, a, b = X[1, 1].item(), X[1, 2].item(), X[1, 0].item(), X[2, 0].item()
        return cls(c, s, (s * a + c * b, s * b - c * a))

    def matrix(self) -> ScalarArray:
        """Matrix X for motions, (3, 3) (book eq 2.77)."""
        c, s, (x, y) = self.c, self.s, self.r
        return np.array([[1, 0, 0], [s * x - c * y, c, s], [c * x + s * y, -s, c]])

    def force_matrix(self) -> ScalarArray:
        """Matrix X* = X^-T for forces, (3, 3)."""
        c, s, (x, y) = self.c, self.s, self.r
        return np.array([[1, y, -x], [0, c, s], [0, -s, c]])

    @overload
    def __mul__(self, other: PlanarTransform) -> PlanarTransform: ...

    @overload
    def __mul__(self, other: PlanarMotionVector) -> PlanarMotionVector: ...

    def __mul__(self, other: object) -> SpatialQuantity:
        """Composition of two transforms (8m + 6a), or a motion transformed (6m + 4a)."""
        if isinstance(other, PlanarTransform):
            x, y = other._back(self.r)
            return PlanarTransform(
                self.c * other.c - self.s * other.s,
                self.s * other.c + self.c * other.s,
                (other.r[0] + x, other.r[1] + y),
            )
        if isinstance(other, PlanarMotionVector):
            return self.apply(other)
        raise TypeError(
            f'planar transform * {type(other).__name__}: X * m and X * X are defined; use '
            'X.apply(...) for forces and inertias'
        )

    def inverse(self) -> PlanarTransform:
        """Inverse transform AXB, from B to A coordinates (4m + 2a)."""
        x, y = self._turned(self.r)
        return PlanarTransform(self.c, -self.s, (-x, -y))

    def apply(self, quantity: Q) -> Q:
        """Transform a motion, a force or an inertia from A to B coordinates.

        :raises TypeError: for anything else
        """
        rx, ry = self.r
        if isinstance(quantity, PlanarMotionVector):
            omega, (x, y) = quantity.angular, quantity.linear
            return PlanarMotionVector(omega, self._turned((x - ry * omega, y + rx * omega)))
        if isinstance(quantity, PlanarForceVector):
            x, y = quantity.linear
            return PlanarForceVector(
                quantity.couple - (rx * y - ry * x), self._turned(quantity.linear)
            )
        if isinstance(quantity, (PlanarInertia, PlanarArticulatedInertia)):
            return quantity.moved(self.r).rotated(self.c, self.s)
        raise TypeError(f'cannot transform a {type(quantity).__name__} in the plane')

    def inverse_apply(self, quantity: Q) -> Q:
        """Transform a motion, a force or an inertia from B to A coordinates.

        :raises TypeError: for anything else
        """
        rx, ry = self.r
        if isinstance(quantity, PlanarMotionVector):
            omega, (x, y) = quantity.angular, self._back(quantity.linear)
            return PlanarMotionVector(omega, (x + ry * omega, y - rx * omega))
        if isinstance(quantity, PlanarForceVector):
            x, y = self._back(quantity.linear)
            return PlanarForceVector(quantity.couple + (rx * y - ry * x), (x, y))
        if isinstance(quantity, (PlanarInertia, PlanarArticulatedInertia)):
            return quantity.rotated(self.c, -self.s).moved((-rx, -ry))
        raise TypeError(f'cannot transform a {type(quantity).__name__} in the plane')

    def displacement(self) -> PlanarMotionVector:
        """Velocity that leads from A to B in unit time, to first order (XtoV, version 1).

        It is exact where B is not turned. Source: book table A.1.
        """
        (x, y), c, s = self.r, self.c, self.s
        return PlanarMotionVector(s, (c * x + s * y, c * y - s * x))

    def invariant_displacement(self) -> PlanarMotionVector:
        """Velocity that leads from A to B, but for its magnitude (XtoV, version 2).

        It has the same coordinates in A and B, and is a multiple of the exact velocity, to which
        it converges with the angle. Source: book table A.1.
        """
        (x, y), c, s = self.r, self.c, self.s
        x21, x31 = s * x - c * y, c * x + s * y
        return PlanarMotionVector(
            s, ((x31 + c * x31 + s * x21) * 0.5, (s * x31 - x21 - c * x21) * 0.5)
        )

    def exact_displacement(self) -> PlanarMotionVector:
        """Velocity u that leads from A to B in unit time, X = exp(-u x), for floats.

        It is v asin(X23) / X23, with v the invariant displacement (book A.1); the angle is less
        than a quarter turn.
        """
        v = self.invariant_displacement()
        return v if self.s == 0.0 else v * (math.asin(self.s) / self.s)

    def _turned(self, v: Vector2) -> Vector2:
        return self.c * v[0] + self.s * v[1], self.c * v[1] - self.s * v[0]

    def _back(self, v: Vector2) -> Vector2:
        return self.c * v[0] - self.s * v[1], self.s * v[0] + self.c * v[1]

    def __eq__(self, other: object) -> bool:
        mine = (self.c, self.s, self.r)
        return isinstance(other, PlanarTransform) and mine == (other.c, other.s, other.r)

    def __hash__(self) -> int:
        return hash((self.c, self.s, self.r))

    def __repr__(self) -> str:
        return f'PlanarTransform(c={self.c}, s={self.s}, r={self.r})'


class PlanarInertia(SpatialQuantity):
    """Inertia of a rigid body in the plane, 4 numbers (book eq 2.78).

    :param mass: mass m [kg]
    :param h: first moment of mass, m c with c the centre of mass, (2,) [kg m]
    :param I: rotational inertia about the ORIGIN [kg m^2]
    """

    __slots__ = ('mass', 'h', 'I')

    def __init__(self, mass: Scalar, h: Vector2, I: Scalar):
        self.mass, self.h, self.I = mass, _vector2(h, 'h'), I

    @classmethod
    def zero(cls) -> PlanarInertia:
        """Inertia without mass."""
        return cls(0, (0, 0), 0)

    @classmethod
    def from_mass_centre(cls, mass: Scalar, centre: Vector2, I_C: Scalar) -> PlanarInertia:
        """Inertia with a given mass, centre of mass and rotational inertia about it.

        The mcI of table A.1.

        :param mass: mass [kg]
        :param centre: centre of mass, (2,) [m]
        :param I_C: rotational inertia about the centre of mass [kg m^2]
        """
        x, y = _vector2(centre, 'centre')
        h = (mass * x, mass * y)
        return cls(mass, h, I_C + _dot(h, (x, y)))

    @classmethod
    def of(cls, inertia: RigidBodyInertia) -> PlanarInertia:
        """Part of a spatial inertia that shows in the x-y plane."""
        return cls(inertia.mass, inertia.h[:2], inertia.I[5])

    def matrix(self) -> ScalarArray:
        """Matrix, (3, 3) (book eq 2.78)."""
        m, (x, y) = self.mass, self.h
        return np.array([[self.I, -y, x], [-y, m, 0], [x, 0, m]])

    @overload
    def __mul__(self, other: PlanarMotionVector) -> PlanarForceVector: ...

    @overload
    def __mul__(self, other: Scalar) -> PlanarInertia: ...

    def __mul__(self, other: Scalar) -> SpatialQuantity:
        """Momentum I v of a velocity (7m + 4a), or the inertia times a scalar (4m)."""
        if isinstance(other, PlanarMotionVector):
            m, (hx, hy) = self.mass, self.h
            omega, (x, y) = other.angular, other.linear
            return PlanarForceVector(
                self.I * omega + (hx * y - hy * x), (m * x - hy * omega, m * y + hx * omega)
            )
        require_scalar(other, 'planar inertia *')
        return self._times(other)

    def __rmul__(self, factor: Scalar) -> PlanarInertia:
        require_scalar(factor, '* planar inertia')
        return self._times(factor)

    def _times(self, factor: Scalar) -> PlanarInertia:
        h = (self.h[0] * factor, self.h[1] * factor)
        return PlanarInertia(self.mass * factor, h, self.I * factor)

    @overload
    def __add__(self, other: PlanarInertia) -> PlanarInertia: ...

    @overload
    def __add__(self, other: PlanarArticulatedInertia) -> PlanarArticulatedInertia: ...

    def __add__(self, other: object) -> SpatialQuantity:
        """Inertia of two bodies joined rigidly (4a, with an articulated body 5a)."""
        if isinstance(other, PlanarArticulatedInertia):
            return other + self
        if not isinstance(other, PlanarInertia):
            raise TypeError(
                f'planar inertia + {type(other).__name__}: only planar inertias can be added'
            )
        h = (self.h[0] + other.h[0], self.h[1] + other.h[1])
        return PlanarInertia(self.mass + other.mass, h, self.I + other.I)

    def rotated(self, c: Scalar, s: Scalar) -> PlanarInertia:
        """Inertia in coordinates turned by the angle with cosine `c` and sine `s`."""
        x, y = self.h
        return PlanarInertia(self.mass, (c * x + s * y, c * y - s * x), self.I)

    def moved(self, r: Vector2) -> PlanarInertia:
        """Inertia in coordinates whose origin lies at `r`, (2,) [m]."""
        m, (x, y) = self.mass, self.h
        h = (x - m * r[0], y - m * r[1])
        return PlanarInertia(m, h, self.I - _dot((x + h[0], y + h[1]), r))

    def __eq__(self, other: object) -> bool:
        mine = (self.mass, self.h, self.I)
        return isinstance(other, PlanarInertia) and mine == (other.mass, other.h, other.I)

    def __hash__(self) -> int:
        return hash((self.mass, self.h, self.I))

    def __repr__(self) -> str:
        return f'PlanarInertia(mass={self.mass}, h={self.h}, I={self.I})'


class PlanarArticulatedInertia(SpatialQuantity):
    """Articulated-body inertia in the plane, [[I, H], [H^T, M]]: 6 numbers instead of 21.

    :param M: lower triangle (xx, yx, yy) of the linear block, (3,) [kg]
    :param H: coupling, (2,) [kg m]
    :param I: rotational inertia [kg m^2]
    """

    __slots__ = ('M', 'H', 'I')

    def __init__(self, M: Tuple[Scalar, Scalar, Scalar], H: Vector2, I: Scalar):
        self.M: Tuple[Scalar, ...] = tuple(M)
        self.H, self.I = _vector2(H, 'H'), I

    @classmethod
    def zero(cls) -> PlanarArticulatedInertia:
        """Inertia without mass."""
        return cls((0, 0, 0), (0, 0), 0)

    @classmethod
    def from_rigid(cls, inertia: PlanarInertia) -> PlanarArticulatedInertia:
        """Inertia of an articulated body that is a single rigid one."""
        m, (x, y) = inertia.mass, inertia.h
        return cls((m, 0, m), (-y, x), inertia.I)

    @classmethod
    def from_matrix(cls, A: ScalarArray) -> PlanarArticulatedInertia:
        """Inertia with a given symmetric matrix, (3, 3).

        :raises ValueError: for another shape
        """
        A = np.asarray(A)
        if A.shape != (3, 3):
            raise ValueError(f'a planar articulated-body inertia is 3x3, got {A.shape}')
        a: Any = A.tolist()
        return cls((a[1][1], a[2][1], a[2][2]), (a[0][1], a[0][2]), a[0][0])

    def matrix(self) -> ScalarArray:
        """Matrix [[I, H], [H^T, M]], (3, 3)."""
        (x, y), (xx, yx, yy) = self.H, self.M
        return np.array([[self.I, x, y], [x, xx, yx], [y, yx, yy]])

    @overload
    def __mul__(self, other: PlanarMotionVector) -> PlanarForceVector: ...

    @overload
    def __mul__(self, other: Scalar) -> PlanarArticulatedInertia: ...

    def __mul__(self, other: Scalar) -> SpatialQuantity:
        """Force IA a of an acceleration (9m + 6a), or the inertia times a scalar (6m)."""
        if isinstance(other, PlanarMotionVector):
            (hx, hy), (xx, yx, yy) = self.H, self.M
            omega, (x, y) = other.angular, other.linear
            return PlanarForceVector(
                self.I * omega + hx * x + hy * y,
                (hx * omega + xx * x + yx * y, hy * omega + yx * x + yy * y),
            )
        require_scalar(other, 'planar inertia *')
        return self._times(other)

    def __rmul__(self, factor: Scalar) -> PlanarArticulatedInertia:
        require_scalar(factor, '* planar inertia')
        return self._times(factor)

    def _times(self, factor: Scalar) -> PlanarArticulatedInertia:
        (x, y), (xx, yx, yy) = self.H, self.M
        return PlanarArticulatedInertia(
            (xx * factor, yx * factor, yy * factor), (x * factor, y * factor), self.I * factor
        )

    def __add__(self, other: object) -> PlanarArticulatedInertia:
        """Inertia of two bodies joined rigidly (6a, with a rigid body 5a)."""
        (hx, hy), (xx, yx, yy) = self.H, self.M
        if isinstance(other, PlanarArticulatedInertia):
            a, b, c = other.M
            H = (hx + other.H[0], hy + other.H[1])
            return PlanarArticulatedInertia((xx + a, yx + b, yy + c), H, self.I + other.I)
        if isinstance(other, PlanarInertia):
            m, (x, y) = other.mass, other.h
            return PlanarArticulatedInertia(
                (xx + m, yx, yy + m), (hx - y, hy + x), self.I + other.I
            )
        raise TypeError(
            f'planar inertia + {type(other).__name__}: only planar inertias can be added'
        )

    def minus_dyad(self, W: PlanarForceVector, U: PlanarForceVector) -> PlanarArticulatedInertia:
        """Difference IA - W U^T for dyads W U^T whose sum is symmetric, though each need not be.

        Of the block H, the row is computed; the column is the same in the sum.
        """
        a, b, c = W
        p, q, r = U
        xx, yx, yy = self.M
        return PlanarArticulatedInertia(
            (xx - b * q, yx - c * q, yy - c * r),
            (self.H[0] - a * q, self.H[1] - a * r),
            self.I - a * p,
        )

    def rotated(self, c: Scalar, s: Scalar) -> PlanarArticulatedInertia:
        """Inertia in coordinates turned by the angle with cosine `c` and sine `s`."""
        (x, y), (xx, yx, yy) = self.H, self.M
        # Rows of E M; then the lower triangle of E M E^T, whose trace is that of M.
        first, second = c * xx + s * yx, c * yx + s * yy
        a = c * first + s * second
        return PlanarArticulatedInertia(
            (a, c * second - s * first, xx + yy - a), (c * x + s * y, c * y - s * x), self.I
        )

    def moved(self, r: Vector2) -> PlanarArticulatedInertia:
        """Inertia in coordinates whose origin lies at `r`, (2,) [m]."""
        (x, y), (xx, yx, yy) = self.H, self.M
        # The body's velocity at the old origin is that at the new one plus d omega.
        d = (r[1], -r[0])
        H = (x + xx * d[0] + yx * d[1], y + yx * d[0] + yy * d[1])
        return PlanarArticulatedInertia(self.M, H, self.I + _dot((x + H[0], y + H[1]), d))

    def __eq__(self, other: object) -> bool:
        mine = (self.M, self.H, self.I)
        return isinstance(other, PlanarArticulatedInertia) and mine == (other.M, other.H, other.I)

    def __hash__(self) -> int:
        return hash((self.M, self.H, self.I))

    def __repr__(self) -> str:
        return f'PlanarArticulatedInertia(M={self.M}, H={self.H}, I={self.I})'
