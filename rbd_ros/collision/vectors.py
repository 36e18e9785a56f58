# SPDX-License-Identifier: Apache-2.0
"""Vectors, poses and found points, as compiled loops of this package work on them.

A pose is the rotation of a shape in the common frame, row by row, and its position: (12,).
"""

from __future__ import annotations

import math

from rbd_ros.collision.arrays import FloatArray, FoundPoints
from rbd_ros.compiler.loops import compiled

#: Distance below which two points count as one: the direction between them would be made of
#: rounding errors [m].
COINCIDENT = 1e-12


@compiled
def dot(a: FloatArray, b: FloatArray) -> float:
    """Return the scalar product of the first three components of two vectors."""
    product: float = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return product


@compiled
def cross(a: FloatArray, b: FloatArray, product: FloatArray) -> None:
    """Compute the vector product of two vectors, (3,)."""
    product[0] = a[1] * b[2] - a[2] * b[1]
    product[1] = a[2] * b[0] - a[0] * b[2]
    product[2] = a[0] * b[1] - a[1] * b[0]


@compiled
def difference(a: FloatArray, b: FloatArray, result: FloatArray) -> None:
    """Compute the vector from b to a, (3,)."""
    for r in range(3):
        result[r] = a[r] - b[r]


@compiled
def along(start: FloatArray, step: FloatArray, factor: float, result: FloatArray) -> None:
    """Compute the point at a factor of a step from a start, (3,) [m]."""
    for r in range(3):
        result[r] = start[r] + factor * step[r]


@compiled
def axis(pose: FloatArray, number: int, direction: FloatArray) -> None:
    """Compute the direction of an axis of a frame, (3,)."""
    for r in range(3):
        direction[r] = pose[3 * r + number]


@compiled
def turned(pose: FloatArray, local: FloatArray, direction: FloatArray) -> None:
    """Compute the direction in the common frame of one in the coordinates of a shape, (3,)."""
    for r in range(3):
        direction[r] = (
            pose[3 * r] * local[0] + pose[3 * r + 1] * local[1] + pose[3 * r + 2] * local[2]
        )


@compiled
def placed(pose: FloatArray, local: FloatArray, point: FloatArray) -> None:
    """Compute the point in the common frame of one in the coordinates of a shape, (3,) [m]."""
    turned(pose, local, point)
    for r in range(3):
        point[r] += pose[9 + r]


@compiled
def localized(pose: FloatArray, point: FloatArray, local: FloatArray) -> None:
    """Compute the coordinates in the frame of a shape of a point in the common frame, (3,) [m]."""
    for k in range(3):
        total = 0.0
        for r in range(3):
            total += pose[3 * r + k] * (point[r] - pose[9 + r])
        local[k] = total


@compiled
def perpendicular(direction: FloatArray, normal: FloatArray) -> None:
    """Compute a unit vector perpendicular to a direction, which may be zero, (3,)."""
    least = 0
    for r in range(1, 3):
        if abs(direction[r]) < abs(direction[least]):
            least = r
    s, t = (least + 1) % 3, (least + 2) % 3
    length = math.sqrt(direction[s] * direction[s] + direction[t] * direction[t])
    # direction x e_least, which has nothing along e_least.
    normal[least] = 0.0
    normal[s] = direction[t] / length if length > 0.0 else 0.0
    normal[t] = -direction[s] / length if length > 0.0 else 1.0


@compiled
def end_of_segment(pose: FloatArray, half: float, point: FloatArray) -> None:
    """Compute the point at a height on the z axis of a frame, (3,) [m].

    :param pose: pose of the frame, (12,)
    :param half: the height [m]
    :param point: the result, (3,) [m]
    """
    for r in range(3):
        point[r] = pose[9 + r] + half * pose[3 * r + 2]


@compiled
def add(
    found: FoundPoints,
    count: int,
    feature: int,
    gap: float,
    margin: float,
    on_a: FloatArray,
    normal: FloatArray,
) -> int:
    """Enter a contact point, if its gap is within the margin and there is room.

    :param found: the points; changed
    :param count: how many there are so far
    :param feature: number of the features that touch
    :param gap: signed gap [m]
    :param margin: maximum gap [m]
    :param on_a: point on the first shape, (3,) [m]
    :param normal: unit normal from the first shape to the second, (3,)
    :return: how many there are now
    """
    # Written so that a gap that is NaN enters nothing.
    if not gap <= margin or count == len(found.gap):
        return count
    for r in range(3):
        found.on_a[count, r] = on_a[r]
        found.on_b[count, r] = on_a[r] + gap * normal[r]
        found.normal[count, r] = normal[r]
    found.gap[count] = gap
    found.feature[count] = feature
    return count + 1
