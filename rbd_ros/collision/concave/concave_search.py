# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact of convex shapes with triangle meshes and height fields: search for triangles.

A binary tree of boxes, or the cells of a grid, give the triangles near a shape.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    FoundPoints,
    MESH,
    PlacedShape,
    Tables,
    TRIANGLE,
)
from rbd_ros.collision.concave.candidates import collect, FEATURE, GAP, NORMAL, reduce_candidates
from rbd_ros.collision.concave.concave_pairs import FREE, Search, SHARED, triangle_contacts
from rbd_ros.collision.concave.inside import begins_inside, LEAF, turn_outward
from rbd_ros.collision.shapes.supports import radius_of, support
from rbd_ros.collision.vectors import add, origin, placed, relative_pose, rotated, rotated_back
from rbd_ros.compiler.loops import compiled, load_vec, stack_array, stack_matrix, Vec, Vec3

#: Searches of `convex_concave`, in this order. FACING: triangles from the side that they face.
#: ANY_SIDE: triangles from any side, in the end with any triangle for a shape in the surface; for
#: one beside or under a height field, the nearest one. ALL_AROUND: the whole surface, which is
#: farther away than the margin but may enclose the shape.
FACING, ANY_SIDE, ALL_AROUND = 0, 1, 2


@compiled
def bounds_of(shape: PlacedShape, radius: float, bounds: FloatArray) -> Vec3:
    """Compute the bounds of a shape's core along the axes of its pose's frame, (6,).

    :param radius: radius added around the core [m]
    :return: the middle [m]
    """
    for k in range(3):
        # In coordinates of the shape: row k of the rotation is axis k of the outer frame.
        direction = load_vec(shape.pose, 3, 3 * k)
        low, _ = support(shape, -direction, 0)
        high, _ = support(shape, direction, 0)
        bounds[k] = shape.pose[9 + k] + direction @ low - radius
        bounds[3 + k] = shape.pose[9 + k] + direction @ high + radius
    return 0.5 * (load_vec(bounds, 3) + load_vec(bounds, 3, 3))


@compiled
def level_along(shape: PlacedShape, direction: Vec3) -> float:
    """Return the minimum height of a convex shape along a direction of its pose's frame [m]."""
    # Its lowest point along the direction, in coordinates of the shape.
    local = -rotated_back(shape.pose, direction)
    point, _ = support(shape, local, 0)
    return direction @ origin(shape.pose) - local @ point - radius_of(shape)


@compiled
def height_of(node: FloatArray, direction: Vec3) -> float:
    """Return the greatest height of a box along a direction [m]."""
    x, y, z = direction[0], direction[1], direction[2]
    # A corner of the box for each axis, chosen by the sign of that axis: its support function.
    across = max(x * node[0], x * node[3]) + max(y * node[1], y * node[4])
    return across + max(z * node[2], z * node[5])


@compiled
def squared_between(bounds: FloatArray, node: FloatArray) -> float:
    """Return squared distance of two boxes along the axes, or depth with a negative sign [m^2]."""
    total, separation = 0.0, -math.inf
    for k in range(3):
        away = max(node[k] - bounds[3 + k], bounds[k] - node[3 + k])
        separation = max(separation, away)
        if away > 0.0:
            total += away * away
    # Signed squares are compared, so nodes need no roots.
    return total if separation > 0.0 else -separation * separation


@compiled
def bounds_of_triangle(corners: FloatArray, bounds: FloatArray) -> None:
    """Compute the lower and upper bounds of a triangle along the axes, (6,)."""
    for k in range(3):
        bounds[k] = min(corners[k], corners[3 + k], corners[6 + k])
        bounds[3 + k] = max(corners[k], corners[3 + k], corners[6 + k])


@compiled
def highest_corner(corners: FloatArray, direction: Vec3) -> float:
    """Return the greatest height of a triangle along a direction [m]."""
    p, q, r = load_vec(corners, 3), load_vec(corners, 3, 3), load_vec(corners, 3, 6)
    return max(direction @ p, direction @ q, direction @ r)


@compiled
def no_pose(pose: FloatArray) -> None:
    """Set the identity pose: triangles are given in the frame of their mesh."""
    for r in range(12):
        pose[r] = 1.0 if r % 4 == 0 and r < 9 else 0.0


