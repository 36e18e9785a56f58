# SPDX-License-Identifier: Apache-2.0
"""Separating axes of two boxes, and their nearest points where they are apart.

All is in coordinates of the first box: the pose of the second one in it, (12,).
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.collision.arrays import FloatArray
from rbd_ros.collision.pairs.segments import nearest_to_box
from rbd_ros.collision.shapes.solid_distances import distance_from_box
from rbd_ros.collision.vectors import along, difference, dot, localized, placed, turned
from rbd_ros.compiler.loops import compiled, stack_array

#: Sine of the angle up to which two edges count as parallel, with no axis of their own.
PARALLEL_EDGES = 1e-7

#: Contacts are those of a face of the first box, unless one of the second one, or an edge,
#: penetrates less than this part of its depth, by more than this part of the boxes' least half
#: length. What rests on a face keeps it, and its points, when it trembles.
FAVOR, SLACK = 0.95, 1e-4


@compiled
def relative_pose(pose_a: FloatArray, pose_b: FloatArray, pose: FloatArray) -> None:
    """Compute the pose of the second frame in the first one, (12,).

    :param pose_a: pose of the first frame, (12,)
    :param pose_b: pose of the second frame, (12,)
    :param pose: the result, (12,)
    """
    for i in range(3):
        position = 0.0
        for r in range(3):
            position += pose_a[3 * r + i] * (pose_b[9 + r] - pose_a[9 + r])
        pose[9 + i] = position
        for j in range(3):
            total = 0.0
            for r in range(3):
                total += pose_a[3 * r + i] * pose_b[3 * r + j]
            pose[3 * i + j] = total


@compiled
def radius_along(half: FloatArray, pose: FloatArray, direction: FloatArray) -> float:
    """Return half the width of a box along a direction [m].

    :param half: half lengths, (3,) [m]
    :param pose: pose of the box, (12,)
    :param direction: unit vector, (3,)
    """
    total = 0.0
    for k in range(3):
        total += half[k] * abs(
            pose[k] * direction[0] + pose[3 + k] * direction[1] + pose[6 + k] * direction[2]
        )
    return total


@compiled
def best_axis(
    half_a: FloatArray, half_b: FloatArray, pose: FloatArray, plain: bool, normal: FloatArray
) -> Tuple[float, int]:
    """Return the axis of maximum separation, of the 15 that two boxes have.

    :param half_a: half lengths of the first box, (3,) [m]
    :param half_b: half lengths of the second one, (3,) [m]
    :param pose: its pose in coordinates of the first one, (12,)
    :param plain: whether all axes count alike, rather than faces before edges
    :param normal: the axis, from the first box to the second; a result, (3,)
    :return: separation, negative where the boxes penetrate [m], and the axis: 0 to 2 of the first
        box, 3 to 5 of the second one, 6 + 3 i + j for that at right angles to both axes i and j
    """
    # Hysteresis is relative to the smaller box: it must not hide a real change of the deepest
    # axis.
    slack = SLACK * min(min(half_a[0], half_a[1], half_a[2]), min(half_b[0], half_b[1], half_b[2]))
    axis = stack_array(3)
    best, chosen, favored = -math.inf, 0, -math.inf
    for number in range(15):
        i, j = (number - 6) // 3, (number - 6) % 3
        if number < 3:
            for r in range(3):
                axis[r] = 1.0 if r == number else 0.0
        elif number < 6:
            for r in range(3):
                axis[r] = pose[3 * r + number - 3]
        else:
            s, t = (i + 1) % 3, (i + 2) % 3
            # e_i x the axis j of the second box
            # Length of e_i x b_j. Parallel edges add no axis: faces separate whatever they would.
            sine = math.sqrt(pose[3 * s + j] ** 2 + pose[3 * t + j] ** 2)
            if not sine > PARALLEL_EDGES:
                continue
            axis[i], axis[s], axis[t] = 0.0, -pose[3 * t + j] / sine, pose[3 * s + j] / sine
        offset = axis[0] * pose[9] + axis[1] * pose[10] + axis[2] * pose[11]
        width = radius_along(half_b, pose, axis)
        for r in range(3):
            width += half_a[r] * abs(axis[r])
        # Separating axis theorem (Gottschalk, Lin and Manocha 1996): convex polytopes are apart if
        # and only if one of these axes shows it; where none does, the largest is the depth.
        separation = abs(offset) - width
        threshold = best
        if not plain and (number == 3 or number == 6):
            # From here on, axes are compared with what those before them were favored to.
            # Depths are negative: FAVOR makes the threshold shallower, and an axis must be better
            # by that much.
            favored = (FAVOR * best if best < 0.0 else best) + slack
        if not plain and number >= 3:
            threshold = max(best, favored)
        if separation > threshold:
            best, chosen = separation, number
            for r in range(3):
                normal[r] = axis[r] if offset >= 0.0 else -axis[r]
    return best, chosen


@compiled
def feature_of(point: FloatArray, half: FloatArray) -> int:
    """Return the vertex, edge or face of a box that a point on its surface belongs to, 0 to 26.

    Digits in base 3, one for each axis: 0, 1 or 2 for the negative side, between, the positive.
    """
    code, digit = 13, 1
    for k in range(3):
        # Points come from clamping and turning: on the surface up to rounding.
        if abs(point[k]) >= half[k] * (1.0 - 1e-9):
            code += digit if point[k] >= 0.0 else -digit
        digit *= 3
    return code


@compiled
def nearest_of_boxes(
    half_a: FloatArray,
    half_b: FloatArray,
    pose: FloatArray,
    on_a: FloatArray,
    on_b: FloatArray,
) -> Tuple[float, int]:
    """Return the nearest points of two boxes that are apart.

    They are at an edge of the first box and anywhere on the second one, or within a face of the
    first one and at a vertex of the second.

    :param half_a: half lengths of the first box, (3,) [m]
    :param half_b: half lengths of the second one, (3,) [m]
    :param pose: its pose in coordinates of the first one, (12,)
    :param on_a: point of the first box in its coordinates; a result, (3,) [m]
    :param on_b: point of the second one in the same coordinates; a result, (3,) [m]
    :return: distance [m], and number of the features
    """
    start, end, step, local = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    outward, point = stack_array(3), stack_array(3)
    minimum = math.inf
    # Edges of one box against the other and vertices of that against faces are all combinations:
    # vertex against anything is part of an edge, and edge against edge is symmetric.
    for number in range(12):
        k, which = number // 4, number % 4
        s, t = (k + 1) % 3, (k + 2) % 3
        point[k] = -half_a[k]
        point[s] = half_a[s] if which % 2 == 1 else -half_a[s]
        point[t] = half_a[t] if which >= 2 else -half_a[t]
        localized(pose, point, start)
        point[k] = half_a[k]
        localized(pose, point, end)
        difference(end, start, step)
        factor = nearest_to_box(start, step, half_b)
        along(start, step, factor, local)
        distance, _ = distance_from_box(local, half_b, outward)
        # By more than rounding: a vertex belongs to three edges.
        if distance < minimum - 1e-15:
            minimum = distance
            point[k] = -half_a[k] + 2.0 * half_a[k] * factor
            for r in range(3):
                on_a[r] = point[r]
                # Nearest point of the second box to a point outside of it: clamping.
                local[r] = min(half_b[r], max(-half_b[r], local[r]))
            placed(pose, local, on_b)
    for number in range(8):
        bits = number
        for k in range(3):
            local[k] = half_b[k] if bits % 2 == 1 else -half_b[k]
            bits //= 2
        placed(pose, local, point)
        distance, _ = distance_from_box(point, half_a, outward)
        if distance < minimum - 1e-15:
            minimum = distance
            for r in range(3):
                on_b[r] = point[r]
                on_a[r] = min(half_a[r], max(-half_a[r], point[r]))
    localized(pose, on_b, local)
    return minimum, 27 * feature_of(on_a, half_a) + feature_of(local, half_b)


@compiled
def deepest_vertex(
    half_a: FloatArray,
    half_b: FloatArray,
    pose: FloatArray,
    number: int,
    separation: float,
    normal: FloatArray,
    on_a: FloatArray,
) -> int:
    """Return the point of the first box at the contact of a face with a vertex.

    :param half_a: half lengths of the first box, (3,) [m]
    :param half_b: half lengths of the second one, (3,) [m]
    :param pose: its pose in coordinates of the first one, (12,)
    :param number: axis that the face is normal to, 0 to 2 of the first box, 3 to 5 of the second
    :param separation: gap along the normal [m]
    :param normal: from the first box to the second, (3,)
    :param on_a: the point; a result, (3,) [m]
    :return: number of the features
    """
    local, point = stack_array(3), stack_array(3)
    if number < 3:
        for k in range(3):
            upward = normal[0] * pose[k] + normal[1] * pose[3 + k] + normal[2] * pose[6 + k]
            # The deepest vertex is the support against the normal.
            local[k] = -half_b[k] if upward >= 0.0 else half_b[k]
        placed(pose, local, point)
        # From the vertex to the face, where the point of the first box is.
        along(point, normal, -separation, on_a)
    else:
        for k in range(3):
            on_a[k] = half_a[k] if normal[k] >= 0.0 else -half_a[k]
        along(on_a, normal, separation, point)
        localized(pose, point, local)
    return 27 * feature_of(on_a, half_a) + feature_of(local, half_b)


@compiled
def crossing_edges(
    half_a: FloatArray,
    half_b: FloatArray,
    pose: FloatArray,
    i: int,
    j: int,
    normal: FloatArray,
    on_a: FloatArray,
) -> int:
    """Return the point of the edge of the first box that penetrates an edge of the second one.

    :param half_a: half lengths of the first box, (3,) [m]
    :param half_b: half lengths of the second one, (3,) [m]
    :param pose: its pose in coordinates of the first one, (12,)
    :param i: axis of the first box along its edge
    :param j: axis of the second box along its edge
    :param normal: from the first box to the second, at right angles to both, (3,)
    :param on_a: the point; a result, (3,) [m]
    :return: number of the features
    """
    corner, local, direction, offset = (
        stack_array(3),
        stack_array(3),
        stack_array(3),
        stack_array(3),
    )
    first, second, digit = 13, 13, 1
    for k in range(3):
        local[k] = on_a[k] = 0.0
        if k != i:
            on_a[k] = half_a[k] if normal[k] >= 0.0 else -half_a[k]
            first += digit if normal[k] >= 0.0 else -digit
        # Its edge is the extreme one against the normal.
        if k != j:
            upward = normal[0] * pose[k] + normal[1] * pose[3 + k] + normal[2] * pose[6 + k]
            local[k] = -half_b[k] if upward >= 0.0 else half_b[k]
            second += -digit if upward >= 0.0 else digit
        digit *= 3
    placed(pose, local, corner)
    for k in range(3):
        local[k] = 1.0 if k == j else 0.0
    turned(pose, local, direction)
    # Lines on_a + x e_i and corner + y direction: x where they are nearest.
    difference(corner, on_a, offset)
    s, t = (i + 1) % 3, (i + 2) % 3
    cosine = direction[i]
    # Not by 1 - cosine^2, which is rounding where the edges are nearly parallel.
    sine_squared = direction[s] * direction[s] + direction[t] * direction[t]
    x = (offset[i] - cosine * dot(direction, offset)) / sine_squared
    on_a[i] = min(half_a[i], max(-half_a[i], x))
    return 27 * first + second
