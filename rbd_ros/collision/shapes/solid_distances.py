# SPDX-License-Identifier: Apache-2.0
"""Signed distance of a point from a box and from a cylinder, in their own coordinates."""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.collision.arrays import FloatArray
from rbd_ros.collision.vectors import COINCIDENT
from rbd_ros.compiler.loops import compiled


@compiled
def distance_from_box(
    point: FloatArray, half: FloatArray, outward: FloatArray
) -> Tuple[float, int]:
    """Return the signed distance of a point from a box, negative inside.

    :param point: the point, (3,) [m]
    :param half: half lengths of the box, (3,) [m]
    :param outward: gradient of the distance, a unit vector; a result, (3,)
    :return: the distance [m], and the face, edge or vertex that is nearest: digits in base 3, one
        for each axis, 0, 1 or 2 for its negative side, between its sides, its positive side
    """
    squares, face, least = 0.0, 0, -math.inf
    code, digit = 13, 1
    for k in range(3):
        excess = abs(point[k]) - half[k]
        sign = 1 if point[k] >= 0.0 else -1
        # Inside, the way out is that through the nearest face, of which the excess is largest.
        if excess > least:
            face, least = k, excess
        outward[k] = 0.0
        # Outside, the distance is that of the excesses: zero along axes where the point is between
        # the sides.
        if excess > 0.0:
            outward[k] = sign * excess
            squares += excess * excess
            code += sign * digit
        digit *= 3
    length = math.sqrt(squares)
    # On the surface the direction of the excess is rounding: the face's normal is taken.
    if length > COINCIDENT:
        for k in range(3):
            outward[k] = outward[k] / length
        return length, code
    code, digit = 13, 1
    for k in range(3):
        outward[k] = 0.0
        if k == face:
            outward[k] = 1.0 if point[k] >= 0.0 else -1.0
            code += digit if point[k] >= 0.0 else -digit
        digit *= 3
    return least, code


@compiled
def distance_from_cylinder(
    point: FloatArray, size: FloatArray, outward: FloatArray
) -> Tuple[float, int]:
    """Return the signed distance of a point from a cylinder about the z axis, negative inside.

    :param point: the point, (3,) [m]
    :param size: radius and half length, (3,) [m]
    :param outward: gradient of the distance, a unit vector; a result, (3,)
    :return: the distance [m], and the nearest feature: 3 for the side, 1 and 5 for the caps at the
        negative and the positive end, 0 and 4 for their rims
    """
    radial = math.sqrt(point[0] * point[0] + point[1] * point[1])
    # On the axis all radial directions are as near; x is as good as any.
    outward[0] = point[0] / radial if radial > COINCIDENT else 1.0
    outward[1] = point[1] / radial if radial > COINCIDENT else 0.0
    outward[2] = 1.0 if point[2] >= 0.0 else -1.0
    positive = 4 if point[2] >= 0.0 else 0
    from_side, from_cap = radial - size[0], abs(point[2]) - size[1]
    if from_side > 0.0 and from_cap > 0.0:
        length = math.sqrt(from_side * from_side + from_cap * from_cap)
        if length > COINCIDENT:
            outward[0] *= from_side / length
            outward[1] *= from_side / length
            outward[2] *= from_cap / length
            return length, positive
    # Inside both are negative: the larger one is nearer.
    if from_side > from_cap:
        outward[2] = 0.0
        return from_side, 3
    outward[0] = outward[1] = 0.0
    return from_cap, positive + 1
