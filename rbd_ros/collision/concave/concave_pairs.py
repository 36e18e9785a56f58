# SPDX-License-Identifier: Apache-2.0
"""Contact of convex shapes with triangle meshes and height fields, triangle by triangle.

Of each triangle near the shape the contact is that of two convex shapes, with one difference: a
normal that only a free triangle could have is replaced by that of its face. Where a neighbor
continues the surface flat or upwards, its edge cannot be touched from the side (Voronoi regions of
the edges), so that nothing catches at it.

The first shape of a pair is the triangle here; everything is in coordinates of the mesh.
"""

from __future__ import annotations

import math

from rbd_ros.collision.arrays import FloatArray, FoundPoints, Tables, TRIANGLE
from rbd_ros.collision.convex.convex_pairs import BASE, nearest_of_convex
from rbd_ros.collision.convex.gjk import APART, BEYOND
from rbd_ros.collision.convex.manifolds import add_manifold, code_of, enter, NEARLY
from rbd_ros.collision.shapes.supports import NUMBER_A, NUMBER_B, radius_of, support
from rbd_ros.collision.vectors import cross, dot
from rbd_ros.compiler.loops import compiled, stack_array, stack_matrix

#: Number of points of a triangle above which some are chosen: all that its corners and those of a
#: box cut out of each other.
MAX_FACE_POINTS = 8

#: What a triangle does with a normal: it may have it, its face's instead, or none.
OWN, OF_FACE, NONE = 0, 1, 2

#: What is across an edge: nothing, or the third corner of a neighbor.
FREE, SHARED = 0, 1

#: Sine of the angle by which a neighbor must fall off for an edge to stick out, and that a normal
#: may be beyond the region of an edge.
STICKS_OUT, BESIDE = 1e-3, 1e-3


@compiled
def outward_at_edge(
    start: FloatArray, end: FloatArray, third: FloatArray, outward: FloatArray
) -> None:
    """Compute the unit vector in a triangle's plane, perpendicular to an edge, pointing out."""
    e, f = stack_array(3), stack_array(3)
    for r in range(3):
        e[r], f[r] = end[r] - start[r], third[r] - start[r]
    square = dot(e, e)
    part = dot(e, f) / square if square > 0.0 else 0.0
    for r in range(3):
        outward[r] = part * e[r] - f[r]
    length = math.sqrt(dot(outward, outward))
    for r in range(3):
        outward[r] = outward[r] / length if length > 0.0 else 0.0


@compiled
def use_of_normal(
    corners: FloatArray,
    across: FloatArray,
    face_normal: FloatArray,
    normal: FloatArray,
    simplex: FloatArray,
    count: int,
) -> int:
    """Return what to do with a normal that points away from an edge or a corner of a triangle.

    :param corners: corners of the triangle, (9,) [m]
    :param across: across each edge, FREE, or SHARED and the third corner of the neighbor, (3, 4)
    :param face_normal: outward unit normal of the triangle, (3,)
    :param normal: the normal, a unit vector, (3,)
    :param simplex: points of the difference that are nearest, (4, 12)
    :param count: how many there are
    :return: OWN, OF_FACE or NONE
    """
    start, end, third, fourth = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    own, other = stack_array(3), stack_array(3)
    touched, number, flat = stack_array(3), 0, 0
    for k in range(3):
        touched[k] = 0.0
    for i in range(count):
        k = int(simplex[i, NUMBER_A])
        if touched[k] == 0.0:
            number += 1
        touched[k] = 1.0
    result = OWN
    if number == 3 and dot(normal, face_normal) >= NEARLY:
        return OWN
    for k in range(3):
        j, i = (k + 1) % 3, (k + 2) % 3
        # Of one corner, both edges that meet there; of an edge, itself; else each one.
        at_edge = touched[k] + touched[j] > 0.0
        if number > 1:
            at_edge = touched[k] > 0.0 and touched[j] > 0.0
        if not at_edge or across[k, 0] == FREE:
            continue
        for r in range(3):
            start[r], end[r] = corners[3 * k + r], corners[3 * j + r]
            third[r], fourth[r] = corners[3 * i + r], across[k, 1 + r]
        outward_at_edge(start, end, third, own)
        outward_at_edge(start, end, fourth, other)
        # The neighbor continues the face where it leaves against `other`.
        falls = dot(other, face_normal)
        if number == 1 and abs(falls) <= STICKS_OUT:
            # A corner that sticks out may be one of faces of several triangles.
            flat += 1
            tip, toward, square = (k if touched[k] > 0.0 else j), 0.0, 0.0
            for r in range(3):
                away = fourth[r] - corners[3 * tip + r]
                toward += normal[r] * away
                square += away * away
            if flat == 2 or toward > BESIDE * math.sqrt(square):
                result = max(result, OF_FACE)
        elif falls <= STICKS_OUT:
            result = max(result, OF_FACE)
        elif dot(normal, own) < -BESIDE:
            result = max(result, OF_FACE)
        elif dot(normal, other) < -BESIDE:
            result = NONE
    return result


