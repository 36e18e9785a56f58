# SPDX-License-Identifier: Apache-2.0
"""Half-spaces against other shapes. The first one is the plane, its z axis the outward normal.

Arguments of all pairs are those of `plane_sphere`.
"""

from __future__ import annotations

import math

from rbd_ros.collision.arrays import FloatArray, FoundPoints
from rbd_ros.collision.vectors import add, axis, cross, dot, end_of_segment, placed
from rbd_ros.compiler.loops import compiled, stack_array

#: Angle between a cylinder's axis and the normal below which its caps count as parallel to the
#: plane [rad]: the direction of the lowest point of a rim would be made of rounding errors.
FLAT = 1e-9

#: Cosine of the angle from which on a cylinder lies rather than stands.
LYING = math.sqrt(0.5)


@compiled
def above_plane(
    plane: FloatArray,
    point: FloatArray,
    radius: float,
    feature: int,
    margin: float,
    found: FoundPoints,
    count: int,
) -> int:
    """Enter the contact of a plane with a ball.

    :param plane: pose of the plane, (12,)
    :param point: center of the ball, (3,) [m]
    :param radius: its radius, which may be zero [m]
    :param feature: its number
    :param margin: maximum gap [m]
    :param found: the points; changed
    :param count: how many there are so far
    :return: how many there are now
    """
    normal, foot = stack_array(3), stack_array(3)
    axis(plane, 2, normal)
    height = 0.0
    for r in range(3):
        height += normal[r] * (point[r] - plane[9 + r])
    for r in range(3):
        # The point of the first shape, the plane, below the center.
        foot[r] = point[r] - height * normal[r]
    return add(found, count, feature, height - radius, margin, foot, normal)


@compiled
def plane_sphere(
    size_a: FloatArray,
    pose_a: FloatArray,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    found: FoundPoints,
) -> int:
    """Return the contact of a plane with a sphere, one point.

    :param size_a: sizes of the first shape (shapes.py), (3,) [m]
    :param pose_a: its pose in the common frame, (12,)
    :param size_b: sizes of the second shape, (3,) [m]
    :param pose_b: its pose, (12,)
    :param margin: maximum gap of what is found [m]
    :param found: contact points; a result
    :return: how many were found
    """
    center = stack_array(3)
    end_of_segment(pose_b, 0.0, center)
    return above_plane(pose_a, center, size_b[0], 0, margin, found, 0)


@compiled
def plane_capsule(
    size_a: FloatArray,
    pose_a: FloatArray,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    found: FoundPoints,
) -> int:
    """Return the contact of a plane with a capsule, one point for each of its ends."""
    end = stack_array(3)
    end_of_segment(pose_b, -size_b[1], end)
    count = above_plane(pose_a, end, size_b[0], 0, margin, found, 0)
    # A capsule without length is a ball: one point, not the same one twice.
    if size_b[1] > 0.0:
        end_of_segment(pose_b, size_b[1], end)
        count = above_plane(pose_a, end, size_b[0], 1, margin, found, count)
    return count


@compiled
def plane_box(
    size_a: FloatArray,
    pose_a: FloatArray,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    found: FoundPoints,
) -> int:
    """Return the contact of a plane with a box: vertices of the face that looks down most.

    The lowest vertex of the box is among them. The feature is 4 times the number of the face
    (2 k + 1 for the positive side of axis k, 2 k for the other) plus that of the vertex.
    """
    normal, side, corner, point = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    axis(pose_a, 2, normal)
    face, most, sign = 0, -1.0, 1.0
    for k in range(3):
        axis(pose_b, k, side)
        upward = dot(normal, side)
        # The face whose normal is most against that of the plane.
        if abs(upward) > most:
            face, most = k, abs(upward)
            sign = -1.0 if upward > 0.0 else 1.0
    s, t = (face + 1) % 3, (face + 2) % 3
    count = 0
    for number in range(4):
        corner[face] = sign * size_b[face]
        corner[s] = size_b[s] if number % 2 == 1 else -size_b[s]
        corner[t] = size_b[t] if number >= 2 else -size_b[t]
        placed(pose_b, corner, point)
        vertex = 4 * (2 * face + (1 if sign > 0.0 else 0)) + number
        count = above_plane(pose_a, point, 0.0, vertex, margin, found, count)
    return count


@compiled
def plane_cylinder(
    size_a: FloatArray,
    pose_a: FloatArray,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    found: FoundPoints,
) -> int:
    """Return the contact of a plane with a cylinder.

    One that stands has four points on its lower rim, the lowest and those at quarter turns from
    it; one that lies has the lowest point of each rim. The lowest one is exact in every pose, so
    that a cylinder rolls without a bump.
    """
    normal, spindle, down, across, point = (
        stack_array(3),
        stack_array(3),
        stack_array(3),
        stack_array(3),
        stack_array(3),
    )
    axis(pose_a, 2, normal)
    axis(pose_b, 2, spindle)
    upward = dot(spindle, normal)
    for r in range(3):
        # -n less its part along the axis: radial, toward the lowest point of a rim.
        down[r] = upward * spindle[r] - normal[r]
    length = math.sqrt(dot(down, down))
    for r in range(3):
        down[r] = down[r] / length if length > FLAT else pose_b[3 * r]
    cross(spindle, down, across)
    rim = -1.0 if upward > 0.0 else 1.0
    # Of the lower rim, numbers 0 to 3 or, of that at the positive end of the axis, 4 to 7.
    first = 4 if rim > 0.0 else 0
    count = 0
    for number in range(4):
        lies = abs(upward) < LYING
        if lies and number >= 2:
            continue
        sign = size_b[0] if number < 2 or lies else -size_b[0]
        # Lying: the second point is the lowest one of the upper rim.
        height = -rim * size_b[1] if lies and number == 1 else rim * size_b[1]
        for r in range(3):
            radial = down[r] if number % 2 == 0 or lies else across[r]
            point[r] = pose_b[9 + r] + height * spindle[r] + sign * radial
        feature = 4 - first if lies and number == 1 else first + number
        count = above_plane(pose_a, point, 0.0, feature, margin, found, count)
    return count
