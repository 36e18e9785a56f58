# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint with six degrees of freedom and its position in successor coordinates (book table 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from rbd_ros.model.joints.exponential import quaternion_rate
from rbd_ros.model.joints.floating import Floating
from rbd_ros.model.joints.joint_type import Scalars
from rbd_ros.spatial import linear3, PluckerTransform
from rbd_ros.spatial.rotation import quaternion_to_rotation
from rbd_ros.spatial.scalar import Scalar


@dataclass(frozen=True)
class FloatingInSuccessor(Floating):
    """The floating joint with q = (quaternion; position), the position in successor coordinates.

    The velocity is that of `Floating`, which is more accurate for a body that spins far from the
    origin, since the position here changes fast then (book example 4.5).
    """

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the rotation by the quaternion, translation by r = E^-1 (q[4], q[5], q[6])."""
        return super().transform(_in_predecessor(q))

    def integrate(self, q: Scalars, step: Scalars) -> Tuple[Scalar, ...]:
        """Return the exponential map of SE(3): the screw motion at a constant body velocity."""
        end = super().integrate(_in_predecessor(q), step)
        R = quaternion_to_rotation(end[:4])
        return (*end[:4], *linear3.apply_transpose(R, (end[4], end[5], end[6])))

    def difference(self, q0: Scalars, q1: Scalars) -> Tuple[Scalar, ...]:
        """Return the logarithm of SE(3), the inverse of `integrate`, by the shorter rotation."""
        return super().difference(_in_predecessor(q0), _in_predecessor(q1))

    def position_rate(self, q: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return derivatives of quaternion (book eq 4.13) and position, v - omega x position."""
        turn = linear3.cross((v[0], v[1], v[2]), (q[4], q[5], q[6]))
        return (*quaternion_rate(q[:4], v[:3]), *linear3.subtract((v[3], v[4], v[5]), turn))

    def pose_variables(self) -> Optional[Tuple[int, int]]:
        """Return None: the position is not in predecessor coordinates."""
        return None


def _in_predecessor(q: Scalars) -> Tuple[Scalar, ...]:
    """Return the position of `Floating`."""
    return (*q[:4], *linear3.apply(quaternion_to_rotation(q[:4]), (q[4], q[5], q[6])))
