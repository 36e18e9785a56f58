# SPDX-License-Identifier: Apache-2.0
"""Depth of two convex cores that overlap: the expanding polytope algorithm.

The depth is the distance of the origin from the surface of the difference of both cores, all
a - b: the minimum over all directions of how far the difference reaches along them. A polytope of
points of that surface grows where it is nearest to the origin (van den Bergen 2001); its faces
bound the depth from below, what the difference reaches along their normals from above. Heights of
faces have a sign, so that it also serves cores that touch or are a rounding error apart.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.collision.arrays import CYLINDER, FloatArray, Tables
from rbd_ros.collision.shapes.supports import OF_A, SHARE, support_of_difference
from rbd_ros.collision.vectors import COINCIDENT, cross, dot, perpendicular
from rbd_ros.compiler.loops import compiled, stack_array, stack_matrix

#: Maximum number of vertices, of faces and of edges of the polytope.
MAX_VERTICES, MAX_FACES = 120, 240

#: Difference of both bounds on the depth at which they agree, relative to the size of the
#: difference; of shapes with curves, whose surface takes more points.
AGREEMENT, AGREEMENT_OF_CURVES = 1e-13, 1e-10

#: Height above a face from which on a point sees it, and extent below which there is none,
#: relative likewise.
SEEN, FLAT = 1e-14, 1e-12

#: Volume of a tetrahedron to begin with, six times, relative to the cube of its longest edge.
PLUMP = 1e-2

#: Columns of a face: three vertices, outward normal, height above the origin.
NORMAL, LEVEL = 3, 6


@compiled
def copy_row(source: FloatArray, target: FloatArray) -> None:
    """Copy a point of the difference."""
    for c in range(12):
        target[c] = source[c]


@compiled
def enter_face(vertices: FloatArray, faces: FloatArray, f: int, i: int, j: int, k: int) -> None:
    """Enter a face, whose vertices run anticlockwise from outside."""
    e, g, normal = stack_array(3), stack_array(3), stack_array(3)
    for r in range(3):
        e[r] = vertices[j, r] - vertices[i, r]
        g[r] = vertices[k, r] - vertices[i, r]
    # Anticlockwise from outside: the normal e x g points outward.
    cross(e, g, normal)
    length = math.sqrt(dot(normal, normal))
    faces[f, 0], faces[f, 1], faces[f, 2] = i, j, k
    level = math.inf
    for r in range(3):
        faces[f, NORMAL + r] = normal[r] / length if length > 0.0 else 0.0
    if length > 0.0:
        level = 0.0
        for r in range(3):
            level += faces[f, NORMAL + r] * vertices[i, r]
    # A face without an area is never the nearest one.
    faces[f, LEVEL] = level


@compiled
def take_simplex(simplex: FloatArray, vertices: FloatArray, faces: FloatArray) -> float:
    """Begin with the tetrahedron around the origin that overlap was found by, unless it is flat.

    :param simplex: its points, (4, 12)
    :param vertices: the same; a result, (MAX_VERTICES, 12)
    :param faces: its faces; a result, (MAX_FACES, 7)
    :return: size of what the points are differences of [m]; 0 if it is too flat
    """
    e, f, g, normal = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    largest, longest = 0.0, 0.0
    for i in range(4):
        row, square = simplex[i], 0.0
        for r in range(3):
            e[r] = row[r] - simplex[0, r]
            square += row[OF_A + r] * row[OF_A + r]
        # Size of the points of both shapes, not of their difference alone: rounding of a - b is
        # that of a.
        largest, longest = max(largest, square, dot(row, row)), max(longest, dot(e, e))
        copy_row(row, vertices[i])
    for r in range(3):
        e[r] = vertices[1, r] - vertices[0, r]
        f[r] = vertices[2, r] - vertices[0, r]
        g[r] = vertices[3, r] - vertices[0, r]
    cross(e, f, normal)
    # A flat tetrahedron has normals of rounding errors, and its faces may enclose the wrong side.
    volume = dot(normal, g)
    if not abs(volume) > PLUMP * longest * math.sqrt(longest):
        return 0.0
    enter_tetrahedron(vertices, faces, volume)
    return math.sqrt(largest)


@compiled
def enter_tetrahedron(vertices: FloatArray, faces: FloatArray, height: float) -> None:
    """Enter the faces of a tetrahedron.

    :param height: of its fourth vertex above the others, seen from where these run anticlockwise
    """
    # Seen from outside, the first three run anticlockwise where the fourth is below them.
    i, j = 0, 1
    if height > 0.0:
        i, j = 1, 0
    enter_face(vertices, faces, 0, i, j, 2)
    enter_face(vertices, faces, 1, j, i, 3)
    enter_face(vertices, faces, 2, 2, j, 3)
    enter_face(vertices, faces, 3, i, 2, 3)


@compiled
def first_polytope(
    kind_a: int,
    size_a: FloatArray,
    kind_b: int,
    size_b: FloatArray,
    pose: FloatArray,
    tables: Tables,
    vertices: FloatArray,
    faces: FloatArray,
    normal: FloatArray,
) -> Tuple[int, float]:
    """Return the tetrahedron of points of the difference that are far from each other.

    :param vertices: its vertices; a result, (MAX_VERTICES, 12)
    :param faces: its faces; a result, (MAX_FACES, 7)
    :param normal: of a difference without volume, a direction in which it is flat; a result, (3,)
    :return: dimension of the difference, and its size [m]
    """
    direction, e, g, trial, other = (
        stack_array(3),
        stack_array(3),
        stack_array(3),
        stack_array(3),
        stack_array(3),
    )
    ends = stack_matrix(2, 12)
    largest, extent = 0.0, -1.0
    # Two points of the difference that are far apart along an axis, then one far from their line,
    # then one far from their plane: what none of them finds has no extent in that dimension.
    for k in range(3):
        for number in range(2):
            for r in range(3):
                direction[r] = 0.0
            direction[k] = 1.0 if number == 0 else -1.0
            support_of_difference(
                kind_a, size_a, kind_b, size_b, pose, tables, direction, 0, 0, ends[number]
            )
            largest = max(largest, dot(ends[number], ends[number]))
        for r in range(3):
            e[r] = ends[1, r] - ends[0, r]
        if dot(e, e) > extent:
            extent = dot(e, e)
            copy_row(ends[0], vertices[0])
            copy_row(ends[1], vertices[1])
    scale = math.sqrt(largest)
    flat = max(FLAT * scale, COINCIDENT)
    for r in range(3):
        e[r] = vertices[1, r] - vertices[0, r]
    # Both shapes are points.
    if not math.sqrt(extent) > flat:
        normal[0], normal[1], normal[2] = 0.0, 0.0, 1.0
        return 0, scale
    perpendicular(e, trial)
    cross(e, trial, other)
    length = math.sqrt(dot(other, other))
    most = -1.0
    for number in range(4):
        for r in range(3):
            direction[r] = trial[r] if number < 2 else other[r] / length
            if number % 2 == 1:
                direction[r] = -direction[r]
        support_of_difference(
            kind_a, size_a, kind_b, size_b, pose, tables, direction, 0, 0, ends[0]
        )
        for r in range(3):
            g[r] = ends[0, r] - vertices[0, r]
        cross(e, g, normal)
        away = math.sqrt(dot(normal, normal) / extent)
        if away > most:
            most = away
            copy_row(ends[0], vertices[2])
    if not most > flat:
        # Any direction across a line is one along which the difference has no extent: depth is
        # found there.
        perpendicular(e, normal)
        return 1, scale
    for r in range(3):
        g[r] = vertices[2, r] - vertices[0, r]
    cross(e, g, normal)
    length = math.sqrt(dot(normal, normal))
    most = 0.0
    for r in range(3):
        normal[r] = normal[r] / length
    for number in range(2):
        for r in range(3):
            direction[r] = normal[r] if number == 0 else -normal[r]
        support_of_difference(
            kind_a, size_a, kind_b, size_b, pose, tables, direction, 0, 0, ends[0]
        )
        height = 0.0
        for r in range(3):
            height += normal[r] * (ends[0, r] - vertices[0, r])
        if abs(height) > abs(most):
            most = height
            copy_row(ends[0], vertices[3])
    if not abs(most) > flat:
        return 2, scale
    enter_tetrahedron(vertices, faces, most)
    return 3, scale


@compiled
def grow(
    vertices: FloatArray, faces: FloatArray, count: int, newest: int, start: int, seen: float
) -> Tuple[int, int]:
    """Take a new vertex into the polytope: faces that it sees give way to those that it is on.

    :param vertices: vertices of the polytope, (MAX_VERTICES, 12)
    :param faces: its faces; changed, (MAX_FACES, 7)
    :param count: how many faces there are
    :param newest: number of the new vertex
    :param start: a face that is seen for certain
    :param seen: height from which on a face is seen [m]
    :return: how many faces there are now, -1 if there is no room for them, and the nearest of them
    """
    edges, vacant = stack_matrix(240, 2), stack_array(240)
    border, gone, nearest, least = 0, 0, 0, math.inf
    x, y, z = vertices[newest, 0], vertices[newest, 1], vertices[newest, 2]
    for f in range(count):
        face = faces[f]
        height = face[NORMAL] * x + face[NORMAL + 1] * y + face[NORMAL + 2] * z - face[LEVEL]
        # The face that was nearest gives way whatever rounding says, or the polytope would not
        # grow.
        if f != start and not height > seen:
            if face[LEVEL] < least:
                nearest, least = f, face[LEVEL]
            continue
        vacant[gone] = f
        gone += 1
        for number in range(3):
            i, j = face[number], face[(number + 1) % 3]
            # An edge between two faces that are seen goes, with its opposite.
            twin = -1
            for e in range(border):
                if edges[e, 0] == j and edges[e, 1] == i:
                    twin = e
            # What is left are the edges of the horizon, each in the order that its outer face has
            # the other way round, so that new faces run anticlockwise from outside.
            if twin >= 0:
                border -= 1
                edges[twin, 0], edges[twin, 1] = edges[border, 0], edges[border, 1]
            # Rounding may leave a horizon that is no single loop: the search ends with the bounds
            # so far.
            elif border == 240:
                return -1, nearest
            else:
                edges[border, 0], edges[border, 1] = i, j
                border += 1
    if count - gone + border > MAX_FACES:
        return -1, nearest
    for e in range(border):
        f = count
        if e < gone:
            f = int(vacant[e])
        else:
            count += 1
        # In vacant rows first: rows stay without gaps, and nothing is allocated.
        enter_face(vertices, faces, f, int(edges[e, 0]), int(edges[e, 1]), newest)
        if faces[f, LEVEL] < least:
            nearest, least = f, faces[f, LEVEL]
    # Rarely there are fewer faces than before: those at the end take the places of the others.
    while gone > border:
        gone -= 1
        f = int(vacant[gone])
        count -= 1
        if f < count:
            for c in range(7):
                faces[f, c] = faces[count, c]
        if nearest == count:
            nearest = f
    return count, nearest


@compiled
def shares_of_foot(
    p: FloatArray, q: FloatArray, r: FloatArray, normal: FloatArray, shares: FloatArray
) -> float:
    """Return the shares of three points in the foot of the origin on their plane.

    :param p: the points, (3,) [m]
    :param normal: unit normal, with which they run anticlockwise, (3,)
    :param shares: the result, (3,)
    :return: the least of the shares: not negative where the foot is on the triangle
    """
    e, f, product = stack_array(3), stack_array(3), stack_array(3)
    for k in range(3):
        e[k], f[k] = q[k] - p[k], r[k] - p[k]
    cross(e, f, product)
    total = dot(product, normal)
    shares[0] = shares[1] = shares[2] = 1.0 / 3.0
    if not total > 0.0:
        return -math.inf
    cross(q, r, product)
    # Barycentric coordinates by signed areas of the triangles that the foot makes with two
    # corners, seen along the normal; the origin may stand for its foot, as the difference is along
    # the normal.
    shares[0] = dot(product, normal) / total
    cross(r, p, product)
    shares[1] = dot(product, normal) / total
    shares[2] = 1.0 - shares[0] - shares[1]
    return min(shares[0], shares[1], shares[2])


@compiled
def depth_of_cores(
    kind_a: int,
    size_a: FloatArray,
    kind_b: int,
    size_b: FloatArray,
    pose: FloatArray,
    tables: Tables,
    least: float,
    simplex: FloatArray,
    count: int,
    normal: FloatArray,
) -> Tuple[float, int]:
    """Return the depth of two cores.

    Arguments are those of `nearest_of_cores` (gjk.py), and

    :param least: depth below which nothing is asked for: then what is found is a bound on it [m]
    :param simplex: points of the difference around the origin, with their shares, as they were
        found; a result: those of the face that is nearest, (4, 12)
    :param count: how many there are
    :param normal: direction to move the second core in by the depth, a unit vector; a result, (3,)
    :return: the depth, negative where the cores are a little apart [m], and the number of points
    """
    vertices, faces = stack_matrix(120, 12), stack_matrix(240, 7)
    shares, other, direction = stack_array(3), stack_array(3), stack_array(3)
    dimension, scale = 3, 0.0
    # What GJK ended with encloses the origin: no new supports are needed.
    if count == 4:
        scale = take_simplex(simplex, vertices, faces)
    if scale == 0.0:
        dimension, scale = first_polytope(
            kind_a, size_a, kind_b, size_b, pose, tables, vertices, faces, normal
        )
    depth = math.inf
    # Two points, lines or flat shapes in one plane: the depth is that of the direction without
    # extent, and no polytope has a volume to grow from.
    if dimension < 3:
        for number in range(2):
            for r in range(3):
                direction[r] = normal[r] if number == 0 else -normal[r]
            support_of_difference(
                kind_a, size_a, kind_b, size_b, pose, tables, direction, 0, 0, vertices[0]
            )
            reach = dot(direction, vertices[0])
            # The first of two equal directions, whatever is rounded.
            if reach < depth - FLAT * scale:
                depth = reach
                for r in range(3):
                    other[r] = direction[r]
        for r in range(3):
            normal[r] = other[r]
        return depth, count
    curved = kind_a == CYLINDER or kind_b == CYLINDER
    agreement = scale * (AGREEMENT_OF_CURVES if curved else AGREEMENT)
    number_a, number_b, total, nearest = 0, 0, 4, 0
    for f in range(1, total):
        if faces[f, LEVEL] < faces[nearest, LEVEL]:
            nearest = f
    for newest in range(4, MAX_VERTICES):
        for r in range(3):
            # van den Bergen (2001): the face nearest to the origin bounds the depth from below,
            # the support along its normal from above.
            direction[r] = faces[nearest, NORMAL + r]
        row = vertices[newest]
        number_a, number_b = support_of_difference(
            kind_a, size_a, kind_b, size_b, pose, tables, direction, number_a, number_b, row
        )
        reach = dot(direction, row)
        if reach < depth:
            depth = reach
            for r in range(3):
                normal[r] = direction[r]
                copy_row(vertices[int(faces[nearest, r])], simplex[r])
            # Shallower than what is asked for: the exact depth would not be used.
            if depth < least:
                return depth, 3
        if depth - faces[nearest, LEVEL] <= agreement:
            if reach - faces[nearest, LEVEL] <= agreement:
                # Not a face below this one that has the same normal.
                depth = reach
                for r in range(3):
                    normal[r] = direction[r]
                    copy_row(vertices[int(faces[nearest, r])], simplex[r])
            break
        total, nearest = grow(vertices, faces, total, newest, nearest, SEEN * scale)
        # No room: `depth` is a bound from above, which is on the safe side for a contact.
        if total < 0:
            total = 0
            break
    # Of triangles of one face, the one that the origin is above.
    most = shares_of_foot(simplex[0], simplex[1], simplex[2], normal, shares)
    for f in range(total):
        if faces[f, LEVEL] <= depth + agreement and most < 0.0:
            i, j, k = int(faces[f, 0]), int(faces[f, 1]), int(faces[f, 2])
            inside = shares_of_foot(vertices[i], vertices[j], vertices[k], normal, other)
            if inside > most:
                most = inside
                copy_row(vertices[i], simplex[0])
                copy_row(vertices[j], simplex[1])
                copy_row(vertices[k], simplex[2])
    shares_of_foot(simplex[0], simplex[1], simplex[2], normal, shares)
    whole = 0.0
    for i in range(3):
        # Where the foot is outside of all triangles by rounding, the nearest point of one of them.
        shares[i] = max(0.0, shares[i])
        whole += shares[i]
    for i in range(3):
        simplex[i, SHARE] = shares[i] / whole
    return depth, 3
