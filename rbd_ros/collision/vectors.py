# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Vectors, poses and contact points in compiled loops of this package.

A pose is the rotation of a shape in the common frame, row by row, and its position: (12,).
"""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    FoundPoints,
)
from rbd_ros.compiler.loops import (
    compiled,
    load_transform,
    load_vec,
    norm,
    Transform,
    Vec,
    Vec3,
)

#: Distance below which two points coincide: their direction would be a rounding error [m].
COINCIDENT = 1e-12


@compiled
def origin(pose: FloatArray) -> Vec3:
    """Return the position of a frame [m]."""
    return load_vec(pose, 3, 9)


@compiled
def axis(pose: FloatArray, number: int) -> Vec3:
    """Return the direction of an axis of a frame."""
    return Vec(pose[number], pose[3 + number], pose[6 + number])


@compiled
def unit_vector(number: int) -> Vec3:
    """Return the unit vector along a coordinate."""
    return Vec(number == 0, number == 1, number == 2)


@compiled
def are_equal(u: Vec3, v: Vec3) -> bool:
    """Return whether two vectors have the same numbers."""
    return u[0] == v[0] and u[1] == v[1] and u[2] == v[2]


@compiled
def across_axis(number: int, v: Vec3) -> Vec3:
    """Return the cross product of a unit vector along a coordinate with a vector."""
    x, y, z = v
    if number == 0:
        return Vec(0.0, -z, y)
    return Vec(z, 0.0, -x) if number == 1 else Vec(-y, x, 0.0)


@compiled
def with_item(v: Vec3, number: int, value: float) -> Vec3:
    """Return a vector with one coordinate replaced."""
    return Vec(
        value if number == 0 else v[0],
        value if number == 1 else v[1],
        value if number == 2 else v[2],
    )


@compiled
def clamped(point: Vec3, half: FloatArray) -> Vec3:
    """Return the point of a box that is nearest to a point, in its coordinates [m].

    :param half: half lengths, (3,) [m]
    """
    return Vec(
        min(half[0], max(-half[0], point[0])),
        min(half[1], max(-half[1], point[1])),
        min(half[2], max(-half[2], point[2])),
    )


@compiled
def rotated(pose: FloatArray, local: Vec3) -> Vec3:
    """Return a direction in coordinates of a shape, in those of the common frame."""
    return load_transform(pose).rotation @ local


@compiled
def rotated_back(pose: FloatArray, direction: Vec3) -> Vec3:
    """Return a direction of the common frame, in coordinates of a shape."""
    return load_transform(pose).rotation.T @ direction


@compiled
def placed(pose: FloatArray, local: Vec3) -> Vec3:
    """Return a point in coordinates of a shape, in those of the common frame [m]."""
    return load_transform(pose) @ local


@compiled
def localized(pose: FloatArray, point: Vec3) -> Vec3:
    """Return a point of the common frame, in coordinates of a shape [m]."""
    return rotated_back(pose, point - origin(pose))


@compiled
def store_pose(pose: Transform, row: FloatArray) -> None:
    """Store a pose, (12,)."""
    row[0:3], row[3:6], row[6:9] = pose.rotation
    row[9:12] = pose.position


@compiled
def relative_pose(pose_a: FloatArray, pose_b: FloatArray, pose: FloatArray) -> None:
    """Compute the pose of the second frame in the first one, (12,)."""
    a, b = load_transform(pose_a), load_transform(pose_b)
    back = a.rotation.T
    store_pose(Transform(back @ b.rotation, back @ (b.position - a.position)), pose)


@compiled
def perpendicular(direction: Vec3) -> Vec3:
    """Return a unit vector perpendicular to a direction, which may be zero."""
    x, y, z = direction
    # direction x e, with e the axis of its smallest component.
    across = Vec(0.0, z, -y)
    if abs(y) < abs(x):
        across = Vec(-z, 0.0, x)
    if abs(z) < min(abs(x), abs(y)):
        across = Vec(y, -x, 0.0)
    length = norm(across)
    return across / length if length > 0.0 else Vec(0.0, 0.0, 1.0)


@compiled
def end_of_segment(pose: FloatArray, half: float) -> Vec3:
    """Return the point at a height on the z axis of a frame [m].

    :param pose: pose of the frame, (12,)
    :param half: the height [m]
    """
    return origin(pose) + half * axis(pose, 2)


@compiled
def add(
    found: FoundPoints,
    count: int,
    feature: int,
    gap: float,
    margin: float,
    on_a: Vec3,
    normal: Vec3,
) -> int:
    """Add a contact point, if its gap is within the margin and it fits.

    :param found: the points; changed
    :param count: number of points so far
    :param feature: number of the features that touch
    :param gap: signed gap [m]
    :param margin: maximum gap [m]
    :param on_a: point on the first shape [m]
    :param normal: unit normal from the first shape to the second
    :return: new number of points
    """
    # A gap of NaN adds nothing.
    if not gap <= margin or count == len(found.gap):
        return count
    found.on_a[count], found.on_b[count], found.normal[count] = on_a, on_a + gap * normal, normal
    found.gap[count], found.feature[count] = gap, feature
    return count + 1
