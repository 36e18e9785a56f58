# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Half-spaces against other shapes. The first shape is the plane, its z axis the outward normal.

Arguments of all pairs are those of `plane_sphere`. A convex hull has at most four contacts.
"""

from __future__ import annotations

import math

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    FoundPoints,
    PlacedShape,
)
from rbd_ros.collision.convex.reduction import choose
from rbd_ros.collision.shapes.supports import highest_vertex
from rbd_ros.collision.vectors import (
    add,
    axis,
    end_of_segment,
    origin,
    perpendicular,
    placed,
    rotated_back,
)
from rbd_ros.compiler.loops import (
    compiled,
    cross,
    load_vec,
    norm,
    stack_array,
    stack_matrix,
    Vec,
    Vec3,
)

#: Angle between a cylinder's axis and the normal below which its caps count as parallel to the
#: plane [rad]: below, the direction of a rim's lowest point is a rounding error.
FLAT = 1e-9

#: Cosine of the angle that separates lying from standing cylinders.
LYING = math.sqrt(0.5)


@compiled
def above_plane(
    plane: FloatArray,
    point: Vec3,
    radius: float,
    feature: int,
    margin: float,
    found: FoundPoints,
    count: int,
) -> int:
    """Add the contact of a plane with a sphere.

    :param plane: pose of the plane, (12,)
    :param point: center of the sphere [m]
    :param radius: its radius, which may be zero [m]
    :param feature: its number
    :param margin: maximum gap [m]
    :param found: the points; changed
    :param count: number of points so far
    :return: new number of points
    """
    normal = axis(plane, 2)
    height = normal @ (point - origin(plane))
    # The point of the first shape, the plane, below the center.
    foot = point - height * normal
    return add(found, count, feature, height - radius, margin, foot, normal)


@compiled
def plane_sphere(a: PlacedShape, b: PlacedShape, margin: float, found: FoundPoints) -> int:
    """Return the contact of a plane with a sphere, one point.

    :param a: the first shape, with its pose in the common frame
    :param b: the second one
    :param margin: maximum gap [m]
    :param found: contact points; a result
    :return: number of points
    """
    return above_plane(a.pose, origin(b.pose), b.size[0], 0, margin, found, 0)


@compiled
def plane_capsule(a: PlacedShape, b: PlacedShape, margin: float, found: FoundPoints) -> int:
    """Return the contact of a plane with a capsule, one point for each of its ends."""
    radius, half = b.size[0], b.size[1]
    count = above_plane(a.pose, end_of_segment(b.pose, -half), radius, 0, margin, found, 0)
    # A capsule without length is a sphere, with one point.
    if half > 0.0:
        end = end_of_segment(b.pose, half)
        count = above_plane(a.pose, end, radius, 1, margin, found, count)
    return count


@compiled
def plane_box(a: PlacedShape, b: PlacedShape, margin: float, found: FoundPoints) -> int:
    """Return the contact of a plane with a box: vertices of the face that faces it most.

    The lowest vertex of the box is among them. The feature is 4 times the number of the face
    (2 k + 1 for the positive side of axis k, 2 k for the other) plus that of the vertex.
    """
    normal, corner, half = axis(a.pose, 2), stack_array(3), b.size
    face, most, sign = 0, -1.0, 1.0
    for k in range(3):
        upward = normal @ axis(b.pose, k)
        # The face whose normal is most against that of the plane.
        if abs(upward) > most:
            face, most = k, abs(upward)
            sign = -1.0 if upward > 0.0 else 1.0
    s, t = (face + 1) % 3, (face + 2) % 3
    count = 0
    for number in range(4):
        corner[face] = sign * half[face]
        corner[s] = half[s] if number % 2 == 1 else -half[s]
        corner[t] = half[t] if number >= 2 else -half[t]
        point = placed(b.pose, load_vec(corner, 3))
        vertex = 4 * (2 * face + (1 if sign > 0.0 else 0)) + number
        count = above_plane(a.pose, point, 0.0, vertex, margin, found, count)
    return count


@compiled
def plane_cylinder(a: PlacedShape, b: PlacedShape, margin: float, found: FoundPoints) -> int:
    """Return the contact of a plane with a cylinder.

    A standing one has four points on its lower rim, the lowest and those at quarter turns; a lying
    one has the lowest point of each rim. The lowest one is exact in every pose, so a cylinder
    rolls without bumps.
    """
    normal, spindle, radius, half = axis(a.pose, 2), axis(b.pose, 2), b.size[0], b.size[1]
    upward = spindle @ normal
    # -n without its component along the axis: radial, toward the lowest point of a rim.
    down = upward * spindle - normal
    length = norm(down)
    down = down / length if length > FLAT else axis(b.pose, 0)
    across = cross(spindle, down)
    rim = -1.0 if upward > 0.0 else 1.0
    # First number on the lower rim: 0, or 4 at the positive end of the axis.
    first = 4 if rim > 0.0 else 0
    count = 0
    for number in range(4):
        lies = abs(upward) < LYING
        if lies and number >= 2:
            continue
        radial = down if number % 2 == 0 or lies else across
        sign = radius if number < 2 or lies else -radius
        # Lying: the second point is the lowest one of the upper rim.
        height = -rim * half if lies and number == 1 else rim * half
        point = origin(b.pose) + height * spindle + sign * radial
        feature = 4 - first if lies and number == 1 else first + number
        count = above_plane(a.pose, point, 0.0, feature, margin, found, count)
    return count


#: Column of the number of a vertex.
_NUMBER = 3


@compiled
def plane_hull(
    a: PlacedShape, b: PlacedShape, hull: int, margin: float, nearest: bool, found: FoundPoints
) -> int:
    """Return the contact of a plane with a hull, which is given by its number.

    Other arguments are those of `find_contacts` (narrow_phase.py). The points are the lowest and
    those that span the most, of all vertices within the margin. Features are numbers of vertices.
    """
    points, chosen, tables = stack_matrix(256, 4), stack_array(4), b.tables
    normal, first = axis(a.pose, 2), tables.hull[hull, 0]
    if nearest:
        lowest = highest_vertex(tables, hull, -rotated_back(b.pose, normal), 0)
        point = placed(b.pose, load_vec(tables.vertex[first + lowest], 3))
        return above_plane(a.pose, point, 0.0, lowest, margin, found, 0)
    u = perpendicular(normal)
    v = cross(normal, u)
    level = normal @ origin(a.pose)
    within = 0
    for k in range(tables.hull[hull, 1]):
        point = placed(b.pose, load_vec(tables.vertex[first + k], 3))
        height = normal @ point - level
        if height <= margin:
            points[within] = Vec(u @ point, v @ point, height, k)
            within += 1
    number = choose(points, within, chosen)
    count = 0
    for n in range(number):
        k = int(points[int(chosen[n]), _NUMBER])
        point = placed(b.pose, load_vec(tables.vertex[first + k], 3))
        count = above_plane(a.pose, point, 0.0, k, margin, found, count)
    return count
