# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sphere in a cylinder: a ball that slides along a line and rotates freely (book 8.10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

from rbd_ros.model.joints.exponential import (
    half_angle,
    quaternion_rate,
    rotation_vector,
    uniform_quaternion,
    unit_quaternion,
)
from rbd_ros.model.joints.joint_type import across, JointType, Scalars
from rbd_ros.model.joints.lower_pair import rotation_of
from rbd_ros.spatial import ForceVector, linear3, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.linear3 import IDENTITY3, Vector3, ZERO3
from rbd_ros.spatial.rotation import quaternion_product, quaternion_to_rotation
from rbd_ros.spatial.scalar import Scalar, sqrt


@dataclass(frozen=True)
class SphereInCylinder(JointType):
    """Four degrees of freedom: q = (quaternion w, x, y, z; slide), v = (rotation 3; slide).

    The cylinder is part of the predecessor; the sphere's center is the successor's origin. The
    quaternion rotates successor to predecessor coordinates; its length is arbitrary. The
    rotation's velocity is in successor coordinates. A planar loop needs two constraints, as of
    this joint; a revolute joint has five.

    :param axis: unit vector along the cylinder in predecessor coordinates, (3,)
    """

    axis: Vector3
    nq = 5
    nv = 4
    reach = (1.0,) * 5

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the translation by q[4] [m] along the axis, then rotation by the quaternion."""
        E = linear3.transpose(quaternion_to_rotation(q[:4]))
        return PluckerTransform(E, linear3.scale(q[4], self.axis))

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return S = [1 0; 0 E axis]: the cylinder rotates in sphere coordinates."""
        slide = linear3.apply_transpose(quaternion_to_rotation(q[:4]), self.axis)
        turns = [MotionVector(row, ZERO3) for row in IDENTITY3]
        return MotionSubspace([*turns, MotionVector(ZERO3, slide)])

    def motion_subspace_rate(self, q: Scalars, qd: Scalars) -> MotionSubspace:
        """Return the rate of the axis, which rotates in successor coordinates by -w x (E axis)."""
        slide = linear3.apply_transpose(quaternion_to_rotation(q[:4]), self.axis)
        rate = linear3.cross(slide, (qd[0], qd[1], qd[2]))
        return MotionSubspace([MotionVector.zero()] * 3 + [MotionVector(ZERO3, rate)])

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return the forces through the sphere's center, across the cylinder's axis."""
        R = quaternion_to_rotation(q[:4])
        return tuple(ForceVector(ZERO3, linear3.apply_transpose(R, u)) for u in across(self.axis))

    def loop_error(self, X: PluckerTransform) -> Tuple[Scalar, ...]:
        """Return the offset of the sphere's center from the cylinder's axis, (2,) [m]."""
        return tuple(linear3.dot(X.r, u) for u in across(self.axis))

    def constraint_forces_at(self, X: PluckerTransform) -> Tuple[ForceVector, ...]:
        """Return the forces through the sphere's center, across the cylinder's axis."""
        return tuple(ForceVector(ZERO3, linear3.apply(X.E, u)) for u in across(self.axis))

    def motion_subspace_at(self, X: PluckerTransform) -> MotionSubspace:
        """Return S = [1 0; 0 E axis]."""
        turns = [MotionVector(row, ZERO3) for row in IDENTITY3]
        return MotionSubspace([*turns, MotionVector(ZERO3, linear3.apply(X.E, self.axis))])

    def displacement_at(self, X: PluckerTransform) -> Tuple[Scalar, ...]:
        """Return the rotation vector, and the center's position along the axis."""
        return (*rotation_of(X.E), linear3.dot(X.r, self.axis))

    def neutral(self) -> Tuple[float, ...]:
        """Return the identity quaternion at the origin."""
        return 1.0, 0.0, 0.0, 0.0, 0.0

    @property
    def uniforms(self) -> int:
        """Three for the orientation, one for the position."""
        return 4

    def sample(self, u: Scalars, lower: float, upper: float) -> Tuple[Scalar, ...]:
        """Return a position uniform on the rotation group and within 1 m along the axis.

        It has no limits.
        """
        return (*uniform_quaternion(u[:3]), 2.0 * u[3] - 1.0)

    def normalize(self, q: Scalars) -> Tuple[float, ...]:
        """Return the position with a unit quaternion.

        :raises ValueError: if the quaternion is zero
        """
        return (*unit_quaternion(q[:4]), q[4])

    def position_rate(self, q: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the derivative of the quaternion (book eq 4.13), and the slide's velocity."""
        return (*quaternion_rate(q[:4], v[:3]), v[3])

    def integrate(self, q: Scalars, step: Scalars) -> Tuple[Scalar, ...]:
        """Return the exponential map of the rotation, and a sum along the axis.

        The resulting quaternion has unit length for any length of that in `q`.
        """
        x, y, z, along = step
        half_sine, half_cosine = half_angle(linear3.dot((x, y, z), (x, y, z)))
        p = quaternion_product(q[:4], (half_cosine, half_sine * x, half_sine * y, half_sine * z))
        norm = 1.0 / sqrt(sum(x * x for x in p))
        return (*(norm * x for x in p), q[4] + along)

    def difference(self, q0: Scalars, q1: Scalars) -> Tuple[Scalar, ...]:
        """Return the logarithm of the shorter rotation, and the distance."""
        conjugate = (q0[0], -q0[1], -q0[2], -q0[3])
        return (*rotation_vector(quaternion_product(conjugate, q1[:4])), q1[4] - q0[4])

    def bracket(self, u: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the cross product of angular velocities; the slide commutes with everything."""
        return (*linear3.cross((u[0], u[1], u[2]), (v[0], v[1], v[2])), 0.0)

    @classmethod
    def examples(cls) -> Tuple[SphereInCylinder, ...]:
        """Return a cylinder along z, and one along a general axis."""
        return cls((0.0, 0.0, 1.0)), cls((0.48, -0.6, 0.64))
