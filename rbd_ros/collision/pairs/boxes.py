# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Boxes against boxes: faces on faces by up to four points, edges and vertices by one.

Nearest points of separated boxes are found by Voronoi regions of the first box. The faces of the
first box that a point is beyond decide whether it is nearest to a face, an edge or a vertex. The
point of the second box nearest to that (infinite) face, edge or vertex has a closed form. If it is
in the same region, the points are nearest to each other, which is sufficient for convex bodies
(Cheney and Goldstein 1959); else its region is next. Two or three rounds are usual.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    FoundPoints,
    PlacedShape,
)
from rbd_ros.collision.pairs.box_axes import (
    best_axis,
    crossing_edges,
    deepest_vertex,
    nearest_of_boxes,
    SLACK,
)
from rbd_ros.collision.pairs.face_clipping import add_face
from rbd_ros.collision.pairs.nearest_points import nearest_to_box
from rbd_ros.collision.vectors import (
    add,
    clamped,
    COINCIDENT,
    localized,
    origin,
    placed,
    relative_pose,
    rotated,
    rotated_back,
    with_item,
)
from rbd_ros.compiler.loops import compiled, load_vec, norm, stack_array, Vec, Vec3

#: Distance that counts as zero by rounding, for lengths up to a meter or relative [m].
SETTLED = 1e-14

#: Maximum sine of the angle between an edge and a face that count as parallel.
PARALLEL = 1e-14

#: Number of rounds after which all features are searched.
ROUNDS = 8


@compiled
def lowest(upward: float, half: float, before: float) -> float:
    """Return the lowest coordinate of a box along an axis, unless the axis is level.

    :param upward: component of the axis upward
    :param half: half length along it [m]
    :param before: result for a level axis [m]
    """
    if not abs(upward) > PARALLEL:
        return before
    return -half if upward > 0.0 else half


@compiled
def settle_boxes(a: PlacedShape, b: PlacedShape) -> Tuple[bool, Vec3, Vec3]:
    """Compute nearest points of two boxes; return whether they were found, and the points.

    The search fails where the boxes overlap, and rarely where edges are nearly parallel. All
    coordinates are those of the first box.

    :param b: the second box, with its pose in coordinates of the first one
    """
    half_a, half_b, pose = a.size, b.size, b.pose
    before, center = Vec(0.0, 0.0, 0.0), origin(pose)
    local = clamped(localized(pose, before), half_b)
    on_a, on_b = before, placed(pose, local)
    least, scale = math.inf, 1.0
    for r in range(3):
        scale = max(scale, half_a[r], abs(center[r]))
    for _ in range(ROUNDS):
        on_a = clamped(on_b, half_a)
        excess, change = on_b - on_a, on_a - before
        beyond, free, across, moved = 0, 0, 0, 0.0
        for k in range(3):
            moved = max(moved, abs(change[k]))
            if excess[k] != 0.0:
                beyond += 1
                across = k
            else:
                free = k
        # The second point is nearest to where the first was.
        if moved <= SETTLED * scale:
            return beyond > 0, on_a, on_b
        if beyond == 0 or not excess @ excess < least:
            break
        least, before = excess @ excess, on_a
        if beyond == 3:
            local = clamped(localized(pose, on_a), half_b)
        elif beyond == 2:
            start = localized(pose, with_item(on_a, free, -half_a[free]))
            step = 2.0 * half_a[free] * load_vec(pose, 3, 3 * free)
            factor = nearest_to_box(start, step, half_b)
            before = with_item(on_a, free, half_a[free] * (2.0 * factor - 1.0))
            local = clamped(start + factor * step, half_b)
        else:
            upward = (1.0 if on_b[across] > 0.0 else -1.0) * load_vec(pose, 3, 3 * across)
            local = Vec(
                lowest(upward[0], half_b[0], local[0]),
                lowest(upward[1], half_b[1], local[1]),
                lowest(upward[2], half_b[2], local[2]),
            )
        on_b = placed(pose, local)
        if beyond == 1:
            # The lowest point is nearest to the whole face, if it is above it.
            before = with_item(on_b, across, on_a[across])
    return False, on_a, on_b


