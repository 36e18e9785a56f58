# SPDX-License-Identifier: Apache-2.0
"""Normals of faces in the place of those that a search has ended near.

The signed distance of convex shapes is the largest of their distances along all directions. Where
a cylinder lies on a face but for rounding, a search may end some 1e-5 rad beside the normal of
that face, and be wrong by as much times the length of what lies there.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.collision.arrays import BOX, CYLINDER, HULL, PlacedShape
from rbd_ros.collision.shapes.supports import (
    farthest_face,
    largest_axis,
    OF_A,
    OF_B,
    support_of_difference,
)
from rbd_ros.collision.vectors import turned, turned_back
from rbd_ros.compiler.loops import compiled, load_vec, stack_array, Vec, Vec3

#: Cosine of the angle to a face's normal from which on it is tried.
BESIDE = 1.0 - 1e-6

#: Sine of the angle to a side of a cylinder, squared, up to which its normal is tried.
LEANING = 2e-6

#: Gain of distance that counts, relative to where the points are: one within rounding would only
#: put the point where all of a line is as near at the line's end.
GAIN = 1e-13


@compiled
def face_normal(shape: PlacedShape, direction: Vec3) -> Tuple[bool, Vec3]:
    """Return the normal of the face, cap or side of a core that looks along a direction most.

    :param direction: a unit vector in coordinates of the shape
    :return: whether there is one near the direction, and the unit vector
    """
    normal = direction
    if shape.kind == BOX:
        normal = largest_axis(direction)
    elif shape.kind == CYLINDER:
        across = math.sqrt(direction[0] * direction[0] + direction[1] * direction[1])
        if across > 0.5:
            side = Vec(direction[0] / across, direction[1] / across, 0.0)
            return direction[2] * direction[2] <= LEANING, side
        normal = Vec(0.0, 0.0, 1.0 if direction[2] >= 0.0 else -1.0)
    elif shape.kind == HULL:
        face = farthest_face(shape.tables, int(shape.size[0]), direction)
        normal = load_vec(shape.tables.face[face], 3)
    else:
        return False, normal
    return normal @ direction >= BESIDE, normal


@compiled
def try_faces(
    a: PlacedShape, b: PlacedShape, distance: float, normal: Vec3, on_a: Vec3
) -> Tuple[float, Vec3, Vec3]:
    """Take the normal of a face along which both cores are farther apart, if there is one.

    :param b: the second shape, with its pose in coordinates of the first one
    :param distance: signed distance along the normal [m]
    :param normal: unit normal from the first core to the second
    :param on_a: point of the first core [m]
    :return: all three as they are then
    """
    row, before = stack_array(12), normal
    for side in range(2):
        if side == 0:
            near, tried = face_normal(a, before)
        else:
            near, found = face_normal(b, -turned_back(b.pose, before))
            tried = -turned(b.pose, found)
        if not near:
            continue
        point, _, _ = support_of_difference(a, b, tried, 0, 0, row)
        apart, reach = -(tried @ point), 0.0
        for r in range(3):
            reach += abs(row[OF_A + r]) + abs(row[OF_B + r])
        if apart > distance + GAIN * reach:
            distance, normal = apart, tried
            on_a = load_vec(row, 3, OF_A)
            if side == 0:
                on_a = load_vec(row, 3, OF_B) - apart * tried
    return distance, normal, on_a
