# SPDX-License-Identifier: Apache-2.0
"""The search for all contacts of a scene (scene_contacts.py), as Python calls it.

It is named by its module: what it is compiled from, all pairs of shapes, is imported only where
there is no machine code of it.
"""

from __future__ import annotations

from rbd_ros.collision.scene.scene_arrays import SceneBuffers, SceneContacts, SceneTable
from rbd_ros.compiler.loops import allocate, entry_point_of, Record

scene_contacts_of = entry_point_of('rbd_ros.collision.scene.scene_contacts', 'scene_contacts_of')


def finder_of(scene: SceneTable) -> int:
    """Return the address of `scene_contacts_of` for scenes such as this one.

    :param scene: what may touch what
    """
    # Machine code depends on what records have, not on sizes.
    buffers = allocate(SceneBuffers, scene_bodies=0, shapes=0, pairs=0, contacts=0)
    found = allocate(SceneContacts, contacts=0)
    return scene_contacts_of.address(Record(scene), Record(buffers), Record(found))
