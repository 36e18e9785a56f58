# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Capsules against boxes: exact distance of a segment from a box, and depth inside it.

A capsule on a face or along an edge has two points, at the ends of the overlap.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    FoundPoints,
    PlacedShape,
)
from rbd_ros.collision.pairs.nearest_points import (
    distance_from_box,
    nearest_of_segments,
    nearest_to_box,
    part_between,
)
from rbd_ros.collision.pairs.spheres import add_ball_at_solid, Ball
from rbd_ros.collision.shapes.supports import toward
from rbd_ros.collision.vectors import (
    across_axis,
    COINCIDENT,
    end_of_segment,
    localized,
    placed,
    rotated,
    unit_vector,
    with_item,
)
from rbd_ros.compiler.loops import compiled, norm, Vec, Vec3

#: Minimum cosine of the angle to a face's normal, and between a segment and a parallel line.
NEARLY = 0.9998

#: Maximum sine of the angle between a segment and a face that are parallel up to rounding.
PARALLEL = 1e-12

#: Faces are favored: an edge must penetrate less than this fraction of their depth. Faces have
#: more points, which a body at rest needs.
FAVOR = 0.95

#: First feature number of penetration, above those of `distance_from_box`.
INSIDE = 100


class Segment(NamedTuple):
    """A capsule in coordinates of a box, a value of compiled loops.

    :param start: start of its segment [m]
    :param step: from its start to its end [m]
    :param radius: radius around it [m]
    """

    start: Vec
    step: Vec
    radius: float


