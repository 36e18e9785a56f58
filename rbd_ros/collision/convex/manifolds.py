# SPDX-License-Identifier: Apache-2.0
"""Contact points of two convex shapes that touch along faces and lines.

Everything is in coordinates of the first shape until points are entered.
"""

from __future__ import annotations

import math

from rbd_ros.collision.arrays import FloatArray, FoundPoints, Tables
from rbd_ros.collision.convex.reduction import choose, HEIGHT
from rbd_ros.collision.pairs.capsules import SIDE_BY_SIDE
from rbd_ros.collision.shapes.features import EDGE, edge_beside, feature_along
from rbd_ros.collision.vectors import add, cross, dot, perpendicular, placed, turned
from rbd_ros.compiler.loops import compiled, stack_array, stack_matrix

#: Cosine of the angle up to which the direction between two shapes counts as normal to a face, and
#: what that of a face of the second shape must be more by to be taken before one of the first.
NEARLY, SLACK = 0.9998, 1e-10

#: Features of faces and lines begin here; below are those of single points (convex_pairs.py).
FIRST_FEATURE = 1 << 52

# Column of the height of a point of the other shape's core.
_OF_CORE = 4

#: Edges of the face that cuts are numbered from here.
CUTTING = 32


@compiled
def cut(polygon: FloatArray, count: int, side: FloatArray, level: float, edge: int) -> int:
    """Cut off what of a convex polygon is beyond a plane (Sutherland and Hodgman, 1974).

    :param polygon: vertices, also of a line or a point; changed, (64, 4)
    :param count: how many there are
    :param side: outward normal of the plane, (3,)
    :param level: its height above the origin [m]
    :param edge: number of the edge along the plane
    :return: how many vertices there are now
    """
    result = stack_matrix(64, 4)
    kept = 0
    for i in range(count):
        j = (i + 1) % count
        here = level - dot(side, polygon[i])
        there = level - dot(side, polygon[j])
        # The height within the plane: on it counts as inside, so nothing is lost of what only
        # touches.
        if here >= 0.0:
            for c in range(4):
                result[kept, c] = polygon[i, c]
            kept += 1
        # A line has no way back.
        if (here >= 0.0) != (there >= 0.0) and (count > 2 or i == 0):
            # here and there have different signs: no division by zero.
            part = here / (here - there)
            for r in range(3):
                result[kept, r] = polygon[i, r] + part * (polygon[j, r] - polygon[i, r])
            # The edge that follows the new vertex: the cutting one where the polygon leaves, its
            # own where it returns. Features stay the same from step to step by these numbers.
            result[kept, EDGE] = edge if here >= 0.0 else polygon[i, EDGE]
            kept += 1
    for i in range(kept):
        for c in range(4):
            polygon[i, c] = result[i, c]
    return kept


@compiled
def enter(
    pose: FloatArray,
    point: FloatArray,
    normal: FloatArray,
    gap: float,
    feature: int,
    margin: float,
    found: FoundPoints,
    count: int,
) -> int:
    """Enter a point of the first shape with its normal, in coordinates of that shape."""
    on_a, direction = stack_array(3), stack_array(3)
    placed(pose, point, on_a)
    turned(pose, normal, direction)
    return add(found, count, feature, gap, margin, on_a, direction)


