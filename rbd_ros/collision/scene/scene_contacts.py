# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""All contacts of a scene: contact points of near pairs, in compiled loops."""

from __future__ import annotations

from typing import Tuple

from rbd_ros.collision.arrays import FoundPoints, PlacedShape
from rbd_ros.collision.pairs.narrow_phase import find_contacts
from rbd_ros.collision.scene.near_pairs import list_near_pairs
from rbd_ros.collision.scene.scene_arrays import (
    SceneBuffers,
    SceneContacts,
    SceneTable,
    shapes_of,
    surface_of,
)
from rbd_ros.collision.scene.scene_bounds import (
    approach,
    bound_speeds,
    closing_speed,
    MARGIN,
    place_shape,
    speed_of,
)
from rbd_ros.collision.vectors import are_equal, rotated, unit_vector
from rbd_ros.compiler.loops import (
    compiled,
    cross,
    entry_point,
    load_vec,
    Mat,
    norm,
    Vec,
    Vec3,
)

#: Maximum gap or overlap of a robot at rest [m]. Its contact points are in the plane of the flat
#: or fixed surface: in the middle of tilted gaps, redundant contacts would require velocities that
#: contradict each other by 1e-9 of the largest, more than a solver to 1e-10 can resolve. With
#: larger gaps the moment arm matters, and the middle is best.
THIN = 2e-5

#: Minimum excess of the deviation of one surface's points from a plane over that of the other, for
#: only one to count as a plane: above rounding [m].
LEVEL = 1e-12

#: Maximum exact distance [m].
FAR = 0.1

#: Number of steps until the next test of a pair, by the speeds of both shapes, below which their
#: closing speed is computed.
SOON = 8.0


@compiled
def tangents_of(normal: Vec3, along: Vec3) -> Tuple[Vec3, Vec3]:
    """Return two unit tangents for a unit normal.

    :param along: direction whose tangential part is the first tangent
    """
    # Gram and Schmidt against the normal.
    tangent = along - along @ normal * normal
    if not tangent @ tangent > 1e-12:
        # No direction, or along the normal: the most tangential axis.
        x, y, z = abs(normal[0]), abs(normal[1]), abs(normal[2])
        least = 1 if y < x else 0
        along = unit_vector(2 if z < min(x, y) else least)
        tangent = along - along @ normal * normal
    tangent = tangent / norm(tangent)
    return tangent, cross(normal, tangent)


@compiled
def distance_within(a: PlacedShape, b: PlacedShape, limit: float, found: FoundPoints) -> float:
    """Return the distance of two shapes if it is below a bound, else the bound [m].

    :param limit: the bound [m]
    """
    points = find_contacts(a, b, limit, True, found)
    distance = limit
    for k in range(points):
        distance = min(distance, found.gap[k])
    return distance


@compiled
def have_one_normal(found: FoundPoints, j: int, k: int) -> bool:
    """Return whether two points of a pair have the same normal, as points of a face do."""
    return are_equal(load_vec(found.normal[j], 3), load_vec(found.normal[k], 3))


@compiled
def surface_fraction(found: FoundPoints, begin: int, end: int, first: bool, second: bool) -> float:
    """Return the fraction between both surfaces where a face's points are: 0 first, 1 second.

    A body at rest has tiny, different gaps, which it closes by rotation. Forces can hold all its
    points meanwhile if they are in one plane perpendicular to the normal; else the points
    contradict each other by more than the solver's tolerance. So they are on the surface that is
    such a plane, or on that of the world, as are single points that share it.

    :param found: points of a pair
    :param begin: first of those of the face
    :param end: one more than the last point of the pair
    :param first: whether the first shape is fixed to the world
    :param second: whether the second one is
    """
    of_first = of_second = 0.0
    for k in range(begin, end):
        if not have_one_normal(found, begin, k):
            break
        n = load_vec(found.normal[begin], 3)
        d = n @ (load_vec(found.on_a[k], 3) - load_vec(found.on_a[begin], 3))
        e = n @ (load_vec(found.on_b[k], 3) - load_vec(found.on_b[begin], 3))
        of_first, of_second = max(of_first, abs(d)), max(of_second, abs(e))
    if abs(of_first - of_second) > LEVEL:
        return 0.0 if of_first < of_second else 1.0
    if first == second:
        return 0.5
    return 0.0 if first else 1.0


