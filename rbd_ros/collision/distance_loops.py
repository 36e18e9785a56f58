"""Distances of all pairs of a scene and their gradients by the velocity, in compiled loops.

The rate of a distance is that of the nearest points along the normal, whatever else they do
(envelope theorem): n . (v_b - v_a), and linear in v. Freedoms that move both shapes alike do not
change it and are left out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from rbd_ros.collision.arrays import FloatArray, FoundPoints, IntArray
from rbd_ros.collision.narrow_phase import find_contacts, PLANE
from rbd_ros.collision.scene_contacts import compose, SceneTable
from rbd_ros.compiler.loops import (
    buffer,
    call_kernel,
    compiled,
    entry_point,
    floats,
    integers,
    vector,
)

#: How much further than the nearest pair so far one may seem to be, for rounding, and still be
#: looked at [m].
SLACK = 1e-9


class DistanceTable(NamedTuple):
    """Constants of distances.

    :param scene: shapes and pairs; those of the robot come first
    :param moving: number of the robot's shapes
    :param kinematics: address of the robot's kernel contact_kinematics
    :param first: of each pair and behind the last one, its first entry in the following arrays,
        (P + 1,)
    :param column: freedoms of the tree that move one of the shapes, (N,)
    :param freedom: degree of freedom of the robot that each of them goes with, (N,)
    :param factor: how fast it goes with that, negative if it moves the first shape, (N,)
    """

    scene: SceneTable
    moving: int
    kinematics: int
    first: IntArray
    column: IntArray
    freedom: IntArray
    factor: FloatArray


class DistanceRoom(NamedTuple):
    """Where shapes are, and room for what is found of one pair.

    :param kinematics: outputs of the kernel contact_kinematics one after another
    :param poses: of it, rotation row by row and position of each body
    :param columns: of it, motion columns of the tree in base coordinates
    :param shape_pose: rotation and position of each shape; set before for those that stand
    :param bound: distance of the bounding spheres of each pair [m]
    :param found: contacts of one pair
    """

    kinematics: FloatArray = buffer()
    poses: FloatArray = floats('bodies', 12, within='kinematics')
    columns: FloatArray = floats('freedoms', 6, within='kinematics')
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


class LeastStates(NamedTuple):
    """Configurations, and the nearest pair in each of them; see `Minimum`."""

    q: FloatArray = floats('states', 'nq')
    pair: IntArray = integers('states')
    distance: FloatArray = floats('states')
    point_a: FloatArray = floats('states', 3)
    point_b: FloatArray = floats('states', 3)
    normal: FloatArray = floats('states', 3)
    gradient: FloatArray = floats('states', 'nv')


@compiled
def place_robot(table: DistanceTable, room: DistanceRoom, q: FloatArray) -> bool:
    """Find the poses of the robot's shapes; returns whether they are finite.

    :param q: configuration, (nq,)
    """
    call_kernel(table.kinematics, q, room.kinematics)
    total = 0.0
    for k in range(len(room.kinematics)):
        total += room.kinematics[k]
    if not math.isfinite(total):
        return False
    scene = table.scene
    for g in range(table.moving):
        compose(room.poses[scene.carrier[g]], scene.placement[g], room.shape_pose[g])
    return True


@compiled
def sphere_distance(scene: SceneTable, room: DistanceRoom, a: int, b: int) -> float:
    """Distance of the bounding spheres of two shapes, which is at most their own [m].

    :param a: one shape
    :param b: the other one
    """
    p, q = room.shape_pose[a], room.shape_pose[b]
    x, y, z = q[9] - p[9], q[10] - p[10], q[11] - p[11]
    if scene.kind[a] == PLANE:
        return p[2] * x + p[5] * y + p[8] * z - scene.reach[b]
    if scene.kind[b] == PLANE:
        return -(q[2] * x + q[5] * y + q[8] * z) - scene.reach[a]
    return math.sqrt(x * x + y * y + z * z) - scene.reach[a] - scene.reach[b]


@compiled
def nearest_of_pair(table: DistanceTable, room: DistanceRoom, p: int, most: float) -> int:
    """Find the nearest points of a pair.

    :param p: number of the pair
    :param most: maximum distance [m]
    :return: where in `room.found` they are; -1 if the pair is further apart
    """
    scene, found = table.scene, room.found
    a, b = scene.pair[p, 0], scene.pair[p, 1]
    count = find_contacts(
        scene.kind[a],
        scene.size[a],
        room.shape_pose[a],
        scene.kind[b],
        scene.size[b],
        room.shape_pose[b],
        most,
        True,
        found,
    )
    best = -1
    for k in range(count):
        if best < 0 or found.gap[k] < found.gap[best]:
            best = k
    return best


@compiled
def find_gradient(
    table: DistanceTable,
    room: DistanceRoom,
    p: int,
    point: FloatArray,
    normal: FloatArray,
    gradient: FloatArray,
) -> None:
    """Find the gradient of the distance of a pair by the velocity.

    :param p: number of the pair
    :param point: a point on the line through both nearest points, (3,) [m]
    :param normal: unit normal from the first shape to the second, (3,)
    :param gradient: the result, (nv,)
    """
    for i in range(len(gradient)):
        gradient[i] = 0.0
    moment = vector(3)
    for r in range(3):
        s, t = (r + 1) % 3, (r + 2) % 3
        moment[r] = point[s] * normal[t] - point[t] * normal[s]
    for at in range(table.first[p], table.first[p + 1]):
        column, rate = room.columns[table.column[at]], 0.0
        for r in range(3):
            rate += moment[r] * column[r] + normal[r] * column[3 + r]
        gradient[table.freedom[at]] += table.factor[at] * rate


@compiled
def fill(array: FloatArray, value: float) -> None:
    """Set all numbers of a vector."""
    for i in range(len(array)):
        array[i] = value


@entry_point
def find_distances(
    table: DistanceTable,
    room: DistanceRoom,
    states: DistanceStates,
    begin: int,
    end: int,
    most: float,
) -> int:
    """Distances of all pairs in each configuration.

    Pairs that are further apart than the maximum are left there, without points and gradient. All
    is NaN where a configuration is not finite.

    :param begin: number of the first configuration
    :param end: number of the one behind the last
    :param most: maximum distance [m]
    :return: 0
    """
    scene, found = table.scene, room.found
    for row in range(begin, end):
        here = place_robot(table, room, states.q[row])
        for p in range(len(scene.pair)):
            k, a, b = -1, scene.pair[p, 0], scene.pair[p, 1]
            if here and not sphere_distance(scene, room, a, b) > most:
                k = nearest_of_pair(table, room, p, most)
            if k < 0:
                states.distance[row, p] = most if here else math.nan
                fill(states.points_a[row, p], math.nan)
                fill(states.points_b[row, p], math.nan)
                fill(states.normal[row, p], math.nan)
                fill(states.gradient[row, p], 0.0 if here else math.nan)
                continue
            states.distance[row, p] = found.gap[k]
            for r in range(3):
                states.points_a[row, p, r] = found.on_a[k, r]
                states.points_b[row, p, r] = found.on_b[k, r]
                states.normal[row, p, r] = found.normal[k, r]
            find_gradient(table, room, p, found.on_a[k], found.normal[k], states.gradient[row, p])
    return 0


@entry_point
def find_least(
    table: DistanceTable, room: DistanceRoom, states: LeastStates, begin: int, end: int
) -> int:
    """Nearest pair in each configuration, the first one of several.

    Of pairs whose bounding spheres are further apart than the nearest pair so far nothing else is
    asked. Where a configuration is not finite, the pair is -1 and all else is NaN.

    :param begin: number of the first configuration
    :param end: number of the one behind the last
    :return: 0
    """
    scene, found, bound = table.scene, room.found, room.bound
    for row in range(begin, end):
        states.pair[row] = -1
        states.distance[row] = math.nan
        fill(states.point_a[row], math.nan)
        fill(states.point_b[row], math.nan)
        fill(states.normal[row], math.nan)
        fill(states.gradient[row], math.nan)
        if not place_robot(table, room, states.q[row]):
            continue
        first = 0
        for p in range(len(scene.pair)):
            bound[p] = sphere_distance(scene, room, scene.pair[p, 0], scene.pair[p, 1])
            if bound[p] < bound[first]:
                first = p
        least = math.inf
        # The pair that seems nearest goes first: what it leaves to do is little.
        for turn in range(len(scene.pair) + 1):
            p = first if turn == 0 else turn - 1
            if bound[p] > least + SLACK or (turn > 0 and p == first):
                continue
            k = nearest_of_pair(table, room, p, least + SLACK)
            if k < 0:
                continue
            gap = found.gap[k]
            if gap < least or (gap == least and p < states.pair[row]):
                least = gap
                states.pair[row] = p
                states.distance[row] = gap
                for r in range(3):
                    states.point_a[row, r] = found.on_a[k, r]
                    states.point_b[row, r] = found.on_b[k, r]
                    states.normal[row, r] = found.normal[k, r]
        if states.pair[row] >= 0:
            find_gradient(
                table,
                room,
                states.pair[row],
                states.point_a[row],
                states.normal[row],
                states.gradient[row],
            )
    return 0
