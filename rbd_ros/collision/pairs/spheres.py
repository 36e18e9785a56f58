# SPDX-License-Identifier: Apache-2.0
"""Spheres against spheres, capsules, boxes and cylinders: one point each.

The first shape is a sphere. Arguments are those of `plane_sphere` (planes.py).
"""

from __future__ import annotations

import math

from rbd_ros.collision.arrays import FloatArray, FoundPoints
from rbd_ros.collision.shapes.solid_distances import distance_from_box, distance_from_cylinder
from rbd_ros.collision.vectors import (
    add,
    axis,
    COINCIDENT,
    difference,
    dot,
    end_of_segment,
    localized,
    perpendicular,
    turned,
)
from rbd_ros.compiler.loops import compiled, stack_array


@compiled
def add_balls(
    center_a: FloatArray,
    radius_a: float,
    center_b: FloatArray,
    radius_b: float,
    otherwise: FloatArray,
    feature: int,
    margin: float,
    found: FoundPoints,
    count: int,
) -> int:
    """Enter the contact of two balls.

    :param center_a: center of the first one, (3,) [m]
    :param radius_a: its radius [m]
    :param center_b: center of the second one, (3,) [m]
    :param radius_b: its radius [m]
    :param otherwise: unit normal if the centers coincide, (3,)
    :param feature: number of the features
    :param margin: maximum gap [m]
    :param found: the points; changed
    :param count: how many there are so far
    :return: how many there are now
    """
    normal, on_a = stack_array(3), stack_array(3)
    difference(center_b, center_a, normal)
    length = math.sqrt(dot(normal, normal))
    for r in range(3):
        # Coincident centers have no direction: one that the caller gives keeps the result finite.
        normal[r] = normal[r] / length if length > COINCIDENT else otherwise[r]
        # The point of the first ball that is farthest into the second one.
        on_a[r] = center_a[r] + radius_a * normal[r]
    return add(found, count, feature, length - radius_a - radius_b, margin, on_a, normal)


@compiled
def add_ball_at_solid(
    center: FloatArray,
    radius: float,
    pose: FloatArray,
    outward: FloatArray,
    distance: float,
    feature: int,
    margin: float,
    found: FoundPoints,
    count: int,
) -> int:
    """Enter the contact of a ball with a solid that is the second shape.

    :param center: center of the ball, (3,) [m]
    :param radius: its radius [m]
    :param pose: pose of the solid, (12,)
    :param outward: outward normal of the solid in its own coordinates, (3,)
    :param distance: signed distance of the center from the solid [m]
    :param feature: number of the features
    :param margin: maximum gap [m]
    :param found: the points; changed
    :param count: how many there are so far
    :return: how many there are now
    """
    normal, on_a = stack_array(3), stack_array(3)
    # Distances are computed in coordinates of the solid; contacts are in the common frame.
    turned(pose, outward, normal)
    for r in range(3):
        # Outward of the solid, the second shape, is toward the first: normals are the other way.
        normal[r] = -normal[r]
        on_a[r] = center[r] + radius * normal[r]
    return add(found, count, feature, distance - radius, margin, on_a, normal)


@compiled
def sphere_sphere(
    size_a: FloatArray,
    pose_a: FloatArray,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    found: FoundPoints,
) -> int:
    """Return contact of two spheres; of concentric ones the normal is the z axis of the first."""
    a, b, upward = stack_array(3), stack_array(3), stack_array(3)
    end_of_segment(pose_a, 0.0, a)
    end_of_segment(pose_b, 0.0, b)
    # A fixed choice rather than NaN, and it turns with the first sphere.
    axis(pose_a, 2, upward)
    return add_balls(a, size_a[0], b, size_b[0], upward, 0, margin, found, 0)


@compiled
def sphere_capsule(
    size_a: FloatArray,
    pose_a: FloatArray,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    found: FoundPoints,
) -> int:
    """Return the contact of a sphere with a capsule.

    Features are its ends, 0 and 2, and its side, 1.
    """
    a, b, spindle, sideways = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    end_of_segment(pose_a, 0.0, a)
    axis(pose_b, 2, spindle)
    # Where the center is on the axis, every direction across it is as near.
    perpendicular(spindle, sideways)
    height = 0.0
    for r in range(3):
        # The nearest point of the segment: the center projected onto the axis, clamped to both
        # ends.
        height += spindle[r] * (a[r] - pose_b[9 + r])
    half = size_b[1]
    feature = 2 if height > half else (0 if height < -half else 1)
    end_of_segment(pose_b, min(half, max(-half, height)), b)
    return add_balls(a, size_a[0], b, size_b[0], sideways, feature, margin, found, 0)


@compiled
def sphere_box(
    size_a: FloatArray,
    pose_a: FloatArray,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    found: FoundPoints,
) -> int:
    """Return the contact of a sphere with a box; features are those of `distance_from_box`."""
    center, local, outward = stack_array(3), stack_array(3), stack_array(3)
    end_of_segment(pose_a, 0.0, center)
    localized(pose_b, center, local)
    # The signed distance holds inside as well: the way out through the nearest face.
    distance, feature = distance_from_box(local, size_b, outward)
    return add_ball_at_solid(
        center, size_a[0], pose_b, outward, distance, feature, margin, found, 0
    )


@compiled
def sphere_cylinder(
    size_a: FloatArray,
    pose_a: FloatArray,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    found: FoundPoints,
) -> int:
    """Return the contact of a sphere with a cylinder.

    Features are those of `distance_from_cylinder`.
    """
    center, local, outward = stack_array(3), stack_array(3), stack_array(3)
    end_of_segment(pose_a, 0.0, center)
    localized(pose_b, center, local)
    distance, feature = distance_from_cylinder(local, size_b, outward)
    return add_ball_at_solid(
        center, size_a[0], pose_b, outward, distance, feature, margin, found, 0
    )
