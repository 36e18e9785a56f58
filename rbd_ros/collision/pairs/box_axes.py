# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Separating axes of two boxes, and their nearest points where they are apart.

All coordinates are those of the first box, with the pose of the second one in it, (12,).
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    PlacedShape,
)
from rbd_ros.collision.pairs.nearest_points import distance_from_box, nearest_to_box
from rbd_ros.collision.shapes.supports import toward
from rbd_ros.collision.vectors import (
    across_axis,
    axis,
    clamped,
    localized,
    origin,
    placed,
    rotated_back,
    unit_vector,
    with_item,
)
from rbd_ros.compiler.loops import compiled, load_vec, norm, stack_array, Vec, Vec3

#: Maximum sine of the angle between edges that count as parallel, without a separate axis.
PARALLEL_EDGES = 1e-7

#: Faces of the first box are favored: a face of the second one, or an edge, must penetrate less
#: than this fraction of the depth, by more than this fraction of the boxes' least half length. So
#: contacts on a face do not flicker.
FAVOR, SLACK = 0.95, 1e-4


@compiled
def radius_along(half: FloatArray, direction: Vec3) -> float:
    """Return half the width of a box along a direction in its coordinates [m].

    :param half: half lengths, (3,) [m]
    """
    x, y, z = direction
    return half[0] * abs(x) + half[1] * abs(y) + half[2] * abs(z)


@compiled
def best_axis(a: PlacedShape, b: PlacedShape, plain: bool) -> Tuple[float, int, Vec3]:
    """Return the axis of maximum separation, of the 15 that two boxes have.

    :param b: the second box, with its pose in coordinates of the first one
    :param plain: whether all axes count alike; else faces go before edges
    :return: separation, negative where the boxes penetrate [m], the axis: 0 to 2 of the first box,
        3 to 5 of the second one, 6 + 3 i + j for the one perpendicular to axes i and j; and its
        direction, from the first box to the second
    """
    half_a, half_b, pose = a.size, b.size, b.pose
    # Hysteresis relative to the smaller box must not hide a real change of the deepest axis.
    slack = SLACK * min(min(half_a[0], half_a[1], half_a[2]), min(half_b[0], half_b[1], half_b[2]))
    best, chosen, favored, center = -math.inf, 0, -math.inf, origin(pose)
    normal = center
    for number in range(15):
        i, j = (number - 6) // 3, (number - 6) % 3
        if number < 3:
            trial = unit_vector(number)
        elif number < 6:
            trial = axis(pose, number - 3)
        else:
            # e_i x the axis j of the second box
            trial = across_axis(i, axis(pose, j))
            # Parallel edges add no axis: faces separate as well.
            sine = norm(trial)
            if not sine > PARALLEL_EDGES:
                continue
            trial = trial / sine
        offset = trial @ center
        # Separating axis theorem (Gottschalk, Lin and Manocha 1996): convex polytopes are apart if
        # and only if one of these axes separates them; else the largest value is the depth.
        width = radius_along(half_b, rotated_back(pose, trial)) + radius_along(half_a, trial)
        separation = abs(offset) - width
        threshold = best
        if not plain and (number == 3 or number == 6):
            # Later axes are compared with the favored value. Depths are negative: FAVOR makes the
            # threshold shallower.
            favored = (FAVOR * best if best < 0.0 else best) + slack
        if not plain and number >= 3:
            threshold = max(best, favored)
        if separation > threshold:
            best, chosen = separation, number
            normal = trial if offset >= 0.0 else -trial
    return best, chosen, normal


@compiled
def feature_of(point: Vec3, half: FloatArray) -> int:
    """Return the vertex, edge or face of a box that a point on its surface belongs to, 0 to 26.

    Digits in base 3, one per axis: 0 for the negative side, 1 between, 2 for the positive side.
    """
    code, digit = 13, 1
    for k in range(3):
        # Clamping and rotation leave points on the surface up to rounding.
        if abs(point[k]) >= half[k] * (1.0 - 1e-9):
            code += digit if point[k] >= 0.0 else -digit
        digit *= 3
    return code


