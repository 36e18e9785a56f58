# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Interface in Python of the contact search of a scene (scene_contacts.py).

It is named by its module: what it is compiled from, all pairs of shapes, is imported only where
there is no machine code of it.
"""

from __future__ import annotations

from typing import AbstractSet, List, Sequence, Set, Tuple

import numpy as np

from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.collision.arrays import MAX_POINTS
from rbd_ros.collision.scene.scene_arrays import (
    buffer_sizes,
    SceneBuffers,
    SceneContacts,
    SceneTable,
    with_pairs,
)
from rbd_ros.compiler.loops import allocate, entry_point_of, Record
from rbd_ros.model import Model
from rbd_ros.world.world import ROBOT

scene_contacts_of = entry_point_of('rbd_ros.collision.scene.scene_contacts', 'scene_contacts_of')


def finder_of(scene: SceneTable) -> int:
    """Return the address of `scene_contacts_of` for scenes such as this one.

    :param scene: what may touch what
    """
    # Machine code depends on what records have, not on sizes.
    buffers = allocate(SceneBuffers, scene_bodies=0, contacts=0, **buffer_sizes(scene))
    found = allocate(SceneContacts, contacts=0)
    return scene_contacts_of.address(Record(scene), Record(buffers), Record(found))


#: Depth at which two links at a robot's neutral configuration count as made to overlap [m].
OVERLAP = 1e-6

#: Gap up to which a link and the one before its parent do likewise: the faces of a knuckle whose
#: two axes are apart [m].
KNUCKLE = 2e-4

#: What notices say of links that are left out of self-collision.
LEFT_OUT = 'have no collision with each other'

#: Number of pairs that a notice names.
_NAMED = 3

#: Duration of a step in which nothing moves [s].
_INSTANT = 1e-9


def overlapping_links(
    model: Model, table: SceneTable, own: Sequence[int], body_count: int, q: Sequence[float]
) -> Set[int]:
    """Return which of some pairs of links overlap at a configuration, or touch across one link.

    :param model: model of the robot
    :param table: shapes and pairs of the scene
    :param own: numbers of the pairs that are looked at, each of links of one robot
    :param body_count: how many bodies there are: the world, links, objects
    :param q: configuration, (nq,)
    :return: numbers of pairs
    """
    fewer = with_pairs(table, own)
    most = len(own) * MAX_POINTS
    sizes = {'scene_bodies': body_count, 'contacts': most, **buffer_sizes(fewer)}
    buffers, contacts = allocate(SceneBuffers, **sizes), allocate(SceneContacts, contacts=most)
    for body, transform in body_transforms(model, model.tree_position(q)).items():
        pose = np.array(transform.pose(), dtype=float)
        buffers.pose[body] = [*pose[:3, :3].ravel(), *pose[:3, 3]]
    count = scene_contacts_of(Record(fewer), Record(buffers), Record(contacts), _INSTANT)
    parent = {0: 0, **{i: body.parent for i, body in model.outward()}}
    found = set()
    for p, gap in zip(contacts.pair[:count].tolist(), contacts.gap[:count].tolist()):
        i, j = (int(table.body_id[shape]) for shape in fewer.pair[p])
        across = i in parent and j in parent and (parent[parent[i]] == j or parent[parent[j]] == i)
        if gap < (KNUCKLE if across else -OVERLAP):
            found.add(own[p])
    return found


def left_out_notice(found: AbstractSet[Tuple[str, str]], why: str) -> List[str]:
    """Return the notice of links that do not touch each other; none without any.

    :param found: pairs of names, with that of the robot
    :param why: what is so of them

    >>> from rbd_ros.collision.scene.scene_search import left_out_notice
    >>> left_out_notice({('robot/a', 'robot/b')}, 'overlap')[0].split(';')[0]
    '1 pair of links that overlap have no collision with each other (a and b)'
    """
    if not found:
        return []
    # A robot's own links without its name, as they are called elsewhere.
    own = f'{ROBOT}/'
    named = sorted(tuple(name.removeprefix(own) for name in pair) for pair in found)
    some = ', '.join(f'{a} and {b}' for a, b in named[:_NAMED])
    more = f', and {len(named) - _NAMED} more' if len(named) > _NAMED else ''
    pairs = 'pair' if len(named) == 1 else 'pairs'
    return [
        f'{len(named)} {pairs} of links that {why} {LEFT_OUT} ({some}{more}); an entry of '
        '`pairs` in a world, or enable_collisions in an SRDF, enables their collision'
    ]
