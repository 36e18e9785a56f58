# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faces and lines of convex cores along a direction, as polygons.

A polygon has a row for each vertex: its three coordinates and the number of the next edge.
All coordinates are those of the shape.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    BOX,
    CAPSULE,
    CYLINDER,
    HULL,
    PlacedShape,
    TRIANGLE,
)
from rbd_ros.collision.pairs.planes import LYING
from rbd_ros.collision.shapes.supports import (
    farthest_face,
    highest_vertex,
    largest_axis,
    main_axis,
    toward,
)
from rbd_ros.compiler.loops import compiled, cross, load_vec, norm, Vec, Vec3

#: Number of points that represent the rim of a cylinder.
POINTS_OF_RIM = 8

#: Column of the number of the edge after a vertex.
EDGE = 3


class Feature(NamedTuple):
    """A face, line or point of a core, a value of compiled loops.

    :param polygon: its vertices, counterclockwise from outside, (N, 4)
    :param corners: number of vertices
    :param normal: outward unit normal of a face
    :param radius: radius around the core [m]
    """

    polygon: FloatArray
    corners: int
    normal: Vec
    number: int
    radius: float


@compiled
def face_of_box(size: FloatArray, direction: Vec3, polygon: FloatArray) -> Tuple[int, Vec3]:
    """Compute the face of a box that is most along a direction; return number and normal."""
    k = main_axis(direction)
    sign = 1.0 if direction[k] >= 0.0 else -1.0
    s, t = (k + 1) % 3, (k + 2) % 3
    for number in range(4):
        polygon[number, k] = sign * size[k]
        # Counterclockwise from outside: the sign of the face reverses the order.
        polygon[number, s] = size[s] if number == 0 or number == 3 else -size[s]
        polygon[number, t] = sign * (size[t] if number < 2 else -size[t])
        polygon[number, EDGE] = number
    return 2 * k + (1 if sign > 0.0 else 0), largest_axis(direction)


@compiled
def face_of_hull(
    shape: PlacedShape, direction: Vec3, polygon: FloatArray
) -> Tuple[int, int, Vec3]:
    """Compute the face of a hull that is most along a direction.

    :return: number of its vertices, its own number, and its normal
    """
    tables, hull = shape.tables, int(shape.size[0])
    face = farthest_face(tables, hull, direction)
    begin, count = tables.ring[face, 0], tables.ring[face, 1]
    for number in range(count):
        v = tables.hull[hull, 0] + tables.corner[begin + number]
        polygon[number, 0:3] = load_vec(tables.vertex[v], 3)
        polygon[number, EDGE] = number
    return count, face - tables.hull[hull, 2], load_vec(tables.face[face], 3)


@compiled
def line_of_cylinder(size: FloatArray, direction: Vec3, polygon: FloatArray) -> None:
    """Compute the line of the side of a cylinder that is farthest along a direction."""
    # Not zero: the cylinder lies, so the direction is mostly across its axis.
    across = math.sqrt(direction[0] * direction[0] + direction[1] * direction[1])
    x, y = size[0] * direction[0] / across, size[0] * direction[1] / across
    polygon[0], polygon[1] = Vec(x, y, -size[1], 0.0), Vec(x, y, size[1], 1.0)


@compiled
def cap_of_cylinder(size: FloatArray, direction: Vec3, polygon: FloatArray) -> Tuple[int, Vec3]:
    """Compute the cap of a cylinder along a direction, as points on its rim.

    Return its number and normal. The first point is the farthest one of the rim.
    """
    sign = 1.0 if direction[2] >= 0.0 else -1.0
    across = math.sqrt(direction[0] * direction[0] + direction[1] * direction[1])
    x, y = 1.0, 0.0
    # Otherwise the direction across the axis is a rounding error.
    if across > 1e-9 * abs(direction[2]):
        x, y = direction[0] / across, direction[1] / across
    # Rotation by 45 degrees: sin and cos are both sqrt(1/2).
    step = math.sqrt(0.5)
    for number in range(POINTS_OF_RIM):
        polygon[number] = Vec(size[0] * x, size[0] * y, sign * size[1], number)
        x, y = step * (x - sign * y), step * (y + sign * x)
    return 1 if sign > 0.0 else 0, Vec(0.0, 0.0, sign)


