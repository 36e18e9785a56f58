# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact of convex shapes with triangle meshes and height fields, triangle by triangle.

A triangle near the shape is a convex shape, except for normals that only a free triangle could
have: these become the normal of its face. Where a neighbor continues the surface flat or upwards,
the edge has no contacts from the side (Voronoi regions of edges), so objects do not catch on it.

The triangle is the first shape of a pair here; all coordinates are those of the mesh.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    FoundPoints,
    PlacedShape,
)
from rbd_ros.collision.convex.convex_pairs import BASE, nearest_of_convex
from rbd_ros.collision.convex.gjk import BEYOND, SEPARATED
from rbd_ros.collision.convex.manifolds import add_manifold, code_of, NEARLY
from rbd_ros.collision.shapes.supports import NUMBER_A, NUMBER_B, radius_of, support
from rbd_ros.collision.vectors import add, origin, rotated_back
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

#: Number of points of a triangle above which some are chosen: the maximum of its overlap with the
#: face of a box.
MAX_FACE_POINTS = 8

#: Use of a normal at a triangle: the normal itself, that of the face, or no contact.
OWN, OF_FACE, NONE = 0, 1, 2

#: State of an edge: free, or shared with a neighbor, whose third corner follows.
FREE, SHARED = 0, 1

#: Sine of the minimum angle by which a neighbor falls off at a convex edge, and of the angle by
#: which a normal may be outside the Voronoi region of an edge.
CONVEX_SINE, VORONOI_SINE = 1e-3, 1e-3


class Search(NamedTuple):
    """Search at the triangles of a surface, a value of compiled loops.

    :param nearest: whether only the nearest points are needed
    :param free: whether each triangle counts by itself, without neighbors
    :param one_sided: whether triangles have contacts from outside only
    :param solid_below: whether bodies below are lifted, from any depth
    """

    nearest: bool
    free: bool
    one_sided: bool
    solid_below: bool


@compiled
def outward_at_edge(start: Vec3, end: Vec3, third: Vec3) -> Vec3:
    """Return the unit vector in a triangle's plane, perpendicular to an edge, pointing out."""
    e, f = end - start, third - start
    square = e @ e
    outward = (e @ f / square if square > 0.0 else 0.0) * e - f
    length = norm(outward)
    return outward / length if length > 0.0 else Vec(0.0, 0.0, 0.0)


@compiled
def use_of_normal(
    corners: FloatArray,
    across: FloatArray,
    face_normal: Vec3,
    normal: Vec3,
    simplex: FloatArray,
    count: int,
) -> int:
    """Return how to use a normal that points away from an edge or a corner of a triangle.

    :param corners: corners of the triangle, (9,) [m]
    :param across: across each edge, FREE, or SHARED and the third corner of the neighbor, (3, 4)
    :param face_normal: outward unit normal of the triangle
    :param normal: the normal, a unit vector
    :param simplex: nearest points of the difference, (4, 12)
    :param count: number of points
    :return: OWN, OF_FACE or NONE
    """
    touched, number, flat = stack_array(3), 0, 0
    for k in range(3):
        touched[k] = 0.0
    for i in range(count):
        k = int(simplex[i, NUMBER_A])
        if touched[k] == 0.0:
            number += 1
        touched[k] = 1.0
    result = OWN
    if number == 3 and normal @ face_normal >= NEARLY:
        return OWN
    for k in range(3):
        j, i = (k + 1) % 3, (k + 2) % 3
        # At a corner, both edges that meet there; at an edge, itself; else each one.
        at_edge = touched[k] + touched[j] > 0.0
        if number > 1:
            at_edge = touched[k] > 0.0 and touched[j] > 0.0
        if not at_edge or across[k, 0] == FREE:
            continue
        start, end = load_vec(corners, 3, 3 * k), load_vec(corners, 3, 3 * j)
        third, fourth = load_vec(corners, 3, 3 * i), load_vec(across[k], 3, 1)
        own, other = outward_at_edge(start, end, third), outward_at_edge(start, end, fourth)
        # The neighbor continues the face where it leaves against `other`.
        falls = other @ face_normal
        if number == 1 and abs(falls) <= CONVEX_SINE:
            # A face at a convex corner may consist of several triangles.
            flat += 1
            away = fourth - (start if touched[k] > 0.0 else end)
            if flat == 2 or normal @ away > VORONOI_SINE * norm(away):
                result = max(result, OF_FACE)
        elif falls <= CONVEX_SINE:
            result = max(result, OF_FACE)
        elif normal @ own < -VORONOI_SINE:
            result = max(result, OF_FACE)
        elif normal @ other < -VORONOI_SINE:
            result = NONE
    return result


