# SPDX-License-Identifier: Apache-2.0
"""Shapes that are wholly inside a closed triangle mesh, or under a height field.

Nothing of the surface is in them, so that the way to it is as long as for what is outside: which
of both it is, a ray decides that counts how often it leaves.
"""

from __future__ import annotations

from rbd_ros.collision.arrays import FloatArray, MESH, Tables
from rbd_ros.collision.concave.candidates import GAP, NORMAL
from rbd_ros.collision.shapes.supports import radius_of, support
from rbd_ros.collision.vectors import cross, dot, placed
from rbd_ros.compiler.loops import compiled, stack_array

#: Triangles of a leaf.
LEAF = 4

#: Direction of rays: in line with no edge that anybody would make. All its elements are positive.
RAY_X, RAY_Y, RAY_Z = 0.45317, 0.31913, 0.83231


@compiled
def meets_box(point: FloatArray, ray: FloatArray, box: FloatArray) -> bool:
    """Return whether a ray meets a box along the axes.

    :param point: where it begins, (3,) [m]
    :param ray: its direction, (3,)
    :param box: lower and upper bounds, (6,) [m]
    """
    begin, end = 0.0, 1e300
    for k in range(3):
        # Slabs (Kay and Kajiya 1986). No division by zero: all elements of the ray are positive,
        # and so are both bounds in order.
        begin = max(begin, (box[k] - point[k]) / ray[k])
        end = min(end, (box[3 + k] - point[k]) / ray[k])
    # A little more, for rounding.
    meets: bool = begin <= end * (1.0 + 1e-12) + 1e-300
    return meets


@compiled
def meets_triangle(point: FloatArray, ray: FloatArray, corners: FloatArray) -> bool:
    """Return whether a ray meets a triangle.

    What it passes an edge on has the same number for both triangles there, so that it meets
    one of them.

    :param point: where it begins, (3,) [m]
    :param ray: its direction, (3,)
    :param corners: corners of the triangle, (9,) [m]
    """
    a, b, c, normal = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    e, f = stack_array(3), stack_array(3)
    for r in range(3):
        a[r], b[r], c[r] = (
            corners[r] - point[r],
            corners[3 + r] - point[r],
            corners[6 + r] - point[r],
        )
        e[r], f[r] = b[r] - a[r], c[r] - a[r]
    cross(e, f, normal)
    # Signed volumes of the ray with each edge. Both triangles at an edge compute the same number
    # from the same corners but for its sign, so a ray cannot slip between them.
    cross(a, b, e)
    first = dot(ray, e) > 0.0
    cross(b, c, e)
    second = dot(ray, e) > 0.0
    cross(c, a, e)
    third = dot(ray, e) > 0.0
    if first != second or second != third:
        return False
    # Away from where it begins, not behind it.
    met: bool = dot(normal, a) * dot(normal, ray) > 0.0
    return met


@compiled
def is_in_mesh(mesh: int, point: FloatArray, tables: Tables) -> bool:
    """Return whether a point is inside a closed mesh.

    :param mesh: number of the mesh
    :param point: in coordinates of the mesh, (3,) [m]
    """
    root, leaves, first = tables.mesh[mesh, 0], tables.mesh[mesh, 1], tables.mesh[mesh, 2]
    waiting, ray = stack_array(64), stack_array(3)
    ray[0], ray[1], ray[2] = RAY_X, RAY_Y, RAY_Z
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
            # The last leaves may be empty: their triangles are points, which no ray meets.
            if meets_triangle(point, ray, tables.triangle[first + LEAF * (node - leaves + 1) + k]):
                crossings += 1
    return crossings % 2 == 1