@compiled
def mesh_candidates(
    surface: PlacedShape,
    shape: PlacedShape,
    margin: float,
    nearest: bool,
    free: bool,
    found: FoundPoints,
    candidates: FloatArray,
) -> Tuple[int, bool]:
    """Return the contact points of the triangles of a mesh with a convex shape.

    :param surface: the mesh
    :param shape: the convex shape, with its pose in coordinates of the mesh
    :param free: whether each triangle is taken for itself
    :param candidates: the points; a result, (CAPACITY, 8)
    :return: how many there are, and whether the shape is in a triangle that has none
    """
    own, bounds, across, box = stack_array(12), stack_array(6), stack_matrix(3, 4), stack_array(6)
    # Depth-first search pushes at most one node per level beyond the current one: 64 are more than
    # any tree of 2^31 triangles needs.
    waiting, away, tables = stack_array(64), stack_array(64), surface.tables
    no_pose(own)
    middle = bounds_of(shape, 0.0, bounds)
    unresolved = False
    mesh = int(surface.size[0])
    root, leaves, first = tables.mesh[mesh, 0], tables.mesh[mesh, 1], tables.mesh[mesh, 2]
    search = Search(nearest, free, tables.mesh[mesh, 3] != 0, False)
    limit, count, left, radius = margin, 0, 1, radius_of(shape)
    # Normal of the nearest triangle so far, and start of the shape along it. Lower triangles are
    # farther away.
    level, lead = -math.inf, Vec(0.0, 0.0, 0.0)
    # Depths are compared as well if only the deepest point is requested.
    reach = radius + limit if nearest else radius + max(0.0, limit)
    square = reach * abs(reach)
    waiting[0], away[0] = 0, squared_between(bounds, tables.node[root])
    # Branch and bound: the limit shrinks as nearer points are found, and prunes what is pushed
    # already.
    while left > 0:
        left -= 1
        if away[left] > square:
            continue
        node = int(waiting[left])
        if level - height_of(tables.node[root + node], lead) > limit:
            continue
        # An implicit binary tree: children of node n are 2n + 1 and 2n + 2, leaves come last.
        if node < leaves - 1:
            near, far = 2 * node + 1, 2 * node + 2
            to_near = squared_between(bounds, tables.node[root + near])
            to_far = squared_between(bounds, tables.node[root + far])
            if to_far < to_near:
                near, far, to_near, to_far = far, near, to_far, to_near
            # The nearer one is next: it leaves less to do.
            waiting[left], away[left] = far, to_far
            waiting[left + 1], away[left + 1] = near, to_near
            left += 2
            continue
        for k in range(LEAF):
            t = LEAF * (node - leaves + 1) + k
            # The last leaves may be empty, their triangles without an area.
            corners = tables.triangle[first + t]
            bounds_of_triangle(corners, box)
            if squared_between(bounds, box) > square:
                continue
            if level - highest_corner(corners, lead) > limit:
                continue
            for edge in range(3):
                other = tables.beside[first + t, edge]
                # With its neighbor a triangle decides which normals belong to it: shared edges
                # that are flat or concave have none of their own, or objects would catch on the
                # seams of a flat surface.
                across[edge, 0] = FREE if other < 0 else SHARED
                if other >= 0:
                    opposite_vertex(tables, first, t, other, across[edge])
            triangle = PlacedShape(TRIANGLE, corners, own, tables)
            number = triangle_contacts(triangle, across, search, middle, shape, limit, found)
            unresolved = unresolved or number < 0
            if nearest and number > 0:
                # All that was found before is farther away.
                count, best = 0, 0
                for i in range(1, number):
                    best = i if found.gap[i] < found.gap[best] else best
                limit = found.gap[best]
                reach = radius + limit
                square = reach * abs(reach)
                lead = load_vec(found.normal[best], 3)
                level = level_along(shape, lead)
            count = collect(found, number, t, candidates, count)
    return count, unresolved


@compiled
def opposite_vertex(
    tables: Tables, first: int, triangle: int, other: int, row: FloatArray
) -> None:
    """Compute the corner of a neighbor that is not on the edge between both, (4,) from 1 on."""
    for k in range(3):
        if tables.beside[first + other, (k + 1) % 3] == triangle:
            row[1:4] = load_vec(tables.triangle[first + other], 3, 3 * k)


@compiled
def corner_of_field(tables: Tables, field: int, row: int, column: int) -> Tuple[bool, Vec3]:
    """Return whether there is a corner of a height field, and the corner [m]."""
    rows, columns = tables.field[field, 1], tables.field[field, 2]
    if row < 0 or column < 0 or row >= rows or column >= columns:
        return False, Vec(0.0, 0.0, 0.0)
    # Rows run from the upper edge down, as in the image that a field may come from.
    x = tables.grid[field, 0] + column * tables.grid[field, 2]
    y = tables.grid[field, 1] - row * tables.grid[field, 3]
    return True, Vec(x, y, tables.height[tables.field[field, 0] + row * columns + column])


