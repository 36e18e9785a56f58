# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Helical joint, a screw (book table 4.1): rotation with proportional translation."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Tuple

from rbd_ros.model.joints.joint_type import across, JointType, Scalars
from rbd_ros.spatial import ForceVector, linear3, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.linear3 import Vector3, ZERO3
from rbd_ros.spatial.rotation import axis_rotation


@dataclass(frozen=True)
class Helical(JointType):
    """Rotation about an axis, and translation along it in proportion.

    :param axis: unit vector in joint coordinates, (3,)
    :param pitch: translation per angle [m/rad]; zero gives a revolute joint
    """

    axis: Vector3
    pitch: float
    nq = nv = 1
    reach = (math.pi,)

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the rotation by q[0] [rad] about the axis, translation by h q[0] along it."""
        E = linear3.transpose(axis_rotation(self.axis, q[0]))
        return PluckerTransform(E, linear3.scale(self.pitch * q[0], self.axis))

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return S = [axis; h axis]."""
        return MotionSubspace([MotionVector(self.axis, linear3.scale(self.pitch, self.axis))])

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return the moments and forces across the axis, and the force along it with its moment.

        The last is [-h axis; axis]: without friction, a nut under a load turns.
        """
        u, v = across(self.axis)
        couples = (ForceVector(u, ZERO3), ForceVector(v, ZERO3))
        forces = (ForceVector(ZERO3, u), ForceVector(ZERO3, v))
        return (*couples, *forces, ForceVector(linear3.scale(-self.pitch, self.axis), self.axis))

    def opposite(self) -> Helical:
        """Return the joint with the opposite axis."""
        return Helical(linear3.negate(self.axis), self.pitch)

    @classmethod
    def examples(cls) -> Tuple[Helical, ...]:
        """Return a right-handed screw along z, and a left-handed one along a general axis."""
        return cls((0.0, 0.0, 1.0), 0.2), cls((0.48, -0.6, 0.64), -0.3)
