# SPDX-License-Identifier: Apache-2.0
"""Half-spaces against convex hulls: vertices of the hull, at most four of them."""

from __future__ import annotations

from rbd_ros.collision.arrays import FloatArray, FoundPoints, Tables
from rbd_ros.collision.convex.reduction import choose, HEIGHT
from rbd_ros.collision.pairs.planes import above_plane
from rbd_ros.collision.shapes.supports import highest_vertex
from rbd_ros.collision.vectors import axis, cross, dot, perpendicular, placed
from rbd_ros.compiler.loops import compiled, stack_array, stack_matrix

#: Column of the number of a vertex.
_NUMBER = 3


@compiled
def plane_hull(
    pose_a: FloatArray,
    hull: int,
    pose_b: FloatArray,
    margin: float,
    nearest: bool,
    tables: Tables,
    found: FoundPoints,
) -> int:
    """Return the contact of a plane with a hull, which is given by its number.

    Other arguments are those of `find_contacts` (narrow_phase.py).
    Of all vertices within the margin, the lowest and those that span the most. Features are
    numbers of vertices.
    """
    normal, u, v = stack_array(3), stack_array(3), stack_array(3)
    points, point, chosen = stack_matrix(256, 4), stack_array(3), stack_array(4)
    axis(pose_a, 2, normal)
    if nearest:
        for k in range(3):
            u[k] = 0.0
            for r in range(3):
                u[k] -= pose_b[3 * r + k] * normal[r]
        lowest = highest_vertex(tables, hull, u, 0)
        placed(pose_b, tables.vertex[tables.hull[hull, 0] + lowest], point)
        return above_plane(pose_a, point, 0.0, lowest, margin, found, 0)
    perpendicular(normal, u)
    cross(normal, u, v)
    first = tables.hull[hull, 0]
    level = 0.0
    for r in range(3):
        level += normal[r] * pose_a[9 + r]
    within = 0
    for k in range(tables.hull[hull, 1]):
        placed(pose_b, tables.vertex[first + k], point)
        height = dot(normal, point) - level
        if height <= margin:
            points[within, 0], points[within, 1] = dot(u, point), dot(v, point)
            points[within, HEIGHT], points[within, _NUMBER] = height, k
            within += 1
    number = choose(points, within, chosen)
    count = 0
    for n in range(number):
        k = int(points[int(chosen[n]), _NUMBER])
        placed(pose_b, tables.vertex[first + k], point)
        count = above_plane(pose_a, point, 0.0, k, margin, found, count)
    return count
