# SPDX-License-Identifier: Apache-2.0
"""Capsules against capsules: one point, or two where they lie side by side."""

from __future__ import annotations

import math

from rbd_ros.collision.arrays import FloatArray, FoundPoints
from rbd_ros.collision.pairs.segments import nearest_of_segments, within
from rbd_ros.collision.pairs.spheres import add_balls
from rbd_ros.collision.vectors import along, axis, cross, dot, end_of_segment, perpendicular
from rbd_ros.compiler.loops import compiled, stack_array

#: Sine of the angle up to which capsules count as side by side.
SIDE_BY_SIDE = 1e-3


@compiled
def capsule_capsule(
    size_a: FloatArray,
    pose_a: FloatArray,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    nearest: bool,
    found: FoundPoints,
) -> int:
    """Return the contact of two capsules.

    Features are 3 i + j with i and j 0, 1 or 2 for the start, the side and the end of each; of
    those side by side, 9 and 10 for both ends of the part where they are.

    :param size_a: sizes of the first shape (shapes.py), (3,) [m]
    :param pose_a: its pose in the common frame, (12,)
    :param size_b: sizes of the second shape, (3,) [m]
    :param pose_b: its pose, (12,)
    :param margin: maximum gap of what is found [m]
    :param nearest: whether only the nearest points are asked for
    :param found: contact points; a result
    :return: how many were found
    """
    a, b, step_a, step_b = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    axis_a, axis_b, normal = stack_array(3), stack_array(3), stack_array(3)
    p, q = stack_array(3), stack_array(3)
    axis(pose_a, 2, axis_a)
    axis(pose_b, 2, axis_b)
    end_of_segment(pose_a, -size_a[1], a)
    end_of_segment(pose_b, -size_b[1], b)
    for r in range(3):
        step_a[r] = 2.0 * size_a[1] * axis_a[r]
        step_b[r] = 2.0 * size_b[1] * axis_b[r]
    # The normal of segments that meet: out of the plane of both.
    cross(axis_a, axis_b, normal)
    sine = math.sqrt(dot(normal, normal))
    if sine > SIDE_BY_SIDE and size_a[1] > 0.0 and size_b[1] > 0.0:
        for r in range(3):
            normal[r] = normal[r] / sine
    elif size_a[1] > 0.0 or not size_b[1] > 0.0:
        perpendicular(axis_a, normal)
    else:
        perpendicular(axis_b, normal)
    if sine <= SIDE_BY_SIDE and not nearest and size_a[1] > 0.0 and size_b[1] > 0.0:
        # Where the ends of the second one are along the first one.
        length, one, other = 2.0 * size_a[1], 0.0, 0.0
        for r in range(3):
            one += axis_a[r] * (b[r] - a[r]) / length
            other += axis_a[r] * (b[r] + step_b[r] - a[r]) / length
        first, last = max(0.0, min(one, other)), min(1.0, max(one, other))
        if last - first > SIDE_BY_SIDE:
            count = 0
            for number in range(2):
                s = first if number == 0 else last
                along(a, step_a, s, p)
                t = within((s - one) / (other - one), 0.0, 1.0)
                along(b, step_b, t, q)
                count = add_balls(
                    p, size_a[0], q, size_b[0], normal, 9 + number, margin, found, count
                )
            return count
    s, t = nearest_of_segments(a, step_a, b, step_b)
    along(a, step_a, s, p)
    along(b, step_b, t, q)
    feature = 3 * (0 if s <= 0.0 else (2 if s >= 1.0 else 1))
    feature += 0 if t <= 0.0 else (2 if t >= 1.0 else 1)
    return add_balls(p, size_a[0], q, size_b[0], normal, feature, margin, found, 0)
