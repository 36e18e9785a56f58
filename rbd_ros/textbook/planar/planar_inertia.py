# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertia in the plane: of a rigid body (4 numbers), of an articulated body (6) (book 2.16)."""

from __future__ import annotations

from typing import Any, overload, Tuple

import numpy as np

from rbd_ros.spatial.inertia import RigidBodyInertia
from rbd_ros.spatial.quantities import require_scalar, SpatialQuantity
from rbd_ros.spatial.scalar import Scalar, ScalarArray
from rbd_ros.textbook.planar.planar_vectors import (
    dot2,
    PlanarForceVector,
    PlanarMotionVector,
    Vector2,
    vector2,
)


class PlanarInertia(SpatialQuantity):
    """Inertia of a rigid body in the plane, 4 numbers (book eq 2.78).

    :param mass: mass m [kg]
    :param h: first moment of mass, m c with c the center of mass, (2,) [kg m]
    :param I: rotational inertia about the ORIGIN [kg m^2]

    >>> plate = PlanarInertia.from_mass_center(2.0, (0.1, 0.0), 0.01)
    >>> plate.mass, plate.h, round(plate.I, 6)  # [kg], [kg m], [kg m^2] about the origin
    (2.0, (0.2, 0.0), 0.03)
    >>> (plate * PlanarMotionVector(1.0, (0.0, 0.0))).linear  # momentum [N s]
    (0.0, 0.2)
    >>> np.allclose(plate.moved((0.1, 0.0)).matrix(), np.diag([0.01, 2.0, 2.0]))
    True
    >>> plate.rotated(0.0, 1.0).h, (plate + PlanarInertia.zero()) == plate
    ((0.0, -0.2), True)
    >>> PlanarInertia.of(tool).mass
    2.0
    """

    __slots__ = ('mass', 'h', 'I')

    def __init__(self, mass: Scalar, h: Vector2, I: Scalar):
        self.mass, self.h, self.I = mass, vector2(h, 'h'), I

    @classmethod
    def zero(cls) -> PlanarInertia:
        """Return the inertia without mass."""
        return cls(0, (0, 0), 0)

    @classmethod
    def from_mass_center(cls, mass: Scalar, center: Vector2, I_C: Scalar) -> PlanarInertia:
        """Return the inertia with a given mass, center of mass and rotational inertia about it.

        The mcI of table A.1.

        :param mass: mass [kg]
        :param center: center of mass, (2,) [m]
        :param I_C: rotational inertia about the center of mass [kg m^2]
        """
        x, y = vector2(center, 'center')
        h = (mass * x, mass * y)
        return cls(mass, h, I_C + dot2(h, (x, y)))

    @classmethod
    def of(cls, inertia: RigidBodyInertia) -> PlanarInertia:
        """Return the part of a spatial inertia that acts in the x-y plane."""
        return cls(inertia.mass, inertia.h[:2], inertia.I[5])

    def matrix(self) -> ScalarArray:
        """Return the matrix, (3, 3) (book eq 2.78)."""
        m, (x, y) = self.mass, self.h
        return np.array([[self.I, -y, x], [-y, m, 0], [x, 0, m]])

    @overload
    def __mul__(self, other: PlanarMotionVector) -> PlanarForceVector: ...

    @overload
    def __mul__(self, other: Scalar) -> PlanarInertia: ...

    def __mul__(self, other: Scalar) -> SpatialQuantity:
        """Return the momentum I v of a velocity (7m + 4a), or the inertia times a scalar (4m)."""
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
        """Return the inertia of two bodies joined rigidly (4a, with an articulated body 5a)."""
        if isinstance(other, PlanarArticulatedInertia):
            return other + self
        if not isinstance(other, PlanarInertia):
            raise TypeError(
                f'planar inertia + {type(other).__name__}: only planar inertias can be added'
            )
        h = (self.h[0] + other.h[0], self.h[1] + other.h[1])
        return PlanarInertia(self.mass + other.mass, h, self.I + other.I)

    def rotated(self, c: Scalar, s: Scalar) -> PlanarInertia:
        """Return the inertia in coordinates rotated by the angle with cosine `c` and sine `s`."""
        x, y = self.h
        return PlanarInertia(self.mass, (c * x + s * y, c * y - s * x), self.I)

    def moved(self, r: Vector2) -> PlanarInertia:
        """Return the inertia in coordinates whose origin lies at `r`, (2,) [m]."""
        m, (x, y) = self.mass, self.h
        h = (x - m * r[0], y - m * r[1])
        return PlanarInertia(m, h, self.I - dot2((x + h[0], y + h[1]), r))

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

    >>> IA = PlanarArticulatedInertia.from_rigid(plate)
    >>> S = PlanarMotionVector(1.0, (0.0, 0.0))  # a hinge at the origin
    >>> U, D = IA * S, S.dot(IA * S)
    >>> Ia = IA.minus_dyad(U * (1.0 / D), U)
    >>> np.allclose((Ia * S).to_array(), 0.0)  # free to turn about it
    True
    >>> np.allclose(PlanarArticulatedInertia.from_matrix(IA.matrix()).matrix(), plate.matrix())
    True
    >>> turned, shifted = IA.rotated(1.0, 0.0), IA.moved((0.0, 0.0))
    >>> np.allclose((turned + PlanarArticulatedInertia.zero()).matrix(), shifted.matrix())
    True
    """

    __slots__ = ('M', 'H', 'I')

    def __init__(self, M: Tuple[Scalar, Scalar, Scalar], H: Vector2, I: Scalar):
        self.M: Tuple[Scalar, ...] = tuple(M)
        self.H, self.I = vector2(H, 'H'), I

    @classmethod
    def zero(cls) -> PlanarArticulatedInertia:
        """Return the inertia without mass."""
        return cls((0, 0, 0), (0, 0), 0)

    @classmethod
    def from_rigid(cls, inertia: PlanarInertia) -> PlanarArticulatedInertia:
        """Return the inertia of an articulated body that is a single rigid one."""
        m, (x, y) = inertia.mass, inertia.h
        return cls((m, 0, m), (-y, x), inertia.I)

    @classmethod
    def from_matrix(cls, A: ScalarArray) -> PlanarArticulatedInertia:
        """Return the inertia with a given symmetric matrix, (3, 3).

        :raises ValueError: for another shape
        """
        A = np.asarray(A)
        if A.shape != (3, 3):
            raise ValueError(f'a planar articulated-body inertia is 3x3, got {A.shape}')
        a: Any = A.tolist()
        return cls((a[1][1], a[2][1], a[2][2]), (a[0][1], a[0][2]), a[0][0])

    def matrix(self) -> ScalarArray:
        """Return the matrix [[I, H], [H^T, M]], (3, 3)."""
        (x, y), (xx, yx, yy) = self.H, self.M
        return np.array([[self.I, x, y], [x, xx, yx], [y, yx, yy]])

    @overload
    def __mul__(self, other: PlanarMotionVector) -> PlanarForceVector: ...

    @overload
    def __mul__(self, other: Scalar) -> PlanarArticulatedInertia: ...

    def __mul__(self, other: Scalar) -> SpatialQuantity:
        """Return force IA a of an acceleration (9m + 6a), or the inertia times a scalar (6m)."""
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
        """Return the inertia of two bodies joined rigidly (6a, with a rigid body 5a)."""
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
        """Return IA - W U^T. Only the sum of all dyads W U^T need be symmetric.

        Of the coupling H, only the row is computed; in the sum, the column equals it.
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
        """Return the inertia in coordinates rotated by the angle with cosine `c` and sine `s`."""
        (x, y), (xx, yx, yy) = self.H, self.M
        # Rows of E M; then the lower triangle of E M E^T, whose trace is that of M.
        first, second = c * xx + s * yx, c * yx + s * yy
        a = c * first + s * second
        return PlanarArticulatedInertia(
            (a, c * second - s * first, xx + yy - a), (c * x + s * y, c * y - s * x), self.I
        )

    def moved(self, r: Vector2) -> PlanarArticulatedInertia:
        """Return the inertia in coordinates whose origin lies at `r`, (2,) [m]."""
        (x, y), (xx, yx, yy) = self.H, self.M
        # The body's velocity at the old origin is that at the new one plus d omega.
        d = (r[1], -r[0])
        H = (x + xx * d[0] + yx * d[1], y + yx * d[0] + yy * d[1])
        return PlanarArticulatedInertia(self.M, H, self.I + dot2((x + H[0], y + H[1]), d))

    def __eq__(self, other: object) -> bool:
        mine = (self.M, self.H, self.I)
        return isinstance(other, PlanarArticulatedInertia) and mine == (other.M, other.H, other.I)

    def __hash__(self) -> int:
        return hash((self.M, self.H, self.I))

    def __repr__(self) -> str:
        return f'PlanarArticulatedInertia(M={self.M}, H={self.H}, I={self.I})'
