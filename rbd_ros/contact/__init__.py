# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact: shapes and their contact points, the ground, soft contact forces (book ch. 11).

The names below are loaded on first use: compiled loops of this package need none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.contact.compliant_surfaces import (
        CompliantContactModel,
        HuntCrossleySurface,
        in_series,
        LinearSurface,
        SurfaceMemory,
        TwoSurfaces,
    )
    from rbd_ros.contact.detection import ContactShapes
    from rbd_ros.contact.ground import ContactParameters, HalfSpace
    from rbd_ros.contact.shapes import contact_shapes, hull_points
    from rbd_ros.meshes.reading import mesh_vertices
    from rbd_ros.meshes.triangles import MeshError

__all__ = [
    'CompliantContactModel',
    'ContactParameters',
    'ContactShapes',
    'HalfSpace',
    'HuntCrossleySurface',
    'LinearSurface',
    'MeshError',
    'SurfaceMemory',
    'TwoSurfaces',
    'contact_shapes',
    'hull_points',
    'in_series',
    'mesh_vertices',
]

__getattr__, __dir__ = lazy_names(__name__)
