# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Capsules against capsules: one point, or two where they lie side by side."""

from __future__ import annotations

from rbd_ros.collision.arrays import FoundPoints, PlacedShape
from rbd_ros.collision.pairs.nearest_points import nearest_of_segments, within
from rbd_ros.collision.pairs.spheres import add_balls, Ball
from rbd_ros.collision.vectors import axis, end_of_segment, perpendicular
from rbd_ros.compiler.loops import compiled, cross, norm

#: Maximum sine of the angle between capsules that are side by side.
SIDE_BY_SIDE = 1e-3


@compiled
def capsule_capsule(
    a: PlacedShape, b: PlacedShape, margin: float, nearest: bool, found: FoundPoints
) -> int:
    """Return the contact of two capsules.

    Features are 3 i + j, with i and j 0, 1 or 2 for the start, side and end of each; 9 and 10 for
    both ends of the overlap of capsules side by side.

    :param a: the first shape, with its pose in the common frame
    :param b: the second one
    :param margin: maximum gap [m]
    :param nearest: whether only the nearest points are needed
    :param found: contact points; a result
    :return: number of points
    """
    axis_a, axis_b = axis(a.pose, 2), axis(b.pose, 2)
    radius_a, half_a, radius_b, half_b = a.size[0], a.size[1], b.size[0], b.size[1]
    start_a, start_b = end_of_segment(a.pose, -half_a), end_of_segment(b.pose, -half_b)
    step_a, step_b = 2.0 * half_a * axis_a, 2.0 * half_b * axis_b
    # Segments that intersect: the normal of their plane.
    normal = cross(axis_a, axis_b)
    sine, both = norm(normal), half_a > 0.0 and half_b > 0.0
    if sine > SIDE_BY_SIDE and both:
        normal = normal / sine
    elif half_a > 0.0 or not half_b > 0.0:
        normal = perpendicular(axis_a)
    else:
        normal = perpendicular(axis_b)
    if sine <= SIDE_BY_SIDE and not nearest and both:
        # Ends of the second segment along the first one.
        length, offset = 2.0 * half_a, start_b - start_a
        one, other = axis_a @ offset / length, axis_a @ (offset + step_b) / length
        first, last = max(0.0, min(one, other)), min(1.0, max(one, other))
        if last - first > SIDE_BY_SIDE:
            count = 0
            for number in range(2):
                s = first if number == 0 else last
                t = within((s - one) / (other - one), 0.0, 1.0)
                p, q = Ball(start_a + s * step_a, radius_a), Ball(start_b + t * step_b, radius_b)
                count = add_balls(p, q, normal, 9 + number, margin, found, count)
            return count
    s, t = nearest_of_segments(start_a, step_a, start_b, step_b)
    p, q = Ball(start_a + s * step_a, radius_a), Ball(start_b + t * step_b, radius_b)
    feature = 3 * (0 if s <= 0.0 else (2 if s >= 1.0 else 1))
    feature += 0 if t <= 0.0 else (2 if t >= 1.0 else 1)
    return add_balls(p, q, normal, feature, margin, found, 0)
