# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Nearest or deepest points of pairs with a cylinder, exact up to rounding.

Searches that approach a curved surface by points have normals accurate to the square root of
rounding only. Here the features in contact are known: a rim is a circle, a side the surface of a
cylinder, edges and faces are flat. Newton's method finds the points of stationary distance along
them.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    CYLINDER,
    PlacedShape,
)
from rbd_ros.collision.convex.gjk import barycentric_point
from rbd_ros.collision.shapes.supports import (
    NUMBER_A,
    NUMBER_B,
    OF_A,
    OF_B,
    support_of_difference,
)
from rbd_ros.collision.vectors import axis, COINCIDENT, origin, perpendicular
from rbd_ros.compiler.loops import (
    compiled,
    cross,
    load_vec,
    norm,
    stack_array,
    stack_matrix,
    Vec,
    Vec3,
)

#: Features: flat ones, rims and sides of cylinders.
FLAT, RIM, SIDE = 0, 1, 2

_STEPS = 6

#: Step, relative to the radius, after which the next one would be at rounding level.
_SETTLED = 1e-7

#: Minimum cosine of the angle between a normal and that of a cap.
_CAP = 1.0 - 1e-10

#: Minimum sine of the angle between two tangents for a normal.
_CROSSING = 1e-3

#: Rounding of a width, relative to the size of the points.
_ROUNDING = 4e-16

#: Relative distance of a point from the nearest one that counts as rounding.
_EXACT = 1e-12

#: Distance of a point from a feature that counts as rounding, relative to its size.
_BEYOND = 1e-12

#: Minimum squared component of a tangent perpendicular to those before.
_INDEPENDENT = 1e-8


@compiled
def find_feature(
    shape: PlacedShape,
    simplex: FloatArray,
    count: int,
    column: int,
    number: int,
    normal: Vec3,
    tangents: FloatArray,
) -> Tuple[int, int]:
    """Return the feature of a shape that the points of a simplex belong to.

    :param simplex: points of the difference with their weights, (4, 12)
    :param count: number of points
    :param column: column of the points of this shape
    :param number: column of their numbers
    :param normal: from the first shape to the second
    :param tangents: unit tangents of a flat feature; a result, (2, 3)
    :return: FLAT, RIM or SIDE, and the number of tangents
    """
    if shape.kind == CYLINDER:
        # Numbers of a cylinder's supports are those of its rims: two of them mean a line of the
        # side.
        for i in range(1, count):
            if simplex[i, number] != simplex[0, number]:
                return SIDE, 2
        spindle = axis(shape.pose, 2)
        # A normal across the axis meets the rim, along it the whole cap.
        if abs(normal @ spindle) < _CAP:
            return RIM, 1
        sideways = perpendicular(spindle)
        tangents[0], tangents[1] = sideways, cross(spindle, sideways)
        return FLAT, 2
    total = 0
    for i in range(1, count):
        if total == 2:
            continue
        offset = load_vec(simplex[i], 3, column) - load_vec(simplex[0], 3, column)
        whole = offset @ offset
        if total == 1:
            first = load_vec(tangents[0], 3)
            offset -= offset @ first * first
        length = norm(offset)
        # Gram and Schmidt: an offset almost along the first tangent adds only rounding.
        if whole > COINCIDENT * COINCIDENT and length * length > _INDEPENDENT * whole:
            tangents[total] = offset / length
            total += 1
    return FLAT, total


@compiled
def onto_cylinder(
    feature: int, shape: PlacedShape, point: Vec3, tangents: FloatArray
) -> Tuple[Vec3, Vec3]:
    """Project a point onto the rim or side of a cylinder.

    :param feature: RIM or SIDE; other features leave the point
    :param point: the point [m]
    :param tangents: unit tangents there, around and along it; a result, (2, 3)
    :return: the point [m], and the curvature vector of the first tangent [1/m]
    """
    if feature == FLAT:
        return point, Vec(0.0, 0.0, 0.0)
    size, spindle, center = shape.size, axis(shape.pose, 2), origin(shape.pose)
    offset = point - center
    along_axis = spindle @ offset
    height = along_axis
    if feature == RIM:
        height = size[1] if height >= 0.0 else -size[1]
    radial = offset - along_axis * spindle
    length = norm(radial)
    # On the axis all directions are equal: the x axis makes results reproducible.
    radial = radial / length if length > COINCIDENT else axis(shape.pose, 0)
    tangents[0], tangents[1] = cross(spindle, radial), spindle
    point = center + height * spindle + size[0] * radial
    # Second derivative of the circle by arc length: toward the axis, 1 / radius.
    return point, -radial / size[0] if size[0] > 0.0 else Vec(0.0, 0.0, 0.0)


