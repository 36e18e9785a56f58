# SPDX-License-Identifier: Apache-2.0
"""Capsules against boxes: exact distance of a segment from a box, and depth inside it.

A capsule that lies on a face or along an edge has two points, at the ends of the part that does.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.collision.arrays import FloatArray, FoundPoints
from rbd_ros.collision.pairs.segments import (
    length_of,
    nearest_of_segments,
    nearest_to_box,
    part_between,
)
from rbd_ros.collision.pairs.spheres import add_ball_at_solid
from rbd_ros.collision.shapes.solid_distances import distance_from_box
from rbd_ros.collision.vectors import along, COINCIDENT, dot, end_of_segment, localized, placed
from rbd_ros.compiler.loops import compiled, stack_array

#: Cosine of the angle up to which a normal counts as that of a face, and a segment as parallel.
NEARLY = 0.9998

#: Sine of the angle up to which a segment is parallel to a face, but for rounding.
PARALLEL = 1e-12

#: Contacts are those of a face unless an edge penetrates less than this part of its depth: faces
#: have more points, and a body at rest needs them.
FAVOR = 0.95

#: Numbers of the features of penetration begin here, above those of `distance_from_box`.
INSIDE = 100


@compiled
def depth_of_segment(
    start: FloatArray, step: FloatArray, half: FloatArray, factor: float, outward: FloatArray
) -> Tuple[float, int]:
    """Return the minimum translation that takes a segment out of a box, by separating axes.

    :param start: start of the segment in coordinates of the box, (3,) [m]
    :param step: from its start to its end, (3,) [m]
    :param half: half lengths of the box, (3,) [m]
    :param factor: part of the depth at a face below which an edge is taken instead
    :param outward: direction of the translation, a unit vector; a result, (3,)
    :return: its length with a negative sign [m]; 2 k (+ 1) for the negative (positive) face at
        right angles to axis k, 6 + k for an edge along axis k
    """
    deepest, feature = -math.inf, 0
    for number in range(6):
        k, sign = number // 2, (-1.0 if number % 2 == 0 else 1.0)
        # The lower one of both ends above the face.
        depth = sign * start[k] + min(0.0, sign * step[k]) - half[k]
        if depth > deepest:
            deepest, feature = depth, number
    length = length_of(step)
    across = stack_array(3)
    # Axes of a segment and a box (Gottschalk et al. 1996): three of faces, three crosses of the
    # segment with edges; a segment has no faces of its own.
    best = factor * deepest if deepest < 0.0 else deepest
    for k in range(3):
        s, t = (k + 1) % 3, (k + 2) % 3
        # The unit vector along e_k x step.
        across[k], across[s], across[t] = 0.0, -step[t], step[s]
        sine = length_of(across)
        if not sine > 1e-9 * length:
            continue
        side = dot(across, start) / sine
        depth = abs(side) - (half[s] * abs(across[s]) + half[t] * abs(across[t])) / sine
        if depth > best:
            best, deepest, feature = depth, depth, 6 + k
            for r in range(3):
                outward[r] = across[r] / sine if side >= 0.0 else -across[r] / sine
    if feature < 6:
        for r in range(3):
            outward[r] = 0.0
        outward[feature // 2] = -1.0 if feature % 2 == 0 else 1.0
    return deepest, feature


@compiled
def add_inside(
    start: FloatArray,
    step: FloatArray,
    size_a: FloatArray,
    half: FloatArray,
    pose: FloatArray,
    margin: float,
    nearest: bool,
    found: FoundPoints,
) -> int:
    """Enter the contact of a capsule whose segment meets the box."""
    outward, local, point, edge, edge_step = (
        stack_array(3),
        stack_array(3),
        stack_array(3),
        stack_array(3),
        stack_array(3),
    )
    depth, feature = depth_of_segment(start, step, half, 1.0 if nearest else FAVOR, outward)
    if feature < 6 and not nearest:
        k = feature // 2
        on_face = INSIDE + 10 * feature
        count = add_on_face(start, step, size_a, half, pose, outward, k, on_face, margin, found)
        if count > 0:
            return count
        # A face was favored that the segment is beside of, or rounding says so.
        depth, feature = depth_of_segment(start, step, half, 1.0, outward)
    if feature >= 6:
        k = feature - 6
        for r in range(3):
            edge[r] = half[r] if outward[r] >= 0.0 else -half[r]
            edge_step[r] = 0.0
        edge[k], edge_step[k] = -half[k], 2.0 * half[k]
        # The point of the segment that crosses the edge, which is the one to move out.
        t, _ = nearest_of_segments(start, step, edge, edge_step)
    else:
        # Its deepest end.
        k = feature // 2
        t = 1.0 if outward[k] * step[k] < 0.0 else 0.0
        if abs(step[k]) <= PARALLEL * length_of(step):
            # Of ends as deep as each other, what is above the face.
            i, j = (k + 1) % 3, (k + 2) % 3
            first, last = part_between(start[i], step[i], half[i], 0.0, 1.0)
            first, last = part_between(start[j], step[j], half[j], first, last)
            t = 0.5 * (first + last) if first <= last else t
    along(start, step, t, local)
    placed(pose, local, point)
    return add_ball_at_solid(
        point, size_a[0], pose, outward, depth, INSIDE + feature, margin, found, 0
    )


@compiled
def add_on_face(
    start: FloatArray,
    step: FloatArray,
    size_a: FloatArray,
    half: FloatArray,
    pose: FloatArray,
    outward: FloatArray,
    k: int,
    feature: int,
    margin: float,
    found: FoundPoints,
) -> int:
    """Enter the contacts of a capsule with a face: both ends of what is above it.

    :param k: axis at right angles to the face
    :param feature: number of the first end; that of the second one is next
    :return: how many were found; 0 also if nothing of the segment is above the face
    """
    local, point = stack_array(3), stack_array(3)
    s, t = (k + 1) % 3, (k + 2) % 3
    first, last = part_between(start[s], step[s], half[s], 0.0, 1.0)
    first, last = part_between(start[t], step[t], half[t], first, last)
    count = 0
    for number in range(2):
        # Nothing between the planes, or one end that is the other one, too.
        if first > last or (number == 1 and not last > first):
            continue
        along(start, step, first if number == 0 else last, local)
        height = outward[k] * local[k] - half[k]
        placed(pose, local, point)
        count = add_ball_at_solid(
            point, size_a[0], pose, outward, height, feature + number, margin, found, count
        )
    return count


@compiled
def capsule_box(
    size_a: FloatArray,
    pose_a: FloatArray,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    nearest: bool,
    found: FoundPoints,
) -> int:
    """Return the contact of a capsule with a box; arguments are those of `capsule_capsule`."""
    start, end, step, local = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    outward, normal, point = stack_array(3), stack_array(3), stack_array(3)
    end_of_segment(pose_a, -size_a[1], point)
    localized(pose_b, point, start)
    end_of_segment(pose_a, size_a[1], point)
    localized(pose_b, point, end)
    for r in range(3):
        step[r] = end[r] - start[r]
    # Exact by minimization along the segment: the squared distance is convex and piecewise
    # quadratic.
    t = nearest_to_box(start, step, size_b)
    along(start, step, t, local)
    distance, feature = distance_from_box(local, size_b, outward)
    if not distance > COINCIDENT:
        return add_inside(start, step, size_a, size_b, pose_b, margin, nearest, found)
    placed(pose_b, local, point)
    if distance - size_a[0] > margin:
        return 0
    if not nearest:
        length, free, beyond = length_of(step), 0, 0
        for k in range(3):
            if abs(outward[k]) > NEARLY:
                for r in range(3):
                    normal[r] = 0.0
                normal[k] = 1.0 if outward[k] > 0.0 else -1.0
                face = INSIDE + 10 * (2 * k + (1 if outward[k] > 0.0 else 0))
                count = add_on_face(
                    start, step, size_a, size_b, pose_b, normal, k, face, margin, found
                )
                if count > 0:
                    return count
            if outward[k] == 0.0:
                free = k
            else:
                beyond += 1
        # Outside of two faces at once: the nearest feature is the edge between them.
        if beyond == 2 and abs(step[free]) > NEARLY * length:
            first, last = part_between(start[free], step[free], size_b[free], 0.0, 1.0)
            count = 0
            for number in range(2):
                if not last > first:
                    continue
                along(start, step, first if number == 0 else last, local)
                distance, feature = distance_from_box(local, size_b, outward)
                placed(pose_b, local, point)
                feature = 2 * INSIDE + 3 * feature + number
                count = add_ball_at_solid(
                    point, size_a[0], pose_b, outward, distance, feature, margin, found, count
                )
            if count > 0:
                return count
    return add_ball_at_solid(
        point, size_a[0], pose_b, outward, distance, feature, margin, found, 0
    )
