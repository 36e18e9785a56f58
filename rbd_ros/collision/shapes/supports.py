# SPDX-License-Identifier: Apache-2.0
"""Points of convex shapes that are farthest along a direction, and those of their differences.

A shape is its core and a radius around it: that of a sphere is a point, that of a capsule a
segment, and other shapes are cores without a radius. Everything is in coordinates of the first
shape of a pair; `pose` is that of the second one in it, (12,).
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.collision.arrays import (
    BOX,
    CAPSULE,
    CYLINDER,
    FloatArray,
    HULL,
    SPHERE,
    Tables,
    TRIANGLE,
)
from rbd_ros.collision.vectors import dot, placed
from rbd_ros.compiler.loops import compiled, stack_array

#: Number of vertices up to which all are looked at; of more, edges are followed upwards.
FEW = 16

#: Columns of a point of the difference of two shapes: itself, the points of both shapes that it is
#: the difference of, their numbers, and its share of the nearest point of a simplex.
OF_A, OF_B, NUMBER_A, NUMBER_B, SHARE = 3, 6, 9, 10, 11


@compiled
def radius_of(kind: int, size: FloatArray) -> float:
    """Return the radius around the core of a shape [m]."""
    return size[0] if kind == SPHERE or kind == CAPSULE else 0.0


@compiled
def highest_vertex(tables: Tables, hull: int, direction: FloatArray, start: int) -> int:
    """Return the number of the vertex of a hull that is farthest along a direction.

    :param tables: vertices and their neighbors
    :param hull: number of the hull
    :param direction: the direction in coordinates of the hull, (3,)
    :param start: number of a vertex where to begin
    """
    first, count = tables.hull[hull, 0], tables.hull[hull, 1]
    x, y, z = direction[0], direction[1], direction[2]
    # Hill climbing from the vertex of the last call: directions of an iteration are close to each
    # other.
    best = 0 if count <= FEW else start
    v = first + best
    most = tables.vertex[v, 0] * x + tables.vertex[v, 1] * y + tables.vertex[v, 2] * z
    if count <= FEW:
        for k in range(1, count):
            v = first + k
            height = tables.vertex[v, 0] * x + tables.vertex[v, 1] * y + tables.vertex[v, 2] * z
            if height > most:
                best, most = k, height
        return best
    # A vertex without a higher neighbor is the highest one, since the hull is convex.
    rising = True
    while rising:
        rising = False
        here = first + best
        begin = tables.around[here, 0]
        for e in range(begin, begin + tables.around[here, 1]):
            k = tables.neighbor[e]
            v = first + k
            height = tables.vertex[v, 0] * x + tables.vertex[v, 1] * y + tables.vertex[v, 2] * z
            if height > most:
                best, most, rising = k, height, True
    return best


@compiled
def support(
    kind: int,
    size: FloatArray,
    tables: Tables,
    direction: FloatArray,
    start: int,
    point: FloatArray,
) -> int:
    """Return the point of the core of a shape that is farthest along a direction.

    :param kind: kind of the shape
    :param size: its sizes, (3,) [m]
    :param tables: tables of hulls
    :param direction: the direction in coordinates of the shape, any length, (3,)
    :param start: number of the last such point, where the search begins
    :param point: the point in coordinates of the shape; a result, (3,) [m]
    :return: its number: of a vertex, the end of a capsule, the rim of a cylinder
    """
    if kind == BOX:
        number = 0
        for k in range(3):
            # Zero counts as positive: of several farthest vertices always the same one, as
            # features need.
            positive = direction[k] >= 0.0
            point[k] = size[k] if positive else -size[k]
            number = 2 * number + (1 if positive else 0)
        return number
    if kind == HULL:
        hull = int(size[0])
        number = highest_vertex(tables, hull, direction, start)
        v = tables.hull[hull, 0] + number
        for k in range(3):
            point[k] = tables.vertex[v, k]
        return number
    if kind == TRIANGLE:
        number = 0
        most = dot(size, direction)
        for k in range(1, 3):
            height = 0.0
            for r in range(3):
                height += size[3 * k + r] * direction[r]
            if height > most:
                number, most = k, height
        for r in range(3):
            point[r] = size[3 * number + r]
        return number
    point[0] = point[1] = point[2] = 0.0
    if kind == SPHERE:
        return 0
    # Ends of a capsule's segment, or caps of a cylinder.
    upper = direction[2] >= 0.0
    point[2] = size[1] if upper else -size[1]
    if kind == CYLINDER:
        across = math.sqrt(direction[0] * direction[0] + direction[1] * direction[1])
        # Along the axis all points of the cap are as far: its center stands for them.
        if across > 0.0:
            point[0] = size[0] * direction[0] / across
            point[1] = size[0] * direction[1] / across
    return 1 if upper else 0


@compiled
def support_of_difference(
    kind_a: int,
    size_a: FloatArray,
    kind_b: int,
    size_b: FloatArray,
    pose: FloatArray,
    tables: Tables,
    direction: FloatArray,
    start_a: int,
    start_b: int,
    row: FloatArray,
) -> Tuple[int, int]:
    """Return the point of the difference a - b of two cores that is farthest along a direction.

    :param kind_a: kind of the first shape
    :param size_a: its sizes, (3,) [m]
    :param kind_b: kind of the second shape
    :param size_b: its sizes, (3,) [m]
    :param pose: pose of the second shape in coordinates of the first one, (12,)
    :param tables: tables of hulls
    :param direction: the direction, any length, (3,)
    :param start_a: number of the last such point of the first shape
    :param start_b: number of the last such point of the second shape
    :param row: the point and what it consists of; a result, (12,)
    :return: numbers of the points of both
    """
    back, local, a, b = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    for k in range(3):
        # The support of a - b along d is that of a along d less that of b along -d, in b's
        # coordinates.
        back[k] = -(
            pose[k] * direction[0] + pose[3 + k] * direction[1] + pose[6 + k] * direction[2]
        )
    number_a = support(kind_a, size_a, tables, direction, start_a, a)
    number_b = support(kind_b, size_b, tables, back, start_b, local)
    placed(pose, local, b)
    for r in range(3):
        row[r] = a[r] - b[r]
        row[OF_A + r] = a[r]
        row[OF_B + r] = b[r]
    # Numbers identify features, and begin the next search.
    row[NUMBER_A], row[NUMBER_B] = number_a, number_b
    return number_a, number_b
