# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Distances of all pairs of a scene and their gradients by the velocity, in compiled loops.

The rate of a distance is that of the nearest points along the normal, n . (v_b - v_a), wherever
these move along the surfaces (envelope theorem), and is linear in v. DoFs that move both shapes
alike do not change it and are omitted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.collision.arrays import (
    FoundPoints,
    PlacedShape,
    PLANE,
)
from rbd_ros.collision.pairs.narrow_phase import find_ordered
from rbd_ros.collision.scene.scene_arrays import SceneTable
from rbd_ros.collision.scene.scene_bounds import between_centers, compose
from rbd_ros.collision.vectors import axis, origin
from rbd_ros.compiler.loops import (
    call_kernel,
    compiled,
    cross,
    entry_point,
    floats,
    integers,
    load_vec,
    view,
)

#: How much larger than the smallest distance so far a bound may be for the pair to be tested, for
#: rounding [m].
SLACK = 1e-9


class DistanceTable(NamedTuple):
    """Constants of distances.

    :param scene: shapes and pairs; shapes of the robot come first, lower kinds first in pairs
    :param moving: number of the robot's shapes
    :param sign: 1, or -1 for pairs whose shapes are exchanged, (P,)
    :param kinematics: address of the robot's kernel contact_kinematics
    :param first: first entry of each pair in the following arrays, and their length at the end,
        (P + 1,)
    :param column: degrees of freedom of the tree that move one of the shapes, (N,)
    :param dof: degree of freedom of the robot that drives each of them, (N,)
    :param factor: ratio of their velocities, negative if it moves the first shape, (N,)
    """

    scene: SceneTable
    moving: int
    sign: FloatArray
    kinematics: int
    first: IntArray
    column: IntArray
    dof: IntArray
    factor: FloatArray


class DistanceBuffers(NamedTuple):
    """Poses of shapes, and buffers for the results of one pair.

    :param kinematics: outputs of the kernel contact_kinematics, concatenated
    :param poses: part of it: rotation row by row and position of each body
    :param columns: part of it: motion columns of the tree in base coordinates
    :param shape_pose: rotation and position of each shape; set in advance for static ones
    :param bound: distance of the bounding spheres of each pair [m]
    :param found: contacts of one pair
    """

    kinematics: FloatArray = view()
    poses: FloatArray = floats('bodies', 12, within='kinematics')
    columns: FloatArray = floats('tree_nv', 6, within='kinematics')
    shape_pose: FloatArray = floats('shapes', 12)
    bound: FloatArray = floats('pairs')
    found: FoundPoints = FoundPoints  # type: ignore[assignment]


class DistanceStates(NamedTuple):
    """Configurations, and distances of all pairs in them; see `Distances`."""

    q: FloatArray = floats('states', 'nq')
    distance: FloatArray = floats('states', 'pairs')
    points_a: FloatArray = floats('states', 'pairs', 3)
    points_b: FloatArray = floats('states', 'pairs', 3)
    normal: FloatArray = floats('states', 'pairs', 3)
    gradient: FloatArray = floats('states', 'pairs', 'nv')


class NearestStates(NamedTuple):
    """Configurations, and the nearest pair in each of them; see `Minimum`."""

    q: FloatArray = floats('states', 'nq')
    pair: IntArray = integers('states')
    distance: FloatArray = floats('states')
    point_a: FloatArray = floats('states', 3)
    point_b: FloatArray = floats('states', 3)
    normal: FloatArray = floats('states', 3)
    gradient: FloatArray = floats('states', 'nv')


@compiled
def place_robot(table: DistanceTable, buffers: DistanceBuffers, q: FloatArray) -> bool:
    """Compute the poses of the robot's shapes; return whether they are finite.

    :param q: configuration, (nq,)
    """
    call_kernel(table.kinematics, q, buffers.kinematics)
    # One sum detects any NaN or infinity: they do not cancel.
    total = 0.0
    for k in range(len(buffers.kinematics)):
        total += buffers.kinematics[k]
    if not math.isfinite(total):
        return False
    scene = table.scene
    for g in range(table.moving):
        # Static shapes were placed in advance: they come after the `moving` ones.
        compose(buffers.poses[scene.body_id[g]], scene.placement[g], buffers.shape_pose[g])
    return True


