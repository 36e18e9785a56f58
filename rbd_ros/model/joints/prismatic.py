# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Prismatic joint, a slider (book table 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from rbd_ros.model.joints.joint_type import across, JointType, Scalars
from rbd_ros.spatial import (
    ForceVector,
    linear3,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.linear3 import IDENTITY3, Vector3, ZERO3


@dataclass(frozen=True)
class Prismatic(JointType):
    """Translation along a fixed axis.

    :param axis: unit vector in joint coordinates, (3,)
    """

    axis: Vector3
    nq = nv = 1
    reach = (1.0,)

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the translation by q[0] [m] along the axis."""
        return PluckerTransform.translation(linear3.scale(q[0], self.axis))

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return S = [0; axis]."""
        return MotionSubspace([MotionVector(ZERO3, self.axis)])

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return all moments, and forces across the axis."""
        couples = [ForceVector(row, ZERO3) for row in IDENTITY3]
        return (*couples, *(ForceVector(ZERO3, u) for u in across(self.axis)))

    def frame_shift(self, r: Vector3) -> Vector3:
        """Move to the parent's origin: all points of a sliding body move equally."""
        return linear3.negate(r)

    def not_excited(self, inertia: RigidBodyInertia) -> Optional[RigidBodyInertia]:
        """Return all of the rotational inertia: a translation does not excite it."""
        return RigidBodyInertia(0.0, ZERO3, inertia.I)

    def opposite(self) -> Prismatic:
        """Return the joint with the opposite axis."""
        return Prismatic(linear3.negate(self.axis))

    @classmethod
    def examples(cls) -> Tuple[Prismatic, ...]:
        """Return a joint along z, and one along a general axis."""
        return cls((0.0, 0.0, 1.0)), cls((0.48, -0.6, 0.64))
