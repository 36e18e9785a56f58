"""Joint with six degrees of freedom, of a body that moves freely (book table 4.1 and 4.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np

from rbd_ros.model.joints.exponential import (
    half_angle,
    inverse_screw_quotient,
    rotation_vector,
    screw_quotients,
)
from rbd_ros.model.joints.joint_type import JointType, Scalars
from rbd_ros.model.joints.quaternion import quaternion_rate, random_quaternion, unit_quaternion
from rbd_ros.spatial import ForceVector, linear3, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.linear3 import IDENTITY3, ZERO3
from rbd_ros.spatial.rotation import quaternion_product, quaternion_to_rotation
from rbd_ros.spatial.scalar import sqrt


@dataclass(frozen=True)
class Floating(JointType):
    """Six degrees of freedom: velocity in successor coordinates.

    q = (quaternion w, x, y, z; position x, y, z).

    The quaternion turns successor into predecessor coordinates (R = E^T); its length does not
    matter. The position is that of the successor's origin in predecessor coordinates (the variant
    of book 4.5 that is accurate for spinning bodies).
    """

    nq = 7
    nv = 6
    reach = (1.0,) * 7

    def transform(self, q: Scalars) -> PluckerTransform:
        """Rotation by the quaternion, translation by the position."""
        return PluckerTransform(linear3.transpose(quaternion_to_rotation(q[:4])), tuple(q[4:]))

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """S = identity."""
        return MotionSubspace(
            [MotionVector(row, ZERO3) for row in IDENTITY3]
            + [MotionVector(ZERO3, row) for row in IDENTITY3]
        )

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """None."""
        return ()

    def neutral(self) -> Tuple[float, ...]:
        """Identity quaternion at the origin."""
        return 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0

    def integrate(self, q: Scalars, step: Scalars) -> tuple:
        """Exponential of SE(3): the exact screw motion of a constant body velocity.

        The quaternion stays unit.
        """
        omega, v = tuple(step[:3]), tuple(step[3:])
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
        position = linear3.add(tuple(q[4:]), linear3.apply(quaternion_to_rotation(q[:4]), shift))
        return (*(norm * x for x in p), *position)

    def difference(self, q0: Scalars, q1: Scalars) -> tuple:
        """Logarithm of SE(3): the inverse of `integrate`, the shorter way round."""
        conjugate = (q0[0], -q0[1], -q0[2], -q0[3])
        omega = rotation_vector(quaternion_product(conjugate, q1[:4]))
        R0 = quaternion_to_rotation(q0[:4])
        shift = linear3.apply_transpose(R0, linear3.subtract(tuple(q1[4:]), tuple(q0[4:])))
        k = inverse_screw_quotient(linear3.dot(omega, omega))
        turn = linear3.cross(omega, shift)
        v = linear3.add(
            shift,
            linear3.add(linear3.scale(-0.5, turn), linear3.scale(k, linear3.cross(omega, turn))),
        )
        return (*omega, *v)

    def random(self, rng: np.random.Generator, lower: float, upper: float) -> np.ndarray:
        """Uniform on the rotation group, and in a cube of 2 m; it has no limits."""
        return np.array([*random_quaternion(rng), *rng.uniform(-1.0, 1.0, 3)])

    def normalize(self, q: Scalars) -> Tuple[float, ...]:
        """Make the quaternion unit.

        :raises ValueError: if it is zero
        """
        return (*unit_quaternion(q[:4]), *q[4:])

    def position_rate(self, q: Scalars, v: Scalars) -> tuple:
        """Rate of the quaternion (book eq 4.13), and the linear velocity, turned."""
        R = quaternion_to_rotation(q[:4])
        return (*quaternion_rate(q[:4], v[:3]), *linear3.apply(R, tuple(v[3:])))

    def bracket(self, u: Scalars, v: Scalars) -> tuple:
        """Product u x v of motion vectors (book 2.9)."""
        return tuple(MotionVector.from_array(u).cross(MotionVector.from_array(v)))

    def pose_variables(self) -> Tuple[int, int]:
        """Quaternion first, then the position."""
        return 0, 4

    @classmethod
    def examples(cls) -> Tuple[Floating, ...]:
        """There is one."""
        return (cls(),)
