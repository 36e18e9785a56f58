# SPDX-License-Identifier: Apache-2.0
"""Unit quaternions, w first, in compiled loops."""

from __future__ import annotations

from rbd_ros.compiler.loops import compiled, Mat, Vec


@compiled
def rotation_of(quaternion: Vec) -> Mat[3, 3]:
    """Return the rotation matrix of a unit quaternion."""
    w, x, y, z = quaternion
    return Mat(
        Vec(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        Vec(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        Vec(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


@compiled
def product(a: Vec, b: Vec) -> Vec[4]:
    """Return the quaternion of the rotation b, followed by a in the coordinates outside."""
    w, x, y, z = a
    c, i, j, k = b
    return Vec(
        w * c - x * i - y * j - z * k,
        w * i + x * c + y * k - z * j,
        w * j - x * k + y * c + z * i,
        w * k + x * j - y * i + z * c,
    )
