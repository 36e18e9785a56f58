# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Spherical joint by yaw, pitch and roll (book 4.5, eq 4.7 to 4.9), which has singularities.

`Spherical` has a quaternion and no singularity. This type has the angles of a gimbal.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Optional, Tuple

from rbd_ros.model.joints.joint_type import JointType, Scalars
from rbd_ros.spatial import ForceVector, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.linear3 import IDENTITY3, ZERO3
from rbd_ros.spatial.scalar import cos, sin

# Angular velocities need rates of yaw and roll that are larger by 1 / |cos pitch|.
MIN_COSINE = 0.05


@dataclass(frozen=True)
class SphericalYawPitchRoll(JointType):
    """Rotations about z (yaw), then the new y (pitch), then the new x (roll): q are the angles.

    The velocity is the derivative of q. At a pitch of +-90 degrees, yaw and roll rotate about the
    same axis and S has rank 2: the model is invalid there, and `singularity` returns a warning.
    """

    nq = nv = 3
    # pitch avoids its singularities
    reach = (math.pi, 1.4, math.pi)

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return E = rx(q[2]) ry(q[1]) rz(q[0]) (book eq 4.7)."""
        (c1, c2, c3), (s1, s2, s3) = map(cos, q), map(sin, q)
        return PluckerTransform.rotation(
            (
                (c1 * c2, s1 * c2, -s2),
                (c1 * s2 * s3 - s1 * c3, s1 * s2 * s3 + c1 * c3, c2 * s3),
                (c1 * s2 * c3 + s1 * s3, s1 * s2 * c3 - c1 * s3, c2 * c3),
            )
        )

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return the axes of yaw, pitch and roll in successor coordinates (book eq 4.8)."""
        (_, c2, c3), (_, s2, s3) = map(cos, q), map(sin, q)
        axes = ((-s2, c2 * s3, c2 * c3), (0.0, c3, -s3), (1.0, 0.0, 0.0))
        return MotionSubspace([MotionVector(axis, ZERO3) for axis in axes])

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return all forces through the point."""
        return tuple(ForceVector(ZERO3, row) for row in IDENTITY3)

    def motion_subspace_rate(self, q: Scalars, qd: Scalars) -> MotionSubspace:
        """Return the apparent derivative of S (book eq 4.9)."""
        (_, c2, c3), (_, s2, s3) = map(cos, q), map(sin, q)
        _, w2, w3 = qd
        rates = (
            (-c2 * w2, c2 * c3 * w3 - s2 * s3 * w2, -(s2 * c3 * w2 + c2 * s3 * w3)),
            (0.0, -s3 * w3, -c3 * w3),
            ZERO3,
        )
        return MotionSubspace([MotionVector(rate, ZERO3) for rate in rates])

    def singularity(self, q: Scalars) -> Optional[str]:
        """Return the warning if the pitch is within about 3 degrees of +-90 degrees."""
        if abs(cos(q[1])) >= MIN_COSINE:
            return None
        return (
            f'its pitch of {math.degrees(q[1]):.1f} deg is at the singularity of yaw, pitch and '
            'roll; use a spherical joint, whose quaternion has no singularity'
        )

    @classmethod
    def examples(cls) -> Tuple[SphericalYawPitchRoll, ...]:
        """Return the only joint of this type, which has no parameters."""
        return (cls(),)
