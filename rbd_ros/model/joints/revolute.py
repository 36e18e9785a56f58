# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Revolute joint, a hinge (book table 4.1); a continuous joint has no limits."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Optional, Tuple

from rbd_ros.model.joints.joint_type import across, equal_across, JointType, Scalars
from rbd_ros.spatial import (
    ForceVector,
    linear3,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.linear3 import IDENTITY3, Vector3, ZERO3
from rbd_ros.spatial.rotation import axis_rotation


@dataclass(frozen=True)
class Revolute(JointType):
    """Rotation about a fixed axis.

    :param axis: unit vector in joint coordinates, (3,)
    """

    axis: Vector3
    nq = nv = 1
    reach = (math.pi,)

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the rotation by q[0] [rad] about the axis."""
        return PluckerTransform.rotation(linear3.transpose(axis_rotation(self.axis, q[0])))

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return S = [axis; 0]."""
        return MotionSubspace([MotionVector(self.axis, ZERO3)])

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return the moments across the axis, and all forces."""
        couples = [ForceVector(u, ZERO3) for u in across(self.axis)]
        return (*couples, *(ForceVector(ZERO3, row) for row in IDENTITY3))

    def frame_shift(self, r: Vector3) -> Vector3:
        """Move along the axis to the point next to the parent's origin."""
        return linear3.scale(-linear3.dot(self.axis, r), self.axis)

    def not_excited(self, inertia: RigidBodyInertia) -> Optional[RigidBodyInertia]:
        """Return mass, first moment along the axis, and an equal inertia about both other axes."""
        along = linear3.dot(inertia.h, self.axis)
        rotational = equal_across(inertia, self.axis).I
        return RigidBodyInertia(inertia.mass, linear3.scale(along, self.axis), rotational)

    def opposite(self) -> Revolute:
        """Return the joint with the opposite axis."""
        return Revolute(linear3.negate(self.axis))

    @classmethod
    def examples(cls) -> Tuple[Revolute, ...]:
        """Return a joint about z, and one about a general axis."""
        return cls((0.0, 0.0, 1.0)), cls((0.48, -0.6, 0.64))
