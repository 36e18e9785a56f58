# SPDX-License-Identifier: Apache-2.0
"""Nearest points of two boxes that are apart, by the region of the first that the second lies in.

A point is nearest to a face, an edge or a vertex of the first box, by the planes of the faces that
it is beyond. The point of the second box that is nearest to that (endless) face, edge or vertex is
found in closed form. If it is in the same region again, both points are nearest to each other,
which is all that is asked of nearest points of convex bodies (Cheney and Goldstein 1959); else its
region is next. Two or three rounds do.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.collision.arrays import PlacedShape
from rbd_ros.collision.pairs.segments import nearest_to_box
from rbd_ros.collision.vectors import clamped, localized, origin, placed, with_item
from rbd_ros.compiler.loops import compiled, load_vec, Vec, Vec3

#: Distance of two points that are one but for rounding, of lengths up to a meter or relative [m].
SETTLED = 1e-14

#: Sine of the angle up to which an edge counts as parallel to a face.
PARALLEL = 1e-14

#: Rounds after which boxes are left to the search of all features.
ROUNDS = 8


@compiled
def lowest(upward: float, half: float, before: float) -> float:
    """Return the lowest coordinate of a box along an axis, unless that is level.

    :param upward: how much the axis looks up
    :param half: half length along it [m]
    :param before: what is returned if it is level [m]
    """
    if not abs(upward) > PARALLEL:
        return before
    return -half if upward > 0.0 else half


@compiled
def settle_boxes(a: PlacedShape, b: PlacedShape) -> Tuple[bool, Vec3, Vec3]:
    """Find nearest points of two boxes; return whether they were found, and the points.

    They are not where the boxes meet, and rarely where edges are nearly parallel. All is in
    coordinates of the first box.

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
        # The second point is the nearest one to where the first was.
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
            # What is lowest is nearest to all of the face, if it is above it.
            before = with_item(on_b, across, on_a[across])
    return False, on_a, on_b
