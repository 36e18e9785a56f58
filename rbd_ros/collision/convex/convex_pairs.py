# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact of any two convex shapes by their supports: distance, depth, contact points.

The signed distance is the maximum of the distances along all directions. If a cylinder lies on a
face up to rounding, a search may end some 1e-5 rad beside the normal of that face, with an error
of that angle times the length of the contact. So normals of nearby faces are tried too.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    BOX,
    CYLINDER,
    FoundPoints,
    HULL,
    PlacedShape,
)
from rbd_ros.collision.convex.epa import depth_of_cores
from rbd_ros.collision.convex.gjk import barycentric_point, BEYOND, nearest_of_cores, SEPARATED
from rbd_ros.collision.convex.manifolds import add_manifold, code_of
from rbd_ros.collision.convex.polishing import polish
from rbd_ros.collision.shapes.supports import (
    farthest_face,
    largest_axis,
    NUMBER_A,
    NUMBER_B,
    OF_A,
    OF_B,
    radius_of,
    support_of_difference,
)
from rbd_ros.collision.vectors import add, COINCIDENT, placed, relative_pose, rotated, rotated_back
from rbd_ros.compiler.loops import (
    compiled,
    load_vec,
    norm,
    stack_array,
    stack_matrix,
    Vec,
    Vec3,
)

#: Minimum cosine of the angle to a face's normal for trying it.
FACE_COSINE = 1.0 - 1e-6

#: Squared sine of the maximum angle to the side of a cylinder for trying its normal.
LEANING = 2e-6

#: Minimum gain of distance, relative to the size of the points: a gain within rounding would
#: only move the point to the end of a line of equally near points.
GAIN = 1e-13


@compiled
def face_normal(shape: PlacedShape, direction: Vec3) -> Tuple[bool, Vec3]:
    """Return the normal of the face, cap or side of a core that is most along a direction.

    :param direction: a unit vector in coordinates of the shape
    :return: whether there is one near the direction, and the unit vector
    """
    normal = direction
    if shape.kind == BOX:
        normal = largest_axis(direction)
    elif shape.kind == CYLINDER:
        across = math.sqrt(direction[0] * direction[0] + direction[1] * direction[1])
        if across > 0.5:
            side = Vec(direction[0] / across, direction[1] / across, 0.0)
            return direction[2] * direction[2] <= LEANING, side
        normal = Vec(0.0, 0.0, 1.0 if direction[2] >= 0.0 else -1.0)
    elif shape.kind == HULL:
        face = farthest_face(shape.tables, int(shape.size[0]), direction)
        normal = load_vec(shape.tables.face[face], 3)
    else:
        return False, normal
    return normal @ direction >= FACE_COSINE, normal


@compiled
def try_faces(
    a: PlacedShape, b: PlacedShape, distance: float, normal: Vec3, on_a: Vec3
) -> Tuple[float, Vec3, Vec3]:
    """Return the normal of a face along which both cores are farther apart, if there is one.

    :param b: the second shape, with its pose in coordinates of the first one
    :param distance: signed distance along the normal [m]
    :param normal: unit normal from the first core to the second
    :return: distance, normal and point of the first core
    """
    row, before = stack_array(12), normal
    for side in range(2):
        if side == 0:
            near, tried = face_normal(a, before)
        else:
            near, found = face_normal(b, -rotated_back(b.pose, before))
            tried = -rotated(b.pose, found)
        if not near:
            continue
        point, _, _ = support_of_difference(a, b, tried, 0, 0, row)
        separation, reach = -(tried @ point), 0.0
        for r in range(3):
            reach += abs(row[OF_A + r]) + abs(row[OF_B + r])
        if separation > distance + GAIN * reach:
            distance, normal = separation, tried
            on_a = load_vec(row, 3, OF_A)
            if side == 0:
                on_a = load_vec(row, 3, OF_B) - separation * tried
    return distance, normal, on_a


#: Relative difference of the squared bounds on a distance at convergence, and for curved shapes,
#: which are polished afterwards.
AGREEMENT, BEFORE_POLISHING = 1e-14, 1e-3

#: Maximum number of points of two convex shapes, and relative difference of gaps up to which the
#: nearest point of faces is that of the shapes: points on a rim represent all of it.
MAX_CONVEX_POINTS, NEAR = 4, 1e-3

#: One more than the number of vertices that a hull can have.
BASE = 257