@compiled
def depth_of_segment(segment: Segment, half: FloatArray, factor: float) -> Tuple[float, int, Vec3]:
    """Return the minimum translation that takes a segment out of a box, by separating axes.

    :param half: half lengths of the box, (3,) [m]
    :param factor: fraction of the depth at a face below which an edge is taken instead
    :return: its length with a negative sign [m]; 2 k (+ 1) for the negative (positive) face
        perpendicular to axis k, 6 + k for an edge along axis k; and its direction, a unit vector
    """
    start, step = segment.start, segment.step
    deepest, feature = -math.inf, 0
    for number in range(6):
        k, sign = number // 2, (-1.0 if number % 2 == 0 else 1.0)
        # The lower end above the face.
        depth = sign * start[k] + min(0.0, sign * step[k]) - half[k]
        if depth > deepest:
            deepest, feature = depth, number
    outward = (-1.0 if feature % 2 == 0 else 1.0) * unit_vector(feature // 2)
    length = norm(step)
    # Axes of a segment and a box (Gottschalk et al. 1996): three of faces, three cross products of
    # the segment with edges.
    best = factor * deepest if deepest < 0.0 else deepest
    for k in range(3):
        across = across_axis(k, step)
        sine = norm(across)
        if not sine > 1e-9 * length:
            continue
        side, width = across @ start / sine, 0.0
        for r in range(3):
            width += half[r] * abs(across[r])
        depth = abs(side) - width / sine
        if depth > best:
            best, deepest, feature = depth, depth, 6 + k
            outward = across / sine if side >= 0.0 else -across / sine
    return deepest, feature, outward


@compiled
def add_at_box(
    segment: Segment,
    box: PlacedShape,
    t: float,
    feature: int,
    margin: float,
    found: FoundPoints,
    count: int,
) -> int:
    """Add the contact of a point of a capsule's segment outside of a box.

    :param t: parameter of the point on the segment
    """
    local = segment.start + t * segment.step
    distance, at, outward = distance_from_box(local, box.size)
    ball, normal = Ball(placed(box.pose, local), segment.radius), rotated(box.pose, outward)
    number = feature + 3 * at if feature > 0 else at
    return add_ball_at_solid(ball, normal, distance, number, margin, found, count)


@compiled
def add_inside(
    segment: Segment, box: PlacedShape, margin: float, nearest: bool, found: FoundPoints
) -> int:
    """Add the contact of a capsule whose segment meets the box."""
    start, step, half = segment.start, segment.step, box.size
    depth, feature, outward = depth_of_segment(segment, half, 1.0 if nearest else FAVOR)
    if feature < 6 and not nearest:
        count = add_on_face(segment, box, outward, feature, margin, found)
        if count > 0:
            return count
        # A favored face may be beside the segment, also by rounding.
        depth, feature, outward = depth_of_segment(segment, half, 1.0)
    if feature >= 6:
        k = feature - 6
        edge = 2.0 * half[k] * unit_vector(k)
        corner = with_item(toward(outward, half), k, -half[k])
        # The point of the segment that crosses the edge.
        t, _ = nearest_of_segments(start, step, corner, edge)
    else:
        # Its deepest end.
        k = feature // 2
        t = 1.0 if outward[k] * step[k] < 0.0 else 0.0
        if abs(step[k]) <= PARALLEL * norm(step):
            # If both ends are equally deep, the part above the face.
            i, j = (k + 1) % 3, (k + 2) % 3
            first, last = part_between(start[i], step[i], half[i], 0.0, 1.0)
            first, last = part_between(start[j], step[j], half[j], first, last)
            t = 0.5 * (first + last) if first <= last else t
    ball = Ball(placed(box.pose, start + t * step), segment.radius)
    normal = rotated(box.pose, outward)
    return add_ball_at_solid(ball, normal, depth, INSIDE + feature, margin, found, 0)


@compiled
def add_on_face(
    segment: Segment,
    box: PlacedShape,
    outward: Vec3,
    face: int,
    margin: float,
    found: FoundPoints,
) -> int:
    """Add the contacts of a capsule with a face: both ends of the part above it.

    :param outward: normal of the face in coordinates of the box
    :param face: number of the face
    :return: number of points; 0 also if nothing of the segment is above the face
    """
    start, step, half, k = segment.start, segment.step, box.size, face // 2
    s, t = (k + 1) % 3, (k + 2) % 3
    first, last = part_between(start[s], step[s], half[s], 0.0, 1.0)
    first, last = part_between(start[t], step[t], half[t], first, last)
    count, normal = 0, rotated(box.pose, outward)
    for number in range(2):
        # Nothing between the planes, or twice the same end.
        if first > last or (number == 1 and not last > first):
            continue
        local = start + (first if number == 0 else last) * step
        height = outward[k] * local[k] - half[k]
        ball, feature = Ball(placed(box.pose, local), segment.radius), INSIDE + 10 * face + number
        count = add_ball_at_solid(ball, normal, height, feature, margin, found, count)
    return count


@compiled
def capsule_box(
    a: PlacedShape, b: PlacedShape, margin: float, nearest: bool, found: FoundPoints
) -> int:
    """Return the contact of a capsule with a box; arguments are those of `capsule_capsule`."""
    start = localized(b.pose, end_of_segment(a.pose, -a.size[1]))
    step = localized(b.pose, end_of_segment(a.pose, a.size[1])) - start
    segment, half = Segment(start, step, a.size[0]), b.size
    # Exact minimization along the segment: the squared distance is convex and piecewise quadratic.
    t = nearest_to_box(start, step, half)
    distance, _, outward = distance_from_box(start + t * step, half)
    if not distance > COINCIDENT:
        return add_inside(segment, b, margin, nearest, found)
    if distance - segment.radius > margin:
        return 0
    if not nearest:
        free, beyond = 0, 0
        for k in range(3):
            if abs(outward[k]) > NEARLY:
                side = 1 if outward[k] > 0.0 else 0
                normal = (2.0 * side - 1.0) * unit_vector(k)
                count = add_on_face(segment, b, normal, 2 * k + side, margin, found)
                if count > 0:
                    return count
            if outward[k] == 0.0:
                free = k
            else:
                beyond += 1
        # Outside of two faces at once: the nearest feature is the edge between them.
        if beyond == 2 and abs(step[free]) > NEARLY * norm(step):
            first, last = part_between(start[free], step[free], half[free], 0.0, 1.0)
            if last > first:
                count = add_at_box(segment, b, first, 2 * INSIDE, margin, found, 0)
                count = add_at_box(segment, b, last, 2 * INSIDE + 1, margin, found, count)
                if count > 0:
                    return count
    return add_at_box(segment, b, t, 0, margin, found, 0)