@compiled
def find_scene_contacts(
    scene: SceneTable, buffers: SceneBuffers, timestep: float, contacts: SceneContacts
) -> Tuple[int, int]:
    """Return contacts that are closed, or may close within the step, in the order of the pairs.

    :param scene: shapes and pairs
    :param buffers: poses and velocities of the bodies
    :param timestep: h [s]
    :param contacts: the contacts, a result
    :return: number of contacts, and number of contacts that did not fit
    """
    fastest = bound_speeds(scene, buffers)
    # First repeated search of a step: rates ahead of an earlier step do not count.
    if buffers.search[0] == 1:
        for near in range(buffers.listed[0] - 1):
            buffers.closing[buffers.near[near]] = 0.0
    list_near_pairs(scene, buffers, timestep, fastest)
    found, count, dropped = buffers.found, 0, buffers.unlisted[0]
    for near in range(buffers.listed[0] - 1):
        p = buffers.near[near]
        pair = p
        if scene.has_object_pairs:
            if p >= len(scene.pair):
                pair = len(scene.pair) + buffers.object_pair[p - len(scene.pair)]
        a, b = shapes_of(scene, pair)
        speeds = speed_of(scene, buffers, a) + speed_of(scene, buffers, b)
        way = timestep * speeds + 2.0 * buffers.shifted[0]
        # In repeated searches, the speeds are the maximum of all searches.
        if buffers.search[0] == 0 and buffers.clearance[p] < SOON * way:
            way = min(
                way, timestep * closing_speed(scene, buffers, a, b) + 2.0 * buffers.shifted[0]
            )
        left = buffers.clearance[p] - way
        if left > 1.5 * way:
            buffers.clearance[p] = left
            continue
        # 1.5 steps, for forces that act within the step, as with `rate` below.
        margin = MARGIN + 1.5 * way
        place_shape(scene, buffers, a)
        place_shape(scene, buffers, b)
        one = PlacedShape(scene.kind[a], scene.size[a], buffers.shape_pose[a], scene.tables)
        other = PlacedShape(scene.kind[b], scene.size[b], buffers.shape_pose[b], scene.tables)
        if buffers.clearance[p] > 0.0:
            # It was apart, and usually still is.
            distance = distance_within(one, other, max(FAR, margin), found)
            if distance > margin:
                buffers.clearance[p] = distance - MARGIN
                continue
        # The exact distance can skip the pair; contact needs all points of faces.
        points = find_contacts(one, other, margin, False, found)
        if points == 0:
            buffers.clearance[p] = distance_within(one, other, FAR, found) - MARGIN
            continue
        buffers.clearance[p] = 0.0
        fraction, thin = 0.5, -1.0
        first, second = scene.body_id[a], scene.body_id[b]
        surface = surface_of(scene, pair)
        leading = scene.directed_by[surface]
        if pair < len(scene.pair):
            thin = THIN if scene.of_robot[p] > 0 else -1.0
        else:
            leading = first if leading == 0 else second
        last = t = u = Vec(0.0, 0.0, 0.0)
        for k in range(points):
            if thin > 0.0 and (k == 0 or not have_one_normal(found, k - 1, k)):
                fraction = surface_fraction(found, k, points, first == 0, second == 0)
            if count == len(contacts.gap):
                dropped += 1
                continue
            at = fraction if abs(found.gap[k]) <= thin else 0.5
            normal = load_vec(found.normal[k], 3)
            point = (1.0 - at) * load_vec(found.on_a[k], 3) + at * load_vec(found.on_b[k], 3)
            # 1.5 steps, for forces that act in the meantime.
            rate = approach(buffers.velocity[first], buffers.velocity[second], point, normal)
            if buffers.search[0] > 0:
                later = approach(buffers.ahead[first], buffers.ahead[second], point, normal)
                buffers.closing[p] = min(buffers.closing[p], later)
                rate = min(rate, buffers.closing[p])
            # A contact that cannot close in this step would cost a row and carry no force.
            if found.gap[k] + min(0.0, 1.5 * timestep * rate) > MARGIN:
                continue
            # The points of a face have one normal.
            if not are_equal(normal, last):
                along = rotated(buffers.pose[leading], load_vec(scene.direction[surface], 3))
                t, u = tangents_of(normal, along)
                last = normal
            contacts.position[count], contacts.frame[count] = point, Mat(normal, t, u)
            contacts.pair[count] = pair
            contacts.feature[count] = found.feature[k]
            contacts.body_id[count, 0], contacts.body_id[count, 1] = first, second
            contacts.gap[count] = found.gap[k]
            count += 1
    # The position correction has been applied, except in repeated searches of its step.
    if buffers.search[0] == 0:
        buffers.shifted[0] = 0.0
    return count, dropped


@entry_point
def scene_contacts_of(
    scene: SceneTable, buffers: SceneBuffers, contacts: SceneContacts, timestep: float
) -> int:
    """Compute the contacts that are closed, or may close within the step; return their number.

    It is an entry point of machine code: steps call it by its address, and at the start it finds
    links of a robot that overlap. `buffers.dropped` counts contacts that did not fit; arguments
    are those of `find_scene_contacts`.
    """
    count, dropped = find_scene_contacts(scene, buffers, timestep, contacts)
    buffers.dropped[0] = dropped
    return count
