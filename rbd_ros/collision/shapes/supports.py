# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Supports: the farthest points along a direction, of convex shapes and of their differences.

A shape is a core and a radius around it: the core of a sphere is a point, that of a capsule a
segment; other shapes have no radius. All coordinates are those of the first shape of a pair;
`pose` is that of the second one in it, (12,).
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    BOX,
    CAPSULE,
    CYLINDER,
    HULL,
    PlacedShape,
    SPHERE,
    Tables,
    TRIANGLE,
)
from rbd_ros.collision.vectors import placed, rotated_back, unit_vector
from rbd_ros.compiler.loops import compiled, load_vec, Vec, Vec3

#: Maximum number of vertices that are all tested; with more, edges are followed upwards.
FEW = 16

#: Columns of a point of the difference of two shapes: itself, the points of both shapes, their
#: numbers, and its weight in the nearest point of a simplex.
OF_A, OF_B, NUMBER_A, NUMBER_B, WEIGHT = 3, 6, 9, 10, 11


@compiled
def radius_of(shape: PlacedShape) -> float:
    """Return the radius around the core of a shape [m]."""
    return shape.size[0] if shape.kind == SPHERE or shape.kind == CAPSULE else 0.0


@compiled
def highest_vertex(tables: Tables, hull: int, direction: Vec3, start: int) -> int:
    """Return the number of the vertex of a hull that is farthest along a direction.

    :param tables: vertices and their neighbors
    :param hull: number of the hull
    :param direction: the direction in coordinates of the hull
    :param start: number of the first vertex
    """
    first, count = tables.hull[hull, 0], tables.hull[hull, 1]
    # Hill climbing from the vertex of the last call: directions of iterations are similar.
    best = 0 if count <= FEW else start
    most = load_vec(tables.vertex[first + best], 3) @ direction
    if count <= FEW:
        for k in range(1, count):
            height = load_vec(tables.vertex[first + k], 3) @ direction
            if height > most:
                best, most = k, height
        return best
    # A vertex without a higher neighbor is the highest one of a convex hull.
    rising = True
    while rising:
        rising = False
        here = first + best
        begin = tables.around[here, 0]
        for e in range(begin, begin + tables.around[here, 1]):
            k = tables.neighbor[e]
            height = load_vec(tables.vertex[first + k], 3) @ direction
            if height > most:
                best, most, rising = k, height, True
    return best


@compiled
def farthest_face(tables: Tables, hull: int, direction: Vec3) -> int:
    """Return the face at a hull's farthest vertex that is most along a direction.

    It is the face of the hull most along the direction.
    """
    v = tables.hull[hull, 0] + highest_vertex(tables, hull, direction, 0)
    face, most = 0, -math.inf
    begin = tables.around[v, 2]
    for number in range(begin, begin + tables.around[v, 3]):
        f = tables.face_at[number]
        forward = load_vec(tables.face[f], 3) @ direction
        if forward > most:
            face, most = f, forward
    return face


@compiled
def main_axis(direction: Vec3) -> int:
    """Return the number of the coordinate axis most along a direction."""
    x, y, z = abs(direction[0]), abs(direction[1]), abs(direction[2])
    if z > max(x, y):
        return 2
    return 1 if y > x else 0


@compiled
def largest_axis(direction: Vec3) -> Vec3:
    """Return the coordinate axis most along a direction, as a unit vector of either sign."""
    k = main_axis(direction)
    return (1.0 if direction[k] >= 0.0 else -1.0) * unit_vector(k)


@compiled
def toward(direction: Vec3, half: FloatArray) -> Vec3:
    """Return the vertex of a box that is farthest along a direction in its coordinates [m].

    Zero counts as positive: features need the same one of several farthest vertices.

    :param half: half lengths, (3,) [m]
    """
    x, y, z = half[0], half[1], half[2]
    return Vec(
        x if direction[0] >= 0.0 else -x,
        y if direction[1] >= 0.0 else -y,
        z if direction[2] >= 0.0 else -z,
    )


@compiled
def support(shape: PlacedShape, direction: Vec3, start: int) -> Tuple[Vec3, int]:
    """Return the point of the core of a shape that is farthest along a direction.

    All coordinates are those of the shape.

    :param direction: the direction, any length
    :param start: number of the last such point, where the search begins
    :return: the point [m], and its number: of a vertex, the end of a capsule, the rim of a
        cylinder
    """
    kind, size, tables = shape.kind, shape.size, shape.tables
    if kind == BOX:
        x, y, z = direction
        return toward(direction, size), 4 * (x >= 0.0) + 2 * (y >= 0.0) + (z >= 0.0)
    if kind == HULL:
        hull = int(size[0])
        number = highest_vertex(tables, hull, direction, start)
        return load_vec(tables.vertex[tables.hull[hull, 0] + number], 3), number
    if kind == TRIANGLE:
        number = 0
        most = load_vec(size, 3) @ direction
        for k in range(1, 3):
            height = load_vec(size, 3, 3 * k) @ direction
            if height > most:
                number, most = k, height
        return load_vec(size, 3, 3 * number), number
    if kind == SPHERE:
        return Vec(0.0, 0.0, 0.0), 0
    # Ends of a capsule's segment, or caps of a cylinder.
    number = 1 if direction[2] >= 0.0 else 0
    point = Vec(0.0, 0.0, size[1] if number == 1 else -size[1])
    if kind == CYLINDER:
        across = math.sqrt(direction[0] * direction[0] + direction[1] * direction[1])
        # Along the axis all points of the cap are equal: its center represents them.
        if across > 0.0:
            point = Vec(size[0] * direction[0] / across, size[0] * direction[1] / across, point[2])
    return point, number


@compiled
def support_of_difference(
    a: PlacedShape, b: PlacedShape, direction: Vec3, start_a: int, start_b: int, row: FloatArray
) -> Tuple[Vec3, int, int]:
    """Return the point of the difference a - b of two cores that is farthest along a direction.

    :param b: the second shape, with its pose in coordinates of the first one
    :param direction: the direction, any length
    :param start_a: number of the last such point of the first shape
    :param start_b: number of the last such point of the second shape
    :param row: the point and its parts; a result, (12,)
    :return: the point [m], and numbers of the points of both
    """
    # The support of a - b along d is that of a along d minus that of b along -d, in b's
    # coordinates.
    on_a, number_a = support(a, direction, start_a)
    local, number_b = support(b, -rotated_back(b.pose, direction), start_b)
    on_b = placed(b.pose, local)
    point = on_a - on_b
    row[0:OF_A], row[OF_A:OF_B], row[OF_B:NUMBER_A] = point, on_a, on_b
    # Numbers identify features, and start the next search.
    row[NUMBER_A], row[NUMBER_B] = number_a, number_b
    return point, number_a, number_b
