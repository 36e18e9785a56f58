# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Depth of two convex cores that overlap: the expanding polytope algorithm.

The depth is the distance of the origin from the surface of the difference of both cores, all
a - b. That is the minimum of the support of the difference over all directions. A polytope of
points of that surface grows where it is nearest to the origin (van den Bergen 2001): its faces
bound the depth from below, supports along their normals from above. Heights of faces have a sign,
so it also serves cores that touch or are a rounding error apart.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    CYLINDER,
    PlacedShape,
)
from rbd_ros.collision.shapes.supports import OF_A, support_of_difference, WEIGHT
from rbd_ros.collision.vectors import COINCIDENT, perpendicular, unit_vector
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

#: Maximum number of vertices, of faces and of edges of the polytope.
MAX_VERTICES, MAX_FACES = 120, 240

#: Difference of both bounds on the depth at convergence, relative to the size of the difference;
#: for curved shapes, whose surface needs more points.
AGREEMENT, AGREEMENT_OF_CURVES = 1e-13, 1e-10

#: Minimum height of a point above a face that it sees, and minimum extent in a dimension, relative
#: likewise.
SEEN, FLAT = 1e-14, 1e-12

#: Minimum volume of an initial tetrahedron, six times, relative to the cube of its longest edge.
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
    """Enter a face, whose vertices run counterclockwise from outside."""
    p = load_vec(vertices[i], 3)
    # Anticlockwise from outside: the normal points outward.
    normal = cross(load_vec(vertices[j], 3) - p, load_vec(vertices[k], 3) - p)
    length, level = norm(normal), math.inf
    # A face without area is never the nearest one.
    if length > 0.0:
        normal = normal / length
        level = normal @ p
    faces[f, 0], faces[f, 1], faces[f, 2] = i, j, k
    faces[f, NORMAL:LEVEL] = normal
    faces[f, LEVEL] = level


@compiled
def take_simplex(simplex: FloatArray, vertices: FloatArray, faces: FloatArray) -> float:
    """Start from the tetrahedron of GJK around the origin, unless it is flat.

    :param simplex: its points, (4, 12)
    :param vertices: the same; a result, (MAX_VERTICES, 12)
    :param faces: its faces; a result, (MAX_FACES, 7)
    :return: size of the points of both shapes [m]; 0 if it is too flat
    """
    largest, longest, p = 0.0, 0.0, load_vec(simplex[0], 3)
    for i in range(4):
        q, on_a = load_vec(simplex[i], 3), load_vec(simplex[i], 3, OF_A)
        # Size of the points of both shapes, which decides the rounding of their difference.
        largest, longest = max(largest, on_a @ on_a, q @ q), max(longest, (q - p) @ (q - p))
        copy_row(simplex[i], vertices[i])
    e, f = load_vec(simplex[1], 3) - p, load_vec(simplex[2], 3) - p
    # Normals of a flat tetrahedron are rounding errors, and its faces may enclose the wrong side.
    volume = cross(e, f) @ (load_vec(simplex[3], 3) - p)
    if not abs(volume) > PLUMP * longest * math.sqrt(longest):
        return 0.0
    enter_tetrahedron(vertices, faces, volume)
    return math.sqrt(largest)


@compiled
def enter_tetrahedron(vertices: FloatArray, faces: FloatArray, height: float) -> None:
    """Enter the faces of a tetrahedron.

    :param height: of its fourth vertex above the others, which run counterclockwise from above
    """
    # If the fourth vertex is below the others, these run counterclockwise seen from outside.
    i, j = 0, 1
    if height > 0.0:
        i, j = 1, 0
    enter_face(vertices, faces, 0, i, j, 2)
    enter_face(vertices, faces, 1, j, i, 3)
    enter_face(vertices, faces, 2, 2, j, 3)
    enter_face(vertices, faces, 3, i, 2, 3)


