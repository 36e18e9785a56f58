# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reader of mesh files, for contact, inertia and drawing.

reading.py opens files, reports errors, and reads STL and OBJ; collada.py reads that format.
triangles.py has the result. The names below are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.meshes.reading import mesh_triangles, mesh_vertices, read_mesh
    from rbd_ros.meshes.triangles import hull_triangles, is_closed, MeshError, Triangles

__all__ = [
    'MeshError',
    'Triangles',
    'hull_triangles',
    'is_closed',
    'mesh_triangles',
    'mesh_vertices',
    'read_mesh',
]

__getattr__, __dir__ = lazy_names(__name__)
