# SPDX-License-Identifier: Apache-2.0
"""Nearest or deepest points of pairs with a cylinder, exact to rounding.

What approaches a curved surface by points of it ends with a normal that is good to the square root
of rounding. Here the features that touch are taken as they are: a rim is a circle, a side the
surface of a cylinder, and edges and faces are flat. The points between which the distance is
stationary along them are found by Newton's method.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.collision.arrays import CYLINDER, FloatArray, Tables
from rbd_ros.collision.shapes.supports import (
    NUMBER_A,
    NUMBER_B,
    OF_A,
    OF_B,
    SHARE,
    support_of_difference,
)
from rbd_ros.collision.vectors import axis, COINCIDENT, cross, dot, perpendicular
from rbd_ros.compiler.loops import compiled, stack_array, stack_matrix

#: Features: what is flat, rims and sides of cylinders.
FLAT, RIM, SIDE = 0, 1, 2

_STEPS = 6

#: Length of a step, relative to the radius, after which the next one would be rounding.
_SETTLED = 1e-7

#: Cosine from which on a normal counts as that of a cap.
_CAP = 1.0 - 1e-10

#: Sine of the angle between two tangents from which on they make a normal.
_CROSSING = 1e-3

#: Rounding of a width, relative to the size of what is between.
_ROUNDING = 4e-16

#: Distance of a point from where the other one is nearest that passes for rounding, relative.
_EXACT = 1e-12

#: Distance of a point from a feature that passes for rounding, relative to its size.
_BEYOND = 1e-12

#: Part of a tangent beside those before from which on it counts, squared.
_INDEPENDENT = 1e-8


@compiled
def find_feature(
    kind: int,
    pose: FloatArray,
    size: FloatArray,
    simplex: FloatArray,
    count: int,
    column: int,
    number: int,
    normal: FloatArray,
    point: FloatArray,
    tangents: FloatArray,
) -> Tuple[int, int]:
    """Return the feature of a shape that a simplex is made of.

    :param kind: kind of the shape
    :param pose: its pose, (12,)
    :param size: its sizes, (3,) [m]
    :param simplex: points of the difference with their shares, (4, 12)
    :param count: how many there are
    :param column: column of the points of this shape
    :param number: column of their numbers
    :param normal: from the first shape to the second, (3,)
    :param point: point of the shape; a result, (3,) [m]
    :param tangents: unit tangents of what is flat; a result, (2, 3)
    :return: FLAT, RIM or SIDE, and the number of tangents
    """
    spindle, offset = stack_array(3), stack_array(3)
    axis(pose, 2, spindle)
    for r in range(3):
        point[r] = 0.0
        for i in range(count):
            point[r] += simplex[i, SHARE] * simplex[i, column + r]
    if kind == CYLINDER:
        # The numbers of a cylinder's supports are those of its rims: two of them make a line of
        # the side.
        for i in range(1, count):
            if simplex[i, number] != simplex[0, number]:
                return SIDE, 2
        # Across the axis of the cylinder the normal meets the rim, along it the whole cap.
        if abs(dot(normal, spindle)) < _CAP:
            return RIM, 1
        perpendicular(spindle, tangents[0])
        cross(spindle, tangents[0], tangents[1])
        return FLAT, 2
    total = 0
    for i in range(1, count):
        if total == 2:
            continue
        for r in range(3):
            offset[r] = simplex[i, column + r] - simplex[0, column + r]
        whole = dot(offset, offset)
        if total == 1:
            along_first = dot(offset, tangents[0])
            for r in range(3):
                offset[r] -= along_first * tangents[0, r]
        length = math.sqrt(dot(offset, offset))
        # Gram and Schmidt: an offset almost along the first tangent adds no direction, only
        # rounding.
        if whole > COINCIDENT * COINCIDENT and length * length > _INDEPENDENT * whole:
            for r in range(3):
                tangents[total, r] = offset[r] / length
            total += 1
    return FLAT, total


@compiled
def onto_cylinder(
    feature: int,
    pose: FloatArray,
    size: FloatArray,
    point: FloatArray,
    tangents: FloatArray,
    curvature: FloatArray,
) -> None:
    """Put a point onto the rim or side of a cylinder.

    :param feature: RIM or SIDE, else nothing happens
    :param pose: pose of the cylinder, (12,)
    :param size: its sizes, (3,) [m]
    :param point: the point; changed, (3,) [m]
    :param tangents: unit tangents there, around and along it; a result, (2, 3)
    :param curvature: curvature vector of the first tangent; a result, (3,) [1/m]
    """
    spindle, radial = stack_array(3), stack_array(3)
    if feature == FLAT:
        for r in range(3):
            curvature[r] = 0.0
    else:
        axis(pose, 2, spindle)
        height = 0.0
        for r in range(3):
            height += spindle[r] * (point[r] - pose[9 + r])
        if feature == RIM:
            height = size[1] if height >= 0.0 else -size[1]
        along_axis = 0.0
        for r in range(3):
            radial[r] = point[r] - pose[9 + r]
            along_axis += spindle[r] * radial[r]
        for r in range(3):
            radial[r] -= along_axis * spindle[r]
        length = math.sqrt(dot(radial, radial))
        for r in range(3):
            # On the axis every direction is as near: the x axis then, so that results are
            # reproducible.
            radial[r] = radial[r] / length if length > COINCIDENT else pose[3 * r]
            point[r] = pose[9 + r] + height * spindle[r] + size[0] * radial[r]
            # Second derivative of the circle by arc length: toward the axis, 1 / radius.
            curvature[r] = -radial[r] / size[0] if size[0] > 0.0 else 0.0
            tangents[1, r] = spindle[r]
        cross(spindle, radial, tangents[0])


@compiled
def solve_pivoted(H: FloatArray, g: FloatArray, count: int, x: FloatArray) -> None:
    """Solve H x = -g, symmetric, by elimination; what hardly depends on its own stays zero."""
    largest = 0.0
    for i in range(count):
        x[i] = 0.0
        largest = max(largest, abs(H[i, i]))
    used = stack_array(4)
    for i in range(count):
        used[i] = 0.0
    for _ in range(count):
        pivot = -1
        for i in range(count):
            if used[i] == 0.0 and (pivot < 0 or abs(H[i, i]) > abs(H[pivot, pivot])):
                pivot = i
        if pivot < 0:
            continue
        # Parallel lines and planes have a valley of nearest points: any of them will do, as they
        # are.
        if not abs(H[pivot, pivot]) > 1e-6 * largest:
            # The rest is another way along the same surface.
            for i in range(count):
                if used[i] == 0.0:
                    used[i] = 2.0
            continue
        used[pivot] = 1.0
        for i in range(count):
            if i != pivot and used[i] < 2.0:
                factor = H[i, pivot] / H[pivot, pivot]
                for j in range(count):
                    H[i, j] -= factor * H[pivot, j]
                g[i] -= factor * g[pivot]
    for i in range(count):
        if used[i] == 1.0:
            x[i] = -g[i] / H[i, i]


@compiled
def is_within(
    kind: int,
    pose: FloatArray,
    size: FloatArray,
    simplex: FloatArray,
    count: int,
    column: int,
    total: int,
    point: FloatArray,
    tangents: FloatArray,
) -> bool:
    """Return whether a point on the endless line or plane of a feature is on the feature.

    Arguments are those of `find_feature`. Of a face, only the triangle that the simplex has of it
    counts.
    """
    slack = 0.0
    if kind == CYLINDER:
        height, square = 0.0, 0.0
        for r in range(3):
            height += pose[3 * r + 2] * (point[r] - pose[9 + r])
            square += (point[r] - pose[9 + r]) * (point[r] - pose[9 + r])
        # Rounding of a coordinate is relative to the size of the shape.
        slack = _BEYOND * (size[0] + size[1])
        if abs(height) > size[1] + slack:
            return False
        return square - height * height <= (size[0] + slack) * (size[0] + slack)
    flat = stack_matrix(3, 2)
    x, y, low, high = 0.0, 0.0, math.inf, -math.inf
    for i in range(min(count, 3)):
        flat[i, 0] = flat[i, 1] = 0.0
        for r in range(3):
            # From the point on, along both tangents.
            offset = simplex[i, column + r] - point[r]
            flat[i, 0] += offset * tangents[0, r]
            flat[i, 1] += offset * tangents[1, r] if total == 2 else 0.0
        low, high = min(low, flat[i, 0]), max(high, flat[i, 0])
        slack = max(slack, abs(flat[i, 0]), abs(flat[i, 1]))
    slack *= _BEYOND
    if total == 0:
        return True
    if total == 1:
        return low <= slack and high >= -slack
    positive, negative = 0, 0
    for i in range(3):
        j = (i + 1) % 3
        x, y = flat[j, 0] - flat[i, 0], flat[j, 1] - flat[i, 1]
        # Signed area by the origin, which is the point: on the triangle, all three have one sign.
        side = x * flat[i, 1] - y * flat[i, 0]
        if side > slack * (abs(x) + abs(y)):
            positive += 1
        elif side < -slack * (abs(x) + abs(y)):
            negative += 1
    return positive == 0 or negative == 0


@compiled
def polish(
    kind_a: int,
    size_a: FloatArray,
    kind_b: int,
    size_b: FloatArray,
    pose: FloatArray,
    tables: Tables,
    simplex: FloatArray,
    count: int,
    gap: float,
    normal: FloatArray,
    on_a: FloatArray,
) -> Tuple[float, bool]:
    """Improve nearest or deepest points.

    Arguments are those of `nearest_of_cores` (gjk.py), and

    :param simplex: points of the difference with their shares, (4, 12)
    :param gap: signed distance of the cores so far [m]
    :param normal: from the first shape to the second; changed, (3,)
    :param on_a: point of the first core; a result, (3,) [m]
    :return: the signed distance, and whether it is exact to rounding
    """
    own, row = stack_array(12), stack_array(12)
    tangents_a, tangents_b = stack_matrix(2, 3), stack_matrix(2, 3)
    bend_a, bend_b, a, b = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    H, g, x, w, trial = (
        stack_matrix(4, 4),
        stack_array(4),
        stack_array(4),
        stack_array(3),
        stack_array(3),
    )
    slopes, bends = stack_matrix(4, 3), stack_matrix(4, 3)
    for r in range(12):
        own[r] = 1.0 if r % 4 == 0 and r < 9 else 0.0
    feature_a, total_a = find_feature(
        kind_a, own, size_a, simplex, count, OF_A, NUMBER_A, normal, a, tangents_a
    )
    feature_b, total_b = find_feature(
        kind_b, pose, size_b, simplex, count, OF_B, NUMBER_B, normal, b, tangents_b
    )
    for r in range(3):
        on_a[r] = a[r]
    total = total_a + total_b
    largest, settled = 0.0, False
    if feature_a != FLAT:
        largest = size_a[0]
    if feature_b != FLAT:
        largest = max(largest, size_b[0])
    for step in range(_STEPS):
        onto_cylinder(feature_a, own, size_a, a, tangents_a, bend_a)
        onto_cylinder(feature_b, pose, size_b, b, tangents_b, bend_b)
        for r in range(3):
            w[r] = a[r] - b[r]
            for i in range(total_a):
                # w = a(s) - b(t) with derivatives `slopes` and second derivatives `bends` by (s,
                # t): Newton's method for the stationary points of |w|^2 / 2, g_i = w . w_i, H_ij =
                # w_i . w_j + w . w_ij.
                slopes[i, r] = tangents_a[i, r]
                bends[i, r] = bend_a[r] if i == 0 else 0.0
            for i in range(total_b):
                slopes[total_a + i, r] = -tangents_b[i, r]
                bends[total_a + i, r] = -bend_b[r] if i == 0 else 0.0
        if settled or step == _STEPS - 1:
            break
        for i in range(total):
            g[i] = dot(w, slopes[i])
            for j in range(total):
                H[i, j] = dot(slopes[i], slopes[j])
            H[i, i] += dot(w, bends[i])
        solve_pivoted(H, g, total, x)
        settled = True
        for i in range(total):
            # Quadratic convergence: after a step of 1e-7, the next one would be 1e-14.
            settled = settled and abs(x[i]) <= _SETTLED * largest
        for r in range(3):
            for i in range(total_a):
                a[r] += x[i] * tangents_a[i, r]
            for i in range(total_b):
                b[r] += x[total_a + i] * tangents_b[i, r]
    # The normal is that of two tangents, or where there are none that of the points.
    most = 0.0
    for i in range(total):
        for j in range(i):
            # At a stationary point w is across all tangents; the cross product of two that are
            # well apart says so to rounding, while w itself, a small difference of points, does
            # not.
            cross(slopes[i], slopes[j], w)
            sine = math.sqrt(dot(w, w))
            if sine > max(most, _CROSSING):
                most = sine
                turn = 1.0 if dot(w, normal) >= 0.0 else -1.0
                for r in range(3):
                    trial[r] = turn * w[r] / sine
    if most == 0.0:
        for r in range(3):
            w[r] = b[r] - a[r]
        length = math.sqrt(dot(w, w))
        if not length > COINCIDENT:
            return gap, False
        turn = 1.0 if dot(w, normal) >= 0.0 else -1.0
        for r in range(3):
            trial[r] = turn * w[r] / length
    # For any normal the width between both is a bound on the signed distance from below: of two,
    # the larger one is nearer to it.
    number_a, number_b = int(simplex[0, NUMBER_A]), int(simplex[0, NUMBER_B])
    support_of_difference(
        kind_a, size_a, kind_b, size_b, pose, tables, normal, number_a, number_b, row
    )
    before = -dot(normal, row)
    support_of_difference(
        kind_a, size_a, kind_b, size_b, pose, tables, trial, number_a, number_b, row
    )
    better = -dot(trial, row)
    chosen = better >= before - _ROUNDING * math.sqrt(dot(row, row))
    if not chosen:
        better = before
        for r in range(3):
            trial[r] = normal[r]
        support_of_difference(
            kind_a, size_a, kind_b, size_b, pose, tables, trial, number_a, number_b, row
        )
    # Along a rim distances hardly change, so that steps along it may end too soon. Where its
    # tangent is across the normal is known without steps.
    for r in range(3):
        a[r] = row[OF_A + r] if feature_a == RIM else a[r]
        b[r] = row[OF_B + r] if feature_b == RIM else b[r]
        if feature_a == RIM:
            on_a[r] = a[r]
        elif feature_b == RIM:
            on_a[r] = b[r] - better * trial[r]
    if not chosen:
        return gap, False
    for r in range(3):
        normal[r] = trial[r]
        if feature_a != RIM and feature_b != RIM:
            on_a[r] = a[r]
        # What the points of both are beside each other.
        w[r] = b[r] - a[r] - better * trial[r]
    if not dot(w, w) <= _EXACT * _EXACT * max(dot(row, row), better * better):
        return better, False
    return better, (
        is_within(kind_a, own, size_a, simplex, count, OF_A, total_a, a, tangents_a)
        and is_within(kind_b, pose, size_b, simplex, count, OF_B, total_b, b, tangents_b)
    )
