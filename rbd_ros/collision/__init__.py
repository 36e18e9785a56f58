# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Collision detection: pairs of shapes that may touch, their contacts and distances. No forces.

A scene (`scene/`) has the shapes of a robot and of its world (rbd_ros/world), and the pairs that
may touch. Shapes and their tables for compiled loops are in `shapes/`. Each family of pairs is a
file in `pairs/`; `convex/` handles any convex shapes; `concave/` meshes and height fields by
triangles. `pairs/narrow_phase.py` dispatches. queries.py and distances.py are the Python
interface. The names below are loaded on first use.
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