@compiled
def sphere_distance(scene: SceneTable, buffers: DistanceBuffers, a: int, b: int) -> float:
    """Return the distance of the bounding spheres of two shapes, a lower bound on their own [m].

    :param a: one shape
    :param b: the other one
    """
    p, q = buffers.shape_pose[a], buffers.shape_pose[b]
    offset = origin(q) - origin(p)
    # A plane has no bounding sphere; its distance from that of the other shape is exact.
    if scene.kind[a] == PLANE:
        return axis(p, 2) @ offset - scene.reach[b]
    if scene.kind[b] == PLANE:
        return -(axis(q, 2) @ offset) - scene.reach[a]
    aside2 = between_centers(scene, a, b, p, q)
    # A shape below a height field may be as deep in it as it is below its center.
    below = math.sqrt(max(0.0, offset @ offset - aside2))
    return math.sqrt(aside2) - below - scene.reach[a] - scene.reach[b]


@compiled
def nearest_of_pair(
    scene: SceneTable, buffers: DistanceBuffers, a: int, b: int, max_distance: float
) -> int:
    """Find the nearest points of two shapes, the first of the lower kind.

    :param a: one shape
    :param b: the other one
    :param max_distance: maximum distance [m]
    :return: their index in `buffers.found`; -1 if the shapes are further apart
    """
    found, poses, tables = buffers.found, buffers.shape_pose, scene.tables
    first = PlacedShape(scene.kind[a], scene.size[a], poses[a], tables)
    second = PlacedShape(scene.kind[b], scene.size[b], poses[b], tables)
    # Poses are finite and pairs in order, so `find_contacts` is not needed.
    count = find_ordered(first, second, max_distance, True, found)
    best, gaps = count - 1, found.gap
    # The smallest gap, and of equal ones the first: results do not depend on the order.
    for k in range(count - 1):
        if gaps[k] < gaps[best] or (gaps[k] == gaps[best] and k < best):
            best = k
    return best


@compiled
def find_gradient(
    table: DistanceTable,
    columns: FloatArray,
    p: int,
    point: FloatArray,
    normal: FloatArray,
    gradient: FloatArray,
) -> None:
    """Compute the gradient of the distance of a pair by the velocity.

    :param columns: motion columns of the tree in base coordinates, (tree_nv, 6)
    :param p: number of the pair
    :param point: a point on the line through both nearest points, (3,) [m]
    :param normal: unit normal from the first shape to the second, (3,)
    :param gradient: the result, (nv,)
    """
    numbers, dofs, factors = table.column, table.dof, table.factor
    for i in range(len(gradient)):
        gradient[i] = 0.0
    n = load_vec(normal, 3)
    # p x n: the Plucker coordinates (p x n, n) of the line of the normal. Its scalar product with
    # a spatial velocity is the velocity along n of any point of the line.
    moment = cross(load_vec(point, 3), n)
    for at in range(table.first[p], table.first[p + 1]):
        column = columns[numbers[at]]
        rate = moment @ load_vec(column, 3) + n @ load_vec(column, 3, 3)
        # Several columns of the tree may share one degree of freedom, as of mimic joints: a sum.
        gradient[dofs[at]] += factors[at] * rate


@compiled
def fill(array: FloatArray, value: float) -> None:
    """Set all elements of a vector."""
    for i in range(len(array)):
        array[i] = value


@compiled
def enter(
    table: DistanceTable,
    buffers: DistanceBuffers,
    p: int,
    k: int,
    point_a: FloatArray,
    point_b: FloatArray,
    normal: FloatArray,
) -> None:
    """Store nearest points and normal of a pair.

    :param p: number of the pair
    :param k: their index in `buffers.found`
    :param point_a: the result, (3,) [m]
    :param point_b: the result, (3,) [m]
    :param normal: the result, (3,)
    """
    found, sign = buffers.found, table.sign[p]
    on_a, on_b = load_vec(found.on_a[k], 3), load_vec(found.on_b[k], 3)
    # The narrow phase takes the lower kind first; results have the requested order.
    point_a[:3], point_b[:3] = (on_a if sign > 0.0 else on_b), (on_b if sign > 0.0 else on_a)
    normal[:3] = sign * load_vec(found.normal[k], 3)


