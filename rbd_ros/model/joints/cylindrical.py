# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Cylindrical joint (book table 4.1): a shaft that rotates and slides in its bearing."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Tuple

from rbd_ros.model.joints.joint_type import across, JointType, Scalars
from rbd_ros.spatial import ForceVector, linear3, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.linear3 import Vector3, ZERO3
from rbd_ros.spatial.rotation import axis_rotation


@dataclass(frozen=True)
class Cylindrical(JointType):
    """Rotation about an axis and translation along it: q = (angle, distance).

    :param axis: unit vector in joint coordinates, (3,)
    """

    axis: Vector3
    nq = nv = 2
    reach = (math.pi, 1.0)

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the rotation by q[0] [rad] about the axis, translation by q[1] [m] along it."""
        E = linear3.transpose(axis_rotation(self.axis, q[0]))
        return PluckerTransform(E, linear3.scale(q[1], self.axis))

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return S = [axis 0; 0 axis]."""
        return MotionSubspace([MotionVector(self.axis, ZERO3), MotionVector(ZERO3, self.axis)])

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return the moments and forces across the axis."""
        u, v = across(self.axis)
        couples = (ForceVector(u, ZERO3), ForceVector(v, ZERO3))
        return (*couples, ForceVector(ZERO3, u), ForceVector(ZERO3, v))

    def opposite(self) -> Cylindrical:
        """Return the joint with the opposite axis."""
        return Cylindrical(linear3.negate(self.axis))

    @classmethod
    def examples(cls) -> Tuple[Cylindrical, ...]:
        """Return a joint along z, and one along a general axis."""
        return cls((0.0, 0.0, 1.0)), cls((0.48, -0.6, 0.64))
