# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rotation matrices from quaternions (w, x, y, z), from roll, pitch and yaw, from axis and angle.

All matrices in this module are active rotations R of a vector, as in a pose. The coordinate
transforms E of the book are their transposes, E = R^T.
"""

from __future__ import annotations

import math
from typing import Sequence, Tuple

from rbd_ros.spatial.linear3 import Matrix3, Vector3
from rbd_ros.spatial.scalar import cos, Scalar, sin

# (w, x, y, z)
Quaternion = Tuple[Scalar, Scalar, Scalar, Scalar]

#: Tolerance of the norm of a quaternion in user input; beyond it, the numbers are probably in
#: another order.
NORM_TOLERANCE = 1e-3


def quaternion_to_rotation(quaternion: Sequence[Scalar]) -> Matrix3:
    """Return the rotation matrix R of a quaternion (w, x, y, z); E of book eq 4.12 is R^T.

    The quaternion is normalized: one with numerical drift still gives a rotation.


    >>> from rbd_ros.spatial.rotation import quaternion_to_rotation
    >>> np.round(quaternion_to_rotation((0.0, 1.0, 0.0, 0.0)), 6)  # half a turn about x
    array([[ 1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0., -1.]])
    """
    w, x, y, z = quaternion
    s = 2.0 / (w * w + x * x + y * y + z * z)
    x2, y2, z2 = s * x, s * y, s * z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return (
        (1.0 - (yy + zz), xy - wz, xz + wy),
        (xy + wz, 1.0 - (xx + zz), yz - wx),
        (xz - wy, yz + wx, 1.0 - (xx + yy)),
    )


def rotation_to_quaternion(R: Matrix3) -> Quaternion:
    """Return the unit quaternion (w, x, y, z) with w >= 0 of a rotation matrix of floats.

    The largest component is computed from the diagonal, and the others are divided by it, which
    avoids divisions by small numbers.

    >>> from rbd_ros.spatial.rotation import axis_rotation, rotation_to_quaternion
    >>> np.round(rotation_to_quaternion(axis_rotation((0.0, 0.0, 1.0), np.pi / 2)), 3)
    array([0.707, 0.   , 0.   , 0.707])
    """
    (a, b, c), (d, e, f), (g, h, i) = R
    candidates = (a + e + i, a - e - i, e - a - i, i - a - e)
    largest = max(range(4), key=candidates.__getitem__)
    s = 2.0 * math.sqrt(1.0 + candidates[largest])
    if largest == 0:
        q = (0.25 * s, (h - f) / s, (c - g) / s, (d - b) / s)
    elif largest == 1:
        q = ((h - f) / s, 0.25 * s, (b + d) / s, (c + g) / s)
    elif largest == 2:
        q = ((c - g) / s, (b + d) / s, 0.25 * s, (f + h) / s)
    else:
        q = ((d - b) / s, (c + g) / s, (f + h) / s, 0.25 * s)
    w, x, y, z = q
    norm = math.copysign(math.sqrt(sum(u * u for u in q)), w if w != 0.0 else 1.0)
    return w / norm, x / norm, y / norm, z / norm


def quaternion_product(p: Sequence[Scalar], q: Sequence[Scalar]) -> Quaternion:
    """Return the product p q of two quaternions (w, x, y, z), so that R(p q) = R(p) R(q).

    >>> from rbd_ros.spatial.rotation import quaternion_product
    >>> quaternion_product((0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0))  # i j = k
    (0.0, 0.0, 0.0, 1.0)
    """
    pw, px, py, pz = p
    qw, qx, qy, qz = q
    return (
        pw * qw - px * qx - py * qy - pz * qz,
        pw * qx + px * qw + py * qz - pz * qy,
        pw * qy - px * qz + py * qw + pz * qx,
        pw * qz + px * qy - py * qx + pz * qw,
    )


def axis_rotation(axis: Vector3, angle: Scalar) -> Matrix3:
    """Return the active rotation by `angle` [rad] about the unit vector `axis` (Rodrigues).

    About a coordinate axis, constant zeros and ones are exact, so that they need no arithmetic.


    >>> from rbd_ros.spatial.rotation import axis_rotation
    >>> np.round(axis_rotation((0.0, 0.0, 1.0), np.pi / 2), 6)  # x goes to y
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    x, y, z = axis
    c, s = cos(angle), sin(angle)
    if x == 0 and y == 0:
        s = s * z
        return (c, -s, 0), (s, c, 0), (0, 0, 1)
    if x == 0 and z == 0:
        s = s * y
        return (c, 0, s), (0, 1, 0), (-s, 0, c)
    if y == 0 and z == 0:
        s = s * x
        return (1, 0, 0), (0, c, -s), (0, s, c)
    k = 1.0 - c
    kx, ky, kz = k * x, k * y, k * z
    return (
        (c + kx * x, kx * y - s * z, kx * z + s * y),
        (kx * y + s * z, c + ky * y, ky * z - s * x),
        (kx * z - s * y, ky * z + s * x, c + kz * z),
    )


def rpy_rotation(roll: float, pitch: float, yaw: float) -> Matrix3:
    """Return the active rotation of URDF's roll, pitch, yaw: R = Rz(yaw) Ry(pitch) Rx(roll).

    A sine or cosine below 1e-15 is the rounding of a multiple of pi/2. It becomes exactly zero,
    and the other one exactly one, so that a rotation by 90 degrees is a permutation.

    >>> from rbd_ros.spatial.rotation import rpy_rotation
    >>> np.round(rpy_rotation(0.0, 0.0, np.pi / 2), 6)  # a yaw of 90 degrees
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [-0.,  0.,  1.]])
    """
    (cr, sr), (cp, sp), (cy, sy) = (_exact_turn(angle) for angle in (roll, pitch, yaw))
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def _exact_turn(angle: float) -> Tuple[float, float]:
    """Return the cosine and sine of an angle [rad], exact at multiples of pi/2."""
    c, s = math.cos(angle), math.sin(angle)
    if abs(c) < 1e-15:
        return 0.0, math.copysign(1.0, s)
    if abs(s) < 1e-15:
        return math.copysign(1.0, c), 0.0
    return c, s


def rotation_rates(w: Vector3, alpha: Vector3) -> Matrix3:
    """Return Omega = alpha x + (w x)(w x), (3, 3): the acceleration of a point r is Omega r.

    :param w: angular velocity, (3,) [rad/s]
    :param alpha: angular acceleration, (3,) [rad/s^2]

    >>> from rbd_ros.spatial.rotation import rotation_rates
    >>> np.array(rotation_rates((0, 0, 2), (0, 0, 1))) @ (1, 0, 0)  # inwards, and ahead
    array([-4,  1,  0])
    """
    x, y, z = w
    a, b, c = alpha
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return (
        (-(yy + zz), xy - c, xz + b),
        (xy + c, -(xx + zz), yz - a),
        (xz - b, yz + a, -(xx + yy)),
    )
