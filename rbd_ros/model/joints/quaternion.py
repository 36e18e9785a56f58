# SPDX-License-Identifier: Apache-2.0
"""Base class of joints whose position is a quaternion (w, x, y, z)."""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.model.joints.joint_type import Scalars
from rbd_ros.spatial.rotation import quaternion_product
from rbd_ros.spatial.scalar import cos, Scalar, sin, sqrt


def quaternion_rate(q: Scalars, w: Scalars) -> Tuple[Scalar, ...]:
    """Return the derivative of a quaternion by time at an angular velocity (book eq 4.13), (4,).

    :param q: quaternion (w, x, y, z)
    :param w: angular velocity in successor coordinates, (3,) [rad/s]
    """
    return tuple(0.5 * x for x in quaternion_product(q, (0.0, *w)))


def uniform_quaternion(u: Scalars) -> Tuple[Scalar, ...]:
    """Return a unit quaternion, uniform on the rotation group, (4,) (Shoemake 1992).

    :param u: numbers uniform in [0, 1), (3,)
    """
    a, b, c = sqrt(1.0 - u[0]), 2.0 * math.pi * u[1], 2.0 * math.pi * u[2]
    d = sqrt(u[0])
    return d * cos(c), a * sin(b), a * cos(b), d * sin(c)


def unit_quaternion(q: Scalars) -> Tuple[float, ...]:
    """Return the quaternion of floats normalized, unchanged if it is so but for rounding.

    :raises ValueError: if it is zero
    """
    length = math.sqrt(sum(x * x for x in q))
    if not length > 0.0:
        raise ValueError('its quaternion is zero')
    return tuple(q) if abs(length - 1.0) <= 1e-15 else tuple(x / length for x in q)
