# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Coordinate transforms of the plane (book eq 2.77, table A.1)."""

from __future__ import annotations

import math
from typing import overload, TypeVar

import numpy as np

from rbd_ros.spatial.quantities import SpatialQuantity
from rbd_ros.spatial.scalar import cos, Scalar, ScalarArray, sin
from rbd_ros.spatial.transform import PluckerTransform
from rbd_ros.textbook.planar.planar_inertia import PlanarArticulatedInertia, PlanarInertia
from rbd_ros.textbook.planar.planar_vectors import (
    PlanarForceVector,
    PlanarMotionVector,
    Vector2,
    vector2,
)

Q = TypeVar(
    'Q',
    PlanarMotionVector,
    PlanarForceVector,
    PlanarInertia,
    PlanarArticulatedInertia,
)


class PlanarTransform(SpatialQuantity):
    """Transform BXA from A to B coordinates of the plane, kept as (c, s, r): 4 numbers.

    :param c: cosine of the angle from A to B
    :param s: sine of that angle
    :param r: position of the origin of B in A coordinates, (2,) [m]

    >>> X = PlanarTransform.xpln(np.pi / 2, (1.0, 0.0))  # shifted along x, then turned
    >>> v = PlanarMotionVector(1.0, (0.0, 0.0))
    >>> np.round(X.apply(v).to_array(), 6)  # of the point at the new origin
    array([1., 1., 0.])
    >>> np.allclose(X.inverse_apply(X * v).to_array(), v.to_array())
    True
    >>> np.allclose(X.matrix() @ v.to_array(), (X * v).to_array())
    True
    >>> np.allclose(X.force_matrix(), np.linalg.inv(X.matrix()).T)
    True
    >>> np.allclose((X * X.inverse()).matrix(), PlanarTransform.identity().matrix())
    True
    >>> PlanarTransform.of(X.spatial()) == X, PlanarTransform.from_matrix(X.matrix()).s == X.s
    (True, True)
    >>> near = PlanarTransform.xpln(1e-3, (0.01, 0.0))
    >>> near.displacement().to_array(), near.exact_displacement().to_array()
    (array([ 0.001,  0.01 , -0.   ]), array([ 0.001,  0.01 , -0.   ]))
    >>> np.allclose(near.invariant_displacement().linear, near.exact_displacement().linear)
    True
    """

    __slots__ = ('c', 's', 'r')

    def __init__(self, c: Scalar = 1, s: Scalar = 0, r: Vector2 = (0, 0)):
        self.c, self.s, self.r = c, s, vector2(r, 'r')

    @classmethod
    def identity(cls) -> PlanarTransform:
        """Return the identity transform."""
        return cls()

    @classmethod
    def xpln(cls, angle: Scalar, r: Vector2) -> PlanarTransform:
        """Return the shift of the origin to `r`, then a rotation: Xpln of table A.1 (eq 2.77).

        :param angle: angle from A to B [rad]
        :param r: position of the origin of B in A coordinates, (2,) [m]
        """
        return cls(cos(angle), sin(angle), r)

    @classmethod
    def of(cls, X: PluckerTransform) -> PlanarTransform:
        """Return the planar transform between frames that share the normal z.

        A shift along z is ignored: planar bodies may lie one above the other.
        """
        return cls(X.E[0][0], X.E[0][1], X.r[:2])

    def spatial(self) -> PluckerTransform:
        """Return the spatial transform between the frames, both in the x-y plane."""
        c, s = self.c, self.s
        return PluckerTransform(((c, s, 0), (-s, c, 0), (0, 0, 1)), (*self.r, 0))

    @classmethod
    def from_matrix(cls, X: ScalarArray) -> PlanarTransform:
        """Return the transform of a matrix for motions, (3, 3).

        :raises ValueError: for another shape
        """
        X = np.asarray(X)
        if X.shape != (3, 3):
            raise ValueError(f'a planar transform is 3x3, got {X.shape}')
        c, s, a, b = X[1, 1].item(), X[1, 2].item(), X[1, 0].item(), X[2, 0].item()
        return cls(c, s, (s * a + c * b, s * b - c * a))

    def matrix(self) -> ScalarArray:
        """Return the matrix X for motions, (3, 3) (book eq 2.77)."""
        c, s, (x, y) = self.c, self.s, self.r
        return np.array([[1, 0, 0], [s * x - c * y, c, s], [c * x + s * y, -s, c]])

    def force_matrix(self) -> ScalarArray:
        """Return the matrix X* = X^-T for forces, (3, 3)."""
        c, s, (x, y) = self.c, self.s, self.r
        return np.array([[1, y, -x], [0, c, s], [0, -s, c]])

    @overload
    def __mul__(self, other: PlanarTransform) -> PlanarTransform: ...

    @overload
    def __mul__(self, other: PlanarMotionVector) -> PlanarMotionVector: ...

    def __mul__(self, other: object) -> SpatialQuantity:
        """Return the product of two transforms (8m + 6a), or a motion transformed (6m + 4a)."""
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
        """Return the inverse transform AXB, from B to A coordinates (4m + 2a)."""
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
                quantity.moment - (rx * y - ry * x), self._turned(quantity.linear)
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
            return PlanarForceVector(quantity.moment + (rx * y - ry * x), (x, y))
        if isinstance(quantity, (PlanarInertia, PlanarArticulatedInertia)):
            return quantity.rotated(self.c, -self.s).moved((-rx, -ry))
        raise TypeError(f'cannot transform a {type(quantity).__name__} in the plane')

    def displacement(self) -> PlanarMotionVector:
        """Return the velocity from A to B in unit time, to first order (XtoV, version 1).

        It is exact without rotation. Source: book table A.1.
        """
        (x, y), c, s = self.r, self.c, self.s
        return PlanarMotionVector(s, (c * x + s * y, c * y - s * x))

    def invariant_displacement(self) -> PlanarMotionVector:
        """Return a multiple of the velocity from A to B in unit time (XtoV, version 2).

        It has the same coordinates in A and B, and converges to the exact velocity as the angle
        goes to zero. Source: book table A.1.
        """
        (x, y), c, s = self.r, self.c, self.s
        x21, x31 = s * x - c * y, c * x + s * y
        return PlanarMotionVector(
            s, ((x31 + c * x31 + s * x21) * 0.5, (s * x31 - x21 - c * x21) * 0.5)
        )

    def exact_displacement(self) -> PlanarMotionVector:
        """Return the velocity u from A to B in unit time, X = exp(-u x), for floats.

        It is v asin(X23) / X23, with v the invariant displacement (book A.1); the angle must be
        below a quarter turn.
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
