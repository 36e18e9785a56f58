# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Spherical joint, a ball and socket, by a unit quaternion (book table 4.1, 4.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from rbd_ros.model.joints.exponential import (
    half_angle,
    quaternion_rate,
    rotation_vector,
    uniform_quaternion,
    unit_quaternion,
)
from rbd_ros.model.joints.joint_type import JointType, Scalars
from rbd_ros.spatial import (
    ForceVector,
    linear3,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.linear3 import IDENTITY3, ZERO3
from rbd_ros.spatial.rotation import quaternion_product, quaternion_to_rotation
from rbd_ros.spatial.scalar import Scalar, sqrt


@dataclass(frozen=True)
class Spherical(JointType):
    """Rotation about a point: q = quaternion (w, x, y, z), velocity in successor coordinates.

    The quaternion rotates successor to predecessor coordinates; its length is arbitrary.
    """

    nq = 4
    nv = 3
    reach = (1.0,) * 4

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the rotation by the quaternion (E of book eq 4.12)."""
        return PluckerTransform.rotation(linear3.transpose(quaternion_to_rotation(q)))

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return S = [1; 0]."""
        return MotionSubspace([MotionVector(row, ZERO3) for row in IDENTITY3])

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return all forces through the point."""
        return tuple(ForceVector(ZERO3, row) for row in IDENTITY3)

    def neutral(self) -> Tuple[float, ...]:
        """Return the identity quaternion."""
        return 1.0, 0.0, 0.0, 0.0

    @property
    def uniforms(self) -> int:
        """Three for an orientation."""
        return 3

    def sample(self, u: Scalars, lower: float, upper: float) -> Tuple[Scalar, ...]:
        """Return a position uniform on the rotation group; it has no limits."""
        return uniform_quaternion(u)

    def normalize(self, q: Scalars) -> Tuple[float, ...]:
        """Return the position with a unit quaternion.

        :raises ValueError: if the quaternion is zero
        """
        return unit_quaternion(q)

    def position_rate(self, q: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the time derivative of the quaternion (book eq 4.13)."""
        return quaternion_rate(q, v)

    def integrate(self, q: Scalars, step: Scalars) -> Tuple[Scalar, ...]:
        """Return the exponential map of SO(3): the exact rotation at a constant angular velocity.

        The resulting quaternion has unit length for any length of that in `q`.
        """
        x, y, z = step
        half_sine, half_cosine = half_angle(linear3.dot((x, y, z), (x, y, z)))
        p = quaternion_product(q, (half_cosine, half_sine * x, half_sine * y, half_sine * z))
        norm = 1.0 / sqrt(sum(x * x for x in p))
        return tuple(norm * x for x in p)

    def difference(self, q0: Scalars, q1: Scalars) -> Tuple[Scalar, ...]:
        """Return the logarithm of SO(3), the inverse of `integrate`, by the shorter rotation."""
        return rotation_vector(quaternion_product((q0[0], -q0[1], -q0[2], -q0[3]), q1))

    def bracket(self, u: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the cross product of angular velocities."""
        (a, b, c), (d, e, f) = u, v
        return linear3.cross((a, b, c), (d, e, f))

    def not_excited(self, inertia: RigidBodyInertia) -> Optional[RigidBodyInertia]:
        """Return the mass, as that of a particle at the fixed point."""
        return RigidBodyInertia(inertia.mass, ZERO3, (0.0,) * 6)

    @classmethod
    def examples(cls) -> Tuple[Spherical, ...]:
        """Return the only joint of this type, which has no parameters."""
        return (cls(),)
