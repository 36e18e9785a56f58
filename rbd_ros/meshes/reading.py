# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reading of mesh files: STL, OBJ and COLLADA by our own readers, glTF and PLY by trimesh."""

from __future__ import annotations

from array import array
from dataclasses import replace
from functools import partial
from pathlib import Path
import re
from typing import Dict, List, Sequence, Set, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.bounded_files import FileRejectedError, open_regular, read_bytes
from rbd_ros.meshes.collada import read_collada
from rbd_ros.meshes.gltf import read_gltf
from rbd_ros.meshes.library import read_ply
from rbd_ros.meshes.triangles import (
    MAX_FILE_SIZE,
    MAX_PARTS,
    MeshError,
    Triangles,
)
from rbd_ros.model.geometry import Color

_FACET = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attribute', '<u2')])

# The word and up to three following ones.
_VERTEX = re.compile(rb'(?<!\S)vertex(?!\S)(?:\s+(\S+))?(?:\s+(\S+))?(?:\s+(\S+))?', re.IGNORECASE)

#: Number of vertices of a text that are split into words at a time.
_AT_ONCE = 100_000


def read_stl(path: Path) -> List[Triangles]:
    """Return the triangles of a file, each with three separate vertices.

    :raises ValueError: if the file is damaged
    """
    data = read_bytes(path, MAX_FILE_SIZE)
    # A binary file has 80 arbitrary bytes, the number of facets, and 50 bytes for each facet.
    count = int.from_bytes(data[80:84], 'little') if len(data) >= 84 else 0
    # Binary files may begin with "solid" too; their length distinguishes them.
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


#: Maximum length of a line [bytes].
MAX_LINE = 1 << 20
#: Maximum size of a material library [bytes], and number of libraries of a file.
MAX_LIBRARY_SIZE = 16 << 20
MAX_LIBRARIES = 64