@compiled
def nearest_of_convex(
    a: PlacedShape, b: PlacedShape, limit: float, simplex: FloatArray
) -> Tuple[int, int, float, Vec3, Vec3]:
    """Return the nearest or deepest points of two cores.

    :param b: the second shape, with its pose in coordinates of the first one
    :param limit: maximum signed distance of interest [m]
    :param simplex: points of the difference with their weights; a result, (4, 12)
    :return: BEYOND (the limit), SEPARATED or OVERLAPPING, number of points, the signed distance
        [m], the unit normal from the first core to the second, and the point of the first core [m]
    """
    curved = a.kind == CYLINDER or b.kind == CYLINDER
    distance, status, count = 0.0, BEYOND, 0
    normal, on_a = Vec(0.0, 0.0, 0.0), Vec(0.0, 0.0, 0.0)
    # Curved pairs: first a coarse distance and Newton's method on its features; if these were
    # wrong, once more to full precision.
    for number in range(2):
        agreement = BEFORE_POLISHING if curved and number == 0 else AGREEMENT
        status, count, between = nearest_of_cores(a, b, max(0.0, limit), agreement, simplex)
        # Most pairs are rejected by a bound, before the distance is exact.
        if status == BEYOND:
            return status, count, math.inf, normal, on_a
        if status == SEPARATED:
            distance = norm(between)
            normal = -between / distance
        else:
            depth, count, normal = depth_of_cores(a, b, -limit, simplex, count)
            distance = -depth
            if distance > limit:
                return BEYOND, count, math.inf, normal, on_a
        # The point of the first core has the same weights as the nearest point of the difference.
        on_a = barycentric_point(simplex, count, OF_A)
        if not curved:
            break
        distance, exact, normal, on_a = polish(a, b, simplex, count, distance, normal)
        # The second round improves distances only; depths are already exact.
        if exact or status != SEPARATED:
            break
    if curved:
        distance, normal, on_a = try_faces(a, b, distance, normal, on_a)
        if distance > limit:
            return BEYOND, count, math.inf, normal, on_a
        if distance > 0.0:
            status = SEPARATED
    return status, count, distance, normal, on_a


@compiled
def make_space(gap: float, count: int, found: FoundPoints) -> bool:
    """Drop a point for one that is nearer than all found so far, if it is.

    :param gap: signed gap of the point, with some tolerance [m]
    :param count: number of points found
    :param found: contact points; the first MAX_CONVEX_POINTS - 1 of them stay
    :return: whether the point is nearer
    """
    largest = 0
    for i in range(count):
        # A point of a face is as near: this one would be a duplicate.
        if found.gap[i] <= gap + COINCIDENT:
            return False
        if found.gap[i] > found.gap[largest]:
            largest = i
    if count == MAX_CONVEX_POINTS:
        last = count - 1
        found.on_a[largest] = load_vec(found.on_a[last], 3)
        found.on_b[largest] = load_vec(found.on_b[last], 3)
        found.normal[largest] = load_vec(found.normal[last], 3)
        found.gap[largest], found.feature[largest] = found.gap[last], found.feature[last]
    return True


@compiled
def convex_convex(
    a: PlacedShape, b: PlacedShape, margin: float, nearest: bool, found: FoundPoints
) -> int:
    """Return the contact of two convex shapes.

    Arguments are those of `find_contacts` (narrow_phase.py).

    Features of single points are made of the nearest vertices of both shapes; for others see
    manifolds.py.
    """
    pose, simplex = stack_array(12), stack_matrix(4, 12)
    relative_pose(a.pose, b.pose, pose)
    second = PlacedShape(b.kind, b.size, pose, b.tables)
    # Radii are subtracted: to GJK, spheres and capsules are points and segments.
    radius_a, radius_b = radius_of(a), radius_of(b)
    status, points, distance, normal, on_a = nearest_of_convex(
        a, second, margin + radius_a + radius_b, simplex
    )
    gap = distance - radius_a - radius_b
    if status == BEYOND or not gap <= margin:  # NaN as well
        return 0
    count = 0
    if not nearest:
        count = add_manifold(a, second, normal, MAX_CONVEX_POINTS, margin, found)
        if count > 0 and not make_space(gap + NEAR * abs(gap), count, found):
            return count
        # Keep one slot for the deepest point, if it is no corner of the overlap of both faces.
        count = min(count, MAX_CONVEX_POINTS - 1)
    # Up to three vertices of each shape, in base 257: below 2^52, where features of faces begin.
    feature = code_of(simplex, points, NUMBER_A, BASE) * BASE**3
    feature += code_of(simplex, points, NUMBER_B, BASE)
    point = placed(a.pose, on_a + radius_a * normal)
    return add(found, count, feature, gap, margin, point, rotated(a.pose, normal))