@compiled
def add_on_face(
    pose: FloatArray,
    face: FloatArray,
    face_count: int,
    normal: FloatArray,
    other: FloatArray,
    count: int,
    radius: float,
    of_second: bool,
    base: int,
    max_points: int,
    margin: float,
    found: FoundPoints,
) -> int:
    """Enter the contacts of a face with what of the other shape looks at it.

    :param pose: pose of the first shape in the common frame, (12,)
    :param face: vertices of the face, anticlockwise from outside, (32, 4)
    :param face_count: how many there are
    :param normal: its outward unit normal, (3,)
    :param other: vertices of a face, a line or a point of the other shape; changed, (64, 4)
    :param count: how many there are
    :param radius: radius around the core of the other shape [m]
    :param of_second: whether the face is one of the second shape
    :param base: number of the features that touch
    :param max_points: number of points, up to 8, above which at most 4 of them are chosen
    :param margin: maximum gap [m]
    :param found: the points; changed
    :return: how many were found
    """
    edge, side, u, v = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    for i in range(face_count):
        j = (i + 1) % face_count
        for r in range(3):
            edge[r] = face[j, r] - face[i, r]
        # Outward of the face, in its plane: a side of the prism over the face that clips the other
        # one.
        cross(edge, normal, side)
        level = dot(side, face[i])
        # Edges without length cut nothing off.
        if count > 0 and dot(side, side) > 0.0:
            count = cut(other, count, side, level, CUTTING + i)
    level = dot(normal, face[0])
    perpendicular(normal, u)
    cross(normal, u, v)
    flat, chosen = stack_matrix(64, 5), stack_array(8)
    # A vertex is known by both edges that meet there.
    before = other[count - 1, EDGE] if count > 0 else 0.0
    kept = 0
    for i in range(count):
        height = dot(normal, other[i]) - level
        label = 64.0 * before + other[i, EDGE]
        before = other[i, EDGE]
        if height - radius <= margin:
            flat[kept, 0], flat[kept, 1] = dot(u, other[i]), dot(v, other[i])
            flat[kept, HEIGHT], flat[kept, EDGE] = height - radius, label
            flat[kept, _OF_CORE] = height
            for r in range(3):
                other[kept, r] = other[i, r]
            kept += 1
    number = kept
    # Four points that span a large area hold a face as all of them would, with fewer rows for the
    # solver.
    if kept > max_points:
        number = choose(flat, kept, chosen)
    else:
        for i in range(kept):
            chosen[i] = i
    total = 0
    for n in range(number):
        i = int(chosen[n])
        height = flat[i, _OF_CORE]
        for r in range(3):
            # Contacts are points of the first shape, and normals point from it: for a face of the
            # second one that is the other polygon's point, by its radius, and the normal turned
            # round.
            if of_second:
                edge[r] = other[i, r] - radius * normal[r]
                side[r] = -normal[r]
            else:
                edge[r] = other[i, r] - height * normal[r]
                side[r] = normal[r]
        # 64 x 64 edges below, features of both shapes above: unique for the pair, and the same in
        # the next step, as warm start needs.
        feature = FIRST_FEATURE + 4096 * base + int(flat[i, EDGE])
        total = enter(pose, edge, side, height - radius, feature, margin, found, total)
    return total


@compiled
def add_along_lines(
    pose: FloatArray,
    a: FloatArray,
    b: FloatArray,
    radius_a: float,
    radius_b: float,
    normal: FloatArray,
    base: int,
    margin: float,
    found: FoundPoints,
) -> int:
    """Enter the contacts of two lines that are side by side, at both ends of where they are.

    :param pose: pose of the first shape in the common frame, (12,)
    :param a: ends of the line of the first shape, (2 or more, 4) [m]
    :param b: ends of the line of the second shape, (2 or more, 4) [m]
    :param radius_a: radius around the core of the first shape [m]
    :param radius_b: radius around the core of the second shape [m]
    :param normal: from the first shape to the second, (3,)
    :param base: number of the features that touch
    :param margin: maximum gap [m]
    :param found: the points; changed
    :return: how many were found, none if the lines are not side by side
    """
    along_a, along_b, sideways, point = (
        stack_array(3),
        stack_array(3),
        stack_array(3),
        stack_array(3),
    )
    for r in range(3):
        along_a[r] = a[1, r] - a[0, r]
        along_b[r] = b[1, r] - b[0, r]
    square = dot(along_a, along_a)
    length_b = math.sqrt(dot(along_b, along_b))
    if not square > 0.0 or not length_b > 0.0:
        return 0
    length_a = math.sqrt(square)
    cross(along_a, along_b, sideways)
    if not math.sqrt(dot(sideways, sideways)) <= SIDE_BY_SIDE * length_a * length_b:
        return 0
    if not abs(dot(along_a, normal)) <= SIDE_BY_SIDE * length_a:
        return 0
    # Both ends of the second line in units of the first one: the interval where they overlap.
    one, other = 0.0, 0.0
    for r in range(3):
        one += along_a[r] * (b[0, r] - a[0, r]) / square
        other += along_a[r] * (b[1, r] - a[0, r]) / square
    first, last = max(0.0, min(one, other)), min(1.0, max(one, other))
    if not last - first > SIDE_BY_SIDE:
        return 0
    count = 0
    for number in range(2):
        s = first if number == 0 else last
        # The point of the second line beside it; other - one is at least the length of the
        # overlap.
        t = min(1.0, max(0.0, (s - one) / (other - one)))
        gap = -radius_a - radius_b
        for r in range(3):
            here = a[0, r] + s * along_a[r]
            gap += normal[r] * (b[0, r] + t * along_b[r] - here)
            point[r] = here + radius_a * normal[r]
        feature = FIRST_FEATURE + 4096 * base + number
        count = enter(pose, point, normal, gap, feature, margin, found, count)
    return count


