# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Unit quaternions, w first, and rotation matrices in compiled loops."""

from __future__ import annotations

import math

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import compiled, load_vec, Mat, Mat3, norm, Vec, Vec3, Vec4


@compiled
def load_matrix(rows: FloatArray) -> Mat3:
    """Return the matrix in an array, (3, 3)."""
    return Mat(load_vec(rows[0], 3), load_vec(rows[1], 3), load_vec(rows[2], 3))


@compiled
def rotation_of(quaternion: Vec) -> Mat3:
    """Return the rotation matrix of a unit quaternion."""
    w, x, y, z = quaternion
    return Mat(
        Vec(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        Vec(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        Vec(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


@compiled
def product(a: Vec, b: Vec) -> Vec4:
    """Return the quaternion of the rotation b, followed by a in outer coordinates."""
    w, x, y, z = a
    c, i, j, k = b
    return Vec(
        w * c - x * i - y * j - z * k,
        w * i + x * c + y * k - z * j,
        w * j - x * k + y * c + z * i,
        w * k + x * j - y * i + z * c,
    )


@compiled
def rotated(quaternion: Vec, angle: Vec3) -> Vec4:
    """Return the orientation after a rotation by a vector in outer coordinates.

    :param angle: axis times angle [rad]
    """
    half = 0.5 * norm(angle)
    # sin(x) / x, by its series for small x
    part = 0.5 * math.sin(half) / half if half > 1e-3 else 0.5 - half * half / 12.0
    turn = Vec(math.cos(half), part * angle[0], part * angle[1], part * angle[2])
    end = product(turn, quaternion)
    # Normalized, so that rounding does not add up.
    length = norm(end)
    return Vec(end[0] / length, end[1] / length, end[2] / length, end[3] / length)
