# SPDX-License-Identifier: Apache-2.0
"""Collision: what may touch what, and where and how deep shapes touch. No forces.

What is around a robot is read by world_file.py and kept in world.py. Each family of pairs of
shapes is a file, in compiled loops: planes.py, spheres.py, capsules.py, capsule_box.py and
boxes.py with its parts box_axes.py and face_clipping.py. Any convex shapes are convex_pairs.py:
supports.py knows the shapes, gjk.py (with simplices.py) finds their distance, epa.py their depth,
polishing.py makes both exact for cylinders, and manifolds.py has the points of faces and lines
(features.py). Meshes and height fields are concave_search.py, triangle by triangle
(concave_pairs.py), with what is left of many points (candidates.py, reduction.py). hulls.py and
concave_shapes.py make the tables of shapes that are more than three sizes. narrow_phase.py chooses
among all of them. queries.py and distances.py are what users call. The names below are
loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.collision.concave_shapes import HeightField, TriangleMesh
    from rbd_ros.collision.distances import Distances, Minimum, RobotInWorld
    from rbd_ros.collision.ground_plane import level_ground
    from rbd_ros.collision.named_poses import NamedPose
    from rbd_ros.collision.queries import (
        ContactPoints,
        contacts,
        distance,
        Nearest,
        pair_is_supported,
    )
    from rbd_ros.collision.self_collision import allowed_pairs, SrdfError
    from rbd_ros.collision.shapes import (
        Box,
        Capsule,
        ConvexHull,
        Cylinder,
        Plane,
        Shape,
        Sphere,
    )
    from rbd_ros.collision.solids import solid_inertia, triangles_inertia
    from rbd_ros.collision.surfaces import combine_surfaces, Surface
    from rbd_ros.collision.world import PairSurface, World, WorldObject, WorldRobot
    from rbd_ros.collision.world_file import extend_world, read_world, WorldFileError
    from rbd_ros.meshes.triangles import MeshError

__all__ = [
    'Box',
    'Capsule',
    'ContactPoints',
    'ConvexHull',
    'Cylinder',
    'Distances',
    'World',
    'HeightField',
    'MeshError',
    'Minimum',
    'Nearest',
    'PairSurface',
    'Plane',
    'RobotInWorld',
    'Shape',
    'Sphere',
    'SrdfError',
    'Surface',
    'TriangleMesh',
    'WorldFileError',
    'WorldObject',
    'WorldRobot',
    'NamedPose',
    'allowed_pairs',
    'combine_surfaces',
    'contacts',
    'distance',
    'extend_world',
    'level_ground',
    'read_world',
    'solid_inertia',
    'pair_is_supported',
    'triangles_inertia',
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        'Box': 'rbd_ros.collision.shapes',
        'Capsule': 'rbd_ros.collision.shapes',
        'ContactPoints': 'rbd_ros.collision.queries',
        'ConvexHull': 'rbd_ros.collision.shapes',
        'Cylinder': 'rbd_ros.collision.shapes',
        'Distances': 'rbd_ros.collision.distances',
        'World': 'rbd_ros.collision.world',
        'HeightField': 'rbd_ros.collision.concave_shapes',
        'MeshError': 'rbd_ros.meshes.triangles',
        'Minimum': 'rbd_ros.collision.distances',
        'Nearest': 'rbd_ros.collision.queries',
        'PairSurface': 'rbd_ros.collision.world',
        'Plane': 'rbd_ros.collision.shapes',
        'RobotInWorld': 'rbd_ros.collision.distances',
        'Shape': 'rbd_ros.collision.shapes',
        'Sphere': 'rbd_ros.collision.shapes',
        'SrdfError': 'rbd_ros.collision.self_collision',
        'Surface': 'rbd_ros.collision.surfaces',
        'TriangleMesh': 'rbd_ros.collision.concave_shapes',
        'WorldFileError': 'rbd_ros.collision.world_file',
        'WorldObject': 'rbd_ros.collision.world',
        'WorldRobot': 'rbd_ros.collision.world',
        'NamedPose': 'rbd_ros.collision.named_poses',
        'allowed_pairs': 'rbd_ros.collision.self_collision',
        'combine_surfaces': 'rbd_ros.collision.surfaces',
        'contacts': 'rbd_ros.collision.queries',
        'distance': 'rbd_ros.collision.queries',
        'extend_world': 'rbd_ros.collision.world_file',
        'level_ground': 'rbd_ros.collision.ground_plane',
        'read_world': 'rbd_ros.collision.world_file',
        'solid_inertia': 'rbd_ros.collision.solids',
        'pair_is_supported': 'rbd_ros.collision.queries',
        'triangles_inertia': 'rbd_ros.collision.solids',
    },
)
