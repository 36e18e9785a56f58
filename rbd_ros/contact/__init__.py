# SPDX-License-Identifier: Apache-2.0
"""Contact: shapes and their contact points, the ground, the law of soft contact (book ch. 11).

The names below are loaded on first use: compiling a loop of this package takes none of them.
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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        'CompliantContactModel': 'rbd_ros.contact.compliant_surfaces',
        'ContactParameters': 'rbd_ros.contact.ground',
        'ContactShapes': 'rbd_ros.contact.detection',
        'HalfSpace': 'rbd_ros.contact.ground',
        'HuntCrossleySurface': 'rbd_ros.contact.compliant_surfaces',
        'LinearSurface': 'rbd_ros.contact.compliant_surfaces',
        'MeshError': 'rbd_ros.meshes.triangles',
        'SurfaceMemory': 'rbd_ros.contact.compliant_surfaces',
        'TwoSurfaces': 'rbd_ros.contact.compliant_surfaces',
        'contact_shapes': 'rbd_ros.contact.shapes',
        'hull_points': 'rbd_ros.contact.shapes',
        'in_series': 'rbd_ros.contact.compliant_surfaces',
        'mesh_vertices': 'rbd_ros.meshes.reading',
    },
)