@compiled
def first_polytope(
    a: PlacedShape, b: PlacedShape, vertices: FloatArray, faces: FloatArray
) -> Tuple[int, float, Vec3]:
    """Return the tetrahedron of points of the difference that are far from each other.

    :param vertices: its vertices; a result, (MAX_VERTICES, 12)
    :param faces: its faces; a result, (MAX_FACES, 7)
    :return: dimension of the difference, its size [m], and of a difference without volume, a
        direction in which it is flat
    """
    ends = stack_matrix(2, 12)
    largest, extent = 0.0, -1.0
    # Two points far apart along an axis, then one far from their line, then one far from their
    # plane. A step without such a point shows that the difference has no extent there.
    for k in range(3):
        p, _, _ = support_of_difference(a, b, unit_vector(k), 0, 0, ends[0])
        q, _, _ = support_of_difference(a, b, -unit_vector(k), 0, 0, ends[1])
        largest = max(largest, p @ p, q @ q)
        if (q - p) @ (q - p) > extent:
            extent = (q - p) @ (q - p)
            copy_row(ends[0], vertices[0])
            copy_row(ends[1], vertices[1])
    scale = math.sqrt(largest)
    flat = max(FLAT * scale, COINCIDENT)
    # Both shapes are points.
    if not math.sqrt(extent) > flat:
        return 0, scale, Vec(0.0, 0.0, 1.0)
    start = load_vec(vertices[0], 3)
    line = load_vec(vertices[1], 3) - start
    sideways = perpendicular(line)
    other = cross(line, sideways)
    other = other / norm(other)
    most = -1.0
    for number in range(4):
        direction = sideways if number < 2 else other
        if number % 2 == 1:
            direction = -direction
        p, _, _ = support_of_difference(a, b, direction, 0, 0, ends[0])
        across = cross(line, p - start)
        away = math.sqrt(across @ across / extent)
        if away > most:
            most = away
            copy_row(ends[0], vertices[2])
    if not most > flat:
        # The difference has no extent along any direction across a line: one of them gives the
        # depth.
        return 1, scale, sideways
    normal = cross(line, load_vec(vertices[2], 3) - start)
    normal = normal / norm(normal)
    most = 0.0
    for number in range(2):
        direction = normal if number == 0 else -normal
        p, _, _ = support_of_difference(a, b, direction, 0, 0, ends[0])
        height = normal @ (p - start)
        if abs(height) > abs(most):
            most = height
            copy_row(ends[0], vertices[3])
    if not abs(most) > flat:
        return 2, scale, normal
    enter_tetrahedron(vertices, faces, most)
    return 3, scale, normal


@compiled
def grow(
    vertices: FloatArray, faces: FloatArray, count: int, newest: int, start: int, seen: float
) -> Tuple[int, int]:
    """Add a new vertex to the polytope: faces that it sees are replaced by faces with it.

    :param vertices: vertices of the polytope, (MAX_VERTICES, 12)
    :param faces: its faces; changed, (MAX_FACES, 7)
    :param count: number of faces
    :param newest: number of the new vertex
    :param start: a face that is certainly seen
    :param seen: minimum height above a face that is seen [m]
    :return: number of faces, -1 if they do not fit, and the nearest of them
    """
    edges, vacant = stack_matrix(240, 2), stack_array(240)
    border, gone, nearest, least = 0, 0, 0, math.inf
    point = load_vec(vertices[newest], 3)
    for f in range(count):
        face = faces[f]
        height = load_vec(face, 3, NORMAL) @ point - face[LEVEL]
        # The nearest face is always removed, despite rounding, or the polytope would not grow.
        if f != start and not height > seen:
            if face[LEVEL] < least:
                nearest, least = f, face[LEVEL]
            continue
        vacant[gone] = f
        gone += 1
        for number in range(3):
            i, j = face[number], face[(number + 1) % 3]
            # An edge between two seen faces is removed, with its opposite.
            twin = -1
            for e in range(border):
                if edges[e, 0] == j and edges[e, 1] == i:
                    twin = e
            # The rest is the horizon. Its edges keep the order of the removed face, so new faces
            # run counterclockwise from outside.
            if twin >= 0:
                border -= 1
                edges[twin, 0], edges[twin, 1] = edges[border, 0], edges[border, 1]
            # By rounding, the horizon may be no single loop: the search ends with the bounds so
            # far.
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
        # Vacant rows first: rows stay without gaps, and nothing is allocated.
        enter_face(vertices, faces, f, int(edges[e, 0]), int(edges[e, 1]), newest)
        if faces[f, LEVEL] < least:
            nearest, least = f, faces[f, LEVEL]
    # Rarely there are fewer faces than before: the last ones fill the gaps.
    while gone > border:
        gone -= 1
        f = int(vacant[gone])
        count -= 1
        if f < count:
            faces[f] = load_vec(faces[count], 7)
        if nearest == count:
            nearest = f
    return count, nearest


@compiled
def barycentric_coordinates(p: Vec3, q: Vec3, r: Vec3, normal: Vec3) -> Tuple[float, Vec3]:
    """Return the barycentric coordinates of the foot of the origin on the plane of three points.

    :param p: the points [m]
    :param normal: unit normal, with which they run counterclockwise
    :return: the least of the weights, not negative if the foot is on the triangle; the weights
    """
    total = cross(q - p, r - p) @ normal
    if not total > 0.0:
        return -math.inf, Vec(1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0)
    # Barycentric coordinates by signed areas of the triangles of the foot with two corners, seen
    # along the normal. The origin replaces its foot, as their difference is along the normal.
    x, y = cross(q, r) @ normal / total, cross(r, p) @ normal / total
    z = 1.0 - x - y
    return min(x, y, z), Vec(x, y, z)


