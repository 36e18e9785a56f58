# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""All contacts of a scene: where the shapes of pairs that are near touch, in compiled loops."""

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

#: Maximum gap, or overlap, of a robot that rests [m]. Its contact points are in the plane of the
#: flat or fixed surface: in the middle of tilted gaps, redundant contacts would ask for velocities
#: that contradict each other by 1e-9 of the largest, which a solver to 1e-10 cannot give. With
#: larger gaps, the arm of the force matters, and is best that of the middle.
THIN = 2e-5

#: How much further the points of one surface are from a plane than those of the other if only one
#: is a plane: more than rounding [m].
LEVEL = 1e-12

#: Distances beyond this are not found exactly [m].
FAR = 0.1

#: Number of steps within which a pair would have to be looked at, by the speeds of both shapes,
#: for which it is worth finding how fast they come nearer.
SOON = 8.0


@compiled
def tangents_of(normal: Vec3, along: Vec3) -> Tuple[Vec3, Vec3]:
    """Return two unit tangents for a unit normal.

    :param along: direction that the first tangent is to have as far as it is tangential
    """
    # Gram and Schmidt against the normal: the tangent follows the direction of friction.
    tangent = along - along @ normal * normal
    if not tangent @ tangent > 1e-12:
        # Without a direction, or with that of the normal: whichever axis is most tangential.
        x, y, z = abs(normal[0]), abs(normal[1]), abs(normal[2])
        least = 1 if y < x else 0
        along = unit_vector(2 if z < min(x, y) else least)
        tangent = along - along @ normal * normal
    tangent = tangent / norm(tangent)
    return tangent, cross(normal, tangent)


@compiled
def distance_within(a: PlacedShape, b: PlacedShape, limit: float, found: FoundPoints) -> float:
    """Return the distance of two shapes if it is less than a bound, else the bound [m].

    :param limit: the bound [m]
    """
    points = find_contacts(a, b, limit, True, found)
    distance = limit
    for k in range(points):
        distance = min(distance, found.gap[k])
    return distance


@compiled
def have_one_normal(found: FoundPoints, j: int, k: int) -> bool:
    """Return whether two points of a pair have the same normal, as those of a face do."""
    return are_equal(load_vec(found.normal[j], 3), load_vec(found.normal[k], 3))


@compiled
def surface_fraction(found: FoundPoints, begin: int, end: int, first: bool, second: bool) -> float:
    """Return the place of a face's points between both surfaces: 0 is the first, 1 the second.

    What rests on something has tiny gaps, different ones, which it closes by turning. All its
    points can be held meanwhile if they are in one plane across the normal; else they contradict
    each other, by little, and yet by more than the solver's tolerance. So they are on the surface
    that is such a plane, or on that of the world, as single points that others share it with.

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

    :param scene: what may touch what
    :param buffers: poses and velocities of the bodies
    :param timestep: h [s]
    :param contacts: what is found, a result
    :return: how many were found, and how many more had no room
    """
    fastest = bound_speeds(scene, buffers)
    # The first of further looks of a step: rates ahead of an earlier step do not count.
    if buffers.look[0] == 1:
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
        # In further looks, the speeds are those of all looks.
        if buffers.look[0] == 0 and buffers.clearance[p] < SOON * way:
            way = min(
                way, timestep * closing_speed(scene, buffers, a, b) + 2.0 * buffers.shifted[0]
            )
        left = buffers.clearance[p] - way
        if left > 1.5 * way:
            buffers.clearance[p] = left
            continue
        # Half as much again for what forces speed up within the step, as with `rate` below.
        margin = MARGIN + 1.5 * way
        place_shape(scene, buffers, a)
        place_shape(scene, buffers, b)
        one = PlacedShape(scene.kind[a], scene.size[a], buffers.shape_pose[a], scene.tables)
        other = PlacedShape(scene.kind[b], scene.size[b], buffers.shape_pose[b], scene.tables)
        if buffers.clearance[p] > 0.0:
            # It was apart, and mostly is.
            distance = distance_within(one, other, max(FAR, margin), found)
            if distance > margin:
                buffers.clearance[p] = distance - MARGIN
                continue
        # Exact distance was enough to skip the pair; contact needs all points of faces.
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
            # Half a step more than the velocity says, for forces that act in the meantime.
            rate = approach(buffers.velocity[first], buffers.velocity[second], point, normal)
            if buffers.look[0] > 0:
                later = approach(buffers.ahead[first], buffers.ahead[second], point, normal)
                buffers.closing[p] = min(buffers.closing[p], later)
                rate = min(rate, buffers.closing[p])
            # What cannot close in this step has no row: it would cost the solver and bear nothing.
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
    # What moves shapes besides has moved them, unless the step that is looked at again does so.
    if buffers.look[0] == 0:
        buffers.shifted[0] = 0.0
    return count, dropped


@entry_point
def scene_contacts_of(
    scene: SceneTable, buffers: SceneBuffers, contacts: SceneContacts, timestep: float
) -> int:
    """Compute the contacts that are closed, or may close within the step.

    Return how many were found.

    Machine code of its own, since it is needed twice: a step calls it by its address, and before
    there are steps it finds which links of a robot overlap. How many contacts had no room is in
    `room.dropped`; arguments are those of `find_scene_contacts`.
    """
    count, dropped = find_scene_contacts(scene, buffers, timestep, contacts)
    buffers.dropped[0] = dropped
    return count
