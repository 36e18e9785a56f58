# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pluecker coordinate transforms (book 2.8, tables 2.2, A.3 and A.4)."""

from __future__ import annotations

from typing import overload, Sequence, TypeVar

import numpy as np

from rbd_ros.spatial import linear3
from rbd_ros.spatial.inertia import ArticulatedBodyInertia, RigidBodyInertia
from rbd_ros.spatial.linear3 import IDENTITY3, Matrix3, Vector3, ZERO3
from rbd_ros.spatial.quantities import SpatialQuantity
from rbd_ros.spatial.rotation import Quaternion, quaternion_to_rotation, rotation_to_quaternion
from rbd_ros.spatial.scalar import cos, Scalar, ScalarArray, sin
from rbd_ros.spatial.spatial_vectors import ForceVector, MotionVector

Q = TypeVar('Q', MotionVector, ForceVector, RigidBodyInertia, ArticulatedBodyInertia)


class PluckerTransform(SpatialQuantity):
    """Transform BXA from A to B coordinates, stored as (E, r): 12 numbers instead of 36.

    :param E: coordinate rotation from A to B, (3, 3); the transpose of the rotation of a URDF or
        tf2 pose
    :param r: position of the origin of B in A coordinates, (3,) [m]

    >>> X = PluckerTransform.rotation_z(np.pi / 2) * PluckerTransform.translation((1.0, 0.0, 0.0))
    >>> np.round(X.point((1.0, 2.0, 0.0)), 6)  # base to frame coordinates [m]
    array([2., 0., 0.])
    >>> np.round(X.inverse_point((0.0, 0.0, 0.0)), 6)  # where the frame's origin is [m]
    array([1., 0., 0.])
    >>> v = MotionVector((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))  # about the base's z axis [rad/s]
    >>> X.apply(v).to_array(), X.inverse_apply(X * v) == v
    (array([0., 0., 1., 1., 0., 0.]), True)
    >>> np.allclose(X.matrix() @ v.to_array(), (X * v).to_array())
    True
    >>> np.allclose(X.force_matrix(), np.linalg.inv(X.matrix()).T)
    True
    >>> np.allclose((X * X.inverse()).matrix(), PluckerTransform.identity().matrix())
    True
    >>> np.round(X.quaternion(), 3)  # (w, x, y, z)
    array([0.707, 0.   , 0.   , 0.707])
    >>> X.displacement().to_array()
    array([-0. , -0. ,  1. ,  0.5, -0.5, -0. ])
    >>> np.round((PluckerTransform.rotation_x(0.1) * PluckerTransform.rotation_y(0.2)).E[2], 3)
    array([ 0.198, -0.1  ,  0.975])
    >>> np.allclose(PluckerTransform.rotation(X.E).E, X.E)
    True
    >>> same = PluckerTransform.from_matrix(X.matrix()), PluckerTransform.from_pose(X.pose())
    >>> more = PluckerTransform.from_homogeneous(X.homogeneous())
    >>> last = PluckerTransform.from_quaternion(X.quaternion(), X.r)
    >>> all(np.allclose(Y.matrix(), X.matrix()) for Y in (*same, more, last))
    True
    """

    __slots__ = ('E', 'r')

    def __init__(self, E: Matrix3 = IDENTITY3, r: Vector3 = ZERO3):
        self.E: Matrix3 = linear3.matrix3(E, 'E')
        self.r: Vector3 = linear3.vector3(r, 'r')

    # -- constructors

    @classmethod
    def identity(cls) -> PluckerTransform:
        """Return the identity transform."""
        return cls(IDENTITY3, ZERO3)

    @classmethod
    def rotation(cls, E: Matrix3) -> PluckerTransform:
        """Return the rotation of coordinates by `E`, (3, 3): rot(E) of table 2.2."""
        return cls(E, ZERO3)

    @classmethod
    def translation(cls, r: Vector3) -> PluckerTransform:
        """Return the translation of the origin by `r`, (3,) [m]: xlt(r) of table 2.2."""
        return cls(IDENTITY3, r)

    @classmethod
    def rotation_x(cls, angle: Scalar) -> PluckerTransform:
        """Return the rotation of coordinates about x by `angle` [rad]: rotx of table 2.2."""
        c, s = cos(angle), sin(angle)
        return cls(((1, 0, 0), (0, c, s), (0, -s, c)), ZERO3)

    @classmethod
    def rotation_y(cls, angle: Scalar) -> PluckerTransform:
        """Return the rotation of coordinates about y by `angle` [rad]: roty of table 2.2."""
        c, s = cos(angle), sin(angle)
        return cls(((c, 0, -s), (0, 1, 0), (s, 0, c)), ZERO3)

    @classmethod
    def rotation_z(cls, angle: Scalar) -> PluckerTransform:
        """Return the rotation of coordinates about z by `angle` [rad]: rotz of table 2.2."""
        c, s = cos(angle), sin(angle)
        return cls(((c, s, 0), (-s, c, 0), (0, 0, 1)), ZERO3)

    @classmethod
    def from_pose(cls, pose: Sequence[Sequence[Scalar]]) -> PluckerTransform:
        """Return the transform from A to B, from the pose of B in A of URDF and tf2.

        :param pose: homogeneous matrix with p_A = pose p_B, (4, 4)
        """
        rows = [tuple(row) for row in pose]
        R = linear3.matrix3(row[:3] for row in rows[:3])
        return cls(linear3.transpose(R), linear3.vector3(row[3] for row in rows[:3]))

    @classmethod
    def from_homogeneous(cls, T: Sequence[Sequence[Scalar]]) -> PluckerTransform:
        """Return the transform from A to B, from the homogeneous matrix BTA (book eq 2.28).

        :param T: homogeneous matrix with p_B = T p_A, (4, 4)
        """
        rows = [tuple(row) for row in T]
        E = linear3.matrix3(row[:3] for row in rows[:3])
        p = linear3.vector3(row[3] for row in rows[:3])
        return cls(E, linear3.negate(linear3.apply_transpose(E, p)))

    @classmethod
    def from_quaternion(cls, quaternion: Sequence[Scalar], r: Vector3 = ZERO3) -> PluckerTransform:
        """Return the transform from A to B, from the pose of B in A by quaternion and position.

        :param quaternion: orientation of B in A, (w, x, y, z), not zero
        :param r: position of the origin of B in A coordinates, (3,) [m]
        """
        return cls(linear3.transpose(quaternion_to_rotation(quaternion)), r)

    @classmethod
    def from_matrix(cls, X: ScalarArray) -> PluckerTransform:
        """Return the transform of a matrix for motion vectors [[E, 0], [-E r x, E]], (6, 6).

        :raises ValueError: for another shape
        """
        X = np.asarray(X)
        if X.shape != (6, 6):
            raise ValueError(f'a Pluecker transform is 6x6, got {X.shape}')
        E = linear3.matrix3(X[:3, :3])
        return cls(
            E, linear3.unskew(linear3.multiply(linear3.transpose(E), linear3.matrix3(-X[3:, :3])))
        )

    # -- conversions

    def matrix(self) -> ScalarArray:
        """Return the matrix X for motion vectors, [[E, 0], [-E r x, E]], (6, 6)."""
        E: ScalarArray = np.array(self.E)
        return np.block([[E, np.zeros((3, 3))], [-E @ np.array(linear3.skew(self.r)), E]])

    def force_matrix(self) -> ScalarArray:
        """Return the matrix X* for force vectors, [[E, -E r x], [0, E]], (6, 6)."""
        E: ScalarArray = np.array(self.E)
        return np.block([[E, -E @ np.array(linear3.skew(self.r))], [np.zeros((3, 3)), E]])

    def homogeneous(self) -> ScalarArray:
        """Return the homogeneous matrix T with p_B = T p_A, (4, 4) (book eq 2.28)."""
        bottom = np.array([[0.0, 0.0, 0.0, 1.0]])
        return np.vstack(
            [np.column_stack([self.E, linear3.negate(linear3.apply(self.E, self.r))]), bottom]
        )

    def pose(self) -> ScalarArray:
        """Return the pose of B in A: the homogeneous matrix with p_A = pose p_B, (4, 4)."""
        return np.vstack(
            [
                np.column_stack([linear3.transpose(self.E), self.r]),
                np.array([[0.0, 0.0, 0.0, 1.0]]),
            ]
        )

    def quaternion(self) -> Quaternion:
        """Return the numeric orientation of B in A as the unit quaternion (w, x, y, z), w >= 0."""
        return rotation_to_quaternion(linear3.transpose(self.E))

    def displacement(self) -> MotionVector:
        """Return the velocity from A to B in unit time, to second order: XtoV of table A.2.

        It has the same coordinates in A and B, and is exact without rotation; otherwise its error
        is of second order in the angle.
        """
        r_rows = [linear3.cross(self.r, row) for row in self.E]  # -E r x
        return MotionVector(
            linear3.negate(linear3.unskew(self.E)),
            linear3.negate(linear3.unskew(linear3.matrix3(r_rows))),
        )

    # -- algebra

    @overload
    def __mul__(self, other: PluckerTransform) -> PluckerTransform: ...

    @overload
    def __mul__(self, other: MotionVector) -> MotionVector: ...

    def __mul__(self, other: object) -> SpatialQuantity:
        """Return the product BXA AXC of two transforms (33m + 24a), or a motion transformed."""
        if isinstance(other, PluckerTransform):
            return PluckerTransform(
                linear3.multiply_rotations(self.E, other.E),
                linear3.add(other.r, linear3.apply_transpose(other.E, self.r)),
            )
        if isinstance(other, MotionVector):
            return self.apply(other)
        raise TypeError(
            f'transform * {type(other).__name__}: X * m and X * X are defined; use X.apply(...) '
            'for forces and inertias'
        )

    def inverse(self) -> PluckerTransform:
        """Return the inverse transform AXB, from B to A coordinates (9m + 6a)."""
        return PluckerTransform(
            linear3.transpose(self.E), linear3.negate(linear3.apply(self.E, self.r))
        )

    def apply(self, quantity: Q) -> Q:
        """Transform a motion, a force or an inertia from A to B coordinates (table A.4).

        By the type of `quantity`, this is X m, X* f, X* I X^-1 or X* IA X^-1.

        :raises TypeError: for anything else
        """
        E, r = self.E, self.r
        if isinstance(quantity, MotionVector):
            omega, v = quantity.angular, quantity.linear
            return MotionVector(
                linear3.apply(E, omega),
                linear3.apply(E, linear3.subtract(v, linear3.cross(r, omega))),
            )
        if isinstance(quantity, ForceVector):
            n, f = quantity.moment, quantity.linear
            return ForceVector(
                linear3.apply(E, linear3.subtract(n, linear3.cross(r, f))), linear3.apply(E, f)
            )
        if isinstance(quantity, (RigidBodyInertia, ArticulatedBodyInertia)):
            return quantity.moved(r).rotated(E)
        raise TypeError(f'cannot transform a {type(quantity).__name__}')

    def inverse_apply(self, quantity: Q) -> Q:
        """Transform a motion, a force or an inertia from B to A coordinates (table A.4).

        By the type of `quantity`, this is X^-1 m, X^T f, X^T I X or X^T IA X.

        :raises TypeError: for anything else
        """
        E, r = self.E, self.r
        if isinstance(quantity, MotionVector):
            omega = linear3.apply_transpose(E, quantity.angular)
            return MotionVector(
                omega,
                linear3.add(linear3.apply_transpose(E, quantity.linear), linear3.cross(r, omega)),
            )
        if isinstance(quantity, ForceVector):
            f = linear3.apply_transpose(E, quantity.linear)
            return ForceVector(
                linear3.add(linear3.apply_transpose(E, quantity.moment), linear3.cross(r, f)), f
            )
        if isinstance(quantity, (RigidBodyInertia, ArticulatedBodyInertia)):
            return quantity.rotated(linear3.transpose(E)).moved(linear3.negate(r))
        raise TypeError(f'cannot transform a {type(quantity).__name__}')

    def point(self, point: Vector3) -> Vector3:
        """Return the coordinates in B, (3,), of a point given in A."""
        return linear3.apply(self.E, linear3.subtract(linear3.vector3(point), self.r))

    def inverse_point(self, point: Vector3) -> Vector3:
        """Return the coordinates in A, (3,), of a point given in B."""
        return linear3.add(self.r, linear3.apply_transpose(self.E, linear3.vector3(point)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PluckerTransform) and (self.E, self.r) == (other.E, other.r)

    def __hash__(self) -> int:
        return hash((self.E, self.r))

    def __repr__(self) -> str:
        return f'PluckerTransform(E={self.E}, r={self.r})'
