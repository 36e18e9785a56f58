# SPDX-License-Identifier: Apache-2.0
"""Faces and lines of convex cores that look along a direction, as polygons.

A polygon has a row for each vertex: its three coordinates and the number of the edge that follows.
Everything is in coordinates of the shape.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.collision.arrays import BOX, CAPSULE, CYLINDER, FloatArray, HULL, Tables, TRIANGLE
from rbd_ros.collision.pairs.planes import LYING
from rbd_ros.collision.shapes.supports import highest_vertex
from rbd_ros.collision.vectors import cross, dot
from rbd_ros.compiler.loops import compiled, stack_array

#: Number of points on the rim of a cylinder that stand for it.
POINTS_OF_RIM = 8

#: Column of the number of the edge that follows a vertex.
EDGE = 3


@compiled
def face_of_box(
    size: FloatArray, direction: FloatArray, normal: FloatArray, polygon: FloatArray
) -> int:
    """Compute the face of a box that looks along a direction most; return its number."""
    k = 0
    for r in range(1, 3):
        if abs(direction[r]) > abs(direction[k]):
            k = r
    sign = 1.0 if direction[k] >= 0.0 else -1.0
    s, t = (k + 1) % 3, (k + 2) % 3
    normal[0] = normal[1] = normal[2] = 0.0
    normal[k] = sign
    for number in range(4):
        polygon[number, k] = sign * size[k]
        # Anticlockwise as seen from outside: the sign of the face turns the order round.
        polygon[number, s] = size[s] if number == 0 or number == 3 else -size[s]
        polygon[number, t] = sign * (size[t] if number < 2 else -size[t])
        polygon[number, EDGE] = number
    return 2 * k + (1 if sign > 0.0 else 0)


@compiled
def face_of_hull(
    tables: Tables, hull: int, direction: FloatArray, normal: FloatArray, polygon: FloatArray
) -> Tuple[int, int]:
    """Return the face, of those at a hull's farthest vertex, that looks along a direction most.

    :return: number of its vertices, and its own
    """
    first = tables.hull[hull, 0]
    v = first + highest_vertex(tables, hull, direction, 0)
    face, most = 0, -math.inf
    begin = tables.around[v, 2]
    # The face most along the direction has the farthest vertex, so only faces at that vertex are
    # compared.
    for number in range(begin, begin + tables.around[v, 3]):
        f = tables.face_at[number]
        forward = dot(tables.face[f], direction)
        if forward > most:
            face, most = f, forward
    for r in range(3):
        normal[r] = tables.face[face, r]
    begin, count = tables.ring[face, 0], tables.ring[face, 1]
    for number in range(count):
        v = first + tables.corner[begin + number]
        for r in range(3):
            polygon[number, r] = tables.vertex[v, r]
        polygon[number, EDGE] = number
    return count, face - tables.hull[hull, 2]


@compiled
def line_of_cylinder(size: FloatArray, direction: FloatArray, polygon: FloatArray) -> None:
    """Compute the line of the side of a cylinder that is farthest along a direction."""
    # Not zero: the cylinder lies, so that the direction is mostly across its axis.
    across = math.sqrt(direction[0] * direction[0] + direction[1] * direction[1])
    for number in range(2):
        polygon[number, 0] = size[0] * direction[0] / across
        polygon[number, 1] = size[0] * direction[1] / across
        polygon[number, 2] = size[1] if number == 1 else -size[1]
        polygon[number, EDGE] = number


@compiled
def cap_of_cylinder(
    size: FloatArray, direction: FloatArray, normal: FloatArray, polygon: FloatArray
) -> int:
    """Compute the cap of a cylinder that looks along a direction, as points on its rim.

    Returns its number.

    The first of them is the farthest one of the rim.
    """
    sign = 1.0 if direction[2] >= 0.0 else -1.0
    normal[0], normal[1], normal[2] = 0.0, 0.0, sign
    across = math.sqrt(direction[0] * direction[0] + direction[1] * direction[1])
    x, y = 1.0, 0.0
    # What is left of the direction beside the axis would be rounding errors.
    if across > 1e-9 * abs(direction[2]):
        x, y = direction[0] / across, direction[1] / across
    # Turns by 45 degrees without further sines: sin and cos of it are both sqrt(1/2).
    step = math.sqrt(0.5)
    for number in range(POINTS_OF_RIM):
        polygon[number, 0], polygon[number, 1] = size[0] * x, size[0] * y
        polygon[number, 2] = sign * size[1]
        polygon[number, EDGE] = number
        x, y = step * (x - sign * y), step * (y + sign * x)
    return 1 if sign > 0.0 else 0


@compiled
def face_of_triangle(
    corners: FloatArray, direction: FloatArray, normal: FloatArray, polygon: FloatArray
) -> None:
    """Compute the triangle, seen from the side that a direction points to."""
    e, f = stack_array(3), stack_array(3)
    for r in range(3):
        e[r], f[r] = corners[3 + r] - corners[r], corners[6 + r] - corners[r]
    cross(e, f, normal)
    length = math.sqrt(dot(normal, normal))
    # A triangle has two sides; the one that looks along the direction is taken, in reversed order.
    if dot(normal, direction) < 0.0:
        length = -length
    for number in range(3):
        normal[number] = normal[number] / length
        corner = number if length > 0.0 else 2 - number
        for r in range(3):
            polygon[number, r] = corners[3 * corner + r]
        polygon[number, EDGE] = number


@compiled
def feature_along(
    kind: int,
    size: FloatArray,
    tables: Tables,
    direction: FloatArray,
    normal: FloatArray,
    polygon: FloatArray,
) -> Tuple[int, int]:
    """Return the face of a core that looks along a direction most, or its farthest line or point.

    :param kind: kind of the shape
    :param size: its sizes, (3,) [m]
    :param tables: tables of hulls
    :param direction: unit vector, (3,)
    :param normal: outward normal of a face; a result, (3,)
    :param polygon: vertices of the face, anticlockwise from outside; a result, (32, 4)
    :return: how many vertices there are, 1 or 2 for what is no face, and number of the feature
    """
    if kind == BOX:
        return 4, face_of_box(size, direction, normal, polygon)
    if kind == HULL:
        return face_of_hull(tables, int(size[0]), direction, normal, polygon)
    if kind == CYLINDER:
        # Standing it has a cap, lying a line, whichever is closer to the direction.
        if abs(direction[2]) >= LYING:
            return POINTS_OF_RIM, cap_of_cylinder(size, direction, normal, polygon)
        line_of_cylinder(size, direction, polygon)
        return 2, 2
    if kind == TRIANGLE:
        face_of_triangle(size, direction, normal, polygon)
        return 3, 0
    # The core of a capsule is a segment, that of a sphere a point.
    half = size[1] if kind == CAPSULE else 0.0
    for number in range(2):
        polygon[number, 0] = polygon[number, 1] = 0.0
        polygon[number, 2] = half if number == 1 else -half
        polygon[number, EDGE] = number
    return 2 if half > 0.0 else 1, 0


@compiled
def edge_beside(
    kind: int,
    size: FloatArray,
    tables: Tables,
    direction: FloatArray,
    line: FloatArray,
    polygon: FloatArray,
) -> int:
    """Return the edge at the farthest vertex of a box or hull that is most parallel to a line.

    :param line: unit vector along the line, (3,)
    :param polygon: both ends of the edge; a result, (2 or more, 4)
    :return: its number, -1 for other shapes
    """
    edge, offset = -1, stack_array(3)
    if kind == BOX:
        edge = 0
        for k in range(3):
            # Edges of a box are along its axes: the axis most along the line, at the vertex
            # farthest along the direction.
            if abs(line[k]) > abs(line[edge]):
                edge = k
        for number in range(2):
            for k in range(3):
                polygon[number, k] = size[k] if direction[k] >= 0.0 else -size[k]
            polygon[number, edge] = size[edge] if number == 1 else -size[edge]
    elif kind == HULL:
        hull = int(size[0])
        first = tables.hull[hull, 0]
        # Only edges at the farthest vertex can touch.
        v = first + highest_vertex(tables, hull, direction, 0)
        most = -1.0
        begin = tables.around[v, 0]
        for e in range(begin, begin + tables.around[v, 1]):
            w = first + tables.neighbor[e]
            for r in range(3):
                offset[r] = tables.vertex[w, r] - tables.vertex[v, r]
            along_line = abs(dot(offset, line)) / math.sqrt(dot(offset, offset))
            if along_line > most:
                most = along_line
                # The same number from both ends.
                edge = 256 * min(v - first, w - first) + max(v - first, w - first)
                for r in range(3):
                    polygon[0, r] = tables.vertex[min(v, w), r]
                    polygon[1, r] = tables.vertex[max(v, w), r]
    return edge
