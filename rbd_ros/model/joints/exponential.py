# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quotients in the exponential maps and logarithms of SO(3), SE(2) and SE(3), and quaternions.

Quotients are regular at zero. Near it they are power series with the terms that a double needs at
the limit of the closed form. Just above that limit, (x - sin x)/x^3 has lost three digits to
cancellation, and (1 - (x/2) cot(x/2))/x^2 five. Their factors are smaller than the result by x^2,
which reduces the error to that of rounding.
"""

from __future__ import annotations

import math
from typing import Sequence, Tuple

from rbd_ros.spatial.rotation import quaternion_product
from rbd_ros.spatial.scalar import absolute, arctan2, cos, Scalar, sin, sqrt, where_positive

Scalars = Sequence[Scalar]


def rotation_vector(quaternion: Scalars) -> Tuple[Scalar, Scalar, Scalar]:
    """Return the rotation vector, of length at most pi, of a quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    square = x * x + y * y + z * z
    sine = sqrt(where_positive(square, square, 1.0))
    cosine = absolute(w)
    # The limit without rotation; the unused value at half a turn must not divide by zero.
    limit = 2.0 / where_positive(cosine, cosine, 1.0)
    turned = where_positive(square, 2.0 * arctan2(sine, cosine) / sine, limit)
    scale = where_positive(-w, -turned, turned)
    return scale * x, scale * y, scale * z


def inverse_screw_quotient(angle2: Scalar) -> Scalar:
    """Return the quotient (1 - (x/2) cot(x/2))/x^2, given the squared angle x^2 [rad^2]."""
    safe = where_positive(angle2 - 1e-4, angle2, 1.0)
    half = 0.5 * sqrt(safe)
    series = 1.0 / 12.0 + angle2 * (1.0 / 720.0) * (1.0 + angle2 * (1.0 / 42.0))
    closed = (1.0 - half * cos(half) / sin(half)) / safe
    return where_positive(angle2 - 1e-4, closed, series)


def sine_quotients(angle: Scalar) -> Tuple[Scalar, Scalar]:
    """Return the quotients sin(x)/x and (1 - cos(x))/x of an angle x [rad]."""
    square = angle * angle
    safe = where_positive(1e-6 - square, 1.0, angle)
    half = sin(0.5 * safe)
    series = 1.0 - square * (1.0 / 6.0) * (1.0 - square * (1.0 / 20.0))
    series_cosine = angle * (0.5 - square * (1.0 / 24.0) * (1.0 - square * (1.0 / 30.0)))
    return (
        where_positive(1e-6 - square, series, sin(safe) / safe),
        where_positive(1e-6 - square, series_cosine, 2.0 * half * half / safe),
    )


def half_angle(angle2: Scalar) -> Tuple[Scalar, Scalar]:
    """Return the quotient sin(x/2)/x and cosine cos(x/2), given the squared angle x^2 [rad^2]."""
    safe = sqrt(where_positive(1e-6 - angle2, 1.0, angle2))
    series = 0.5 - angle2 * (1.0 / 48.0) * (1.0 - angle2 * (1.0 / 80.0))
    series_cosine = 1.0 - angle2 * (1.0 / 8.0) * (1.0 - angle2 * (1.0 / 48.0))
    return (
        where_positive(1e-6 - angle2, series, sin(0.5 * safe) / safe),
        where_positive(1e-6 - angle2, series_cosine, cos(0.5 * safe)),
    )


def screw_quotients(angle2: Scalar) -> Tuple[Scalar, Scalar]:
    """Return (1 - cos x)/x^2 and (x - sin x)/x^3, given the squared angle x^2 [rad^2]."""
    limit = 1e-3
    safe2 = where_positive(limit - angle2, 1.0, angle2)
    safe = sqrt(safe2)
    half = sin(0.5 * safe)
    b = 0.5 - angle2 * (1.0 / 24.0) * (1.0 - angle2 * (1.0 / 30.0) * (1.0 - angle2 * (1.0 / 56.0)))
    c = (
        1.0 - angle2 * (1.0 / 20.0) * (1.0 - angle2 * (1.0 / 42.0) * (1.0 - angle2 * (1.0 / 72.0)))
    ) * (1.0 / 6.0)
    return (
        where_positive(limit - angle2, b, 2.0 * half * half / safe2),
        where_positive(limit - angle2, c, (safe - sin(safe)) / (safe2 * safe)),
    )


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
    """Return the normalized quaternion of floats, unchanged if it differs by rounding only.

    :raises ValueError: if it is zero
    """
    length = math.sqrt(sum(x * x for x in q))
    if not length > 0.0:
        raise ValueError('its quaternion is zero')
    return tuple(q) if abs(length - 1.0) <= 1e-15 else tuple(x / length for x in q)
