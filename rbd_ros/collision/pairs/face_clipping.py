# SPDX-License-Identifier: Apache-2.0
"""Contact of a face of a box with a face of another one: the part where both are, in 4 points."""

from __future__ import annotations

from rbd_ros.collision.arrays import FloatArray, FoundPoints
from rbd_ros.collision.convex.reduction import choose, HEIGHT
from rbd_ros.collision.vectors import add, placed, turned
from rbd_ros.compiler.loops import compiled, stack_array, stack_matrix

#: Features of nearest points and edges are below (box_axes.py).
FIRST_FEATURE = 729

#: Columns of the polygon's vertices: both coordinates in the face, height (`HEIGHT`), edge that
#: follows.
EDGE = 3


#: How far beyond a line, by the size of the face, a vertex counts as on it. Where edges are in
#: line, rounding would choose any point along them.
IN_LINE = 1e-10


@compiled
def polygon_of_face(
    half: FloatArray,
    pose: FloatArray,
    k: int,
    sign: float,
    level: float,
    polygon: FloatArray,
) -> int:
    """Return the face of a box that faces another one most, as a polygon above it.

    :param half: half lengths of the box, (3,) [m]
    :param pose: its pose in coordinates of the other one, (12,)
    :param k: axis at right angles to the face of the other one
    :param sign: side of that face
    :param level: distance of that face from the center of its box [m]
    :param polygon: vertices; a result, (12, 4)
    :return: number of the face: 2 m + 1 for the positive side of axis m, 2 m for the other
    """
    face, most = 0, -1.0
    for m in range(3):
        if abs(pose[3 * k + m]) > most:
            face, most = m, abs(pose[3 * k + m])
    side = -1.0 if sign * pose[3 * k + face] > 0.0 else 1.0
    u, v = (k + 1) % 3, (k + 2) % 3
    s, t = (face + 1) % 3, (face + 2) % 3
    local, point = stack_array(3), stack_array(3)
    for number in range(4):
        local[face] = side * half[face]
        local[s] = half[s] if number == 0 or number == 3 else -half[s]
        local[t] = half[t] if number < 2 else -half[t]
        placed(pose, local, point)
        polygon[number, 0], polygon[number, 1] = point[u], point[v]
        polygon[number, HEIGHT] = sign * point[k] - level
        polygon[number, EDGE] = number
    return 2 * face + (1 if side > 0.0 else 0)


@compiled
def clip(
    polygon: FloatArray, count: int, column: int, sign: float, limit: float, edge: int
) -> int:
    """Cut off what of a convex polygon is beyond a line (Sutherland and Hodgman, 1974).

    :param polygon: vertices; changed, (12, 4)
    :param count: how many there are
    :param column: coordinate that is limited
    :param sign: on which side
    :param limit: maximum of sign times the coordinate [m]
    :param edge: number of the edge along the line
    :return: how many vertices there are now
    """
    clipped = stack_matrix(12, 4)
    kept, slack = 0, IN_LINE * limit
    for i in range(count):
        j = (i + 1) % count
        here = limit - sign * polygon[i, column]
        there = limit - sign * polygon[j, column]
        inside, stays = here >= -slack, there >= -slack
        if inside:
            for c in range(4):
                clipped[kept, c] = polygon[i, c]
            kept += 1
        if inside != stays:
            part = min(max(here / (here - there), 0.0), 1.0)
            for c in range(3):
                clipped[kept, c] = polygon[i, c] + part * (polygon[j, c] - polygon[i, c])
            # Exactly on the line, whatever rounding says.
            clipped[kept, column] = sign * limit
            clipped[kept, EDGE] = edge if inside else polygon[i, EDGE]
            kept += 1
    for i in range(kept):
        for c in range(4):
            polygon[i, c] = clipped[i, c]
    return kept


@compiled
def add_face(
    half_r: FloatArray,
    pose_r: FloatArray,
    half_i: FloatArray,
    pose: FloatArray,
    k: int,
    sign: float,
    of_second: bool,
    margin: float,
    found: FoundPoints,
) -> int:
    """Enter the contacts of a face of one box, the reference, with the other one, the incident.

    :param half_r: half lengths of the reference, (3,) [m]
    :param pose_r: its pose in the common frame, (12,)
    :param half_i: half lengths of the incident box, (3,) [m]
    :param pose: its pose in coordinates of the reference, (12,)
    :param k: axis at right angles to the face
    :param sign: side of the face
    :param of_second: whether the reference is the second shape of the pair
    :param margin: maximum gap [m]
    :param found: the points; changed
    :return: how many were found
    """
    polygon, chosen = stack_matrix(12, 4), stack_array(4)
    local, on_a, normal = stack_array(3), stack_array(3), stack_array(3)
    u, v = (k + 1) % 3, (k + 2) % 3
    incident = polygon_of_face(half_i, pose, k, sign, half_r[k], polygon)
    count = clip(polygon, 4, 0, 1.0, half_r[u], 4)
    count = clip(polygon, count, 0, -1.0, half_r[u], 5)
    count = clip(polygon, count, 1, 1.0, half_r[v], 6)
    count = clip(polygon, count, 1, -1.0, half_r[v], 7)
    # A vertex is known by both edges that meet there; afterwards the edges are no longer needed.
    before = polygon[count - 1, EDGE] if count > 0 else 0.0
    kept = 0
    for i in range(count):
        edge = polygon[i, EDGE]
        vertex = 8.0 * before + edge
        before = edge
        if polygon[i, HEIGHT] <= margin:
            for c in range(3):
                polygon[kept, c] = polygon[i, c]
            polygon[kept, EDGE] = vertex
            kept += 1
    number = choose(polygon, kept, chosen)
    face = 2 * k + (1 if sign > 0.0 else 0) + (6 if of_second else 0)
    for r in range(3):
        local[r] = 0.0
    local[k] = -sign if of_second else sign
    turned(pose_r, local, normal)
    total = 0
    for n in range(number):
        i = int(chosen[n])
        height = polygon[i, HEIGHT]
        local[u], local[v] = polygon[i, 0], polygon[i, 1]
        # On the incident box if that is the first shape, else on the face.
        local[k] = sign * (half_r[k] + (height if of_second else 0.0))
        placed(pose_r, local, on_a)
        feature = FIRST_FEATURE + (face * 6 + incident) * 64 + int(polygon[i, EDGE])
        total = add(found, total, feature, height, margin, on_a, normal)
    return total
