# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact of a face of a box with a face of another one: their overlap, in 4 points."""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    FoundPoints,
    PlacedShape,
)
from rbd_ros.collision.convex.reduction import choose
from rbd_ros.collision.shapes.supports import main_axis
from rbd_ros.collision.vectors import add, axis, placed
from rbd_ros.compiler.loops import compiled, load_vec, stack_array, stack_matrix, Vec

#: First feature number; nearest points and edges have smaller ones (box_axes.py).
FIRST_FEATURE = 729

#: Columns of the polygon's vertices: both coordinates in the face, height (`HEIGHT`), next edge.
EDGE = 3


#: Distance beyond a line, relative to the face, at which a vertex counts as on it. Along collinear
#: edges, rounding would choose any point.
IN_LINE = 1e-10


@compiled
def polygon_of_face(
    box: PlacedShape, k: int, sign: float, level: float, polygon: FloatArray
) -> int:
    """Return the face of a box that faces another one most, as a polygon above it.

    :param box: the box, with its pose in coordinates of the other one
    :param k: axis perpendicular to the face of the other one
    :param sign: side of that face
    :param level: distance of that face from the center of its box [m]
    :param polygon: vertices; a result, (12, 4)
    :return: number of the face: 2 m + 1 for the positive side of axis m, 2 m for the other
    """
    half, upward, corner = box.size, load_vec(box.pose, 3, 3 * k), stack_array(3)
    face = main_axis(upward)
    side = -1.0 if sign * upward[face] > 0.0 else 1.0
    s, t = (face + 1) % 3, (face + 2) % 3
    for number in range(4):
        corner[face] = side * half[face]
        corner[s] = half[s] if number == 0 or number == 3 else -half[s]
        corner[t] = half[t] if number < 2 else -half[t]
        point = placed(box.pose, load_vec(corner, 3))
        u, v = point[(k + 1) % 3], point[(k + 2) % 3]
        polygon[number] = Vec(u, v, sign * point[k] - level, number)
    return 2 * face + (1 if side > 0.0 else 0)


@compiled
def clip(
    polygon: FloatArray, count: int, column: int, sign: float, limit: float, edge: int
) -> int:
    """Clip a convex polygon at a line (Sutherland and Hodgman, 1974).

    :param polygon: vertices; changed, (12, 4)
    :param count: number of vertices
    :param column: coordinate that is limited
    :param sign: side that is cut off
    :param limit: maximum of sign times the coordinate [m]
    :param edge: number of the edge along the line
    :return: new number of vertices
    """
    clipped = stack_matrix(12, 4)
    kept, slack = 0, IN_LINE * limit
    for i in range(count):
        j = (i + 1) % count
        here = limit - sign * polygon[i, column]
        there = limit - sign * polygon[j, column]
        inside, stays = here >= -slack, there >= -slack
        if inside:
            clipped[kept] = load_vec(polygon[i], 4)
            kept += 1
        if inside != stays:
            part = min(max(here / (here - there), 0.0), 1.0)
            p, q = load_vec(polygon[i], 3), load_vec(polygon[j], 3)
            clipped[kept, 0:3] = p + part * (q - p)
            # Exactly on the line, without rounding.
            clipped[kept, column] = sign * limit
            clipped[kept, EDGE] = edge if inside else polygon[i, EDGE]
            kept += 1
    for i in range(kept):
        polygon[i] = load_vec(clipped[i], 4)
    return kept


@compiled
def add_face(
    reference: PlacedShape,
    incident: PlacedShape,
    face: int,
    of_second: bool,
    margin: float,
    found: FoundPoints,
) -> int:
    """Add the contacts of a face of one box, the reference, with the other one, the incident.

    :param reference: the box with the face, with its pose in the common frame
    :param incident: the other one, with its pose in coordinates of the reference
    :param face: number of the face: 2 k + 1 for the positive side of axis k, 2 k for the other
    :param of_second: whether the reference is the second shape of the pair
    :param margin: maximum gap [m]
    :param found: the points; changed
    :return: number of points
    """
    polygon, chosen, local = stack_matrix(12, 4), stack_array(4), stack_array(3)
    half, k, sign = reference.size, face // 2, (1.0 if face % 2 == 1 else -1.0)
    u, v = (k + 1) % 3, (k + 2) % 3
    other = polygon_of_face(incident, k, sign, half[k], polygon)
    count = clip(polygon, 4, 0, 1.0, half[u], 4)
    count = clip(polygon, count, 0, -1.0, half[u], 5)
    count = clip(polygon, count, 1, 1.0, half[v], 6)
    count = clip(polygon, count, 1, -1.0, half[v], 7)
    # Both edges that meet at a vertex identify it; afterwards the edges are not needed.
    before = polygon[count - 1, EDGE] if count > 0 else 0.0
    kept = 0
    for i in range(count):
        x, y, height, edge = load_vec(polygon[i], 4)
        vertex = 8.0 * before + edge
        before = edge
        if height <= margin:
            polygon[kept] = Vec(x, y, height, vertex)
            kept += 1
    number = choose(polygon, kept, chosen)
    normal = (-sign if of_second else sign) * axis(reference.pose, k)
    first = FIRST_FEATURE + ((face + (6 if of_second else 0)) * 6 + other) * 64
    total = 0
    for n in range(number):
        local[u], local[v], height, vertex = load_vec(polygon[int(chosen[n])], 4)
        # On the incident box if it is the first shape, else on the face.
        local[k] = sign * (half[k] + (height if of_second else 0.0))
        point = placed(reference.pose, load_vec(local, 3))
        total = add(found, total, first + int(vertex), height, margin, point, normal)
    return total
