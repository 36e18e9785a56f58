# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Spheres against spheres, capsules, boxes and cylinders: one point each.

The first shape is a sphere. Arguments are those of `plane_sphere` (planes.py).
"""

from __future__ import annotations

from typing import NamedTuple

from rbd_ros.collision.arrays import FoundPoints, PlacedShape
from rbd_ros.collision.pairs.nearest_points import distance_from_box, distance_from_cylinder
from rbd_ros.collision.vectors import (
    add,
    axis,
    COINCIDENT,
    end_of_segment,
    localized,
    origin,
    perpendicular,
    rotated,
)
from rbd_ros.compiler.loops import compiled, norm, Vec, Vec3


class Ball(NamedTuple):
    """A ball, a value of compiled loops.

    :param center: its center [m]
    :param radius: its radius [m]
    """

    center: Vec
    radius: float


@compiled
def add_balls(
    a: Ball,
    b: Ball,
    otherwise: Vec3,
    feature: int,
    margin: float,
    found: FoundPoints,
    count: int,
) -> int:
    """Add the contact of two balls.

    :param otherwise: unit normal if the centers coincide
    :param feature: number of the features
    :param margin: maximum gap [m]
    :param found: the points; changed
    :param count: number of points so far
    :return: new number of points
    """
    between = b.center - a.center
    length = norm(between)
    # Coincident centers have no direction: the caller's keeps the result finite.
    normal = between / length if length > COINCIDENT else otherwise
    # The point of the first ball deepest in the second one.
    on_a = a.center + a.radius * normal
    return add(found, count, feature, length - a.radius - b.radius, margin, on_a, normal)


@compiled
def add_ball_at_solid(
    ball: Ball,
    outward: Vec3,
    distance: float,
    feature: int,
    margin: float,
    found: FoundPoints,
    count: int,
) -> int:
    """Add the contact of a ball with a solid that is the second shape.

    :param outward: outward normal of the solid
    :param distance: signed distance of the center from the solid [m]
    :param feature: number of the features
    :param margin: maximum gap [m]
    :param found: the points; changed
    :param count: number of points so far
    :return: new number of points
    """
    # Contact normals point from the first shape to the second, against the solid's.
    on_a = ball.center - ball.radius * outward
    return add(found, count, feature, distance - ball.radius, margin, on_a, -outward)


@compiled
def sphere_sphere(a: PlacedShape, b: PlacedShape, margin: float, found: FoundPoints) -> int:
    """Return the contact of two spheres; the normal of concentric ones is z of the first."""
    # Any fixed choice avoids NaN; this one rotates with the first sphere.
    upward = axis(a.pose, 2)
    first, second = Ball(origin(a.pose), a.size[0]), Ball(origin(b.pose), b.size[0])
    return add_balls(first, second, upward, 0, margin, found, 0)


@compiled
def sphere_capsule(a: PlacedShape, b: PlacedShape, margin: float, found: FoundPoints) -> int:
    """Return the contact of a sphere with a capsule.

    Features are its ends, 0 and 2, and its side, 1.
    """
    center, spindle, half = origin(a.pose), axis(b.pose, 2), b.size[1]
    # If the center is on the axis, all directions across it are equal.
    sideways = perpendicular(spindle)
    # The nearest point of the segment: the center projected onto the axis, clamped to both ends.
    height = spindle @ (center - origin(b.pose))
    feature = 2 if height > half else (0 if height < -half else 1)
    second = Ball(end_of_segment(b.pose, min(half, max(-half, height))), b.size[0])
    return add_balls(Ball(center, a.size[0]), second, sideways, feature, margin, found, 0)


@compiled
def sphere_box(a: PlacedShape, b: PlacedShape, margin: float, found: FoundPoints) -> int:
    """Return the contact of a sphere with a box; features are those of `distance_from_box`."""
    ball = Ball(origin(a.pose), a.size[0])
    # Inside, the signed distance leads through the nearest face.
    distance, feature, outward = distance_from_box(localized(b.pose, ball.center), b.size)
    return add_ball_at_solid(ball, rotated(b.pose, outward), distance, feature, margin, found, 0)


@compiled
def sphere_cylinder(a: PlacedShape, b: PlacedShape, margin: float, found: FoundPoints) -> int:
    """Return the contact of a sphere with a cylinder.

    Features are those of `distance_from_cylinder`.
    """
    ball = Ball(origin(a.pose), a.size[0])
    distance, feature, outward = distance_from_cylinder(localized(b.pose, ball.center), b.size)
    return add_ball_at_solid(ball, rotated(b.pose, outward), distance, feature, margin, found, 0)
