"""Collision: what is around a robot, shapes and which of them may touch. No forces are here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.collision.environment import Environment, PairSurface, WorldObject, WorldRobot
    from rbd_ros.collision.mesh_triangles import MeshError
    from rbd_ros.collision.self_collision import allowed_pairs, SrdfError
    from rbd_ros.collision.solids import solid_inertia, triangles_inertia
    from rbd_ros.collision.surfaces import combined, Surface
    from rbd_ros.collision.world_file import read_world, WorldFileError

__all__ = [
    'allowed_pairs',
    'combined',
    'Environment',
    'MeshError',
    'PairSurface',
    'read_world',
    'solid_inertia',
    'SrdfError',
    'Surface',
    'triangles_inertia',
    'WorldFileError',
    'WorldObject',
    'WorldRobot',
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        'allowed_pairs': 'rbd_ros.collision.self_collision',
        'combined': 'rbd_ros.collision.surfaces',
        'Environment': 'rbd_ros.collision.environment',
        'MeshError': 'rbd_ros.collision.mesh_triangles',
        'PairSurface': 'rbd_ros.collision.environment',
        'read_world': 'rbd_ros.collision.world_file',
        'solid_inertia': 'rbd_ros.collision.solids',
        'SrdfError': 'rbd_ros.collision.self_collision',
        'Surface': 'rbd_ros.collision.surfaces',
        'triangles_inertia': 'rbd_ros.collision.solids',
        'WorldFileError': 'rbd_ros.collision.world_file',
        'WorldObject': 'rbd_ros.collision.environment',
        'WorldRobot': 'rbd_ros.collision.environment',
    },
)