@compiled
def field_candidates(
    surface: PlacedShape,
    shape: PlacedShape,
    margin: float,
    nearest: bool,
    free: bool,
    found: FoundPoints,
    candidates: FloatArray,
) -> Tuple[int, bool]:
    """Return contact points of the triangles of a height field; arguments as in `mesh_candidates`.

    Each cell has two triangles: one with its corner at the lower left, one at the upper right, as
    seen from above.
    """
    own, bounds, across = stack_array(12), stack_array(6), stack_matrix(3, 4)
    corners, tables = stack_array(9), surface.tables
    no_pose(own)
    # Cells are compared with the whole shape, with its radius.
    middle = bounds_of(shape, radius_of(shape), bounds)
    unresolved = False
    field = int(surface.size[0])
    rows, columns = tables.field[field, 1], tables.field[field, 2]
    x0, y0 = tables.grid[field, 0], tables.grid[field, 1]
    dx, dy = tables.grid[field, 2], tables.grid[field, 3]
    reach = margin
    if nearest:
        # No farther than the corner below, or at the border.
        center = origin(shape.pose)
        column = int(min(columns - 1.0, max(0.0, (center[0] - x0) / dx)))
        row = int(min(rows - 1.0, max(0.0, (y0 - center[1]) / dy)))
        _, corner = corner_of_field(tables, field, row, column)
        total = 0.0
        for r in range(3):
            x = max(abs(bounds[r] - corner[r]), abs(bounds[3 + r] - corner[r]))
            total += x * x
        reach = min(reach, math.sqrt(total))
    reach = max(0.0, reach)
    # Above the highest point of the field.
    if bounds[2] - reach > tables.grid[field, 4]:
        return 0, False
    # As floats first: distant points would overflow an integer.
    first_column = int(min(columns - 1.0, max(0.0, (bounds[0] - reach - x0) / dx)))
    last_column = int(min(columns - 2.0, max(-1.0, (bounds[3] + reach - x0) / dx)))
    first_row = int(min(rows - 1.0, max(0.0, (y0 - bounds[4] - reach) / dy)))
    last_row = int(min(rows - 2.0, max(-1.0, (y0 - bounds[1] + reach) / dy)))
    if bounds[3] + reach < x0 or y0 < bounds[1] - reach:
        return 0, False
    # Points beside the field are not lifted to its height.
    beside = bounds[3] < x0 or bounds[0] > x0 + (columns - 1) * dx
    beside = beside or bounds[1] > y0 or bounds[4] < y0 - (rows - 1) * dy
    search, within = Search(nearest, free or beside, True, True), reach if nearest else margin
    triangle, count = PlacedShape(TRIANGLE, corners, own, tables), 0
    for row in range(first_row, last_row + 1):
        for column in range(first_column, last_column + 1):
            for half in range(2):
                # Corners, then those across the edges that begin there.
                top = -math.inf
                for k in range(3):
                    c, d = 0, 0
                    e, f = 0, 0
                    if half == 0:
                        # Lower left, lower right, upper left.
                        c, d = (1 if k < 2 else 0), (1 if k == 1 else 0)
                        e = 2 if k == 0 else 0
                        f = -1 if k == 2 else 1
                    else:
                        # Upper right, upper left, lower right.
                        c, d = (0 if k < 2 else 1), (0 if k == 1 else 1)
                        e = -1 if k == 0 else 1
                        f = 2 if k == 2 else 0
                    _, low = corner_of_field(tables, field, row + c, column + d)
                    corners[3 * k], corners[3 * k + 1], corners[3 * k + 2] = low
                    top = max(top, low[2])
                    shared, corner = corner_of_field(tables, field, row + e, column + f)
                    across[k, 0] = SHARED if shared else FREE
                    across[k, 1:4] = corner
                if bounds[2] - reach > top:
                    continue
                number = triangle_contacts(triangle, across, search, middle, shape, within, found)
                cell = 2 * (row * columns + column) + half
                unresolved = unresolved or number < 0
                count = collect(found, number, cell, candidates, count)
    return count, unresolved


@compiled
def convex_concave(
    a: PlacedShape, b: PlacedShape, margin: float, nearest: bool, found: FoundPoints
) -> int:
    """Return contact of a convex shape with a triangle mesh or a height field, up to eight points.

    Arguments are those of `find_contacts` (narrow_phase.py).
    """
    pose, candidates = stack_array(12), stack_matrix(64, 8)
    relative_pose(b.pose, a.pose, pose)
    shape, count, unresolved, limit = PlacedShape(a.kind, a.size, pose, a.tables), 0, False, margin
    # Most pairs need only the first search; the others repeat it with fewer assumptions.
    for search in range(3):
        if search == ANY_SIDE:
            within = unresolved and (nearest or count == 0)
            beside = nearest and count == 0 and b.kind != MESH
            if not (within or beside):
                continue
        if search == ALL_AROUND:
            if not (nearest and count == 0 and limit < math.inf):
                continue
            if not begins_inside(b, shape):
                continue
            limit = math.inf
        free = search != FACING
        if b.kind == MESH:
            count, unresolved = mesh_candidates(b, shape, limit, nearest, free, found, candidates)
        else:
            count, unresolved = field_candidates(b, shape, limit, nearest, free, found, candidates)
    if nearest and count > 0:
        count = turn_outward(b, shape, candidates, count)
    if b.kind != MESH or not nearest:
        count = reduce_candidates(candidates, count, len(found.gap))
    total = 0
    for i in range(count):
        gap, feature = candidates[i, GAP], int(candidates[i, FEATURE])
        # Candidates are points of the mesh with its normal; contacts are points of the first
        # shape, with the normal from it to the mesh.
        normal = rotated(b.pose, load_vec(candidates[i], 3, NORMAL))
        point = placed(b.pose, load_vec(candidates[i], 3)) + gap * normal
        total = add(found, total, feature, gap, margin, point, -normal)
    return total
