# SPDX-License-Identifier: Apache-2.0
"""Normals of faces in the place of those that a search has ended near.

The signed distance of convex shapes is the largest of their distances along all directions. Where
a cylinder lies on a face but for rounding, a search may end some 1e-5 rad beside the normal of
that face, and be wrong by as much times the length of what lies there.
"""

from __future__ import annotations

import math

from rbd_ros.collision.arrays import BOX, CYLINDER, FloatArray, HULL, Tables
from rbd_ros.collision.shapes.supports import highest_vertex, OF_A, OF_B, support_of_difference
from rbd_ros.collision.vectors import dot
from rbd_ros.compiler.loops import compiled, stack_array

#: Cosine of the angle to a face's normal from which on it is tried.
BESIDE = 1.0 - 1e-6

#: Sine of the angle to a side of a cylinder, squared, up to which its normal is tried.
LEANING = 2e-6

#: Gain of distance that counts, relative to where the points are: one within rounding would only
#: put the point where all of a line is as near at the line's end.
GAIN = 1e-13


@compiled
def face_normal(
    kind: int, size: FloatArray, tables: Tables, direction: FloatArray, normal: FloatArray
) -> bool:
    """Return the normal of the face, cap or side of a core that looks along a direction most.

    :param direction: a unit vector in coordinates of the shape, (3,)
    :param normal: the result, a unit vector, (3,)
    :return: whether there is one near the direction
    """
    for r in range(3):
        normal[r] = 0.0
    if kind == BOX:
        k = 0
        for r in range(1, 3):
            if abs(direction[r]) > abs(direction[k]):
                k = r
        normal[k] = 1.0 if direction[k] >= 0.0 else -1.0
    elif kind == CYLINDER:
        across = math.sqrt(direction[0] * direction[0] + direction[1] * direction[1])
        if across > 0.5:
            normal[0], normal[1] = direction[0] / across, direction[1] / across
            return direction[2] * direction[2] <= LEANING
        normal[2] = 1.0 if direction[2] >= 0.0 else -1.0
    elif kind == HULL:
        hull = int(size[0])
        v, most = tables.hull[hull, 0] + highest_vertex(tables, hull, direction, 0), -math.inf
        begin = tables.around[v, 2]
        for number in range(begin, begin + tables.around[v, 3]):
            face = tables.face[tables.face_at[number]]
            forward = dot(face, direction)
            if forward > most:
                most = forward
                for r in range(3):
                    normal[r] = face[r]
    else:
        return False
    near: bool = dot(normal, direction) >= BESIDE
    return near


@compiled
def try_faces(
    kind_a: int,
    size_a: FloatArray,
    kind_b: int,
    size_b: FloatArray,
    pose: FloatArray,
    tables: Tables,
    distance: float,
    normal: FloatArray,
    on_a: FloatArray,
) -> float:
    """Take the normal of a face along which both cores are farther apart, if there is one.

    Arguments are those of `nearest_of_convex` (convex_pairs.py).

    :param distance: signed distance along the normal [m]
    :param normal: unit normal from the first core to the second; changed, (3,)
    :param on_a: point of the first core; changed, (3,) [m]
    :return: the signed distance then [m]
    """
    local, found, tried, row = stack_array(3), stack_array(3), stack_array(3), stack_array(12)
    before = stack_array(3)
    for r in range(3):
        before[r] = normal[r]
    for side in range(2):
        near = False
        if side == 0:
            near = face_normal(kind_a, size_a, tables, before, tried)
        else:
            for k in range(3):
                local[k] = -(
                    pose[k] * before[0] + pose[3 + k] * before[1] + pose[6 + k] * before[2]
                )
            near = face_normal(kind_b, size_b, tables, local, found)
            for r in range(3):
                tried[r] = -(
                    pose[3 * r] * found[0]
                    + pose[3 * r + 1] * found[1]
                    + pose[3 * r + 2] * found[2]
                )
        if not near:
            continue
        support_of_difference(kind_a, size_a, kind_b, size_b, pose, tables, tried, 0, 0, row)
        apart, reach = 0.0, 0.0
        for r in range(3):
            apart -= tried[r] * row[r]
            reach += abs(row[OF_A + r]) + abs(row[OF_B + r])
        if apart > distance + GAIN * reach:
            distance = apart
            for r in range(3):
                normal[r] = tried[r]
                on_a[r] = row[OF_A + r] if side == 1 else row[OF_B + r] - apart * tried[r]
    return distance
