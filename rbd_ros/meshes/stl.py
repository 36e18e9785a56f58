# SPDX-License-Identifier: Apache-2.0
"""STL files, binary and text."""

from __future__ import annotations

from pathlib import Path
import re
from typing import List, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.bounded_files import read_bytes
from rbd_ros.meshes.triangles import (
    MAX_FILE_SIZE,
    Triangles,
)

_FACET = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attribute', '<u2')])

# The word and the three that follow, or as many as there are.
_VERTEX = re.compile(rb'(?<!\S)vertex(?!\S)(?:\s+(\S+))?(?:\s+(\S+))?(?:\s+(\S+))?', re.IGNORECASE)

#: Vertices of a text whose words are in memory at a time.
_AT_ONCE = 100_000


def read_stl(path: Path) -> List[Triangles]:
    """Return the triangles of a file, each with three vertices of its own.

    :raises ValueError: if the file is damaged
    """
    data = read_bytes(path, MAX_FILE_SIZE)
    # A binary file is 80 bytes of anything, the number of facets, and 50 bytes for each of these.
    count = int.from_bytes(data[80:84], 'little') if len(data) >= 84 else 0
    # Binary files may begin with "solid" too; their length gives them away.
    if data[:256].lstrip()[:5].lower() == b'solid' and len(data) != 84 + 50 * count:
        vertices = _vertices_of_text(data)
    elif len(data) < 84 + 50 * count or len(data) < 84:
        raise ValueError('it is neither a text STL file nor a complete binary one')
    else:
        facets = np.frombuffer(data, _FACET, count, 84)
        vertices = facets['corners'].reshape(-1, 3).astype(float)
    corners = np.arange(len(vertices)).reshape(-1, 3)
    return [Triangles(vertices, corners)]


def _vertices_of_text(data: bytes) -> FloatArray:
    parts: List[FloatArray] = [np.empty((0, 3))]
    lines: List[Tuple[bytes, ...]] = []
    for found in _VERTEX.finditer(data):
        lines.append(found.groups(b''))
        if len(lines) == _AT_ONCE:
            parts.append(np.array(lines, dtype=float).reshape(-1, 3))
            lines = []
    if lines:
        parts.append(np.array(lines, dtype=float).reshape(-1, 3))
    return np.concatenate(parts)