@compiled
def triangle_contacts(
    corners: FloatArray,
    across: FloatArray,
    one_sided: bool,
    solid_below: bool,
    free: bool,
    middle: FloatArray,
    own: FloatArray,
    kind: int,
    size: FloatArray,
    pose: FloatArray,
    margin: float,
    nearest: bool,
    tables: Tables,
    found: FoundPoints,
) -> int:
    """Return the contact of a triangle with a convex shape.

    :param corners: its corners, anticlockwise from outside, (9,) [m]
    :param across: what is across its edges, see `use_of_normal`, (3, 4)
    :param one_sided: whether it is touched from outside only
    :param solid_below: whether what is below it is to be lifted, however deep
    :param free: whether the triangle is taken for itself, without neighbors
    :param middle: a point of the shape, which decides its side of what is not one-sided, (3,) [m]
    :param own: pose of the mesh in itself: none, (12,)
    :param kind: kind of the shape
    :param size: its sizes, (3,) [m]
    :param pose: its pose, (12,)
    :param margin: maximum gap [m]
    :param nearest: whether only the nearest points are asked for
    :param tables: tables of hulls
    :param found: contact points, the triangle first, in coordinates of the mesh; a result
    :return: how many were found, -1 if the shape is in the triangle and has no contact with it
    """
    e, f, face_normal = stack_array(3), stack_array(3), stack_array(3)
    simplex, normal, on_a = stack_matrix(4, 12), stack_array(3), stack_array(3)
    for r in range(3):
        e[r], f[r] = corners[3 + r] - corners[r], corners[6 + r] - corners[r]
    cross(e, f, face_normal)
    length = math.sqrt(dot(face_normal, face_normal))
    if not length > 0.0:
        return 0
    above = 0.0
    for r in range(3):
        face_normal[r] = face_normal[r] / length
        above += face_normal[r] * (middle[r] - corners[r])
    if not one_sided and above < 0.0:
        for r in range(3):
            face_normal[r] = -face_normal[r]
    radius = radius_of(kind, size)
    # Most triangles are decided by their plane: it takes no search.
    for number in range(2):
        sign = -1.0 if number == 0 else 1.0
        if number == 1 and solid_below:
            continue
        for k in range(3):
            e[k] = 0.0
            for r in range(3):
                e[k] += sign * face_normal[r] * pose[3 * r + k]
        support(kind, size, tables, e, 0, on_a)
        level = radius
        for r in range(3):
            level += sign * face_normal[r] * (pose[9 + r] - corners[r]) + e[r] * on_a[r]
        if level < -margin:
            return 0
    limit = margin + radius
    if solid_below:
        # Below the surface, however far: all that is above this triangle's height is near.
        limit = math.inf
    status, points, distance = nearest_of_convex(
        TRIANGLE, corners, kind, size, pose, tables, limit, simplex, normal, on_a
    )
    gap = distance - radius
    forward = dot(normal, face_normal)
    if status == BEYOND or (gap > margin and not (solid_below and forward < 0.0)):
        return 0
    if nearest and status == APART and (free or not (solid_below and forward < 0.0)):
        feature = code_of(simplex, points, NUMBER_B, BASE)
        return enter(own, on_a, normal, gap, feature, margin, found, 0)
    use = OWN
    if free:
        use = OWN
    elif forward <= -NEARLY and status == APART and not solid_below:
        use = NONE
    elif forward <= -NEARLY:
        use = OF_FACE
    else:
        use = use_of_normal(corners, across, face_normal, normal, simplex, points)
        if solid_below and forward < 0.0:
            use = OF_FACE
    facing = use == OWN and forward >= NEARLY
    if use == NONE:
        return 0 if status == APART else -1
    for r in range(3):
        f[r] = face_normal[r] if use == OF_FACE or facing else normal[r]
    count = add_manifold(
        TRIANGLE,
        corners,
        own,
        0.0,
        kind,
        size,
        pose,
        radius,
        tables,
        f,
        MAX_FACE_POINTS,
        margin,
        found,
    )
    if count > 0:
        return count
    if use == OF_FACE:
        return 0 if status == APART else -1
    feature = code_of(simplex, points, NUMBER_A, 4) * BASE**3
    feature += code_of(simplex, points, NUMBER_B, BASE)
    return enter(own, on_a, normal, gap, feature, margin, found, 0)
