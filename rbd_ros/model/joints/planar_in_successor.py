# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Planar joint with its position in successor coordinates, as in book table 4.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

from rbd_ros.model.joints.joint_type import Scalars
from rbd_ros.model.joints.planar import Planar
from rbd_ros.spatial import PluckerTransform
from rbd_ros.spatial.scalar import cos, Scalar, sin


@dataclass(frozen=True)
class PlanarInSuccessor(Planar):
    """The planar joint with q = (theta, x, y), x and y in the rotated axes of the successor.

    The velocity is that of `Planar`, the successor's own (omega, v_x, v_y), so S is the same
    constant. It is not the derivative of q: for a body that spins far from the origin, x and y
    change fast, and `Planar` is better (book example 4.5).
    """

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the rotation by theta [rad], translation by (x, y) [m] along the rotated axes."""
        return super().transform(_in_predecessor(q))

    def position_rate(self, q: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the linear velocity minus the velocity due to the rotation of the axes."""
        return v[0], v[1] + v[0] * q[2], v[2] - v[0] * q[1]

    def integrate(self, q: Scalars, step: Scalars) -> Tuple[Scalar, ...]:
        """Return the exponential map of SE(2): the exact motion at a constant body velocity."""
        return _in_successor(super().integrate(_in_predecessor(q), step))

    def difference(self, q0: Scalars, q1: Scalars) -> Tuple[Scalar, ...]:
        """Return the logarithm of SE(2), the inverse of `integrate`; the angle is not wrapped."""
        return super().difference(_in_predecessor(q0), _in_predecessor(q1))


def _in_predecessor(q: Scalars) -> Tuple[Scalar, ...]:
    """Return the position of `Planar`: r = (c x - s y, s x + c y) (book example 4.5)."""
    c, s = cos(q[0]), sin(q[0])
    return q[0], c * q[1] - s * q[2], s * q[1] + c * q[2]


def _in_successor(q: Scalars) -> Tuple[Scalar, ...]:
    c, s = cos(q[0]), sin(q[0])
    return q[0], c * q[1] + s * q[2], c * q[2] - s * q[1]
