# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Axial screw transforms (book A.4): rotation about a coordinate axis, and translation along it.

They take a third of the operations of general transforms. Two of them are the step from one
Denavit-Hartenberg frame to the next; three give any transform.
"""

from __future__ import annotations

import math
from typing import Tuple, TypeVar

from rbd_ros.spatial import linear3
from rbd_ros.spatial.inertia import ArticulatedBodyInertia, RigidBodyInertia
from rbd_ros.spatial.linear3 import Matrix3, Symmetric3, Vector3
from rbd_ros.spatial.quantities import SpatialQuantity
from rbd_ros.spatial.scalar import cos, Scalar, sin
from rbd_ros.spatial.spatial_vectors import ForceVector, MotionVector
from rbd_ros.spatial.transform import PluckerTransform

Q = TypeVar('Q', MotionVector, ForceVector, RigidBodyInertia, ArticulatedBodyInertia)

# Below this sine of the middle one of three angles, the outer axes count as parallel.
_PARALLEL = 1e-9


class AxialScrew(SpatialQuantity):
    """Transform BXA by a rotation about, and a translation along, one coordinate axis.

    Repeated terms of the rotation of matrices are computed once, in 2m + 3a.

    :param axis: index of the axis: 0, 1 or 2 for x, y or z
    :param c: cosine of the rotation angle from A to B
    :param s: sine of that angle
    :param d: position of the origin of B along the axis [m]
    :raises ValueError: for another axis

    >>> from rbd_ros.spatial.axial_screw import AxialScrew
    >>> X = AxialScrew.z(np.pi / 2, 0.1)  # turned about z, shifted along it
    >>> v = MotionVector((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    >>> np.allclose(X.apply(v).to_array(), X.transform().apply(v).to_array())
    True
    >>> np.allclose(X.inverse_apply(X.apply(v)).to_array(), v.to_array())
    True
    >>> np.allclose(X.inverse().transform().matrix(), X.transform().inverse().matrix())
    True
    >>> AxialScrew.x(0.0, 0.1).transform().r, AxialScrew.y(0.0, 0.1).transform().r
    ((0.1, 0, 0), (0, 0.1, 0))
    >>> A = X.rotate_general(((1, 2, 0), (3, 4, 0), (0, 0, 5)))
    >>> np.round(A, 6)[:2, :2], np.round(X.rotate_symmetric((1.0, 2.0, 4.0, 0.0, 0.0, 5.0)), 6)
    (array([[ 4., -3.],
           [-2.,  1.]]), array([ 4., -2.,  1.,  0.,  0.,  5.]))
    """

    __slots__ = ('axis', 'c', 's', 'd', 's2', 'cs', 'cs2', 'cos2')

    def __init__(self, axis: int, c: Scalar, s: Scalar, d: Scalar):
        if axis not in (0, 1, 2):
            raise ValueError(f'a coordinate axis is 0, 1 or 2, got {axis!r}')
        self.axis, self.c, self.s, self.d = axis, c, s, d
        self.s2, self.cs = s * s, c * s
        self.cs2 = self.cs + self.cs
        self.cos2 = 1 - (self.s2 + self.s2)

    @classmethod
    def x(cls, angle: Scalar, d: Scalar) -> AxialScrew:
        """Return the screw about x by `angle` [rad], along it by `d` [m]: the book's scrx."""
        return cls(0, cos(angle), sin(angle), d)

    @classmethod
    def y(cls, angle: Scalar, d: Scalar) -> AxialScrew:
        """Return the screw about y by `angle` [rad], along it by `d` [m]: the book's scry."""
        return cls(1, cos(angle), sin(angle), d)

    @classmethod
    def z(cls, angle: Scalar, d: Scalar) -> AxialScrew:
        """Return the screw about z by `angle` [rad], along it by `d` [m]: the book's scrz."""
        return cls(2, cos(angle), sin(angle), d)

    def transform(self) -> PluckerTransform:
        """Return the general transform."""
        i, j, k = self._order()
        rows = [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
        rows[i][i], rows[i][j], rows[j][i], rows[j][j] = self.c, self.s, -self.s, self.c
        rows[k][k] = 1
        r = [0, 0, 0]
        r[k] = self.d
        return PluckerTransform(linear3.matrix3(rows), linear3.vector3(r))

    def inverse(self) -> AxialScrew:
        """Return the inverse transform AXB, which only needs changes of sign."""
        result: AxialScrew = AxialScrew.__new__(AxialScrew)
        result.axis, result.c, result.s, result.d = self.axis, self.c, -self.s, -self.d
        result.s2, result.cs, result.cs2, result.cos2 = self.s2, -self.cs, -self.cs2, self.cos2
        return result

    def apply(self, quantity: Q) -> Q:
        """Transform a motion, a force or an inertia from A to B coordinates (table A.5).

        Vectors take 10m + 6a, a rigid body's inertia 16m + 15a, an articulated body's 38m + 40a.
        Known zeros of the latter save operations: without row and column 3, as behind a hinge
        about z, a screw about z takes 28m + 34a and keeps them, one about x or y 32m + 28a.

        :raises TypeError: for anything else
        """
        if isinstance(quantity, MotionVector):
            omega, v = quantity.angular, quantity.linear
            return MotionVector(self._turned(omega), self._turned(self._moved(v, omega)))
        if isinstance(quantity, ForceVector):
            n, f = quantity.moment, quantity.linear
            return ForceVector(self._turned(self._moved(n, f)), self._turned(f))
        if isinstance(quantity, RigidBodyInertia):
            return self._rigid(quantity)
        if isinstance(quantity, ArticulatedBodyInertia):
            return self._articulated(quantity)
        raise TypeError(f'cannot transform a {type(quantity).__name__}')

    def inverse_apply(self, quantity: Q) -> Q:
        """Transform a motion, a force or an inertia from B to A coordinates, at the same cost.

        :raises TypeError: for anything else
        """
        return self.inverse().apply(quantity)

    def rotate_general(self, A: Matrix3) -> Matrix3:
        """Return the congruence E A E^T of a general matrix, 12m + 12a (book A.5)."""
        i, j, k = self._order()
        c, s = self.c, self.s
        total, difference = A[i][j] + A[j][i], A[j][j] - A[i][i]
        alpha = self.cs * total + self.s2 * difference
        beta = self.cs * difference - self.s2 * total
        B = [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
        B[i][i], B[j][j], B[k][k] = A[i][i] + alpha, A[j][j] - alpha, A[k][k]
        B[i][j], B[j][i] = A[i][j] + beta, A[j][i] + beta
        B[i][k], B[j][k] = c * A[i][k] + s * A[j][k], c * A[j][k] - s * A[i][k]
        B[k][i], B[k][j] = c * A[k][i] + s * A[k][j], c * A[k][j] - s * A[k][i]
        return linear3.matrix3(B)

    def rotate_symmetric(self, A: Symmetric3) -> Symmetric3:
        """Return the congruence E A E^T of a symmetric matrix, 8m + 7a (book A.5)."""
        i, j, k = self._order()
        F, c, s = linear3.full(A), self.c, self.s
        difference = F[j][j] - F[i][i]
        alpha = self.cs2 * F[j][i] + self.s2 * difference
        B = [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
        B[i][i], B[j][j], B[k][k] = F[i][i] + alpha, F[j][j] - alpha, F[k][k]
        B[i][j] = B[j][i] = self.cs * difference + self.cos2 * F[j][i]
        B[k][i] = B[i][k] = c * F[k][i] + s * F[k][j]
        B[k][j] = B[j][k] = c * F[k][j] - s * F[k][i]
        return linear3.symmetric(linear3.matrix3(B))

    def _order(self) -> Tuple[int, int, int]:
        """Return the two rotated axes, and that of the screw, in right-handed order."""
        return (self.axis + 1) % 3, (self.axis + 2) % 3, self.axis

    def _turned(self, v: Vector3) -> Vector3:
        i, j, _ = self._order()
        result = list(v)
        result[i], result[j] = self.c * v[i] + self.s * v[j], self.c * v[j] - self.s * v[i]
        return tuple(result)

    def _moved(self, v: Vector3, w: Vector3) -> Vector3:
        """Return the difference v - r x w, with r along the axis."""
        i, j, _ = self._order()
        result = list(v)
        result[i], result[j] = v[i] + self.d * w[j], v[j] - self.d * w[i]
        return tuple(result)

    # A rotation and a translation along its axis commute. The rotation is first, since zeros of
    # the matrices then save most.

    def _rigid(self, inertia: RigidBodyInertia) -> RigidBodyInertia:
        i, j, k = self._order()
        d, h = self.d, self._turned(inertia.h)
        y = list(h)
        y[k] = h[k] - inertia.mass * d
        change = [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
        change[i][i] = change[j][j] = -((h[k] + y[k]) * d)
        change[k][i] = change[i][k] = h[i] * d
        change[k][j] = change[j][k] = h[j] * d
        return RigidBodyInertia(
            inertia.mass, tuple(y), _sum(self.rotate_symmetric(inertia.I), change)
        )

    def _articulated(self, inertia: ArticulatedBodyInertia) -> ArticulatedBodyInertia:
        i, j, k = self._order()
        d, H = self.d, self.rotate_general(inertia.H)
        M = self.rotate_symmetric(inertia.M)
        F = linear3.full(M)
        # Y = H - r x M
        Y = [list(row) for row in H]
        for column in range(3):
            Y[i][column] = H[i][column] + F[j][column] * d
            Y[j][column] = H[j][column] - F[i][column] * d
        # -r x H^T + Y r x
        change = [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
        change[i][i] = (H[i][j] + Y[i][j]) * d
        change[j][j] = -((H[j][i] + Y[j][i]) * d)
        change[i][j] = change[j][i] = (Y[j][j] - H[i][i]) * d
        change[k][i] = change[i][k] = H[k][j] * d
        change[k][j] = change[j][k] = -(H[k][i] * d)
        return ArticulatedBodyInertia(
            M, linear3.matrix3(Y), _sum(self.rotate_symmetric(inertia.I), change)
        )

    def __repr__(self) -> str:
        return f'AxialScrew(axis={self.axis}, c={self.c}, s={self.s}, d={self.d})'


def _sum(A: Symmetric3, change: list[list[Scalar]]) -> Symmetric3:
    return linear3.symmetric(linear3.add_matrices(linear3.full(A), linear3.matrix3(change)))


def three_screws(X: PluckerTransform) -> Tuple[AxialScrew, AxialScrew, AxialScrew]:
    """Return screws about z, x and z whose product, the first rightmost, is a transform.

    For parallel z axes, the third screw is a pure rotation. For nearly parallel ones, the first
    and last translation become large, and the factors inaccurate.

    :param X: transform of floats
    :return: first, second and third, so that X = third second first

    >>> from rbd_ros.spatial.axial_screw import three_screws
    >>> X = PluckerTransform.rotation_y(0.3) * PluckerTransform.translation((0.1, 0.2, 0.3))
    >>> first, second, third = (screw.transform() for screw in three_screws(X))
    >>> np.allclose((third * second * first).matrix(), X.matrix())
    True
    """
    (e11, e12, e13), (_, _, e23), (e31, e32, e33) = X.E
    x, y, z = X.r
    sine = math.hypot(e31, e32)
    if sine > _PARALLEL:
        first = math.atan2(e31, -e32)
        third = math.atan2(e13, e23)
        d3 = (math.sin(first) * x - math.cos(first) * y) / sine
    else:
        first, d3 = math.atan2(y, x), 0.0
        third = math.atan2(e12, e11) - first if e33 > 0 else first - math.atan2(e12, e11)
    d2 = math.cos(first) * x + math.sin(first) * y
    second = math.atan2(sine, e33)
    return (
        AxialScrew.z(first, z - d3 * e33),
        AxialScrew.x(second, d2),
        AxialScrew.z(third, d3),
    )


def denavit_hartenberg_screws(
    a: Scalar, alpha: Scalar, d: Scalar, theta: Scalar
) -> Tuple[AxialScrew, AxialScrew]:
    """Return the screws about x and z from one Denavit-Hartenberg frame to the next (book 4.3).

    :param a: distance along x [m]
    :param alpha: angle about x [rad]
    :param d: distance along z [m]
    :param theta: angle about z [rad]
    :return: first and second, so that X = scrz(theta, d) scrx(alpha, a) = second first

    >>> from rbd_ros.spatial.axial_screw import denavit_hartenberg_screws
    >>> screws = denavit_hartenberg_screws(a=0.3, alpha=0.0, d=0.1, theta=0.5)
    >>> [np.round(screw.transform().r, 3).tolist() for screw in screws]
    [[0.3, 0.0, 0.0], [0.0, 0.0, 0.1]]
    """
    return AxialScrew.x(alpha, a), AxialScrew.z(theta, d)
