# SPDX-License-Identifier: Apache-2.0
"""OBJ files, with the colors of their material libraries."""

from __future__ import annotations

from array import array
from functools import partial
from pathlib import Path
from typing import Dict, List, Set

import numpy as np

from rbd_ros.bounded_files import FileRefusedError, open_regular, read_bytes
from rbd_ros.meshes.triangles import MAX_FILE_SIZE, MAX_PARTS, Triangles
from rbd_ros.model.geometry import Color

#: Maximum length of a line [bytes].
MAX_LINE = 1 << 20
#: Maximum size of a material library [bytes], and number of libraries of a file.
MAX_LIBRARY_SIZE = 16 << 20
MAX_LIBRARIES = 64


def read_obj(path: Path) -> List[Triangles]:
    """Return the triangles of a file by material; vertices alone if it has no faces.

    :raises ValueError: if the file is damaged
    :raises OSError: if it cannot be read, or a material library is no regular file
    """
    # Arrays of numbers take a fifth of the memory of lists.
    coordinates = array('d')
    parts: Dict[str, array[int]] = {}
    colors: Dict[str, Color] = {}
    material = ''
    libraries: Set[str] = set()
    with open_regular(path, MAX_FILE_SIZE) as file:
        for line in iter(partial(file.readline, MAX_LINE), b''):
            if len(line) == MAX_LINE:
                raise ValueError(f'it has a line of {MAX_LINE} bytes or more')
            words = line.split()
            if words[:1] == [b'v']:
                if len(words) < 4:
                    raise ValueError('a vertex has no z')
                coordinates.extend([float(x) for x in words[1:4]])
            elif words[:1] == [b'f']:
                # Numbers count from 1; negative ones from the end of what has been read so far.
                ring = [int(word.partition(b'/')[0]) for word in words[1:]]
                ring = [k - 1 if k > 0 else len(coordinates) // 3 + k for k in ring]
                triangles = parts.setdefault(material, array('q'))
                if len(parts) > MAX_PARTS:
                    raise ValueError(f'it has faces of more than {MAX_PARTS} materials')
                # A polygon is a fan of triangles.
                for k in range(1, len(ring) - 1):
                    triangles.extend((ring[0], ring[k], ring[k + 1]))
            elif words[:1] == [b'usemtl'] and len(words) > 1:
                material = words[1].decode(errors='replace')
            elif words[:1] == [b'mtllib'] and len(words) > 1:
                library = line.split(None, 1)[1].decode(errors='replace').strip()
                if library not in libraries and len(libraries) < MAX_LIBRARIES:
                    colors.update(_colors(path.parent / library))
                libraries.add(library)
    vertices = np.array(coordinates, dtype=float).reshape(-1, 3)
    return [
        Triangles(vertices, np.array(corners, dtype=np.int64).reshape(-1, 3), colors.get(name))
        for name, corners in (parts or {'': array('q')}).items()
    ]


def _colors(path: Path) -> Dict[str, Color]:
    """Return the diffuse colors of a material library; none where it is missing, as many are.

    :raises FileRefusedError: if it is no regular file, or too large
    """
    colors: Dict[str, Color] = {}
    name = ''
    try:
        lines = read_bytes(path, MAX_LIBRARY_SIZE).splitlines()
    except FileRefusedError:
        raise
    except (OSError, ValueError):
        return colors
    for line in lines:
        words = line.split()
        if words[:1] == [b'newmtl'] and len(words) > 1:
            name = words[1].decode(errors='replace')
        elif words[:1] == [b'Kd'] and len(words) == 4:
            try:
                r, g, b = (min(max(float(x), 0.0), 1.0) for x in words[1:])
            except ValueError:
                continue
            colors[name] = (r, g, b, 1.0)
    return colors
