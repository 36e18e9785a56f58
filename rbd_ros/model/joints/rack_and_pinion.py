# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rack and pinion (book example 4.6): a joint whose motion subspace depends on its position."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Optional, Tuple

from rbd_ros.model.joints.joint_type import equal_across, JointType, Scalars
from rbd_ros.model.joints.lower_pair import angle_about, angle_beyond, tilt
from rbd_ros.spatial import (
    ForceVector,
    linear3,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.linear3 import ZERO3
from rbd_ros.spatial.rotation import axis_rotation
from rbd_ros.spatial.scalar import cos, Scalar, sin

Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class RackAndPinion(JointType):
    """A pinion, the successor, that rotates about its z axis and rolls along the rack's x axis.

    q is the angle, which moves the pinion's origin to x = radius q.

    :param radius: radius of the pinion [m]; zero gives a revolute joint
    """

    radius: float
    nq = nv = 1
    reach = (math.pi,)

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the translation by r q along x, then rotation by q about z."""
        E = linear3.transpose(axis_rotation((0.0, 0.0, 1.0), q[0]))
        return PluckerTransform(E, (self.radius * q[0], 0.0, 0.0))

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return S = [0 0 1; r cos q, -r sin q, 0]."""
        r, c, s = self.radius, cos(q[0]), sin(q[0])
        return MotionSubspace([MotionVector((0.0, 0.0, 1.0), (r * c, -(r * s), 0.0))])

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return the forces that do no work on S.

        They include two combinations of the moment about z and the forces in the plane.
        """
        return self._constraint_forces(cos(q[0]), sin(q[0]))

    def _constraint_forces(self, c: Scalar, s: Scalar) -> Tuple[ForceVector, ...]:
        r = self.radius
        return (
            ForceVector((1.0, 0.0, 0.0), ZERO3),
            ForceVector((0.0, 1.0, 0.0), ZERO3),
            ForceVector((0.0, 0.0, -(r * c)), (1.0, 0.0, 0.0)),
            ForceVector((0.0, 0.0, r * s), (0.0, 1.0, 0.0)),
            ForceVector(ZERO3, (0.0, 0.0, 1.0)),
        )

    def motion_subspace_rate(self, q: Scalars, qd: Scalars) -> MotionSubspace:
        """Return [0; -r sin q, -r cos q, 0] times the rate of q."""
        r, c, s = self.radius, cos(q[0]), sin(q[0])
        return MotionSubspace([MotionVector(ZERO3, (-(r * s), -(r * c), 0.0)) * qd[0]])

    def loop_error(self, X: PluckerTransform) -> Tuple[Scalar, ...]:
        """Return the displacement along the constraint forces from closed, (5,) [rad, m].

        The position along the rack defines the required angle, for any number of turns.
        """
        x, y, _ = tilt(X.E, Z)
        r, more = X.r, 0.0
        if self.radius:
            more = angle_beyond(X.E, Z, X.r[0] / self.radius)
            r = (0.0, *X.r[1:])
        error = MotionVector((x, y, more), linear3.apply(X.E, r))
        return tuple(error.dot(T) for T in self.constraint_forces_at(X))

    def constraint_forces_at(self, X: PluckerTransform) -> Tuple[ForceVector, ...]:
        """Return the forces at the angle q, whose cosine and sine are in the first row of E."""
        return self._constraint_forces(X.E[0][0], X.E[0][1])

    def motion_subspace_at(self, X: PluckerTransform) -> MotionSubspace:
        """Return S = [0 0 1; r E x]."""
        r, c, s = self.radius, X.E[0][0], X.E[0][1]
        return MotionSubspace([MotionVector(Z, (r * c, -(r * s), 0.0))])

    def displacement_at(self, X: PluckerTransform) -> Tuple[Scalar, ...]:
        """Return the angle for the position along the rack, for any number of turns."""
        return (X.r[0] / self.radius if self.radius else angle_about(X.E, Z),)

    def not_excited(self, inertia: RigidBodyInertia) -> Optional[RigidBodyInertia]:
        """Return an equal rotational inertia about all axes across that of the pinion."""
        return equal_across(inertia, (0.0, 0.0, 1.0))

    @classmethod
    def examples(cls) -> Tuple[RackAndPinion, ...]:
        """Return a joint with a rolling pinion, and one with radius zero, which only rotates."""
        return cls(0.3), cls(0.0)