def read_obj(path: Path) -> List[Triangles]:
    """Return the triangles of a file by material; only vertices if it has no faces.

    :raises ValueError: if the file is damaged
    :raises OSError: if it cannot be read, or a material library is not a regular file
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
                # Indices count from 1; negative ones from the end of the data read so far.
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
    """Return the diffuse colors of a material library; none if it is missing, as often.

    :raises FileRejectedError: if it is not a regular file, or too large
    """
    colors: Dict[str, Color] = {}
    name = ''
    try:
        lines = read_bytes(path, MAX_LIBRARY_SIZE).splitlines()
    except FileRejectedError:
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


#: Maximum coordinate of a vertex, in the unit of the file: a thousand kilometers in mm. Products
#: of larger lengths would overflow.
MAX_COORDINATE = 1e9

_READERS = {
    '.stl': read_stl,
    '.obj': read_obj,
    '.dae': read_collada,
    '.glb': read_gltf,
    '.gltf': read_gltf,
    '.ply': read_ply,
}


def read_mesh(path: str) -> Tuple[Triangles, ...]:
    """Return the parts of a mesh, one per color, in the file's unit, or in m if it has one.

    Vertices at the same position are merged, and each belongs to a triangle. Corners are in the
    order of the file, usually counterclockwise from outside.

    :param path: file in STL (binary or text), OBJ, COLLADA (DAE), or, if trimesh is installed,
        glTF 2.0 (GLB, glTF) or PLY
    :raises MeshError: if the file cannot be read or has no finite triangles

    >>> from rbd_ros.meshes import read_mesh
    >>> read_mesh('no_such_file.stl')
    Traceback (most recent call last):
        ...
    rbd_ros.meshes.triangles.MeshError: no_such_file.stl cannot be read: No such file ...
    """
    parts = [_merged(part) for part in _parts(path) if len(part.corners)]
    if not parts:
        raise MeshError(f'{path} holds no triangles; export it again')
    return tuple(parts)


def mesh_triangles(path: str, scale: Sequence[float] = (1.0, 1.0, 1.0)) -> FloatArray:
    """Return the corners of the triangles of a mesh, scaled, (T, 3, 3) [m].

    Corners are counterclockwise from outside, also if a negative factor mirrors the mesh.

    :param path: file of a format of `read_mesh`
    :param scale: factors along x, y, z, (3,)
    :raises MeshError: if the file cannot be read or has no finite triangles

    >>> from rbd_ros.meshes import mesh_triangles
    >>> lines = 'v 0 0 0', 'v 1 0 0', 'v 0 1 0', 'f 1 2 3'
    >>> with open('triangle.obj', 'w') as file:
    ...     print(*lines, sep=chr(10), file=file)
    >>> mesh_triangles('triangle.obj', scale=(0.1, 0.1, 0.1))[0]
    array([[0. , 0. , 0. ],
           [0.1, 0. , 0. ],
           [0. , 0.1, 0. ]])
    """
    factors = np.asarray(scale, dtype=float)
    corners = [part.vertices[part.corners] for part in _parts(path)]
    triangles: FloatArray = np.concatenate(corners) * factors
    if not len(triangles):
        raise MeshError(f'{path} holds no triangles; export it again')
    return triangles[:, ::-1] if np.prod(np.sign(factors)) < 0.0 else triangles


def mesh_vertices(path: str, scale: Sequence[float] = (1.0, 1.0, 1.0)) -> FloatArray:
    """Return the scaled vertices of a mesh's triangles, (N, 3) [m]; all of a file without faces.

    Vertices may be repeated.

    :param path: file of a format of `read_mesh`
    :param scale: factors along x, y, z, (3,)
    :raises MeshError: if the file cannot be read or has no finite vertices

    >>> from rbd_ros.meshes import mesh_vertices
    >>> with open('corners.obj', 'w') as file:
    ...     print('v 0 0 0', 'v 1 0 0', 'v 0 1 0', 'v 0 0 1', sep=chr(10), file=file)
    >>> mesh_vertices('corners.obj').shape
    (4, 3)
    """
    parts = _parts(path)
    found = [_used(part) for part in parts if len(part.corners)]
    vertices: FloatArray = np.concatenate(found or [part.vertices for part in parts])
    vertices = vertices * np.asarray(scale, dtype=float)
    if not len(vertices):
        raise MeshError(f'{path} holds no vertices; export it again')
    return vertices


def _parts(path: str) -> List[Triangles]:
    """Return the parts of the file, at least one, checked."""
    read = _READERS.get(Path(path).suffix.lower())
    if read is None:
        raise MeshError(
            f'{path}: this format is not supported; use STL, OBJ, DAE, GLB, glTF or PLY'
        )
    try:
        parts = read(Path(path))
        for part in parts:
            if ((part.corners < 0) | (part.corners >= len(part.vertices))).any():
                raise ValueError('a face names a vertex that does not exist')
    except MeshError:
        raise
    except FileRejectedError as error:
        named = '' if str(error.filename) == path else f'{path} names a file that cannot be read: '
        raise MeshError(f'{named}{error}') from error
    except OSError as error:
        what = path
        if error.filename is not None and str(error.filename) != path:
            what = f'{path}: its file {error.filename}'
        raise MeshError(
            f'{what} cannot be read: {error.strerror or error}; check the file'
        ) from error
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        raise MeshError(f'{path} is damaged ({error}); export it again') from error
    used = [part.vertices[part.corners] if len(part.corners) else part.vertices for part in parts]
    if not all(np.isfinite(each).all() for each in used):
        raise MeshError(f'{path} holds vertices that are not finite; export it again')
    if any(np.abs(each).max(initial=0.0) > MAX_COORDINATE for each in used):
        raise MeshError(
            f'{path} holds vertices more than {MAX_COORDINATE:g} from its origin; export it again'
        )
    return parts or [Triangles(np.empty((0, 3)), np.empty((0, 3), dtype=np.int64))]


def _used(part: Triangles) -> FloatArray:
    """Return the vertices of triangles, without construction points of a drawing."""
    used = np.zeros(len(part.vertices), dtype=bool)
    used[part.corners] = True
    vertices: FloatArray = part.vertices[used]
    return vertices


def _merged(part: Triangles) -> Triangles:
    """Merge vertices at the same position."""
    used, corners = np.unique(part.corners, return_inverse=True)
    vertices, places = np.unique(part.vertices[used], axis=0, return_inverse=True)
    merged = places.reshape(-1)[corners.reshape(-1)].reshape(-1, 3)
    return replace(part, vertices=vertices, corners=merged)
