# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Planar joint (book table 4.1, in the variant of 4.4 and example 4.5 described below)."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Optional, Tuple

from rbd_ros.model.joints.exponential import sine_quotients
from rbd_ros.model.joints.joint_type import across, equal_across, JointType, Scalars
from rbd_ros.spatial import (
    ForceVector,
    linear3,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.linear3 import Vector3, ZERO3
from rbd_ros.spatial.rotation import axis_rotation
from rbd_ros.spatial.scalar import cos, Scalar, sin


@dataclass(frozen=True)
class Planar(JointType):
    """Motion in a plane: q = (theta, x, y), velocity (omega, v_x, v_y) in successor coordinates.

    x and y are the successor's position in predecessor coordinates (the variant of book 4.4 whose
    position does not depend on the angle), so the velocity is not the derivative of q.

    :param axes: the plane's unit vectors x, y and its normal z in joint coordinates, (3, 3) by
        rows
    """

    axes: Tuple[Vector3, Vector3, Vector3]
    nq = nv = 3
    reach = (math.pi, 1.0, 1.0)

    @classmethod
    def about(cls, normal: Vector3) -> Planar:
        """Return the joint of the plane with the normal `normal`, (3,) in joint coordinates.

        The plane's axes are the joint's after the smallest rotation from z to the normal.
        """
        return cls((*across(normal), normal))

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the translation by (x, y) in the plane, then rotation by theta [rad]."""
        x_axis, y_axis, normal = self.axes
        r = linear3.add(linear3.scale(q[1], x_axis), linear3.scale(q[2], y_axis))
        return PluckerTransform(linear3.transpose(axis_rotation(normal, q[0])), r)

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return S = [normal 0 0; 0 x y]."""
        x_axis, y_axis, normal = self.axes
        return MotionSubspace(
            [MotionVector(normal, ZERO3), MotionVector(ZERO3, x_axis), MotionVector(ZERO3, y_axis)]
        )

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return the moments within the plane, and the force along its normal."""
        x_axis, y_axis, normal = self.axes
        return ForceVector(x_axis, ZERO3), ForceVector(y_axis, ZERO3), ForceVector(ZERO3, normal)

    def sample(self, u: Scalars, lower: float, upper: float) -> Tuple[Scalar, ...]:
        """Return a position uniform within pi and a square of 2 m, without limits."""
        return super().sample(u, -math.inf, math.inf)

    def position_rate(self, q: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Rotate the linear velocity to predecessor coordinates."""
        c, s = cos(q[0]), sin(q[0])
        return v[0], c * v[1] - s * v[2], s * v[1] + c * v[2]

    def integrate(self, q: Scalars, step: Scalars) -> Tuple[Scalar, ...]:
        """Return the exponential map of SE(2): the exact motion at a constant body velocity."""
        theta, x, y = q
        omega, dx, dy = step
        a, b = sine_quotients(omega)
        u, v = a * dx - b * dy, b * dx + a * dy
        c, s = cos(theta), sin(theta)
        return theta + omega, x + c * u - s * v, y + s * u + c * v

    def difference(self, q0: Scalars, q1: Scalars) -> Tuple[Scalar, ...]:
        """Return the logarithm of SE(2), the inverse of `integrate`; the angle is not wrapped."""
        omega = q1[0] - q0[0]
        c, s = cos(q0[0]), sin(q0[0])
        dx, dy = q1[1] - q0[1], q1[2] - q0[2]
        u, v = c * dx + s * dy, c * dy - s * dx
        a, b = sine_quotients(omega)
        k = 1.0 / (a * a + b * b)
        return omega, k * (a * u + b * v), k * (a * v - b * u)

    def bracket(self, u: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the product u x v of planar motion vectors (book 2.16)."""
        return 0.0, u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]

    def not_excited(self, inertia: RigidBodyInertia) -> Optional[RigidBodyInertia]:
        """Return an equal rotational inertia about all axes in the plane."""
        return equal_across(inertia, self.axes[2])

    @classmethod
    def examples(cls) -> Tuple[Planar, ...]:
        """Return the plane z = 0, and a tilted one."""
        return cls.about((0.0, 0.0, 1.0)), cls.about((0.48, -0.6, 0.64))
