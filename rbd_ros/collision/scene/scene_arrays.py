# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of compiled loops over a scene: candidate pairs, contacts, and buffers for both.

Shapes are fixed to bodies: number 0 is the world, then come those of a robot, then the movable
objects. A table lists the pairs, except those among many movable objects: these have numbers, and
a grid finds them (near_pairs.py).
"""

from __future__ import annotations

from typing import Dict, NamedTuple, Sequence, Tuple, Union

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.collision.arrays import (
    FoundPoints,
    Tables,
)
from rbd_ros.compiler.loops import compiled, floats, integers

#: Columns of `SceneTable.surface`.
ALONG, ACROSS, RESTITUTION, TORSIONAL, ROLLING, STIFFNESS, DAMPING = 0, 1, 2, 3, 4, 5, 6
EXPONENT, DISSIPATION = 7, 8


class SceneTable(NamedTuple):
    """Shapes and pairs that may touch: constants for compiled loops.

    :param kind: kind of each shape (narrow_phase.py), (G,)
    :param size: its sizes (shapes.py), or its number in the tables first, (G, 3) [m]
    :param body_id: number of its body, (G,)
    :param placement: its rotation row by row and its position in coordinates of its body,
        (G, 12)
    :param reach: radius of its bounding sphere; infinite for planes, (G,) [m]
    :param arm: distance from the origin of its body within which it is; zero for planes, which
        do not move, (G,) [m]
    :param body_arm: the maximum of them of each body, (bodies,) [m]
    :param pair: shapes of each listed pair that may touch, (P, 2)
    :param surface: of each listed pair, then of each two materials in contact, friction along the
        first direction and across it, restitution, torsional and rolling friction, stiffness,
        damping, exponent and dissipation, (S, 9); stiffness zero means rigid contact, exponent
        zero a linear spring
    :param direction: first direction of friction in coordinates of its body; zero for isotropic
        friction, (S, 3)
    :param directed_by: that body; for materials 0 if it is that of the first shape, else 1, (S,)
    :param group: common number of pairs with the same bodies and surface; -1 for a single pair,
        (P,)
    :param of_robot: 1 for pairs with a shape of a robot's body, (P,)
    :param tables: tables of hulls, meshes and height fields
    :param material: number of the material of each shape whose pairs are not listed; else -1, (G,)
    :param meeting: row of `surface` by the materials of a first and a second shape, -1 for pairs
        that do not touch, (M, M)
    :param excluded: numbers of pairs in ascending order that are listed, or may not touch
    :param level: number of the size class of each shape, (G,)
    :param width: maximum diameter of each size class, ascending [m]
    :param has_object_pairs: whether there are unlisted pairs
    """

    kind: IntArray
    size: FloatArray
    body_id: IntArray
    placement: FloatArray
    reach: FloatArray
    arm: FloatArray
    body_arm: FloatArray
    pair: IntArray
    surface: FloatArray
    direction: FloatArray
    directed_by: IntArray
    group: IntArray
    of_robot: IntArray
    tables: Tables
    material: IntArray
    meeting: IntArray
    excluded: IntArray
    level: IntArray
    width: FloatArray
    has_object_pairs: bool


#: Maximum number of near pairs of movable objects per object. Stacked boxes have 26 neighbors
#: each; an object lists half of its pairs.
NEAR_PER_OBJECT = 32


@compiled
def shapes_of(scene: SceneTable, pair: int) -> Tuple[int, int]:
    """Return the two shapes of a pair.

    :param pair: its number: the row of a listed pair; unlisted ones follow, shape by shape
    """
    if scene.has_object_pairs:
        if pair >= len(scene.pair):
            number = pair - len(scene.pair)
            return number // len(scene.kind), number % len(scene.kind)
    return scene.pair[pair, 0], scene.pair[pair, 1]


def shapes_of_pairs(scene: SceneTable, pairs: Union[int, IntArray]) -> IntArray:
    """Return the shapes of pairs, (..., 2), see `shapes_of`."""
    numbers = np.asarray(pairs) - len(scene.pair)
    found = np.stack(np.divmod(numbers, max(len(scene.kind), 1)), axis=-1)
    found[numbers < 0] = scene.pair[np.asarray(pairs)[numbers < 0]]
    return found


def pairs_of_shapes(scene: SceneTable, shapes: IntArray) -> IntArray:
    """Return the numbers of pairs, (n,); -1 for shapes that cannot touch.

    :param shapes: numbers of the first and the second shape of each, (n, 2); -1 for none
    """
    first, second = shapes.T
    keys = np.where(shapes.min(axis=1) < 0, -1, first * len(scene.kind) + second)
    found = np.full(len(keys), -1)
    if scene.has_object_pairs:
        materials = np.where(shapes < 0, -1, scene.material[shapes])
        met = (materials.min(axis=1) >= 0) & (first < second) & ~np.isin(keys, scene.excluded)
        met[met] = scene.meeting[tuple(materials[met].T)] >= 0
        found[met] = len(scene.pair) + keys[met]
    # Listed pairs are in ascending order.
    listed = scene.pair @ [len(scene.kind), 1]
    places = np.minimum(np.searchsorted(listed, keys), len(listed) - 1)
    if len(listed):
        known = listed[places] == keys
        found[known] = places[known]
    return found


@compiled
def surface_of(scene: SceneTable, pair: int) -> int:
    """Return the row of `surface` of a pair."""
    if scene.has_object_pairs:
        if pair >= len(scene.pair):
            a, b = shapes_of(scene, pair)
            row: int = scene.meeting[scene.material[a], scene.material[b]]
            return row
    return pair


def buffer_sizes(scene: SceneTable) -> Dict[str, int]:
    """Return the sizes of `SceneBuffers` for the shapes and pairs of a scene.

    :param scene: the table
    """
    shapes, moving = len(scene.kind), int((scene.material >= 0).sum())
    near, cells = NEAR_PER_OBJECT * moving, 1
    while cells < 2 * moving:
        cells *= 2
    return {
        'shapes': shapes,
        'pairs': len(scene.pair) + near,
        'object_pairs': near,
        # A power of two: bits of a hash are an index.
        'cells': cells if moving else 0,
        'cell_shapes': shapes if moving else 0,
    }


def with_pairs(scene: SceneTable, which: Union[Sequence[int], IntArray]) -> SceneTable:
    """Return the table with some of the listed pairs, in the given order.

    :param scene: the table
    :param which: numbers of the pairs
    """
    # All shapes stay: their numbers are used elsewhere.
    return scene._replace(
        pair=scene.pair[which],
        surface=scene.surface[which],
        direction=scene.direction[which],
        directed_by=scene.directed_by[which],
        group=scene.group[which],
        of_robot=scene.of_robot[which],
        material=np.full_like(scene.material, -1),
    )


class SceneContacts(NamedTuple):
    """Contacts in world coordinates; the first `count` are valid.

    :param pair: number of the pair, see `shapes_of`
    :param feature: number of the features that touch
    :param body_id: number of the body of the first and of the second shape
    :param position: where forces act, on either surface or in the middle between both, see
        `surface_fraction` [m]
    :param frame: normal from the first to the second shape and two tangents, the rows
    :param gap: signed gap along the normal [m]
    """

    pair: IntArray = integers('contacts')
    feature: IntArray = integers('contacts')
    body_id: IntArray = integers('contacts', 2)
    position: FloatArray = floats('contacts', 3)
    frame: FloatArray = floats('contacts', 3, 3)
    gap: FloatArray = floats('contacts')


class SceneBuffers(NamedTuple):
    """Poses of bodies and shapes, and buffers for the contacts of one pair.

    :param pose: rotation row by row and position of each body
    :param velocity: spatial velocity of each body in world coordinates [rad/s, m/s]
    :param ahead: likewise at the end of the step, as far as it is known
    :param search: 0 to search for contacts by `velocity`; then 1, 2, ... for repeated searches of
        the same step, also by `ahead` and its previous values
    :param closing: most negative rate of the gap of each pair with velocities `ahead` [m/s]
    :param speed: speed of the origin of each body [m/s]
    :param angular_speed: its angular speed [rad/s]
    :param shape_pose: rotation and position of each shape that is tested in this step
    :param placed: 1 for these
    :param near: indices into `clearance` of the near pairs
    :param listed: one more than their number; 0 if unknown
    :param slack: distance that shapes may still move towards each other before other pairs come
        near [m]
    :param clearance: distance that the shapes of a pair may still move before the next test, of
        each listed pair, then of those in `object_pair` [m]
    :param shifted: distance that shapes were moved without velocity [m]
    :param dropped: number of contacts that did not fit
    :param unlisted: number of near pairs of objects that did not fit
    :param object_pair: numbers of near pairs of objects, minus the number of listed pairs,
        ascending
    :param object_pairs: number of these
    :param old_pair: `object_pair` of the previous list
    :param old_clearance: its part of `clearance`
    :param old_closing: its part of `closing`
    :param second: second shape of each pair found in the grid
    :param first: number of such pairs with each shape as the first, then their first index
    :param head: first shape of each hash bucket
    :param following: next shape of the bucket; -1 for the last one
    :param cell: cell of the grid of each shape
    :param found: contacts of one pair
    :param seen: whether a contact has been processed (scene_reduction.py)
    :param group_first: first contact of each group of pairs
    :param group_next: next contact of the group; -1 for the last one
    :param keep: whether the contact is kept
    :param member: contacts of one face
    :param flat: their coordinates in its plane, and their gaps [m]
    """

    pose: FloatArray = floats('scene_bodies', 12)
    velocity: FloatArray = floats('scene_bodies', 6)
    ahead: FloatArray = floats('scene_bodies', 6)
    search: IntArray = integers(1)
    closing: FloatArray = floats('pairs')
    speed: FloatArray = floats('scene_bodies')
    angular_speed: FloatArray = floats('scene_bodies')
    shape_pose: FloatArray = floats('shapes', 12)
    placed: IntArray = integers('shapes')
    near: IntArray = integers('pairs')
    listed: IntArray = integers(1)
    slack: FloatArray = floats(1)
    clearance: FloatArray = floats('pairs')
    shifted: FloatArray = floats(1)
    dropped: IntArray = integers(1)
    unlisted: IntArray = integers(1)
    object_pair: IntArray = integers('object_pairs')
    object_pairs: IntArray = integers(1)
    old_pair: IntArray = integers('object_pairs')
    old_clearance: FloatArray = floats('object_pairs')
    old_closing: FloatArray = floats('object_pairs')
    second: IntArray = integers('object_pairs')
    first: IntArray = integers('cell_shapes')
    head: IntArray = integers('cells')
    following: IntArray = integers('cell_shapes')
    cell: IntArray = integers('cell_shapes', 3)
    found: FoundPoints = FoundPoints  # type: ignore[assignment]
    seen: IntArray = integers('contacts')
    group_first: IntArray = integers('pairs')
    group_next: IntArray = integers('contacts')
    keep: IntArray = integers('contacts')
    member: IntArray = integers('contacts')
    flat: FloatArray = floats('contacts', 3)
