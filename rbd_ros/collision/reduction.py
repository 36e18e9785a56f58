"""Contact points reduced to at most four: the deepest, and those that span the most area.

Points that touch go before those that are near: what rests on some of them would sink where one
is left out, until it is the deepest, and never come to rest.
"""

from __future__ import annotations

import math

from rbd_ros.collision.arrays import FloatArray
from rbd_ros.compiler.loops import compiled

#: What an area must be larger by than another one to be chosen instead, as a factor: of equal ones
#: the first, so that rounding does not choose.
LARGER = 1.0 + 1e-9

#: Difference of heights that does not count: of points that are equally deep, the first is that
#: at the border of the patch in a direction along no edge of usual faces [m].
LAYER, SLANTED = 1e-7, 0.618

#: Width of a patch up to which it counts as a line, relative to its length.
STRAIGHT = 1e-9

#: What a point between the ends of a line must be deeper by than both to count [m].
DEEPER = 1e-9

#: Columns of points: both coordinates in a plane, gap.
HEIGHT = 2


@compiled
def area(points: FloatArray, a: int, b: int, c: int) -> float:
    """Twice the signed area of a triangle of points [m^2]."""
    twice: float = (points[b, 0] - points[a, 0]) * (points[c, 1] - points[a, 1]) - (
        points[b, 1] - points[a, 1]
    ) * (points[c, 0] - points[a, 0])
    return twice


@compiled
def share(gap: float, lowest: float) -> float:
    """By how much a point counts: 1 if it touches or is as deep as the deepest, then less.

    :param gap: its gap [m]
    :param lowest: that of the deepest [m]
    """
    above = gap - max(0.0, lowest)
    return 1.0 if above <= LAYER else LAYER / above


@compiled
def ends_of_line(points: FloatArray, count: int, chosen: FloatArray) -> int:
    """Choose both ends of points in line, and the deepest if it is another one.

    :param points: the points, (N, 3 or more) [m]
    :param count: how many there are
    :param chosen: the deepest and the one farthest from it; changed to a result, (4,)
    :return: how many were chosen
    """
    deepest, one = int(chosen[0]), int(chosen[1])
    other, most = deepest, -1.0
    for i in range(count):
        x, y = points[i, 0] - points[one, 0], points[i, 1] - points[one, 1]
        if x * x + y * y > LARGER * most:
            other, most = i, x * x + y * y
    if not most > 0.0:
        return 1
    between = points[deepest, HEIGHT] < points[one, HEIGHT] - DEEPER
    between = between and points[deepest, HEIGHT] < points[other, HEIGHT] - DEEPER
    chosen[0], chosen[1], chosen[2] = other, one, deepest
    return 3 if between else 2


@compiled
def choose(points: FloatArray, count: int, chosen: FloatArray) -> int:
    """Choose at most 4 points that span a patch: the deepest, and those that add most area.

    An area counts less, the farther its point is from touching.

    Of a line, both ends: more points would share its force as they like, and friction with it.

    :param points: points in a plane with their gaps, (N, 3 or more) [m]
    :param count: how many there are
    :param chosen: their numbers; a result, (4,)
    :return: how many were chosen
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
        square, counts = x * x + y * y, share(points[i, HEIGHT], lowest)
        length = max(length, square)
        if square * counts * counts > LARGER * most:
            second, most = i, square * counts * counts
    most = -1.0
    for i in range(count):
        size = abs(area(points, first, second, i))
        width = max(width, size)
        if size * share(points[i, HEIGHT], lowest) > LARGER * most:
            third, most = i, size * share(points[i, HEIGHT], lowest)
    chosen[0], chosen[1] = first, second
    if not width > STRAIGHT * length:
        return ends_of_line(points, count, chosen)
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
            added *= share(points[i, HEIGHT], lowest)
        if added > most + (LARGER - 1.0) * abs(most):
            fourth, most = i, added
    chosen[2], chosen[3] = third, fourth
    return 4
