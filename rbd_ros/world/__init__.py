# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""World of a robot as data: objects, robots, surfaces, poses, world files. No physics.

The names below are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.world.allowed_collisions import allowed_pairs, SrdfError
    from rbd_ros.world.named_poses import NamedPose
    from rbd_ros.world.solids import solid_inertia, triangles_inertia
    from rbd_ros.world.surfaces import combine_surfaces, Surface
    from rbd_ros.world.world import PairSurface, World, WorldObject, WorldRobot
    from rbd_ros.world.world_file import extend_world, read_world, WorldFileError
    from rbd_ros.world.world_objects import level_ground

__all__ = [
    'NamedPose',
    'PairSurface',
    'SrdfError',
    'Surface',
    'World',
    'WorldFileError',
    'WorldObject',
    'WorldRobot',
    'allowed_pairs',
    'combine_surfaces',
    'extend_world',
    'level_ground',
    'read_world',
    'solid_inertia',
    'triangles_inertia',
]

__getattr__, __dir__ = lazy_names(__name__)