@compiled
def take_face(face: FloatArray, vertices: FloatArray, simplex: FloatArray) -> None:
    """Copy the vertices of a face to the simplex."""
    for r in range(3):
        copy_row(vertices[int(face[r])], simplex[r])


@compiled
def depth_of_flat(
    a: PlacedShape, b: PlacedShape, normal: Vec3, rounding: float, row: FloatArray
) -> Tuple[float, Vec3]:
    """Return the depth along a direction without extent, either way, and the direction.

    :param rounding: insignificant difference of depths [m]
    :param row: buffer for a point of the difference, (12,)
    """
    p, _, _ = support_of_difference(a, b, normal, 0, 0, row)
    q, _, _ = support_of_difference(a, b, -normal, 0, 0, row)
    depth, back = normal @ p, -normal @ q
    # Of two equal directions the first, independent of rounding.
    if back < depth - rounding:
        return back, -normal
    return depth, normal


@compiled
def depth_of_cores(
    a: PlacedShape, b: PlacedShape, least: float, simplex: FloatArray, count: int
) -> Tuple[float, int, Vec3]:
    """Return the depth of two cores.

    :param b: the second shape, with its pose in coordinates of the first one
    :param least: depth below which a bound is enough [m]
    :param simplex: points of the difference around the origin, with their weights; a result: those
        of the nearest face, (4, 12)
    :param count: number of points
    :return: the depth, negative for cores a little apart [m], the number of points, and the unit
        vector along which to move the second core by the depth
    """
    vertices, faces = stack_matrix(120, 12), stack_matrix(240, 7)
    dimension, scale, normal = 3, 0.0, Vec(0.0, 0.0, 0.0)
    # The final simplex of GJK encloses the origin: no new supports are needed.
    if count == 4:
        scale = take_simplex(simplex, vertices, faces)
    if scale == 0.0:
        dimension, scale, normal = first_polytope(a, b, vertices, faces)
    depth = math.inf
    # Points, lines or flat shapes in one plane: the depth is along the direction without extent;
    # there is no volume for a polytope.
    if dimension < 3:
        depth, normal = depth_of_flat(a, b, normal, FLAT * scale, vertices[0])
        return depth, count, normal
    curved = a.kind == CYLINDER or b.kind == CYLINDER
    agreement = scale * (AGREEMENT_OF_CURVES if curved else AGREEMENT)
    number_a, number_b, total, nearest = 0, 0, 4, 0
    for f in range(1, total):
        if faces[f, LEVEL] < faces[nearest, LEVEL]:
            nearest = f
    for newest in range(4, MAX_VERTICES):
        # van den Bergen (2001): the face nearest to the origin bounds the depth from below, the
        # support along its normal from above.
        face = faces[nearest]
        direction, level = load_vec(face, 3, NORMAL), face[LEVEL]
        point, number_a, number_b = support_of_difference(
            a, b, direction, number_a, number_b, vertices[newest]
        )
        reach = direction @ point
        # If both bounds agree it is this face, not one below it with the same normal.
        if reach < depth or reach - level <= agreement:
            depth, normal = reach, direction
            take_face(face, vertices, simplex)
            # Shallower than the required depth.
            if depth < least:
                return depth, 3, normal
        if depth - level <= agreement:
            break
        total, nearest = grow(vertices, faces, total, newest, nearest, SEEN * scale)
        # Buffer full: `depth` is a bound from above, which is on the safe side for a contact.
        if total < 0:
            total = 0
            break
    # Of the triangles of one face, the one below the origin.
    most, weights = barycentric_coordinates(
        load_vec(simplex[0], 3), load_vec(simplex[1], 3), load_vec(simplex[2], 3), normal
    )
    for f in range(total):
        if faces[f, LEVEL] <= depth + agreement and most < 0.0:
            i, j, k = int(faces[f, 0]), int(faces[f, 1]), int(faces[f, 2])
            inside, other = barycentric_coordinates(
                load_vec(vertices[i], 3),
                load_vec(vertices[j], 3),
                load_vec(vertices[k], 3),
                normal,
            )
            if inside > most:
                most, weights = inside, other
                take_face(faces[f], vertices, simplex)
    # By rounding the foot may be outside of all triangles: the nearest point of one of them.
    x, y, z = max(0.0, weights[0]), max(0.0, weights[1]), max(0.0, weights[2])
    whole = x + y + z
    simplex[0, WEIGHT], simplex[1, WEIGHT], simplex[2, WEIGHT] = x / whole, y / whole, z / whole
    return depth, 3, normal
