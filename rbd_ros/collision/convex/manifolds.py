# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact points of two convex shapes with faces or lines in contact.

All coordinates are those of the first shape until points are added.
"""

from __future__ import annotations

import math

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    FoundPoints,
    PlacedShape,
)
from rbd_ros.collision.convex.reduction import choose
from rbd_ros.collision.pairs.capsules import SIDE_BY_SIDE
from rbd_ros.collision.shapes.features import EDGE, edge_beside, Feature, feature_along
from rbd_ros.collision.shapes.supports import radius_of
from rbd_ros.collision.vectors import add, perpendicular, placed, rotated, rotated_back
from rbd_ros.compiler.loops import (
    compiled,
    cross,
    load_vec,
    norm,
    stack_array,
    stack_matrix,
    Vec,
    Vec3,
)

#: Minimum cosine of the angle between a face's normal and the direction between two shapes, and
#: the margin by which that of a face of the second shape must be larger than one of the first.
NEARLY, SLACK = 0.9998, 1e-10

#: Features of faces and lines begin here; below are those of single points (convex_pairs.py).
FIRST_FEATURE = 1 << 52

# Column of the height of a point of the other shape's core.
_OF_CORE = 4

#: First number of the edges of the clipping face.
CUTTING = 32


@compiled
def cut(polygon: FloatArray, count: int, side: Vec3, level: float, edge: int) -> int:
    """Clip a convex polygon by a plane (Sutherland and Hodgman, 1974).

    :param polygon: vertices, also of a line or a point; changed, (64, 4)
    :param count: number of vertices
    :param side: outward normal of the plane
    :param level: its height above the origin [m]
    :param edge: number of the edge along the plane
    :return: new number of vertices
    """
    result = stack_matrix(64, 4)
    kept = 0
    for i in range(count):
        p, q = load_vec(polygon[i], 3), load_vec(polygon[(i + 1) % count], 3)
        here, there = level - side @ p, level - side @ q
        # Height within the plane. Points on it are inside, so that bare contact is kept.
        if here >= 0.0:
            result[kept] = load_vec(polygon[i], 4)
            kept += 1
        # A line is traversed once.
        if (here >= 0.0) != (there >= 0.0) and (count > 2 or i == 0):
            # here and there have different signs: no division by zero.
            result[kept, 0:3] = p + here / (here - there) * (q - p)
            # The edge after the new vertex: the clipping one where the polygon leaves, its own
            # where it returns. These numbers keep features the same from step to step.
            result[kept, EDGE] = edge if here >= 0.0 else polygon[i, EDGE]
            kept += 1
    for i in range(kept):
        polygon[i] = load_vec(result[i], 4)
    return kept


@compiled
def cut_by_face(face: Feature, other: FloatArray, count: int) -> int:
    """Clip another polygon to the prism over a face; return the number of vertices."""
    for i in range(face.corners):
        p, q = load_vec(face.polygon[i], 3), load_vec(face.polygon[(i + 1) % face.corners], 3)
        # Outward in the plane of the face: a side of the prism over it.
        side = cross(q - p, face.normal)
        # Edges without length clip nothing.
        if count > 0 and side @ side > 0.0:
            count = cut(other, count, side, side @ p, CUTTING + i)
    return count


@compiled
def add_on_face(
    pose: FloatArray,
    face: Feature,
    other: Feature,
    of_second: bool,
    max_points: int,
    margin: float,
    found: FoundPoints,
) -> int:
    """Add the contacts of a face with a feature of the other shape that faces it.

    :param pose: pose of the first shape in the common frame, (12,)
    :param other: a face, a line or a point of the other shape; its polygon is changed, (64, 4)
    :param of_second: whether the face is one of the second shape
    :param max_points: number of points, up to 8, above which at most 4 of them are chosen
    :param margin: maximum gap [m]
    :param found: the points; changed
    :return: number of points
    """
    polygon, normal, radius = other.polygon, face.normal, other.radius
    count = cut_by_face(face, polygon, other.corners)
    level = normal @ load_vec(face.polygon[0], 3)
    u = perpendicular(normal)
    v = cross(normal, u)
    flat, chosen = stack_matrix(64, 5), stack_array(8)
    # Both edges that meet at a vertex identify it.
    before = polygon[count - 1, EDGE] if count > 0 else 0.0
    kept = 0
    for i in range(count):
        point = load_vec(polygon[i], 3)
        height = normal @ point - level
        label = 64.0 * before + polygon[i, EDGE]
        before = polygon[i, EDGE]
        if height - radius <= margin:
            flat[kept] = Vec(u @ point, v @ point, height - radius, label, height)
            polygon[kept, 0:3] = point
            kept += 1
    number = kept
    # Four points with a large area support a face like all of them, with fewer solver rows.
    if kept > max_points:
        number = choose(flat, kept, chosen)
    else:
        for i in range(kept):
            chosen[i] = i
    # Contacts are points of the first shape, and normals point away from it. For a face of the
    # second one, the point is on the other polygon plus its radius, and the normal is reversed.
    base = 1024 * face.number + other.number
    outward = normal
    if of_second:
        base, outward = 1024 * other.number + face.number + (1 << 20), -normal
    total, direction = 0, rotated(pose, outward)
    for n in range(number):
        i = int(chosen[n])
        height = flat[i, _OF_CORE]
        point = load_vec(polygon[i], 3) - (radius if of_second else height) * normal
        # 64 x 64 edges below, features of both shapes above: unique for the pair, and the same in
        # the next step for warm start.
        feature = FIRST_FEATURE + 4096 * base + int(flat[i, EDGE])
        gap = height - radius
        total = add(found, total, feature, gap, margin, placed(pose, point), direction)
    return total


@compiled
def add_along_lines(
    pose: FloatArray, a: Feature, b: Feature, normal: Vec3, margin: float, found: FoundPoints
) -> int:
    """Add the contacts of two parallel lines, at both ends of their overlap.

    :param pose: pose of the first shape in the common frame, (12,)
    :param a: line of the first shape
    :param b: line of the second shape
    :param normal: from the first shape to the second
    :param margin: maximum gap [m]
    :param found: the points; changed
    :return: number of points, none without an overlap
    """
    start_a, start_b = load_vec(a.polygon[0], 3), load_vec(b.polygon[0], 3)
    along_a, along_b = load_vec(a.polygon[1], 3) - start_a, load_vec(b.polygon[1], 3) - start_b
    square, length_b = along_a @ along_a, norm(along_b)
    if not square > 0.0 or not length_b > 0.0:
        return 0
    length_a = math.sqrt(square)
    if not norm(cross(along_a, along_b)) <= SIDE_BY_SIDE * length_a * length_b:
        return 0
    if not abs(along_a @ normal) <= SIDE_BY_SIDE * length_a:
        return 0
    # Both ends of the second line in units of the first one: the overlap is an interval.
    one = along_a @ (start_b - start_a) / square
    other = along_a @ (load_vec(b.polygon[1], 3) - start_a) / square
    first, last = max(0.0, min(one, other)), min(1.0, max(one, other))
    if not last - first > SIDE_BY_SIDE:
        return 0
    base = (1 << 21) + (a.number << 16) + b.number
    count, direction = 0, rotated(pose, normal)
    for number in range(2):
        s = first if number == 0 else last
        # The point of the second line beside it; |other - one| is at least the length of the
        # overlap.
        t = min(1.0, max(0.0, (s - one) / (other - one)))
        here = start_a + s * along_a
        gap = normal @ (start_b + t * along_b - here) - a.radius - b.radius
        point = placed(pose, here + a.radius * normal)
        feature = FIRST_FEATURE + 4096 * base + number
        count = add(found, count, feature, gap, margin, point, direction)
    return count


@compiled
def add_manifold(
    a: PlacedShape,
    b: PlacedShape,
    normal: Vec3,
    max_points: int,
    margin: float,
    found: FoundPoints,
) -> int:
    """Add the contacts of faces or lines that face each other.

    :param a: the first shape, with its pose in the common frame
    :param b: the second one, with its pose in coordinates of the first one
    :param normal: from the first shape to the second in coordinates of the first one
    :param max_points: as in `add_on_face`
    :return: number of points, none where they touch at a point
    """
    polygon_a, polygon_b, polygon = stack_matrix(64, 4), stack_matrix(64, 4), stack_matrix(64, 4)
    # The reversed normal in coordinates of the second shape: its features face the first one.
    back = -rotated_back(b.pose, normal)
    count_a, number_a, normal_a = feature_along(a, normal, polygon_a)
    count_b, number_b, normal_b = feature_along(b, back, polygon)
    for i in range(count_b):
        polygon_b[i, 0:3] = placed(b.pose, load_vec(polygon[i], 3))
        polygon_b[i, EDGE] = polygon[i, EDGE]
    of_a = Feature(polygon_a, count_a, normal_a, number_a, radius_of(a))
    of_b = Feature(polygon_b, count_b, rotated(b.pose, normal_b), number_b, radius_of(b))
    towards_a = normal_a @ normal if count_a > 2 else 0.0
    towards_b = normal_b @ back if count_b > 2 else 0.0
    # The first one's face, unless that of the second is closer to the normal by more than
    # rounding: features, and so the warm start, must not flicker between steps.
    if towards_a >= NEARLY and towards_a >= towards_b - SLACK:
        return add_on_face(a.pose, of_a, of_b, False, max_points, margin, found)
    if towards_b >= NEARLY:
        return add_on_face(a.pose, of_b, of_a, True, max_points, margin, found)
    if count_a == 2 and count_b > 2:
        # The line of the first shape, in coordinates of the second one.
        line = load_vec(polygon_a[1], 3) - load_vec(polygon_a[0], 3)
        number_b = edge_beside(b, back, rotated_back(b.pose, line), polygon)
        polygon_b[0, 0:3] = placed(b.pose, load_vec(polygon[0], 3))
        polygon_b[1, 0:3] = placed(b.pose, load_vec(polygon[1], 3))
    elif count_b == 2 and count_a > 2:
        line = load_vec(polygon_b[1], 3) - load_vec(polygon_b[0], 3)
        number_a = edge_beside(a, normal, line, polygon_a)
    elif count_a != 2 or count_b != 2:
        return 0
    if number_a < 0 or number_b < 0:
        return 0
    line_a = Feature(polygon_a, 2, normal_a, number_a, radius_of(a))
    line_b = Feature(polygon_b, 2, normal_b, number_b, radius_of(b))
    return add_along_lines(a.pose, line_a, line_b, normal, margin, found)


@compiled
def code_of(simplex: FloatArray, count: int, column: int, base: int) -> int:
    """Return the code of the vertices of a shape in a simplex, independent of their order."""
    code, last = 0, base
    # In descending order, each once.
    for _ in range(min(count, 3)):
        highest = -1
        for i in range(count):
            number = int(simplex[i, column])
            if number < last and number > highest:
                highest = number
        if highest < 0:
            return code
        code = base * code + highest + 1
        last = highest
    return code
