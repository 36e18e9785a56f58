# SPDX-License-Identifier: Apache-2.0
"""Signed distance of a point from a box and from a cylinder, in their own coordinates."""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.collision.arrays import FloatArray
from rbd_ros.collision.vectors import COINCIDENT, unit_vector
from rbd_ros.compiler.loops import compiled, norm, stack_array, Vec, Vec3


@compiled
def distance_from_box(point: Vec3, half: FloatArray) -> Tuple[float, int, Vec3]:
    """Return the signed distance of a point from a box, negative inside.

    :param point: the point [m]
    :param half: half lengths of the box, (3,) [m]
    :return: the distance [m], the face, edge or vertex that is nearest: digits in base 3, one
        for each axis, 0, 1 or 2 for its negative side, between its sides, its positive side; and
        the gradient of the distance, a unit vector
    """
    outward = stack_array(3)
    squares, face, least, inside = 0.0, 0, -math.inf, 0
    code, digit = 13, 1
    for k in range(3):
        excess = abs(point[k]) - half[k]
        sign = 1 if point[k] >= 0.0 else -1
        # Inside, the way out is that through the nearest face, of which the excess is largest.
        if excess > least:
            face, least, inside = k, excess, 13 + sign * digit
        outward[k] = 0.0
        # Outside, the distance is that of the excesses: zero along axes where the point is between
        # the sides.
        if excess > 0.0:
            outward[k] = sign * excess
            squares += excess * excess
            code += sign * digit
        digit *= 3
    length, x, y, z = math.sqrt(squares), outward[0], outward[1], outward[2]
    # On the surface the direction of the excess is rounding: the face's normal is taken.
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
    # On the axis all radial directions are as near; x is as good as any.
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
