# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint of a free body, with six degrees of freedom (book table 4.1 and 4.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from rbd_ros.model.joints.exponential import (
    half_angle,
    inverse_screw_quotient,
    quaternion_rate,
    rotation_vector,
    screw_quotients,
    uniform_quaternion,
    unit_quaternion,
)
from rbd_ros.model.joints.joint_type import JointType, Scalars
from rbd_ros.spatial import ForceVector, linear3, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.linear3 import IDENTITY3, ZERO3
from rbd_ros.spatial.rotation import quaternion_product, quaternion_to_rotation
from rbd_ros.spatial.scalar import Scalar, sqrt


@dataclass(frozen=True)
class Floating(JointType):
    """Six degrees of freedom: q = (quaternion w, x, y, z; position x, y, z), v in the successor.

    The quaternion rotates successor to predecessor coordinates (R = E^T); its length is arbitrary.
    The position is that of the successor's origin in predecessor coordinates (the variant of book
    4.5 that is accurate for spinning bodies). The velocity is that of the successor in its own
    coordinates, angular before linear, so it is not the derivative of q.
    """

    nq = 7
    nv = 6
    reach = (1.0,) * 7

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the rotation by the quaternion, translation by the position."""
        return PluckerTransform(linear3.transpose(quaternion_to_rotation(q[:4])), tuple(q[4:]))

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return S = identity."""
        return MotionSubspace(
            [MotionVector(row, ZERO3) for row in IDENTITY3]
            + [MotionVector(ZERO3, row) for row in IDENTITY3]
        )

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return no forces, (6, 0): the joint does not constrain the motion."""
        return ()

    def neutral(self) -> Tuple[float, ...]:
        """Return the identity quaternion at the origin."""
        return 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0

    def integrate(self, q: Scalars, step: Scalars) -> Tuple[Scalar, ...]:
        """Return the exponential map of SE(3): the exact screw motion at a constant body velocity.

        The resulting quaternion has unit length for any length of that in `q`.
        """
        wx, wy, wz, vx, vy, vz = step
        omega, v = (wx, wy, wz), (vx, vy, vz)
        angle2 = linear3.dot(omega, omega)
        half_sine, half_cosine = half_angle(angle2)
        turn = (half_cosine, *linear3.scale(half_sine, omega))
        p = quaternion_product(q[:4], turn)
        norm = 1.0 / sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3])
        b, c = screw_quotients(angle2)
        wv = linear3.cross(omega, v)
        shift = linear3.add(
            v, linear3.add(linear3.scale(b, wv), linear3.scale(c, linear3.cross(omega, wv)))
        )
        x, y, z = linear3.apply(quaternion_to_rotation(q[:4]), shift)
        position = (q[4] + x, q[5] + y, q[6] + z)
        return (*(norm * x for x in p), *position)

    def difference(self, q0: Scalars, q1: Scalars) -> Tuple[Scalar, ...]:
        """Return the logarithm of SE(3), the inverse of `integrate`, by the shorter rotation."""
        conjugate = (q0[0], -q0[1], -q0[2], -q0[3])
        omega = rotation_vector(quaternion_product(conjugate, q1[:4]))
        R0 = quaternion_to_rotation(q0[:4])
        distance = (q1[4] - q0[4], q1[5] - q0[5], q1[6] - q0[6])
        shift = linear3.apply_transpose(R0, distance)
        k = inverse_screw_quotient(linear3.dot(omega, omega))
        turn = linear3.cross(omega, shift)
        v = linear3.add(
            shift,
            linear3.add(linear3.scale(-0.5, turn), linear3.scale(k, linear3.cross(omega, turn))),
        )
        return (*omega, *v)

    @property
    def uniforms(self) -> int:
        """Three for the orientation, three for the position."""
        return 6

    def sample(self, u: Scalars, lower: float, upper: float) -> Tuple[Scalar, ...]:
        """Return a pose uniform on the rotation group and in a cube of 2 m, without limits."""
        return (*uniform_quaternion(u[:3]), *(2.0 * x - 1.0 for x in u[3:]))

    def normalize(self, q: Scalars) -> Tuple[float, ...]:
        """Return the position with a unit quaternion.

        :raises ValueError: if the quaternion is zero
        """
        return (*unit_quaternion(q[:4]), *q[4:])

    def position_rate(self, q: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the rates of quaternion (book eq 4.13) and position (rotated linear velocity)."""
        R, linear = quaternion_to_rotation(q[:4]), (v[3], v[4], v[5])
        return (*quaternion_rate(q[:4], v[:3]), *linear3.apply(R, linear))

    def bracket(self, u: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the product u x v of motion vectors (book 2.9)."""
        return tuple(MotionVector.from_array(u).cross(MotionVector.from_array(v)))

    def pose_variables(self) -> Optional[Tuple[int, int]]:
        """Return the quaternion first, then the position."""
        return 0, 4

    @classmethod
    def examples(cls) -> Tuple[Floating, ...]:
        """Return the only joint of this type, which has no parameters."""
        return (cls(),)
