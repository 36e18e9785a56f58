# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Nearest points of segments and boxes, and distances of points from boxes and cylinders."""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.vectors import COINCIDENT, unit_vector
from rbd_ros.compiler.loops import compiled, norm, stack_array, Vec, Vec3

#: Maximum squared sine of the angle between two segments that count as parallel.
PARALLEL = 1e-12


@compiled
def within(number: float, minimum: float, maximum: float) -> float:
    """Clamp a number to an interval."""
    return min(maximum, max(minimum, number))


@compiled
def nearest_of_segments(
    start_a: Vec3, step_a: Vec3, start_b: Vec3, step_b: Vec3
) -> Tuple[float, float]:
    """Return the nearest points of two segments, each as start + factor step.

    :param start_a: start of the first one [m]
    :param step_a: from its start to its end; may be zero [m]
    :param start_b: start of the second one [m]
    :param step_b: from its start to its end [m]
    :return: factors from 0 to 1 of both
    """
    offset = start_b - start_a
    aa, bb, ab = step_a @ step_a, step_b @ step_b, step_a @ step_b
    a, b = step_a @ offset, step_b @ offset
    if not aa > 0.0:
        return 0.0, (within(-b / bb, 0.0, 1.0) if bb > 0.0 else 0.0)
    if not bb > 0.0:
        return within(a / aa, 0.0, 1.0), 0.0
    s, t = 0.0, 0.0
    determinant = aa * bb - ab * ab
    if determinant > PARALLEL * aa * bb:
        s = within((a * bb - b * ab) / determinant, 0.0, 1.0)
    # The nearest point of the other line; if it is beyond the other segment, the point of this one
    # nearest to its end (Ericson 2005, 5.1.9).
    t = (s * ab - b) / bb
    if t < 0.0 or t > 1.0:
        t = within(t, 0.0, 1.0)
        s = within((a + t * ab) / aa, 0.0, 1.0)
    return s, t


@compiled
def pull(start: Vec3, step: Vec3, half: FloatArray, t: float) -> float:
    """Return half the slope of the squared distance from a box along a segment, at a factor t."""
    total = 0.0
    for k in range(3):
        x = start[k] + t * step[k]
        if x > half[k]:
            total += step[k] * (x - half[k])
        elif x < -half[k]:
            total += step[k] * (x + half[k])
    return total


@compiled
def nearest_to_box(start: Vec3, step: Vec3, half: FloatArray) -> float:
    """Return the point of a segment that is nearest to a box, exactly.

    The squared distance is convex along the segment, with a piecewise linear slope whose breaks
    are at the planes of the faces. Of several nearest points, it is the middle one.

    :param start: start of the segment in coordinates of the box [m]
    :param step: from its start to its end [m]
    :param half: half lengths of the box, (3,) [m]
    :return: factor of the step, from 0 to 1
    """
    at_first, at_last = pull(start, step, half, 0.0), pull(start, step, half, 1.0)
    if at_first > 0.0:
        return 0.0
    if at_last < 0.0:
        return 1.0
    # The last break with a negative slope, and the first with a positive one.
    before, slope_before, after, slope_after = 0.0, at_first, 1.0, at_last
    flat_from, flat_to = 2.0, -1.0
    for number in range(8):
        k = number // 2
        t = 0.0 if number == 6 else 1.0
        if number < 6:
            if step[k] == 0.0:
                continue
            t = ((half[k] if number % 2 == 0 else -half[k]) - start[k]) / step[k]
            if not 0.0 < t < 1.0:
                continue
        slope = pull(start, step, half, t)
        if slope < 0.0 and t >= before:
            before, slope_before = t, slope
        elif slope > 0.0 and t <= after:
            after, slope_after = t, slope
        elif slope == 0.0:
            flat_from, flat_to = min(flat_from, t), max(flat_to, t)
    if flat_to >= flat_from:
        return 0.5 * (flat_from + flat_to)
    width = slope_after - slope_before
    return before - slope_before * (after - before) / width if width > 0.0 else before


@compiled
def part_between(
    start: float, step: float, half: float, first: float, last: float
) -> Tuple[float, float]:
    """Return the part of a segment between two parallel planes, as factors.

    First > last if there is none.

    :param start: coordinate of its start [m]
    :param step: coordinate of its step [m]
    :param half: the planes are at -half and half [m]
    :param first: start of the part so far
    :param last: end of the part so far
    """
    if step == 0.0:
        if abs(start) <= half:
            return first, last
        return 1.0, 0.0
    one, other = (-half - start) / step, (half - start) / step
    return max(first, min(one, other)), min(last, max(one, other))


@compiled
def distance_from_box(point: Vec3, half: FloatArray) -> Tuple[float, int, Vec3]:
    """Return the signed distance of a point from a box, negative inside.

    :param point: the point [m]
    :param half: half lengths of the box, (3,) [m]
    :return: the distance [m], the nearest face, edge or vertex: digits in base 3, one per axis, 0
        for its negative side, 1 between, 2 for its positive side; and the gradient of the
        distance, a unit vector
    """
    outward = stack_array(3)
    squares, face, least, inside = 0.0, 0, -math.inf, 0
    code, digit = 13, 1
    for k in range(3):
        excess = abs(point[k]) - half[k]
        sign = 1 if point[k] >= 0.0 else -1
        # Inside, the exit is through the nearest face, that of the largest excess.
        if excess > least:
            face, least, inside = k, excess, 13 + sign * digit
        outward[k] = 0.0
        # Outside, the distance is that of the excesses, zero along axes where the point is between
        # the sides.
        if excess > 0.0:
            outward[k] = sign * excess
            squares += excess * excess
            code += sign * digit
        digit *= 3
    length, x, y, z = math.sqrt(squares), outward[0], outward[1], outward[2]
    # On the surface the direction of the excess is rounding: take the face's normal.
    if length > COINCIDENT:
        return length, code, Vec(x, y, z) / length
    side = 1.0 if point[face] >= 0.0 else -1.0
    return least, inside, side * unit_vector(face)


@compiled
def distance_from_cylinder(point: Vec3, size: FloatArray) -> Tuple[float, int, Vec3]:
    """Return the signed distance of a point from a cylinder about the z axis, negative inside.

    :param point: the point [m]
    :param size: radius and half length, (3,) [m]
    :return: the distance [m], the nearest feature: 3 for the side, 1 and 5 for the caps at the
        negative and the positive end, 0 and 4 for their rims; and the gradient of the distance, a
        unit vector
    """
    radial = norm(Vec(point[0], point[1]))
    # On the axis all radial directions are equal.
    x, y = 1.0, 0.0
    if radial > COINCIDENT:
        x, y = point[0] / radial, point[1] / radial
    z = 1.0 if point[2] >= 0.0 else -1.0
    positive = 4 if point[2] >= 0.0 else 0
    from_side, from_cap = radial - size[0], abs(point[2]) - size[1]
    if from_side > 0.0 and from_cap > 0.0:
        length = norm(Vec(from_side, from_cap))
        if length > COINCIDENT:
            side, cap = from_side / length, from_cap / length
            return length, positive, Vec(x * side, y * side, z * cap)
    # Inside both are negative: the larger one is nearer.
    if from_side > from_cap:
        return from_side, 3, Vec(x, y, 0.0)
    return from_cap, positive + 1, Vec(0.0, 0.0, z)