@compiled
def solve_pivoted(H: FloatArray, g: FloatArray, count: int, x: FloatArray) -> None:
    """Solve H x = -g, symmetric, by elimination; nearly dependent unknowns stay zero."""
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
        # Parallel lines and planes have a valley of nearest points: any of them is right, so the
        # point stays where it is along the valley.
        if not abs(H[pivot, pivot]) > 1e-6 * largest:
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
    shape: PlacedShape,
    simplex: FloatArray,
    count: int,
    column: int,
    total: int,
    point: Vec3,
    tangents: FloatArray,
) -> bool:
    """Return whether a point on the infinite line or plane of a feature is on the feature.

    Arguments are those of `find_feature`. Only the triangle in the simplex counts as the face.
    """
    size, slack = shape.size, 0.0
    if shape.kind == CYLINDER:
        offset = point - origin(shape.pose)
        height = axis(shape.pose, 2) @ offset
        # Rounding of a coordinate is relative to the size of the shape.
        slack = _BEYOND * (size[0] + size[1])
        if abs(height) > size[1] + slack:
            return False
        return offset @ offset - height * height <= (size[0] + slack) * (size[0] + slack)
    flat = stack_matrix(3, 2)
    low, high = math.inf, -math.inf
    for i in range(min(count, 3)):
        # From the point, along both tangents.
        offset = load_vec(simplex[i], 3, column) - point
        x, y = offset @ load_vec(tangents[0], 3), 0.0
        if total == 2:
            y = offset @ load_vec(tangents[1], 3)
        flat[i] = Vec(x, y)
        low, high = min(low, x), max(high, x)
        slack = max(slack, abs(x), abs(y))
    slack *= _BEYOND
    if total == 0:
        return True
    if total == 1:
        return low <= slack and high >= -slack
    positive, negative = 0, 0
    for i in range(3):
        here = load_vec(flat[i], 2)
        x, y = load_vec(flat[(i + 1) % 3], 2) - here
        # Signed area with the point as origin: on the triangle, all three have one sign.
        side = x * here[1] - y * here[0]
        if side > slack * (abs(x) + abs(y)):
            positive += 1
        elif side < -slack * (abs(x) + abs(y)):
            negative += 1
    return positive == 0 or negative == 0


@compiled
def facing(v: Vec3, normal: Vec3) -> Vec3:
    """Return a vector or its opposite, whichever is along a normal."""
    return v if v @ normal >= 0.0 else -v


