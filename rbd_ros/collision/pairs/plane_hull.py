# SPDX-License-Identifier: Apache-2.0
"""Half-spaces against convex hulls: vertices of the hull, at most four of them."""

from __future__ import annotations

from rbd_ros.collision.arrays import FoundPoints, PlacedShape
from rbd_ros.collision.convex.reduction import choose
from rbd_ros.collision.pairs.planes import above_plane
from rbd_ros.collision.shapes.supports import highest_vertex
from rbd_ros.collision.vectors import axis, origin, perpendicular, placed, turned_back
from rbd_ros.compiler.loops import compiled, cross, load_vec, stack_array, stack_matrix, Vec

#: Column of the number of a vertex.
_NUMBER = 3


@compiled
def plane_hull(
    a: PlacedShape, b: PlacedShape, hull: int, margin: float, nearest: bool, found: FoundPoints
) -> int:
    """Return the contact of a plane with a hull, which is given by its number.

    Other arguments are those of `find_contacts` (narrow_phase.py).
    Of all vertices within the margin, the lowest and those that span the most. Features are
    numbers of vertices.
    """
    points, chosen, tables = stack_matrix(256, 4), stack_array(4), b.tables
    normal, first = axis(a.pose, 2), tables.hull[hull, 0]
    if nearest:
        lowest = highest_vertex(tables, hull, -turned_back(b.pose, normal), 0)
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
