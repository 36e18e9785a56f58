# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact points reduced to at most four: the deepest, and those that span the most area.

Points in contact go before points that are only near: a body without one of the former would
sink there until that point is the deepest, and never come to rest.
"""

from __future__ import annotations

import math

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import compiled

#: Minimum factor between areas for choosing the later one: of equal areas the first is chosen, so
#: that rounding does not decide.
LARGER = 1.0 + 1e-9

#: Insignificant difference of heights [m]: of equally deep points, the first is that at the border
#: of the patch in a direction along no edge of usual faces.
LAYER, SLANTED = 1e-7, 0.618

#: Maximum width of a patch that counts as a line, relative to its length.
STRAIGHT = 1e-9

#: Minimum depth of a point between the ends of a line below the line [m].
DEEPER = 1e-9

#: Columns of points: both coordinates in a plane, gap.
HEIGHT = 2


@compiled
def area(points: FloatArray, a: int, b: int, c: int) -> float:
    """Return twice the signed area of a triangle of points [m^2]."""
    twice: float = (points[b, 0] - points[a, 0]) * (points[c, 1] - points[a, 1]) - (
        points[b, 1] - points[a, 1]
    ) * (points[c, 0] - points[a, 0])
    return twice


@compiled
def point_weight(gap: float, lowest: float) -> float:
    """Return the weight of a point: 1 if it touches or is the deepest, then less.

    :param gap: its gap [m]
    :param lowest: gap of the deepest point [m]
    """
    above = gap - max(0.0, lowest)
    return 1.0 if above <= LAYER else LAYER / above


@compiled
def farthest_from(points: FloatArray, count: int, start: int) -> int:
    """Return the point that is farthest from one of them in the plane."""
    result, most = start, 0.0
    for i in range(count):
        x, y = points[i, 0] - points[start, 0], points[i, 1] - points[start, 1]
        if x * x + y * y > LARGER * most:
            result, most = i, x * x + y * y
    return result


@compiled
def along_line(points: FloatArray, start: int, end: int, i: int) -> float:
    """Return the parameter of a point along the line between two others, 0 to 1 between them."""
    x, y = points[end, 0] - points[start, 0], points[end, 1] - points[start, 1]
    part = x * (points[i, 0] - points[start, 0]) + y * (points[i, 1] - points[start, 1])
    return part / (x * x + y * y)


@compiled
def choose_of_line(points: FloatArray, count: int, chosen: FloatArray) -> int:
    """Choose both ends of points in line, and at most two lower ones between them.

    :param points: the points, (N, 3 or more) [m]
    :param count: number of points
    :param chosen: their numbers; a result, (4,)
    :return: number of chosen points
    """
    end = farthest_from(points, count, 0)
    start = farthest_from(points, count, end)
    chosen[0], chosen[1] = start, end
    if start == end:
        return 1
    number, between = 2, 0.0
    for _ in range(2):
        lowest, most = -1, DEEPER
        for i in range(count):
            first, last = start, end
            if number == 3:
                if along_line(points, start, end, i) < between:
                    last = int(chosen[2])
                else:
                    first = int(chosen[2])
            part = along_line(points, first, last, i)
            rise = points[last, HEIGHT] - points[first, HEIGHT]
            below = points[first, HEIGHT] + part * rise - points[i, HEIGHT]
            if below > most:
                lowest, most = i, below
        if lowest < 0:
            break
        chosen[number] = lowest
        between = along_line(points, start, end, lowest)
        number += 1
    return number


@compiled
def choose(points: FloatArray, count: int, chosen: FloatArray) -> int:
    """Choose at most 4 points that span a patch: the deepest, and those that add most area.

    An area counts less, the farther its point is from contact.

    Of a line, both ends: the distribution of force and friction over more points is not unique.

    :param points: points in a plane with their gaps, (N, 3 or more) [m]
    :param count: number of points
    :param chosen: their numbers; a result, (4,)
    :return: number of chosen points
    """
    if count <= 2:
        for i in range(count):
            chosen[i] = i
        return count
    first, second, third, fourth = 0, 0, 0, 0
    lowest = points[0, HEIGHT]
    for i in range(1, count):
        lowest = min(lowest, points[i, HEIGHT])
    most = math.inf
    for i in range(count):
        ahead = points[i, 0] + SLANTED * points[i, 1]
        if points[i, HEIGHT] <= lowest + LAYER and ahead < most:
            first, most = i, ahead
    most, length, width = -1.0, 0.0, 0.0
    for i in range(count):
        x, y = points[i, 0] - points[first, 0], points[i, 1] - points[first, 1]
        square, counts = x * x + y * y, point_weight(points[i, HEIGHT], lowest)
        length = max(length, square)
        if square * counts * counts > LARGER * most:
            second, most = i, square * counts * counts
    most = -1.0
    for i in range(count):
        size = abs(area(points, first, second, i))
        width = max(width, size)
        if size * point_weight(points[i, HEIGHT], lowest) > LARGER * most:
            third, most = i, size * point_weight(points[i, HEIGHT], lowest)
    if not width > STRAIGHT * length:
        return choose_of_line(points, count, chosen)
    if count <= 4:
        for i in range(count):
            chosen[i] = i
        return count
    turn = -1.0 if area(points, first, second, third) < 0.0 else 1.0
    most = -1.0
    for i in range(count):
        if i == first or i == second or i == third:
            continue
        # Outside of one of the triangle's edges.
        added = max(
            -turn * area(points, first, second, i),
            -turn * area(points, second, third, i),
            -turn * area(points, third, first, i),
        )
        if added > 0.0:
            added *= point_weight(points[i, HEIGHT], lowest)
        if added > most + (LARGER - 1.0) * abs(most):
            fourth, most = i, added
    chosen[0], chosen[1], chosen[2], chosen[3] = first, second, third, fourth
    return 4