@compiled
def polish(
    a: PlacedShape, b: PlacedShape, simplex: FloatArray, count: int, gap: float, normal: Vec3
) -> Tuple[float, bool, Vec3, Vec3]:
    """Improve nearest or deepest points.

    :param b: the second shape, with its pose in coordinates of the first one
    :param simplex: points of the difference with their weights, (4, 12)
    :param count: number of points
    :param gap: signed distance of the cores so far [m]
    :param normal: from the first shape to the second
    :return: the signed distance, whether it is exact up to rounding, the normal, and the point of
        the first core [m]
    """
    own, row = stack_array(12), stack_array(12)
    tangents_a, tangents_b = stack_matrix(2, 3), stack_matrix(2, 3)
    H, g, x = stack_matrix(4, 4), stack_array(4), stack_array(4)
    slopes, bends = stack_matrix(4, 3), stack_matrix(4, 3)
    for r in range(12):
        own[r] = 1.0 if r % 4 == 0 and r < 9 else 0.0
    first, zero = PlacedShape(a.kind, a.size, own, a.tables), Vec(0.0, 0.0, 0.0)
    feature_a, total_a = find_feature(first, simplex, count, OF_A, NUMBER_A, normal, tangents_a)
    feature_b, total_b = find_feature(b, simplex, count, OF_B, NUMBER_B, normal, tangents_b)
    p, q = barycentric_point(simplex, count, OF_A), barycentric_point(simplex, count, OF_B)
    on_a, total = p, total_a + total_b
    largest, settled = 0.0, False
    if feature_a != FLAT:
        largest = a.size[0]
    if feature_b != FLAT:
        largest = max(largest, b.size[0])
    for step in range(_STEPS):
        p, bend_a = onto_cylinder(feature_a, first, p, tangents_a)
        q, bend_b = onto_cylinder(feature_b, b, q, tangents_b)
        # w = a(s) - b(t) with derivatives `slopes` and second derivatives `bends` by (s, t):
        # Newton's method for the stationary points of |w|^2 / 2, g_i = w . w_i, H_ij = w_i . w_j +
        # w . w_ij.
        w = p - q
        for i in range(total_a):
            slopes[i], bends[i] = load_vec(tangents_a[i], 3), (bend_a if i == 0 else zero)
        for i in range(total_b):
            slopes[total_a + i] = -load_vec(tangents_b[i], 3)
            bends[total_a + i] = -bend_b if i == 0 else zero
        if settled or step == _STEPS - 1:
            break
        for i in range(total):
            slope = load_vec(slopes[i], 3)
            g[i] = w @ slope
            for j in range(total):
                H[i, j] = slope @ load_vec(slopes[j], 3)
            H[i, i] += w @ load_vec(bends[i], 3)
        solve_pivoted(H, g, total, x)
        settled = True
        for i in range(total):
            # Quadratic convergence: after a step of 1e-7, the next one would be 1e-14.
            settled = settled and abs(x[i]) <= _SETTLED * largest
        for i in range(total_a):
            p += x[i] * load_vec(tangents_a[i], 3)
        for i in range(total_b):
            q += x[total_a + i] * load_vec(tangents_b[i], 3)
    # The normal is that of two tangents, or without them that of the points.
    most, trial = 0.0, normal
    for i in range(total):
        for j in range(i):
            # At a stationary point w is perpendicular to all tangents. The cross product of two
            # well separated ones gives it up to rounding; w itself is a small difference.
            across = cross(load_vec(slopes[i], 3), load_vec(slopes[j], 3))
            sine = norm(across)
            if sine > max(most, _CROSSING):
                most, trial = sine, facing(across, normal) / sine
    if most == 0.0:
        length = norm(q - p)
        if not length > COINCIDENT:
            return gap, False, normal, on_a
        trial = facing(q - p, normal) / length
    # For any normal the width between both is a lower bound on the signed distance; the larger of
    # two is better.
    number_a, number_b = int(simplex[0, NUMBER_A]), int(simplex[0, NUMBER_B])
    point, _, _ = support_of_difference(a, b, normal, number_a, number_b, row)
    before = -(normal @ point)
    point, _, _ = support_of_difference(a, b, trial, number_a, number_b, row)
    better = -(trial @ point)
    chosen = better >= before - _ROUNDING * norm(point)
    if not chosen:
        better, trial = before, normal
        point, _, _ = support_of_difference(a, b, trial, number_a, number_b, row)
    # Along a rim distances hardly change, so steps may end too soon. The point whose tangent is
    # perpendicular to the normal is known in closed form.
    if feature_b == RIM:
        q = load_vec(row, 3, OF_B)
        on_a = q - better * trial
    if feature_a == RIM:
        p = load_vec(row, 3, OF_A)
    if feature_a == RIM or (chosen and feature_b != RIM):
        on_a = p
    if not chosen:
        return gap, False, normal, on_a
    # The tangential offset of both points.
    w = q - p - better * trial
    if not w @ w <= _EXACT * _EXACT * max(point @ point, better * better):
        return better, False, trial, on_a
    exact = is_within(first, simplex, count, OF_A, total_a, p, tangents_a)
    exact = exact and is_within(b, simplex, count, OF_B, total_b, q, tangents_b)
    return better, exact, trial, on_a
