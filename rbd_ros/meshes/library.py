# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mesh files that the library trimesh reads: GLB, glTF and PLY."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
import re
from typing import Any, List, Mapping, Optional

import numpy as np

from rbd_ros.bounded_files import read_bytes
from rbd_ros.meshes.triangles import MAX_FILE_SIZE, MeshError, Triangles
from rbd_ros.model.geometry import Color

#: Maximum number of lines of a text PLY file.
MAX_LINES = 5_000_000

#: Line ends of Python as bytes; some also occur in other characters.
_LINE_ENDS = b'\n\r\v\f\x1c\x1d\x1e\x85\xa8\xa9'

#: Element counts in the header of a file.
_ELEMENTS = re.compile(rb'^\s*element\s+\S+\s+(\d{1,18})\b', re.MULTILINE)


def read_ply(path: Path) -> List[Triangles]:
    """Return triangles of a PLY file, in the axes and the unit of the file, without colors.

    :raises MeshError: without trimesh
    :raises ValueError: if the file is damaged
    """
    trimesh = load_trimesh(path)
    data = read_bytes(path, MAX_FILE_SIZE)
    head, _, body = data.partition(b'end_header')
    if b'ascii' in b' '.join(head[:100].splitlines()[1:2]):
        # trimesh creates an array for each line, and accepts missing ones.
        body = body.strip()
        lines = 1 + len(body) - len(body.translate(None, _LINE_ENDS))
        if lines > MAX_LINES:
            raise ValueError(f'it has more than {MAX_LINES} lines; write it as binary PLY')
        if lines < sum(map(int, _ELEMENTS.findall(head))):
            raise ValueError('it ends too early')
    return scene_parts(trimesh, data, 'ply', skip_materials=True)


def load_trimesh(path: Path) -> Any:
    """Return the module trimesh.

    :param path: file that requires it
    :raises MeshError: if it is not installed
    """
    try:
        import trimesh
    except ImportError:
        raise MeshError(
            f"{path}: this format needs trimesh (pip install 'rbd_ros[meshes]'); or use STL, OBJ "
            'or DAE'
        ) from None
    return trimesh


def scene_parts(
    trimesh: Any,
    data: bytes,
    kind: str,
    files: Optional[Mapping[str, bytes]] = None,
    **options: Any,
) -> List[Triangles]:
    """Return the parts of a scene that trimesh reads, placed as in the file.

    :param trimesh: the module
    :param data: content of the file
    :param kind: format, as its suffix
    :param files: contents of referenced files; None: none
    :param options: options of trimesh for the format
    :raises ValueError: if trimesh cannot read it
    """
    try:
        # trimesh gets bytes, and opens no files itself.
        scene = trimesh.load_scene(
            BytesIO(data), file_type=kind, resolver=files, process=False, **options
        )
        found = []
        for node in scene.graph.nodes_geometry:
            placement, name = scene.graph[node]
            mesh = scene.geometry[name]
            placement = np.asarray(placement, dtype=float)
            vertices = np.asarray(mesh.vertices, dtype=float)
            # A point cloud has none.
            corners = np.asarray(getattr(mesh, 'faces', ()), dtype=np.int64).reshape(-1, 3)
            if np.linalg.det(placement[:3, :3]) < 0.0:
                corners = corners[:, ::-1]  # a mirror reverses the orientation
            moved = vertices @ placement[:3, :3].T + placement[:3, 3]
            found.append(Triangles(moved, corners, _color(mesh.visual)))
    except Exception as error:  # many types, including AssertionError
        raise ValueError(f'trimesh cannot read it: {error or type(error).__name__}') from error
    return found


def _color(visual: Any) -> Optional[Color]:
    """Return the color of a material; None without one."""
    factor = getattr(getattr(visual, 'material', None), 'baseColorFactor', None)
    if factor is None:
        return None
    r, g, b, a = np.asarray(factor, dtype=float) / 255.0
    return (float(r), float(g), float(b), float(a))
