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

from rbd_ros.collision.arrays import FloatArray
from rbd_ros.collision.pairs.segments import nearest_to_box
from rbd_ros.compiler.loops import compiled, stack_array

#: Distance of two points that are one but for rounding, of lengths up to a meter or relative [m].
SETTLED = 1e-14

#: Sine of the angle up to which an edge counts as parallel to a face.
PARALLEL = 1e-14

#: Rounds after which boxes are left to the search of all features.
ROUNDS = 8


@compiled
def place_on(pose: FloatArray, local: FloatArray, point: FloatArray) -> None:
    """Compute the point with these coordinates in a frame, (3,) [m]."""
    x, y, z = local[0], local[1], local[2]
    for r in range(3):
        point[r] = pose[9 + r] + pose[3 * r] * x + pose[3 * r + 1] * y + pose[3 * r + 2] * z


@compiled
def nearest_on(half: FloatArray, pose: FloatArray, point: FloatArray, local: FloatArray) -> None:
    """Compute the coordinates of the point of a box that is nearest to a point, (3,) [m]."""
    x, y, z = point[0] - pose[9], point[1] - pose[10], point[2] - pose[11]
    for k in range(3):
        height = pose[k] * x + pose[3 + k] * y + pose[6 + k] * z
        local[k] = min(half[k], max(-half[k], height))


@compiled
def settle_boxes(
    half_a: FloatArray,
    half_b: FloatArray,
    pose: FloatArray,
    on_a: FloatArray,
    on_b: FloatArray,
) -> bool:
    """Find nearest points of two boxes; return whether they were found.

    They are not where the boxes meet, and rarely where edges are nearly parallel.

    :param half_a: half lengths of the first box, (3,) [m]
    :param half_b: half lengths of the second one, (3,) [m]
    :param pose: its pose in coordinates of the first one, (12,)
    :param on_a: point of the first box in its coordinates; a result, (3,) [m]
    :param on_b: point of the second one in the same coordinates; a result, (3,) [m]
    """
    local, before, start, step = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    for r in range(3):
        before[r] = 0.0
    nearest_on(half_b, pose, before, local)
    place_on(pose, local, on_b)
    least, scale = math.inf, 1.0
    for r in range(3):
        scale = max(scale, half_a[r], abs(pose[9 + r]))
    for _ in range(ROUNDS):
        beyond, free, across, squares, moved = 0, 0, 0, 0.0, 0.0
        for k in range(3):
            on_a[k] = min(half_a[k], max(-half_a[k], on_b[k]))
            excess = on_b[k] - on_a[k]
            squares += excess * excess
            moved = max(moved, abs(on_a[k] - before[k]))
            if excess != 0.0:
                beyond += 1
                across = k
            else:
                free = k
        # The second point is the nearest one to where the first was.
        if moved <= SETTLED * scale:
            return beyond > 0
        if beyond == 0 or not squares < least:
            return False
        least = squares
        for r in range(3):
            before[r] = on_a[r]
        if beyond == 3:
            nearest_on(half_b, pose, before, local)
        elif beyond == 2:
            for k in range(3):
                step[k] = 2.0 * half_a[free] * pose[3 * free + k]
                start[k] = -pose[9] * pose[k] - pose[10] * pose[3 + k] - pose[11] * pose[6 + k]
                for r in range(3):
                    corner = -half_a[r] if r == free else on_a[r]
                    start[k] += pose[3 * r + k] * corner
            factor = nearest_to_box(start, step, half_b)
            before[free] = half_a[free] * (2.0 * factor - 1.0)
            for k in range(3):
                local[k] = min(half_b[k], max(-half_b[k], start[k] + factor * step[k]))
        else:
            sign = 1.0 if on_b[across] > 0.0 else -1.0
            for k in range(3):
                upward = sign * pose[3 * across + k]
                if abs(upward) > PARALLEL:
                    local[k] = -half_b[k] if upward > 0.0 else half_b[k]
        place_on(pose, local, on_b)
        if beyond == 1:
            # What is lowest is nearest to all of the face, if it is above it.
            for k in range(3):
                before[k] = on_b[k] if k != across else before[k]
    return False