@compiled
def is_under_field(field: int, point: FloatArray, tables: Tables) -> bool:
    """Return whether a point is under the surface of a height field, and not beside it.

    :param field: number of the height field
    :param point: in its coordinates, (3,) [m]
    """
    first, rows, columns = tables.field[field, 0], tables.field[field, 1], tables.field[field, 2]
    x = (point[0] - tables.grid[field, 0]) / tables.grid[field, 2]
    y = (tables.grid[field, 1] - point[1]) / tables.grid[field, 3]
    if not (0.0 <= x <= columns - 1.0 and 0.0 <= y <= rows - 1.0):
        return False
    # The last row and column of points begin no cell.
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
def is_inside(kind: int, size: FloatArray, point: FloatArray, tables: Tables) -> bool:
    """Return whether a point is inside a closed mesh, or under a height field.

    :param kind: MESH or HEIGHT_FIELD
    :param size: number of the mesh or field first
    :param point: in its coordinates, (3,) [m]
    """
    number = int(size[0])
    if kind == MESH:
        # An open surface has no inside.
        return tables.mesh[number, 3] != 0 and is_in_mesh(number, point, tables)
    return is_under_field(number, point, tables)


@compiled
def begins_inside(
    kind_b: int,
    size_b: FloatArray,
    kind: int,
    size: FloatArray,
    pose: FloatArray,
    tables: Tables,
) -> bool:
    """Return whether a point of a convex shape is inside; see `is_inside`.

    :param pose: pose of the shape in the mesh, (12,)
    """
    direction, local, point = stack_array(3), stack_array(3), stack_array(3)
    direction[0], direction[1], direction[2] = 1.0, 0.0, 0.0
    support(kind, size, tables, direction, 0, local)
    placed(pose, local, point)
    return is_inside(kind_b, size_b, point, tables)


@compiled
def lowest_point(
    kind: int,
    size: FloatArray,
    pose: FloatArray,
    tables: Tables,
    direction: FloatArray,
    point: FloatArray,
) -> None:
    """Find the point of a convex shape that is lowest along a direction of its pose's frame.

    :param direction: a unit vector, (3,)
    :param point: the result, (3,) [m]
    """
    local, core = stack_array(3), stack_array(3)
    for k in range(3):
        local[k] = 0.0
        for r in range(3):
            local[k] -= pose[3 * r + k] * direction[r]
    support(kind, size, tables, local, 0, core)
    placed(pose, core, point)
    for r in range(3):
        point[r] -= radius_of(kind, size) * direction[r]


@compiled
def turn_outward(
    kind_b: int,
    size_b: FloatArray,
    kind: int,
    size: FloatArray,
    pose: FloatArray,
    tables: Tables,
    candidates: FloatArray,
    count: int,
) -> int:
    """Replace the nearest points of a shape that is inside by the way out past them.

    It leads straight to the nearest point of the surface, and goes on until the whole shape is
    beyond it.

    :param pose: pose of the shape in the mesh, (12,)
    :param candidates: the points, changed, (ROOM, 8)
    :param count: how many there are
    :return: how many there are then
    """
    point, outward, lowest = stack_array(3), stack_array(3), stack_array(3)
    best = 0
    for i in range(1, count):
        best = i if candidates[i, GAP] < candidates[best, GAP] else best
    gap = candidates[best, GAP]
    # The shape meets the surface: contact points of triangles are right already.
    if not gap > 0.0:
        return count
    for r in range(3):
        outward[r] = -candidates[best, NORMAL + r]
        point[r] = candidates[best, r] - gap * outward[r]
    if not is_inside(kind_b, size_b, point, tables):
        return count
    lowest_point(kind, size, pose, tables, outward, lowest)
    depth = 0.0
    for r in range(3):
        # As long as the way of the lowest point, so that all of the shape gets out.
        depth += outward[r] * (candidates[best, r] - lowest[r])
    for c in range(8):
        candidates[0, c] = candidates[best, c]
    candidates[0, GAP] = -depth
    for r in range(3):
        candidates[0, r] = lowest[r] + depth * outward[r]
        candidates[0, NORMAL + r] = outward[r]
    return 1
