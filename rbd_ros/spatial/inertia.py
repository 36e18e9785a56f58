"""Rigid-body inertia (10 numbers) and articulated-body inertia (21 numbers).

Sources: book 2.13, 7.1, A.3 and A.4.
"""

from __future__ import annotations

from typing import Sequence

import numpy as np

from rbd_ros.spatial import linear3
from rbd_ros.spatial.linear3 import Matrix3, Symmetric3, Vector3, ZERO3
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.spatial.vectors import ForceVector, MotionVector, require_scalar, SpatialQuantity

_ZERO_SYMMETRIC: Symmetric3 = (0,) * 6


def _add(a: tuple, b: tuple) -> tuple:
    return tuple(x + y for x, y in zip(a, b))


def _subtract(a: tuple, b: tuple) -> tuple:
    return tuple(x - y for x, y in zip(a, b))


class RigidBodyInertia(SpatialQuantity):
    """Spatial inertia of a rigid body, [[I, h x], [-h x, m 1]] (book eq 2.63).

    :param mass: mass m [kg]
    :param h: first moment of mass, m c with c the centre of mass, (3,) [kg m]
    :param I: lower triangle (xx, yx, yy, zx, zy, zz) of the rotational inertia about the ORIGIN,
        (6,) [kg m^2]
    """

    __slots__ = ('mass', 'h', 'I')

    def __init__(self, mass: Scalar, h: Vector3, I: Symmetric3):
        self.mass = mass
        self.h = linear3.vector3(h, 'h')
        self.I = tuple(I)
        if len(self.I) != 6:
            raise ValueError(f'I must be the 6 numbers of a lower triangle, got {len(self.I)}')

    @classmethod
    def zero(cls) -> RigidBodyInertia:
        """Inertia of nothing."""
        return cls(0, ZERO3, _ZERO_SYMMETRIC)

    @classmethod
    def from_mass_centre(cls, mass: Scalar, centre: Vector3, I_C: Matrix3) -> RigidBodyInertia:
        """Inertia of mass, centre of mass and rotational inertia about it, (3, 3).

        The book's mcI (eq 2.62).
        """
        centre = linear3.vector3(centre, 'centre')
        h = linear3.scale(mass, centre)
        parallel_axis = linear3.lower_skew_skew(h, centre)
        return cls(
            mass, h, _subtract(linear3.symmetric(linear3.matrix3(I_C, 'I_C')), parallel_axis)
        )

    @classmethod
    def from_parameters(cls, parameters: Sequence[Scalar]) -> RigidBodyInertia:
        """Inertia of the ten parameters (m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz).

        I about the origin.
        """
        m, hx, hy, hz, xx, xy, xz, yy, yz, zz = parameters
        return cls(m, (hx, hy, hz), (xx, xy, yy, xz, yz, zz))

    @classmethod
    def from_matrix(cls, M: np.ndarray) -> RigidBodyInertia:
        """Inertia of its 6x6 matrix."""
        M = np.asarray(M)
        if M.shape != (6, 6):
            raise ValueError(f'a spatial inertia is 6x6, got {M.shape}')
        return cls(
            M[5, 5].item(),
            linear3.unskew(linear3.matrix3(M[:3, 3:])),
            linear3.symmetric(linear3.matrix3(M[:3, :3])),
        )

    def parameters(self) -> tuple:
        """Ten parameters, see `from_parameters`."""
        xx, xy, yy, xz, yz, zz = self.I
        return (self.mass, *self.h, xx, xy, xz, yy, yz, zz)

    def mass_centre(self) -> tuple:
        """Mass, centre of mass (3,) and rotational inertia about it (3, 3).

        The inverse of `from_mass_centre`.

        :raises ZeroDivisionError: for a massless body, which has no centre
        """
        centre = tuple(h / self.mass for h in self.h)
        about_centre = _add(self.I, linear3.lower_skew_skew(self.h, centre))
        return self.mass, centre, linear3.full(about_centre)

    def matrix(self) -> np.ndarray:
        """Matrix, (6, 6)."""
        h = np.array(linear3.skew(self.h))
        return np.block([[np.array(linear3.full(self.I)), h], [-h, self.mass * np.eye(3)]])

    def __mul__(self, other):
        """Momentum I v (24m + 18a) of a motion, or a multiple (10m) by a scalar."""
        if isinstance(other, MotionVector):
            omega, v = other.angular, other.linear
            return ForceVector(
                linear3.add(linear3.apply(linear3.full(self.I), omega), linear3.cross(self.h, v)),
                linear3.subtract(linear3.scale(self.mass, v), linear3.cross(self.h, omega)),
            )
        require_scalar(other, 'inertia *')
        return RigidBodyInertia(
            self.mass * other, linear3.scale(other, self.h), tuple(x * other for x in self.I)
        )

    def __rmul__(self, factor: Scalar) -> RigidBodyInertia:
        require_scalar(factor, '* inertia')
        return self * factor

    def __add__(self, other):
        """Inertia of two bodies joined rigidly (10a), or with an articulated one (15a)."""
        if isinstance(other, ArticulatedBodyInertia):
            return other + self
        if not isinstance(other, RigidBodyInertia):
            raise TypeError(
                f'inertia + {type(other).__name__}: only inertias can be added to an inertia'
            )
        return RigidBodyInertia(
            self.mass + other.mass, linear3.add(self.h, other.h), _add(self.I, other.I)
        )

    def rotated(self, E: Matrix3) -> RigidBodyInertia:
        """Inertia in coordinates rotated by E."""
        return RigidBodyInertia(
            self.mass, linear3.apply(E, self.h), linear3.rotate_symmetric(E, self.I)
        )

    def moved(self, r: Vector3) -> RigidBodyInertia:
        """Inertia in coordinates whose origin lies at `r`.

        I + r x h x + y x r x with y = h - m r (book A.3).
        """
        y = linear3.subtract(self.h, linear3.scale(self.mass, r))
        change = _add(linear3.lower_skew_skew(r, self.h), linear3.lower_skew_skew(y, r))
        return RigidBodyInertia(self.mass, y, _add(self.I, change))

    def __eq__(self, other) -> bool:
        return isinstance(other, RigidBodyInertia) and self.parameters() == other.parameters()

    def __hash__(self) -> int:
        return hash(self.parameters())

    def __repr__(self) -> str:
        return f'RigidBodyInertia(mass={self.mass}, h={self.h}, I={self.I})'


