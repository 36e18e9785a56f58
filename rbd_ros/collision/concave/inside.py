# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shapes that are wholly inside a closed triangle mesh, or under a height field.

The distance from the surface has no sign; the parity of the crossings of a ray gives it.
"""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    MESH,
    PlacedShape,
    Tables,
)
from rbd_ros.collision.concave.candidates import GAP, NORMAL
from rbd_ros.collision.shapes.supports import radius_of, support
from rbd_ros.collision.vectors import placed, rotated_back
from rbd_ros.compiler.loops import compiled, cross, load_vec, stack_array, Vec, Vec3

#: Triangles of a leaf.
LEAF = 4

#: Direction of rays, along no usual edge. All its elements are positive.
RAY_X, RAY_Y, RAY_Z = 0.45317, 0.31913, 0.83231


@compiled
def meets_box(point: Vec3, ray: Vec3, box: FloatArray) -> bool:
    """Return whether a ray meets a box along the axes.

    :param point: where it begins [m]
    :param ray: its direction
    :param box: lower and upper bounds, (6,) [m]
    """
    begin, end = 0.0, 1e300
    for k in range(3):
        # Slabs (Kay and Kajiya 1986). All elements of the ray are positive: no division by zero,
        # and both bounds are in order.
        begin = max(begin, (box[k] - point[k]) / ray[k])
        end = min(end, (box[3 + k] - point[k]) / ray[k])
    # A tolerance for rounding.
    meets: bool = begin <= end * (1.0 + 1e-12) + 1e-300
    return meets


@compiled
def meets_triangle(point: Vec3, ray: Vec3, corners: FloatArray) -> bool:
    """Return whether a ray meets a triangle.

    Both triangles at an edge compute the same number for it, so a ray through the edge meets one
    of them.

    :param point: where it begins [m]
    :param ray: its direction
    :param corners: corners of the triangle, (9,) [m]
    """
    a, b = load_vec(corners, 3) - point, load_vec(corners, 3, 3) - point
    c = load_vec(corners, 3, 6) - point
    # Signed volumes of the ray with each edge. Both triangles at an edge compute them from the
    # same corners, up to the sign, so a ray cannot slip between them.
    first = ray @ cross(a, b) > 0.0
    second, third = ray @ cross(b, c) > 0.0, ray @ cross(c, a) > 0.0
    if first != second or second != third:
        return False
    # Only crossings ahead of the start count.
    normal = cross(b - a, c - a)
    return (normal @ a) * (normal @ ray) > 0.0


@compiled
def is_in_mesh(mesh: int, point: Vec3, tables: Tables) -> bool:
    """Return whether a point is inside a closed mesh.

    :param mesh: number of the mesh
    :param point: in coordinates of the mesh [m]
    """
    root, leaves, first = tables.mesh[mesh, 0], tables.mesh[mesh, 1], tables.mesh[mesh, 2]
    waiting, ray = stack_array(64), Vec(RAY_X, RAY_Y, RAY_Z)
    # The parity of crossings (Jordan curve theorem) needs a closed surface and a direction that
    # grazes no edge.
    crossings, left = 0, 1
    waiting[0] = 0
    while left > 0:
        left -= 1
        node = int(waiting[left])
        if not meets_box(point, ray, tables.node[root + node]):
            continue
        if node < leaves - 1:
            waiting[left], waiting[left + 1] = 2 * node + 1, 2 * node + 2
            left += 2
            continue
        for k in range(LEAF):
            # The last leaves may have empty triangles, points that no ray meets.
            if meets_triangle(point, ray, tables.triangle[first + LEAF * (node - leaves + 1) + k]):
                crossings += 1
    return crossings % 2 == 1


@compiled
def is_under_field(field: int, point: Vec3, tables: Tables) -> bool:
    """Return whether a point is under the surface of a height field, and not beside it.

    :param field: number of the height field
    :param point: in its coordinates [m]
    """
    first, rows, columns = tables.field[field, 0], tables.field[field, 1], tables.field[field, 2]
    x = (point[0] - tables.grid[field, 0]) / tables.grid[field, 2]
    y = (tables.grid[field, 1] - point[1]) / tables.grid[field, 3]
    if not (0.0 <= x <= columns - 1.0 and 0.0 <= y <= rows - 1.0):
        return False
    # The last row and column of points start no cell.
    column, row = int(min(x, columns - 2.0)), int(min(y, rows - 2.0))
    x, y = x - column, y - row
    at = first + row * columns + column
    upper_left, lower_right = tables.height[at], tables.height[at + columns + 1]
    # Two triangles, on both sides of the diagonal from the upper left to the lower right.
    other = tables.height[at + columns] if x <= y else tables.height[at + 1]
    height = upper_left + max(x, y) * (other - upper_left) + min(x, y) * (lower_right - other)
    under: bool = point[2] < height
    return under


@compiled
def is_inside(surface: PlacedShape, point: Vec3) -> bool:
    """Return whether a point is inside a closed mesh, or under a height field.

    :param surface: the mesh or the field
    :param point: in its coordinates [m]
    """
    number, tables = int(surface.size[0]), surface.tables
    if surface.kind == MESH:
        # An open surface has no inside.
        return tables.mesh[number, 3] != 0 and is_in_mesh(number, point, tables)
    return is_under_field(number, point, tables)


@compiled
def begins_inside(surface: PlacedShape, shape: PlacedShape) -> bool:
    """Return whether a point of a convex shape is inside; see `is_inside`.

    :param shape: the convex shape, with its pose in coordinates of the surface
    """
    local, _ = support(shape, Vec(1.0, 0.0, 0.0), 0)
    return is_inside(surface, placed(shape.pose, local))


@compiled
def lowest_point(shape: PlacedShape, direction: Vec3) -> Vec3:
    """Return the point of a convex shape that is lowest along a direction of its pose's frame [m].

    :param direction: a unit vector
    """
    core, _ = support(shape, -rotated_back(shape.pose, direction), 0)
    return placed(shape.pose, core) - radius_of(shape) * direction


@compiled
def turn_outward(
    surface: PlacedShape, shape: PlacedShape, candidates: FloatArray, count: int
) -> int:
    """Replace the nearest points of a shape inside by the points of its exit.

    The exit leads straight to the nearest point of the surface, until the whole shape is outside.

    :param shape: the shape, with its pose in coordinates of the surface
    :param candidates: the points, changed, (CAPACITY, 8)
    :param count: number of points
    :return: new number of points
    """
    best = 0
    for i in range(1, count):
        best = i if candidates[i, GAP] < candidates[best, GAP] else best
    gap = candidates[best, GAP]
    # The shape meets the surface: contact points of triangles are already right.
    if not gap > 0.0:
        return count
    point, outward = load_vec(candidates[best], 3), -load_vec(candidates[best], 3, NORMAL)
    if not is_inside(surface, point - gap * outward):
        return count
    lowest = lowest_point(shape, outward)
    # The path of the lowest point, so that the whole shape leaves.
    depth = outward @ (point - lowest)
    candidates[0] = load_vec(candidates[best], 8)
    candidates[0, 0:NORMAL], candidates[0, NORMAL:GAP] = lowest + depth * outward, outward
    candidates[0, GAP] = -depth
    return 1