@entry_point
def find_distances(
    table: DistanceTable,
    buffers: DistanceBuffers,
    states: DistanceStates,
    begin: int,
    end: int,
    max_distance: float,
) -> int:
    """Return the distances of all pairs in each configuration.

    Pairs further apart than the maximum have that distance, without points and gradient. All
    results of a configuration that is not finite are NaN.

    :param begin: number of the first configuration
    :param end: number after the last one
    :param max_distance: maximum distance [m]
    :return: 0
    """
    scene, gaps, columns, pairs = table.scene, buffers.found.gap, buffers.columns, table.scene.pair
    bounded = max_distance < math.inf
    for row in range(begin, end):
        here = place_robot(table, buffers, states.q[row])
        distance, gradient = states.distance[row], states.gradient[row]
        points_a, points_b = states.points_a[row], states.points_b[row]
        normal = states.normal[row]
        for p in range(len(pairs)):
            k, a, b = -1, pairs[p, 0], pairs[p, 1]
            # Bounding spheres are compared only with a limit: otherwise the exact distance is
            # needed anyway.
            if here and not (bounded and sphere_distance(scene, buffers, a, b) > max_distance):
                k = nearest_of_pair(scene, buffers, a, b, max_distance)
            if k < 0:
                distance[p] = max_distance if here else math.nan
                fill(points_a[p], math.nan)
                fill(points_b[p], math.nan)
                fill(normal[p], math.nan)
                # Beyond the limit the distance is constant, and so its gradient is zero.
                fill(gradient[p], 0.0 if here else math.nan)
            else:
                distance[p] = gaps[k]
                enter(table, buffers, p, k, points_a[p], points_b[p], normal[p])
                find_gradient(table, columns, p, points_a[p], normal[p], gradient[p])
    return 0


@entry_point
def find_nearest(
    table: DistanceTable, buffers: DistanceBuffers, states: NearestStates, begin: int, end: int
) -> int:
    """Return the nearest pair in each configuration, the first if several are equal.

    Pairs whose bounding spheres are further apart than the nearest pair so far are skipped. For a
    configuration that is not finite, the pair is -1 and the rest is NaN.

    :param begin: number of the first configuration
    :param end: number after the last one
    :return: 0
    """
    scene, gaps, bound, pairs = table.scene, buffers.found.gap, buffers.bound, table.scene.pair
    for row in range(begin, end):
        point_a, point_b = states.point_a[row], states.point_b[row]
        normal, gradient = states.normal[row], states.gradient[row]
        states.pair[row], states.distance[row] = -1, math.nan
        fill(point_a, math.nan)
        fill(point_b, math.nan)
        fill(normal, math.nan)
        fill(gradient, math.nan)
        if not place_robot(table, buffers, states.q[row]):
            continue
        first = 0
        # Bounds of all pairs first: once the nearest pair is known, most others are skipped.
        for p in range(len(pairs)):
            bound[p] = sphere_distance(scene, buffers, pairs[p, 0], pairs[p, 1])
            if bound[p] < bound[first]:
                first = p
        least, nearest = math.inf, -1
        # The pair with the lowest bound goes first: few remain after it.
        for turn in range(len(pairs) + 1):
            p = first if turn == 0 else turn - 1
            # The slack makes the choice among equal pairs independent of their order.
            if bound[p] > least + SLACK or (turn > 0 and p == first):
                continue
            k = nearest_of_pair(scene, buffers, pairs[p, 0], pairs[p, 1], least + SLACK)
            if k < 0:
                continue
            gap = gaps[k]
            if gap < least or (gap == least and p < nearest):
                least, nearest = gap, p
                enter(table, buffers, p, k, point_a, point_b, normal)
        if nearest >= 0:
            states.pair[row], states.distance[row] = nearest, least
            find_gradient(table, buffers.columns, nearest, point_a, normal, gradient)
    return 0
