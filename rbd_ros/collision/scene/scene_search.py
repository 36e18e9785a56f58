# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Python interface of the contact search of a scene (scene_contacts.py).

The search is named by its module: its source, all pairs of shapes, is imported only without
machine code.
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
    """Return the address of `scene_contacts_of` for scenes like this one.

    :param scene: shapes and pairs
    """
    # Machine code depends on the fields of records, not on sizes.
    buffers = allocate(SceneBuffers, scene_bodies=0, contacts=0, **buffer_sizes(scene))
    found = allocate(SceneContacts, contacts=0)
    return scene_contacts_of.address(Record(scene), Record(buffers), Record(found))


#: Depth above which two links overlap by design at a robot's neutral configuration [m].
OVERLAP = 1e-6

#: Gap up to which a link and the one before its parent do likewise: faces of a knuckle with two
#: separate axes [m].
KNUCKLE = 2e-4

#: Phrase of notices for links without self-collision.
LEFT_OUT = 'have no collision with each other'

#: Maximum number of pairs that a notice names.
_NAMED = 3

#: Duration of a step without motion [s].
_INSTANT = 1e-9


def overlapping_links(
    model: Model, table: SceneTable, own: Sequence[int], body_count: int, q: Sequence[float]
) -> Set[int]:
    """Return the pairs of links that overlap at a configuration, or touch across one link.

    :param model: model of the robot
    :param table: shapes and pairs of the scene
    :param own: numbers of the pairs to test, each of links of one robot
    :param body_count: number of bodies: the world, links, objects
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


def omission_notice(found: AbstractSet[Tuple[str, str]], why: str) -> List[str]:
    """Return the notice of links that do not touch each other, or no notice without any.

    :param found: pairs of names, with that of the robot
    :param why: predicate of the links

    >>> from rbd_ros.collision.scene.scene_search import omission_notice
    >>> omission_notice({('robot/a', 'robot/b')}, 'overlap')[0].split(';')[0]
    '1 pair of links that overlap have no collision with each other (a and b)'
    """
    if not found:
        return []
    # The robot's own links without its name.
    own = f'{ROBOT}/'
    named = sorted(tuple(name.removeprefix(own) for name in pair) for pair in found)
    some = ', '.join(f'{a} and {b}' for a, b in named[:_NAMED])
    more = f', and {len(named) - _NAMED} more' if len(named) > _NAMED else ''
    pairs = 'pair' if len(named) == 1 else 'pairs'
    return [
        f'{len(named)} {pairs} of links that {why} {LEFT_OUT} ({some}{more}); an entry of '
        '`pairs` in a world, or enable_collisions in an SRDF, enables their collision'
    ]
