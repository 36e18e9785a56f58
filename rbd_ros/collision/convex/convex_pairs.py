# SPDX-License-Identifier: Apache-2.0
"""Contact of any two convex shapes by their supports: distance, depth, points that touch."""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.collision.arrays import CYLINDER, FloatArray, FoundPoints, Tables
from rbd_ros.collision.convex.epa import depth_of_cores
from rbd_ros.collision.convex.face_normals import try_faces
from rbd_ros.collision.convex.gjk import APART, BEYOND, nearest_of_cores
from rbd_ros.collision.convex.manifolds import add_manifold, code_of, enter
from rbd_ros.collision.convex.polishing import polish
from rbd_ros.collision.pairs.box_axes import relative_pose
from rbd_ros.collision.shapes.supports import NUMBER_A, NUMBER_B, OF_A, radius_of, SHARE
from rbd_ros.collision.vectors import COINCIDENT, dot
from rbd_ros.compiler.loops import compiled, stack_array, stack_matrix

#: Relative difference of the squares of both bounds on a distance at which they agree, and of
#: curved shapes, which are polished then.
AGREEMENT, BEFORE_POLISHING = 1e-14, 1e-3

#: Maximum number of points of two convex shapes, and relative difference of gaps up to which the
#: nearest point of faces counts as that of the shapes: those of a rim stand for all of it.
MAX_CONVEX_POINTS, NEAR = 4, 1e-3

#: One more than the number of vertices that a hull can have.
BASE = 257


@compiled
def nearest_of_convex(
    kind_a: int,
    size_a: FloatArray,
    kind_b: int,
    size_b: FloatArray,
    pose: FloatArray,
    tables: Tables,
    limit: float,
    simplex: FloatArray,
    normal: FloatArray,
    on_a: FloatArray,
) -> Tuple[int, int, float]:
    """Return the nearest or deepest points of two cores.

    Arguments are those of `nearest_of_cores` (gjk.py).

    :param limit: signed distance beyond which nothing is asked for [m]
    :param simplex: points of the difference with their shares; a result, (4, 12)
    :param normal: unit normal from the first core to the second; a result, (3,)
    :param on_a: point of the first core; a result, (3,) [m]
    :return: BEYOND (the limit), APART or OVERLAPPING, the number of points, and the signed
        distance [m]
    """
    between = stack_array(3)
    curved = kind_a == CYLINDER or kind_b == CYLINDER
    distance, status, count = 0.0, BEYOND, 0
    # Curved pairs: first a coarse distance and Newton's method on the features that it shows; if
    # these were not the right ones, once more to full precision.
    for number in range(2):
        agreement = BEFORE_POLISHING if curved and number == 0 else AGREEMENT
        status, count = nearest_of_cores(
            kind_a,
            size_a,
            kind_b,
            size_b,
            pose,
            tables,
            max(0.0, limit),
            agreement,
            simplex,
            between,
        )
        # Cheapest first: a bound on the distance rejects most pairs before it is exact.
        if status == BEYOND:
            return status, count, math.inf
        if status == APART:
            distance = math.sqrt(dot(between, between))
            for r in range(3):
                normal[r] = -between[r] / distance
        else:
            depth, count = depth_of_cores(
                kind_a, size_a, kind_b, size_b, pose, tables, -limit, simplex, count, normal
            )
            distance = -depth
            if distance > limit:
                return BEYOND, count, math.inf
        for r in range(3):
            on_a[r] = 0.0
            for i in range(count):
                # The point of the first core belongs to the nearest point of the difference with
                # the same shares.
                on_a[r] += simplex[i, SHARE] * simplex[i, OF_A + r]
        if not curved:
            break
        distance, exact = polish(
            kind_a,
            size_a,
            kind_b,
            size_b,
            pose,
            tables,
            simplex,
            count,
            distance,
            normal,
            on_a,
        )
        # The second round only sharpens distances; depths are exact to their bounds already.
        if exact or status != APART:
            break
    if curved:
        distance = try_faces(kind_a, size_a, kind_b, size_b, pose, tables, distance, normal, on_a)
        if distance > limit:
            return BEYOND, count, math.inf
        if distance > 0.0:
            status = APART
    return status, count, distance


@compiled
def room_for(gap: float, count: int, found: FoundPoints) -> bool:
    """Make room for a point that is nearer than all that were found, if it is.

    :param gap: signed gap of the point, with some tolerance [m]
    :param count: how many were found
    :param found: contact points; the first MAX_CONVEX_POINTS - 1 of them are to stay
    :return: whether the point is nearer
    """
    largest = 0
    for i in range(count):
        # The point is no nearer than one that a face has: it would be there twice.
        if found.gap[i] <= gap + COINCIDENT:
            return False
        if found.gap[i] > found.gap[largest]:
            largest = i
    if count == MAX_CONVEX_POINTS:
        last = count - 1
        for r in range(3):
            found.on_a[largest, r] = found.on_a[last, r]
            found.on_b[largest, r] = found.on_b[last, r]
            found.normal[largest, r] = found.normal[last, r]
        found.gap[largest], found.feature[largest] = found.gap[last], found.feature[last]
    return True


@compiled
def convex_convex(
    kind_a: int,
    size_a: FloatArray,
    pose_a: FloatArray,
    kind_b: int,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    nearest: bool,
    tables: Tables,
    found: FoundPoints,
) -> int:
    """Return the contact of two convex shapes.

    Arguments are those of `find_contacts` (narrow_phase.py).

    Features of single points are made of the vertices of both shapes that are nearest, others are
    in manifolds.py.
    """
    pose, simplex, normal, on_a = (
        stack_array(12),
        stack_matrix(4, 12),
        stack_array(3),
        stack_array(3),
    )
    relative_pose(pose_a, pose_b, pose)
    # Cores are compared, and radii subtracted: balls and capsules are points and segments to GJK.
    radius_a, radius_b = radius_of(kind_a, size_a), radius_of(kind_b, size_b)
    limit = margin + radius_a + radius_b
    status, points, distance = nearest_of_convex(
        kind_a, size_a, kind_b, size_b, pose, tables, limit, simplex, normal, on_a
    )
    gap = distance - radius_a - radius_b
    if status == BEYOND or not gap <= margin:  # NaN as well
        return 0
    count = 0
    if not nearest:
        count = add_manifold(
            kind_a,
            size_a,
            pose_a,
            radius_a,
            kind_b,
            size_b,
            pose,
            radius_b,
            tables,
            normal,
            MAX_CONVEX_POINTS,
            margin,
            found,
        )
        if count > 0 and not room_for(gap + NEAR * abs(gap), count, found):
            return count
        # One place for the deepest point itself, which is no corner of both faces' overlap.
        count = min(count, MAX_CONVEX_POINTS - 1)
    for r in range(3):
        on_a[r] += radius_a * normal[r]
    # Up to three vertices of each shape, in base 257: below 2^52, where features of faces begin.
    feature = code_of(simplex, points, NUMBER_A, BASE) * BASE**3
    feature += code_of(simplex, points, NUMBER_B, BASE)
    return enter(pose_a, on_a, normal, gap, feature, margin, found, count)