#: Minimum cosine of the angle between a face's normal and the direction between two boxes.
NEARLY = 0.9998


@compiled
def face_contacts(
    a: PlacedShape,
    b: PlacedShape,
    pose: FloatArray,
    number: int,
    normal: Vec3,
    margin: float,
    found: FoundPoints,
) -> int:
    """Add the contacts of a face.

    :param pose: pose of the second box in coordinates of the first one, (12,)
    :param number: axis, 0 to 2 of the first box, 3 to 5 of the second one
    :param normal: from the first box to the second, in coordinates of the first one
    """
    if number < 3:
        side = 1 if normal[number] >= 0.0 else 0
        second = PlacedShape(b.kind, b.size, pose, b.tables)
        return add_face(a, second, 2 * number + side, False, margin, found)
    back, k = stack_array(12), number - 3
    # For clipping, the box with the face is the first one.
    relative_pose(b.pose, a.pose, back)
    side = 0 if rotated_back(pose, normal)[k] >= 0.0 else 1
    first = PlacedShape(a.kind, a.size, back, a.tables)
    return add_face(b, first, 2 * k + side, True, margin, found)


@compiled
def face_along(normal: Vec3, back: Vec3) -> int:
    """Return the axis whose face looks along a normal, -1 if there is none.

    :param normal: the normal in coordinates of the first box
    :param back: in those of the second one
    :return: 0 to 2 of the first box, 3 to 5 of the second one
    """
    face, most = -1, NEARLY
    for k in range(3):
        if abs(normal[k]) > most:
            face, most = k, abs(normal[k]) + SLACK
    for k in range(3):
        if abs(back[k]) > most:
            face, most = 3 + k, abs(back[k])
    return face


@compiled
def box_box(
    a: PlacedShape, b: PlacedShape, margin: float, nearest: bool, found: FoundPoints
) -> int:
    """Return the contact of two boxes; arguments are those of `capsule_capsule` (capsules.py).

    Features below 729 are 27 times that of the first box plus that of the second one, each a face,
    an edge or a vertex as in `feature_of`; others are vertices of the overlap of two faces.
    """
    pose = stack_array(12)
    relative_pose(a.pose, b.pose, pose)
    second = PlacedShape(b.kind, b.size, pose, b.tables)
    # Most pairs are far apart: nearest points come before any separating axis.
    if nearest:
        settled, on_a, on_b = settle_boxes(a, second)
        distance = norm(on_b - on_a)
        if settled and distance > COINCIDENT:
            normal = rotated(a.pose, (on_b - on_a) / distance)
            return add(found, 0, 0, distance, margin, placed(a.pose, on_a), normal)
    separation, number, along = best_axis(a, second, nearest)
    if not separation <= margin:  # NaN as well
        return 0
    # The separation along an axis is a lower bound on the distance.
    if separation > 0.0:
        distance, feature, on_a, on_b = nearest_of_boxes(a, second)
        if distance > margin:
            return 0
        if distance > COINCIDENT:
            along = (on_b - on_a) / distance
            face = face_along(along, rotated_back(pose, along))
            if face >= 0 and not nearest:
                count = face_contacts(a, b, pose, face, along, margin, found)
                if count > 0:
                    return count
            point = placed(a.pose, on_a)
            return add(found, 0, feature, distance, margin, point, rotated(a.pose, along))
    if number < 6:
        count = face_contacts(a, b, pose, number, along, margin, found)
        if count > 0:
            return count
        # A favored face may be beside its counterpart.
        separation, number, along = best_axis(a, second, True)
        if number < 6:
            count = face_contacts(a, b, pose, number, along, margin, found)
            if count > 0:
                return count
    if number < 6:
        # The face only touches the border of the other one, and rounding has clipped everything.
        feature, on_a = deepest_vertex(a, second, number, separation, along)
    else:
        feature, on_a = crossing_edges(a, second, (number - 6) // 3, (number - 6) % 3, along)
    point = placed(a.pose, on_a)
    return add(found, 0, feature, separation, margin, point, rotated(a.pose, along))