@compiled
def triangle_contacts(
    triangle: PlacedShape,
    across: FloatArray,
    search: Search,
    middle: Vec3,
    shape: PlacedShape,
    margin: float,
    found: FoundPoints,
) -> int:
    """Return the contact of a triangle with a convex shape.

    :param triangle: the triangle: its sizes are its corners, counterclockwise from outside, and
        it has no pose
    :param across: state of its edges, see `use_of_normal`, (3, 4)
    :param middle: a point of the shape, which decides the side of a two-sided triangle [m]
    :param shape: the convex shape, with its pose in coordinates of the mesh
    :param margin: maximum gap [m]
    :param found: contact points, the triangle first, in coordinates of the mesh; a result
    :return: number of points, -1 if the shape is in the triangle but has no contact with it
    """
    simplex, corners, solid_below = stack_matrix(4, 12), triangle.size, search.solid_below
    corner = load_vec(corners, 3)
    face_normal = cross(load_vec(corners, 3, 3) - corner, load_vec(corners, 3, 6) - corner)
    length = norm(face_normal)
    if not length > 0.0:
        return 0
    face_normal = face_normal / length
    if not search.one_sided and face_normal @ (middle - corner) < 0.0:
        face_normal = -face_normal
    radius = radius_of(shape)
    # Most triangles are rejected by their plane, without a search.
    for number in range(2):
        if number == 1 and solid_below:
            continue
        outward = -face_normal if number == 0 else face_normal
        local = rotated_back(shape.pose, outward)
        point, _ = support(shape, local, 0)
        if radius + outward @ (origin(shape.pose) - corner) + local @ point < -margin:
            return 0
    # Below the surface, in any depth: everything above this triangle's height is near.
    limit = math.inf if solid_below else margin + radius
    status, points, distance, normal, on_a = nearest_of_convex(triangle, shape, limit, simplex)
    gap = distance - radius
    forward = normal @ face_normal
    if status == BEYOND or (gap > margin and not (solid_below and forward < 0.0)):
        return 0
    code = code_of(simplex, points, NUMBER_B, BASE)
    if (
        search.nearest
        and status == SEPARATED
        and (search.free or not (solid_below and forward < 0.0))
    ):
        return add(found, 0, code, gap, margin, on_a, normal)
    use = OWN
    if search.free:
        use = OWN
    elif forward <= -NEARLY and status == SEPARATED and not solid_below:
        use = NONE
    elif forward <= -NEARLY:
        use = OF_FACE
    else:
        use = use_of_normal(corners, across, face_normal, normal, simplex, points)
        if solid_below and forward < 0.0:
            use = OF_FACE
    if use == NONE:
        return 0 if status == SEPARATED else -1
    of_face = use == OF_FACE or (use == OWN and forward >= NEARLY)
    direction = face_normal if of_face else normal
    count = add_manifold(triangle, shape, direction, MAX_FACE_POINTS, margin, found)
    if count > 0:
        return count
    if use == OF_FACE:
        return 0 if status == SEPARATED else -1
    feature = code_of(simplex, points, NUMBER_A, 4) * BASE**3 + code
    return add(found, 0, feature, gap, margin, on_a, normal)
