# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Universal joint, of Cardan or Hooke: two hinges whose axes meet, as one joint."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Tuple

from rbd_ros.model.joints.joint_type import JointType, Scalars
from rbd_ros.spatial import ForceVector, linear3, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.linear3 import IDENTITY3, Vector3, ZERO3
from rbd_ros.spatial.rotation import axis_rotation
from rbd_ros.spatial.scalar import four_quadrant_angle, Scalar


@dataclass(frozen=True)
class Universal(JointType):
    """Rotation about an axis of the predecessor, then about one of the successor.

    The cross between them has no mass. The angle between the axes is constant, so that the joint
    has no singularity.

    :param first: unit vector of the axis that is fixed in the predecessor, (3,)
    :param second: unit vector of the axis that is fixed in the successor, (3,); not parallel to
        the first
    """

    first: Vector3
    second: Vector3
    nq = nv = 2
    reach = (math.pi, math.pi)

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the rotations by q[0] [rad] about the first and by q[1] about the second axis."""
        R = linear3.multiply(axis_rotation(self.first, q[0]), axis_rotation(self.second, q[1]))
        return PluckerTransform.rotation(linear3.transpose(R))

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return S = [E_2 first, second; 0, 0], with E_2 the rotation about the second axis."""
        return MotionSubspace(
            [MotionVector(self._turned_first(q), ZERO3), MotionVector(self.second, ZERO3)]
        )

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return the moment across both axes, and all forces."""
        couple = ForceVector(linear3.cross(self._turned_first(q), self.second), ZERO3)
        return (couple, *(ForceVector(ZERO3, row) for row in IDENTITY3))

    def motion_subspace_rate(self, q: Scalars, qd: Scalars) -> MotionSubspace:
        """Return the rate of S: in the successor only the first axis rotates, backwards."""
        rate = linear3.scale(qd[1], linear3.cross(self._turned_first(q), self.second))
        return MotionSubspace([MotionVector(rate, ZERO3), MotionVector.zero()])

    def loop_error(self, X: PluckerTransform) -> Tuple[Scalar, ...]:
        """Return the error of the angle between the axes and the distance of the origins, (4,).

        The first is the difference of the cosines.
        """
        apart = linear3.dot(linear3.apply(X.E, self.first), self.second)
        r = linear3.apply(X.E, X.r)
        return (linear3.dot(self.first, self.second) - apart, *r)

    def constraint_forces_at(self, X: PluckerTransform) -> Tuple[ForceVector, ...]:
        """Return the moment across both axes, and all forces."""
        couple = ForceVector(linear3.cross(linear3.apply(X.E, self.first), self.second), ZERO3)
        return (couple, *(ForceVector(ZERO3, row) for row in IDENTITY3))

    def motion_subspace_at(self, X: PluckerTransform) -> MotionSubspace:
        """Return S = [E first, second; 0, 0]."""
        return MotionSubspace(
            [MotionVector(linear3.apply(X.E, self.first), ZERO3), MotionVector(self.second, ZERO3)]
        )

    def displacement_at(self, X: PluckerTransform) -> Tuple[Scalar, ...]:
        """Return the angles about the first and the second axis, each between -pi and pi [rad]."""
        # Each rotation keeps its own axis, so that it alone moves the other's
        second = linear3.apply_transpose(X.E, self.second)  # in predecessor coordinates
        first = linear3.apply(X.E, self.first)  # in successor coordinates
        return (
            _angle(self.first, self.second, second),
            _angle(self.second, first, self.first),
        )

    def _turned_first(self, q: Scalars) -> Vector3:
        """Return the first axis in successor coordinates, (3,)."""
        return linear3.apply_transpose(axis_rotation(self.second, q[1]), self.first)

    @classmethod
    def examples(cls) -> Tuple[Universal, ...]:
        """Return the axes x and y, and two general ones that are not perpendicular."""
        return cls((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), cls((0.48, -0.6, 0.64), (0.0, 0.6, 0.8))


def _angle(axis: Vector3, start: Vector3, end: Vector3) -> Scalar:
    """Return the angle about a unit vector from one vector to another, -pi to pi [rad]."""
    sine = linear3.dot(axis, linear3.cross(start, end))
    along = linear3.dot(axis, start) * linear3.dot(axis, end)
    return four_quadrant_angle(sine, linear3.dot(start, end) - along)
