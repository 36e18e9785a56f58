# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Broad phase: pairs of shapes that are near each other, listed for some steps.

Pairs of the table are looked at one by one. Those among many movable objects are found in a grid
of cells, one grid for each size of objects (hierarchical spatial hashing, Eitz and Gu 2007), so
that time and memory grow with the number of objects and not with its square.
"""

from __future__ import annotations

import math

from rbd_ros.collision.scene.scene_arrays import SceneBuffers, SceneTable, shapes_of
from rbd_ros.collision.scene.scene_bounds import clearance, MARGIN, place_shape
from rbd_ros.compiler.loops import compiled

#: By how much more than `MARGIN` pairs may be apart and still be listed as near ones [m], and in
#: how many steps the fastest shape goes that far at least.
SKIN, STEPS_OF_SKIN = 0.02, 20.0

#: Part of its width by which a cell is larger, above rounding; farthest cell from the origin.
WIDER, FARTHEST = 1.0 + 1e-6, 1e9


@compiled
def list_near_pairs(
    scene: SceneTable, buffers: SceneBuffers, timestep: float, fastest: float
) -> None:
    """List the pairs to test for contact, if other pairs may have come near.

    As neighbor lists of molecular dynamics (Verlet 1967): what is not listed is so far away that
    it cannot touch before shapes have moved by the slack. Lists change nothing of what is found.

    :param timestep: h [s]
    :param fastest: bound on the speed of shapes [m/s]
    """
    # Two shapes, each of which moves by h v, and three times as far counts as near.
    # `shifted` is what the correction of positions has moved bodies by, which is in no velocity.
    way = 2.0 * (timestep * fastest + buffers.shifted[0])
    if buffers.listed[0] > 0 and buffers.slack[0] >= 2.5 * way:
        buffers.slack[0] -= way
        return
    skin, count = max(SKIN, STEPS_OF_SKIN * way), 0
    for g in range(len(scene.kind)):
        place_shape(scene, buffers, g)
    if scene.has_object_pairs:
        # With less skin others come near sooner, but never within this step.
        skin = list_object_pairs(scene, buffers, skin, 2.5 * way)
    for p in range(len(scene.pair)):
        between = clearance(scene, buffers, scene.pair[p, 0], scene.pair[p, 1]) - MARGIN
        if between > skin:
            buffers.clearance[p] = 0.0
        else:
            buffers.near[count] = p
            # Of those that were listed before, more is known.
            known = buffers.clearance[p] if buffers.listed[0] > 0 else 0.0
            buffers.clearance[p] = max(known, between, 0.0)
            count += 1
    if scene.has_object_pairs:
        for k in range(buffers.object_pairs[0]):
            buffers.near[count] = len(scene.pair) + k
            count += 1
    # One more than there are: zero says that nothing is known.
    buffers.listed[0] = count + 1
    buffers.slack[0] = skin - way


@compiled
def list_object_pairs(
    scene: SceneTable, buffers: SceneBuffers, skin: float, least: float
) -> float:
    """List the pairs of near movable objects, with their cached data.

    :param skin: distance that counts as near [m]
    :param least: the same where there is no room for so many; pairs beyond are counted [m]
    :return: distance that was taken
    """
    before = buffers.object_pairs[0] if buffers.listed[0] > 0 else 0
    first, room = len(scene.pair), len(buffers.object_pair)
    for k in range(before):
        buffers.old_pair[k] = buffers.object_pair[k]
        buffers.old_clearance[k] = buffers.clearance[first + k]
        buffers.old_closing[k] = buffers.closing[first + k]
    found = find_object_pairs(scene, buffers, skin)
    while found > room and skin > least:
        skin = max(0.5 * skin, least)
        found = find_object_pairs(scene, buffers, skin)
    buffers.unlisted[0] = max(found - room, 0)
    buffers.object_pairs[0] = count = min(found, room)
    sort_object_pairs(scene, buffers, count)
    # Both lists ascend: one pass finds what is in both.
    old = 0
    for k in range(count):
        pair, known, closing = buffers.object_pair[k], 0.0, 0.0
        while old < before and buffers.old_pair[old] < pair:
            old += 1
        if old < before and buffers.old_pair[old] == pair:
            known, closing = buffers.old_clearance[old], buffers.old_closing[old]
        a, b = shapes_of(scene, first + pair)
        between = clearance(scene, buffers, a, b) - MARGIN
        buffers.clearance[first + k] = max(known, between, 0.0)
        buffers.closing[first + k] = closing
    return skin


@compiled
def find_object_pairs(scene: SceneTable, buffers: SceneBuffers, skin: float) -> int:
    """Enter pairs of movable objects in `object_pair`, as far as there is room, in any order.

    :param skin: distance that counts as near [m]
    :return: how many are near
    """
    head, mask, found = buffers.head, len(buffers.head) - 1, 0
    for k in range(len(head)):
        head[k] = -1
    for g in range(len(buffers.first)):
        buffers.first[g] = 0
        if scene.material[g] >= 0:
            level = scene.level[g]
            edge = edge_of(scene, level, skin)
            for r in range(3):
                buffers.cell[g, r] = cell_at(buffers.shape_pose[g, 9 + r], edge)
            x, y, z = buffers.cell[g, 0], buffers.cell[g, 1], buffers.cell[g, 2]
            place = hash_of(x, y, z, level) & mask
            buffers.following[g], head[place] = head[place], g
    for g in range(len(buffers.first)):
        if scene.material[g] < 0:
            continue
        # A cell is as wide as two of its size that are near: in it and its neighbors are all of
        # that size that are near something no larger.
        for level in range(scene.level[g], len(scene.width)):
            edge = edge_of(scene, level, skin)
            x = cell_at(buffers.shape_pose[g, 9], edge)
            y = cell_at(buffers.shape_pose[g, 10], edge)
            z = cell_at(buffers.shape_pose[g, 11], edge)
            for i in range(x - 1, x + 2):
                for j in range(y - 1, y + 2):
                    for k in range(z - 1, z + 2):
                        other = head[hash_of(i, j, k, level) & mask]
                        while other >= 0:
                            if scene.level[other] == level and is_in(buffers, other, i, j, k):
                                # Of one size, each pair is seen from both.
                                if level > scene.level[g] or other > g:
                                    found = enter_pair(scene, buffers, g, other, skin, found)
                            other = buffers.following[other]
    return found


@compiled
def edge_of(scene: SceneTable, level: int, skin: float) -> float:
    """Return the length of the edges of the cells for objects of a size [m]."""
    edge: float = WIDER * (scene.width[level] + skin + MARGIN)
    return edge


@compiled
def cell_at(x: float, edge: float) -> int:
    """Return the number of a cell along an axis."""
    return int(math.floor(max(-FARTHEST, min(x / edge, FARTHEST))))


@compiled
def hash_of(x: int, y: int, z: int, level: int) -> int:
    """Return a hash of a cell (Teschner et al. 2003), of which the lower bits count."""
    return (x * 73856093) ^ (y * 19349663) ^ (z * 83492791) ^ (level * 49979687)


@compiled
def is_in(buffers: SceneBuffers, g: int, x: int, y: int, z: int) -> bool:
    """Return whether a shape is in a cell."""
    inside: bool = buffers.cell[g, 0] == x and buffers.cell[g, 1] == y and buffers.cell[g, 2] == z
    return inside


@compiled
def enter_pair(
    scene: SceneTable, buffers: SceneBuffers, g: int, other: int, skin: float, found: int
) -> int:
    """Enter a pair if it is near and may touch; return how many were found with it.

    :param found: how many were found before
    """
    a, b = min(g, other), max(g, other)
    if scene.meeting[scene.material[a], scene.material[b]] < 0:
        return found
    if clearance(scene, buffers, a, b) - MARGIN > skin:
        return found
    pair = a * len(scene.kind) + b
    # Bisection of those that are listed or excluded.
    low, high = 0, len(scene.excluded)
    while low < high:
        middle = (low + high) // 2
        if scene.excluded[middle] < pair:
            low = middle + 1
        else:
            high = middle
    if low < len(scene.excluded):
        if scene.excluded[low] == pair:
            return found
    if found < len(buffers.object_pair):
        buffers.object_pair[found] = pair
    return found + 1


@compiled
def sort_object_pairs(scene: SceneTable, buffers: SceneBuffers, count: int) -> None:
    """Sort `object_pair`, so that results do not depend on the grid.

    :param count: how many there are
    """
    # By first shapes: counted, then put in their places. Of each there are a few, sorted by
    # insertion.
    shapes, first, second, total = len(scene.kind), buffers.first, buffers.second, 0
    for k in range(count):
        first[buffers.object_pair[k] // shapes] += 1
    for g in range(len(first)):
        first[g], total = total, total + first[g]
    for k in range(count):
        g, other = buffers.object_pair[k] // shapes, buffers.object_pair[k] % shapes
        second[first[g]] = other
        first[g] += 1
    begin = 0
    for g in range(len(first)):
        for k in range(begin, first[g]):
            other, at = second[k], k
            while at > begin and second[at - 1] > other:
                second[at] = second[at - 1]
                at -= 1
            second[at] = other
        for k in range(begin, first[g]):
            buffers.object_pair[k] = g * shapes + second[k]
        begin = first[g]