@compiled
def nearest_of_boxes(a: PlacedShape, b: PlacedShape) -> Tuple[float, int, Vec3, Vec3]:
    """Return the nearest points of two boxes that are apart.

    They are on an edge of the first box and anywhere on the second one, or within a face of the
    first one and at a vertex of the second.

    :param b: the second box, with its pose in coordinates of the first one
    :return: distance [m], number of the features, and the points of both in coordinates of the
        first one [m]
    """
    half_a, half_b, pose = a.size, b.size, b.pose
    corner, minimum = stack_array(3), math.inf
    on_a, on_b = Vec(0.0, 0.0, 0.0), Vec(0.0, 0.0, 0.0)
    # Edges of one box against the other, and vertices of the other against faces: a vertex of the
    # first is part of its edges, and edge against edge is symmetric.
    for number in range(12):
        k, which = number // 4, number % 4
        s, t = (k + 1) % 3, (k + 2) % 3
        corner[k] = -half_a[k]
        corner[s] = half_a[s] if which % 2 == 1 else -half_a[s]
        corner[t] = half_a[t] if which >= 2 else -half_a[t]
        end = load_vec(corner, 3)
        start = localized(pose, end)
        step = localized(pose, with_item(end, k, half_a[k])) - start
        factor = nearest_to_box(start, step, half_b)
        local = start + factor * step
        distance, _, _ = distance_from_box(local, half_b)
        # By more than rounding: a vertex has three edges.
        if distance < minimum - 1e-15:
            minimum = distance
            on_a = with_item(end, k, -half_a[k] + 2.0 * half_a[k] * factor)
            # Clamping gives the nearest point of the second box.
            on_b = placed(pose, clamped(local, half_b))
    for number in range(8):
        bits = number
        for k in range(3):
            corner[k] = half_b[k] if bits % 2 == 1 else -half_b[k]
            bits //= 2
        point = placed(pose, load_vec(corner, 3))
        distance, _, _ = distance_from_box(point, half_a)
        if distance < minimum - 1e-15:
            minimum, on_a, on_b = distance, clamped(point, half_a), point
    feature = 27 * feature_of(on_a, half_a) + feature_of(localized(pose, on_b), half_b)
    return minimum, feature, on_a, on_b


@compiled
def deepest_vertex(
    a: PlacedShape, b: PlacedShape, number: int, separation: float, normal: Vec3
) -> Tuple[int, Vec3]:
    """Return the point of the first box at the contact of a face with a vertex.

    :param b: the second box, with its pose in coordinates of the first one
    :param number: axis perpendicular to the face, 0 to 2 of the first box, 3 to 5 of the second
    :param separation: gap along the normal [m]
    :param normal: from the first box to the second
    :return: number of the features, and the point [m]
    """
    if number < 3:
        # The deepest vertex is the support against the normal.
        local = -toward(rotated_back(b.pose, normal), b.size)
        # The point of the first box is on the face.
        on_a = placed(b.pose, local) - separation * normal
    else:
        on_a = toward(normal, a.size)
        local = localized(b.pose, on_a + separation * normal)
    return 27 * feature_of(on_a, a.size) + feature_of(local, b.size), on_a


@compiled
def crossing_edges(
    a: PlacedShape, b: PlacedShape, i: int, j: int, normal: Vec3
) -> Tuple[int, Vec3]:
    """Return the point of the edge of the first box that penetrates an edge of the second one.

    :param b: the second box, with its pose in coordinates of the first one
    :param i: axis of the first box along its edge
    :param j: axis of the second box along its edge
    :param normal: from the first box to the second, perpendicular to both
    :return: number of the features, and the point [m]
    """
    middle = with_item(toward(normal, a.size), i, 0.0)
    # Its edge is the extreme one against the normal.
    local = with_item(-toward(rotated_back(b.pose, normal), b.size), j, 0.0)
    feature = 27 * feature_of(middle, a.size) + feature_of(local, b.size)
    # Lines middle + x e_i and middle + offset + y direction: x where they are nearest.
    direction, offset = axis(b.pose, j), placed(b.pose, local) - middle
    # The squared sine, not 1 - cosine^2, which is rounding for nearly parallel edges.
    across = across_axis(i, direction)
    x = (offset[i] - direction[i] * (direction @ offset)) / (across @ across)
    return feature, with_item(middle, i, min(a.size[i], max(-a.size[i], x)))