@compiled
def add_manifold(
    kind_a: int,
    size_a: FloatArray,
    pose_a: FloatArray,
    radius_a: float,
    kind_b: int,
    size_b: FloatArray,
    pose: FloatArray,
    radius_b: float,
    tables: Tables,
    normal: FloatArray,
    max_points: int,
    margin: float,
    found: FoundPoints,
) -> int:
    """Enter the contacts of faces or lines that look at each other.

    :param pose_a: pose of the first shape in the common frame, (12,)
    :param pose: pose of the second one in coordinates of the first one, (12,)
    :param normal: from the first shape to the second in coordinates of the first one, (3,)
    :param max_points: as in `add_on_face`
    :return: how many were found, none where they touch at a point
    """
    polygon_a, polygon_b, polygon = stack_matrix(64, 4), stack_matrix(64, 4), stack_matrix(64, 4)
    normal_a, normal_b, turned_b = stack_array(3), stack_array(3), stack_array(3)
    back, line = stack_array(3), stack_array(3)
    for k in range(3):
        # R^T n of the second shape, turned round: its features look at the first shape.
        back[k] = -(pose[k] * normal[0] + pose[3 + k] * normal[1] + pose[6 + k] * normal[2])
    count_a, number_a = feature_along(kind_a, size_a, tables, normal, normal_a, polygon_a)
    count_b, number_b = feature_along(kind_b, size_b, tables, back, normal_b, polygon)
    for i in range(count_b):
        placed(pose, polygon[i], polygon_b[i])
        polygon_b[i, EDGE] = polygon[i, EDGE]
    towards_a = dot(normal_a, normal) if count_a > 2 else 0.0
    towards_b = dot(normal_b, back) if count_b > 2 else 0.0
    base = 1024 * number_a + number_b
    # The first one's face, unless that of the second is closer to the normal by more than
    # rounding: the choice must not flicker between steps, as features and so the warm start depend
    # on it.
    if towards_a >= NEARLY and towards_a >= towards_b - SLACK:
        return add_on_face(
            pose_a,
            polygon_a,
            count_a,
            normal_a,
            polygon_b,
            count_b,
            radius_b,
            False,
            base,
            max_points,
            margin,
            found,
        )
    if towards_b >= NEARLY:
        turned(pose, normal_b, turned_b)
        return add_on_face(
            pose_a,
            polygon_b,
            count_b,
            turned_b,
            polygon_a,
            count_a,
            radius_a,
            True,
            base + (1 << 20),
            max_points,
            margin,
            found,
        )
    if count_a != 2 and count_b != 2:
        return 0
    if count_a == 2 and count_b > 2:
        # The line of the first shape, in coordinates of the second one.
        for k in range(3):
            line[k] = 0.0
            for r in range(3):
                line[k] += pose[3 * r + k] * (polygon_a[1, r] - polygon_a[0, r])
        number_b = edge_beside(kind_b, size_b, tables, back, line, polygon)
        if number_b < 0:
            return 0
        placed(pose, polygon[0], polygon_b[0])
        placed(pose, polygon[1], polygon_b[1])
    elif count_b == 2 and count_a > 2:
        for r in range(3):
            line[r] = polygon_b[1, r] - polygon_b[0, r]
        number_a = edge_beside(kind_a, size_a, tables, normal, line, polygon_a)
        if number_a < 0:
            return 0
    elif count_a != 2 or count_b != 2:
        return 0
    base = (1 << 21) + (number_a << 16) + number_b
    return add_along_lines(
        pose_a, polygon_a, polygon_b, radius_a, radius_b, normal, base, margin, found
    )


@compiled
def code_of(simplex: FloatArray, count: int, column: int, base: int) -> int:
    """Return the code of the vertices of a shape in a simplex, independent of their order."""
    code, last = 0, base
    # In falling order, each once.
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