@compiled
def face_of_triangle(corners: FloatArray, direction: Vec3, polygon: FloatArray) -> Vec3:
    """Compute a triangle, seen from the side of a direction; return its normal."""
    p = load_vec(corners, 3)
    normal = cross(load_vec(corners, 3, 3) - p, load_vec(corners, 3, 6) - p)
    length = norm(normal)
    # A triangle has two sides; the one along the direction is taken, in reversed order.
    if normal @ direction < 0.0:
        length = -length
    for number in range(3):
        corner = number if length > 0.0 else 2 - number
        polygon[number, 0:3] = load_vec(corners, 3, 3 * corner)
        polygon[number, EDGE] = number
    return normal / length


@compiled
def feature_along(
    shape: PlacedShape, direction: Vec3, polygon: FloatArray
) -> Tuple[int, int, Vec3]:
    """Return the face of a core that is most along a direction, or its farthest line or point.

    All coordinates are those of the shape.

    :param direction: unit vector
    :param polygon: vertices of the face, counterclockwise from outside; a result, (32, 4)
    :return: number of vertices, 1 or 2 for a point or line, number of the feature, and
        outward normal of a face
    """
    kind, size = shape.kind, shape.size
    if kind == BOX:
        number, normal = face_of_box(size, direction, polygon)
        return 4, number, normal
    if kind == HULL:
        count, number, normal = face_of_hull(shape, direction, polygon)
        return count, number, normal
    if kind == CYLINDER:
        # A cap for a standing cylinder, a line for a lying one.
        if abs(direction[2]) >= LYING:
            number, normal = cap_of_cylinder(size, direction, polygon)
            return POINTS_OF_RIM, number, normal
        line_of_cylinder(size, direction, polygon)
        return 2, 2, direction
    if kind == TRIANGLE:
        return 3, 0, face_of_triangle(size, direction, polygon)
    # The core of a capsule is a segment, that of a sphere a point.
    half = size[1] if kind == CAPSULE else 0.0
    polygon[0], polygon[1] = Vec(0.0, 0.0, -half, 0.0), Vec(0.0, 0.0, half, 1.0)
    return 2 if half > 0.0 else 1, 0, direction


@compiled
def edge_beside(shape: PlacedShape, direction: Vec3, line: Vec3, polygon: FloatArray) -> int:
    """Return the edge at the farthest vertex of a box or hull that is most parallel to a line.

    :param line: unit vector along the line
    :param polygon: both ends of the edge; a result, (2 or more, 4)
    :return: its number, -1 for other shapes
    """
    size, tables, edge = shape.size, shape.tables, -1
    if shape.kind == BOX:
        # Edges of a box are along its axes: the axis most along the line, at the farthest vertex.
        edge = main_axis(line)
        polygon[0, 0:3] = polygon[1, 0:3] = toward(direction, size)
        polygon[0, edge], polygon[1, edge] = -size[edge], size[edge]
    elif shape.kind == HULL:
        hull = int(size[0])
        first = tables.hull[hull, 0]
        # Only edges at the farthest vertex can touch.
        v = first + highest_vertex(tables, hull, direction, 0)
        most = -1.0
        begin = tables.around[v, 0]
        for e in range(begin, begin + tables.around[v, 1]):
            w = first + tables.neighbor[e]
            offset = load_vec(tables.vertex[w], 3) - load_vec(tables.vertex[v], 3)
            along_line = abs(offset @ line) / norm(offset)
            if along_line > most:
                most = along_line
                # The same number from both ends.
                edge = 256 * min(v - first, w - first) + max(v - first, w - first)
                polygon[0, 0:3] = load_vec(tables.vertex[min(v, w)], 3)
                polygon[1, 0:3] = load_vec(tables.vertex[max(v, w)], 3)
    return edge
