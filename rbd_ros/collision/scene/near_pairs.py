# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Broad phase: a list of pairs of near shapes, valid for some steps.

Pairs of the table are tested one by one. Those among many movable objects are found in grids of
cells, one for each size of objects (hierarchical spatial hashing, Eitz and Gu 2007): time and
memory grow linearly with the number of objects, not with its square.
"""

from __future__ import annotations

import math

from rbd_ros.collision.scene.scene_arrays import SceneBuffers, SceneTable, shapes_of
from rbd_ros.collision.scene.scene_bounds import clearance, MARGIN, place_shape
from rbd_ros.compiler.loops import compiled

#: Distance beyond `MARGIN` up to which pairs are listed as near [m], and the minimum number of
#: steps in which the fastest shape moves that far.
SKIN, STEPS_OF_SKIN = 0.02, 20.0

#: Factor by which a cell is wider than needed, for rounding; farthest cell from the origin.
WIDER, FARTHEST = 1.0 + 1e-6, 1e9


@compiled
def list_near_pairs(
    scene: SceneTable, buffers: SceneBuffers, timestep: float, fastest: float
) -> None:
    """List the pairs to test for contact, if other pairs may have come near.

    As in neighbor lists of molecular dynamics (Verlet 1967), unlisted pairs cannot touch before
    shapes have moved by the slack. Lists do not change the contacts found.

    :param timestep: h [s]
    :param fastest: bound on the speed of shapes [m/s]
    """
    # Each of two shapes moves by up to h v per step. `shifted` is the motion by position
    # correction, which is in no velocity.
    way = 2.0 * (timestep * fastest + buffers.shifted[0])
    if buffers.listed[0] > 0 and buffers.slack[0] >= 2.5 * way:
        buffers.slack[0] -= way
        return
    skin, count = max(SKIN, STEPS_OF_SKIN * way), 0
    for g in range(len(scene.kind)):
        place_shape(scene, buffers, g)
    if scene.has_object_pairs:
        # A smaller skin is used up sooner, but never within this step.
        skin = list_object_pairs(scene, buffers, skin, 2.5 * way)
    for p in range(len(scene.pair)):
        between = clearance(scene, buffers, scene.pair[p, 0], scene.pair[p, 1]) - MARGIN
        if between > skin:
            buffers.clearance[p] = 0.0
        else:
            buffers.near[count] = p
            # For pairs listed before, the clearance is known.
            known = buffers.clearance[p] if buffers.listed[0] > 0 else 0.0
            buffers.clearance[p] = max(known, between, 0.0)
            count += 1
    if scene.has_object_pairs:
        for k in range(buffers.object_pairs[0]):
            buffers.near[count] = len(scene.pair) + k
            count += 1
    # One more than their number: zero means unknown.
    buffers.listed[0] = count + 1
    buffers.slack[0] = skin - way


@compiled
def list_object_pairs(
    scene: SceneTable, buffers: SceneBuffers, skin: float, least: float
) -> float:
    """List the pairs of near movable objects, with their cached data.

    :param skin: distance that counts as near [m]
    :param least: the same if the pairs do not fit; pairs beyond are counted [m]
    :return: distance that was used
    """
    before = buffers.object_pairs[0] if buffers.listed[0] > 0 else 0
    first, capacity = len(scene.pair), len(buffers.object_pair)
    for k in range(before):
        buffers.old_pair[k] = buffers.object_pair[k]
        buffers.old_clearance[k] = buffers.clearance[first + k]
        buffers.old_closing[k] = buffers.closing[first + k]
    found = find_object_pairs(scene, buffers, skin)
    while found > capacity and skin > least:
        skin = max(0.5 * skin, least)
        found = find_object_pairs(scene, buffers, skin)
    buffers.unlisted[0] = max(found - capacity, 0)
    buffers.object_pairs[0] = count = min(found, capacity)
    sort_object_pairs(scene, buffers, count)
    # Both lists ascend: one pass finds the common pairs.
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
    """Write near pairs of movable objects to `object_pair`, as many as fit, in any order.

    :param skin: distance that counts as near [m]
    :return: number of near pairs
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
        # A cell is as wide as two near objects of its size: the cell and its neighbors hold all
        # objects of that size near a smaller or equal one.
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
                                # Both objects of one size see their pair.
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
    """Return a hash of a cell (Teschner et al. 2003); its lower bits are used."""
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
    """Add a pair if it is near and may touch; return the new number of pairs.

    :param found: number of pairs before
    """
    a, b = min(g, other), max(g, other)
    if scene.meeting[scene.material[a], scene.material[b]] < 0:
        return found
    if clearance(scene, buffers, a, b) - MARGIN > skin:
        return found
    pair = a * len(scene.kind) + b
    # Bisection in the listed or excluded pairs.
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

    :param count: number of pairs
    """
    # Counting sort by first shapes, then insertion sort of the few pairs of each.
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