class ArticulatedBodyInertia(SpatialQuantity):
    """Articulated-body inertia [[I, H], [H^T, M]].

    The apparent inertia of a body in a mechanism (book 7.1).

    :param M: lower triangle of the linear block, (6,) [kg]
    :param H: coupling block, (3, 3) [kg m]
    :param I: lower triangle of the rotational block, (6,) [kg m^2]
    """

    __slots__ = ('M', 'H', 'I')

    def __init__(self, M: Symmetric3, H: Matrix3, I: Symmetric3):
        self.M, self.H, self.I = tuple(M), linear3.matrix3(H, 'H'), tuple(I)

    @classmethod
    def zero(cls) -> ArticulatedBodyInertia:
        """Zero inertia."""
        return cls(_ZERO_SYMMETRIC, (ZERO3,) * 3, _ZERO_SYMMETRIC)

    @classmethod
    def from_rigid(cls, inertia: RigidBodyInertia) -> ArticulatedBodyInertia:
        """A rigid body as an articulated one without joints."""
        m = inertia.mass
        return cls((m, 0, m, 0, 0, m), linear3.skew(inertia.h), inertia.I)

    @classmethod
    def from_matrix(cls, A: np.ndarray) -> ArticulatedBodyInertia:
        """Inertia of its symmetric 6x6 matrix."""
        A = np.asarray(A)
        if A.shape != (6, 6):
            raise ValueError(f'an articulated-body inertia is 6x6, got {A.shape}')
        return cls(
            linear3.symmetric(linear3.matrix3(A[3:, 3:])),
            A[:3, 3:],
            linear3.symmetric(linear3.matrix3(A[:3, :3])),
        )

    def matrix(self) -> np.ndarray:
        """Matrix, (6, 6)."""
        H = np.array(self.H)
        return np.block(
            [[np.array(linear3.full(self.I)), H], [H.T, np.array(linear3.full(self.M))]]
        )

    def __mul__(self, other):
        """Force IA a (36m + 30a) of a motion, or a multiple by a scalar."""
        if isinstance(other, MotionVector):
            omega, v = other.angular, other.linear
            return ForceVector(
                linear3.add(linear3.apply(linear3.full(self.I), omega), linear3.apply(self.H, v)),
                linear3.add(
                    linear3.apply(linear3.full(self.M), v), linear3.apply_transpose(self.H, omega)
                ),
            )
        require_scalar(other, 'inertia *')
        return ArticulatedBodyInertia(
            tuple(x * other for x in self.M),
            tuple(linear3.scale(other, row) for row in self.H),
            tuple(x * other for x in self.I),
        )

    def __rmul__(self, factor: Scalar) -> ArticulatedBodyInertia:
        require_scalar(factor, '* inertia')
        return self * factor

    def __add__(self, other):
        """Inertia of two articulated bodies glued together (21a), or with a rigid one (15a)."""
        if isinstance(other, ArticulatedBodyInertia):
            return ArticulatedBodyInertia(
                _add(self.M, other.M), linear3.add_matrices(self.H, other.H), _add(self.I, other.I)
            )
        if isinstance(other, RigidBodyInertia):
            m, (hx, hy, hz) = other.mass, other.h
            xx, yx, yy, zx, zy, zz = self.M
            (a, b, c), (d, e, f), (g, h, i) = self.H
            H = ((a, b - hz, c + hy), (d + hz, e, f - hx), (g - hy, h + hx, i))
            return ArticulatedBodyInertia(
                (xx + m, yx, yy + m, zx, zy, zz + m), H, _add(self.I, other.I)
            )
        raise TypeError(
            f'inertia + {type(other).__name__}: only inertias can be added to an inertia'
        )

    def minus_dyad(self, W: ForceVector, U: ForceVector) -> ArticulatedBodyInertia:
        """Difference IA - W U^T, for dyads whose sum is symmetric.

        Such is U D^-1 U^T of the articulated-body algorithm.
        """
        (a, b, c), (d, e, f) = W.couple, W.linear
        (p, q, r), (s, t, u) = U.couple, U.linear
        return ArticulatedBodyInertia(
            _subtract(self.M, (d * s, e * s, e * t, f * s, f * t, f * u)),
            linear3.subtract_matrices(
                self.H, ((a * s, a * t, a * u), (b * s, b * t, b * u), (c * s, c * t, c * u))
            ),
            _subtract(self.I, (a * p, b * p, b * q, c * p, c * q, c * r)),
        )

    def rotated(self, E: Matrix3) -> ArticulatedBodyInertia:
        """Inertia in coordinates rotated by E."""
        return ArticulatedBodyInertia(
            linear3.rotate_symmetric(E, self.M),
            linear3.rotate_general(E, self.H),
            linear3.rotate_symmetric(E, self.I),
        )

    def moved(self, r: Vector3) -> ArticulatedBodyInertia:
        """Inertia in coordinates whose origin lies at `r` (book A.3).

        H' = H - r x M, I' = I - r x H^T + H' r x.
        """
        H = linear3.subtract_matrices(self.H, linear3.cross_matrix(r, linear3.full(self.M)))
        rH = linear3.symmetric(linear3.cross_matrix(r, linear3.transpose(self.H)))
        Hr = linear3.symmetric(linear3.matrix_cross(H, r))
        return ArticulatedBodyInertia(self.M, H, _add(_subtract(self.I, rH), Hr))

    def __eq__(self, other) -> bool:
        return isinstance(other, ArticulatedBodyInertia) and (self.M, self.H, self.I) == (
            other.M,
            other.H,
            other.I,
        )

    def __hash__(self) -> int:
        return hash((self.M, self.H, self.I))

    def __repr__(self) -> str:
        return f'ArticulatedBodyInertia(M={self.M}, H={self.H}, I={self.I})'
