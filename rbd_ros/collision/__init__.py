# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Collision: what may touch what, and where and how deep shapes touch. No forces.

What may touch is a scene (`scene/`): the shapes of a robot and of its world (rbd_ros/world).
Shapes and their tables for compiled loops are in `shapes/`. Each family of pairs is a file in
`pairs/`; any convex shapes are `convex/`; meshes and height fields are `concave/`, triangle by
triangle. `pairs/narrow_phase.py` chooses among all of them. queries.py and distances.py are for
users. The names below are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.collision.distances import Distances, Minimum, RobotInWorld
    from rbd_ros.collision.queries import (
        ContactPoints,
        contacts,
        distance,
        Nearest,
        pair_is_supported,
    )
    from rbd_ros.collision.shapes.concave_shapes import HeightField, TriangleMesh
    from rbd_ros.collision.shapes.contact_shapes import (
        Box,
        Capsule,
        ConvexHull,
        Cylinder,
        Plane,
        Shape,
        Sphere,
    )
    from rbd_ros.meshes.triangles import MeshError

__all__ = [
    'Box',
    'Capsule',
    'ContactPoints',
    'ConvexHull',
    'Cylinder',
    'Distances',
    'HeightField',
    'MeshError',
    'Minimum',
    'Nearest',
    'Plane',
    'RobotInWorld',
    'Shape',
    'Sphere',
    'TriangleMesh',
    'contacts',
    'distance',
    'pair_is_supported',
]

__getattr__, __dir__ = lazy_names(__name__)
