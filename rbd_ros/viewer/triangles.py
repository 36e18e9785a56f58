"""Triangles of mesh files for drawing, and fewer of them where there are too many.

Numbers of triangles do not matter to contact, which takes the vertices alone (contact/mesh.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Dict, List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.contact.mesh import MAX_FILE_SIZE, MeshError
from rbd_ros.model.geometry import Colour
from rbd_ros.viewer.collada import read_collada

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Triangles:
    """Triangles of one colour.

    :param vertices: (N, 3) [m]
    :param corners: three indices of vertices for each triangle, (M, 3)
    :param colour: colour that the file gives, None if none
    """

    vertices: FloatArray
    corners: IntArray
    colour: Optional[Colour] = None


def read_triangles(path: str) -> Tuple[Triangles, ...]:
    """Triangles of an STL, OBJ or COLLADA (DAE) file, in its own unit, or m where it says which.

    :raises MeshError: if the file cannot be read or holds no triangles
    """
    readers = {'.stl': _read_stl, '.obj': _read_obj, '.dae': _read_dae}
    suffix = Path(path).suffix.lower()
    if suffix not in readers:
        raise MeshError(f'{path}: {suffix or "no suffix"} is not drawn; use STL, OBJ or DAE')
    try:
        if Path(path).stat().st_size > MAX_FILE_SIZE:
            raise MeshError(f'{path} has more than {MAX_FILE_SIZE} bytes')
        parts = [_merged(part) for part in readers[suffix](Path(path))]
    except OSError as error:
        raise MeshError(f'{path} cannot be read: {error.strerror or error}') from error
    except (ValueError, IndexError, KeyError) as error:
        if isinstance(error, MeshError):
            raise
        raise MeshError(f'{path} is damaged: {error}') from error
    parts = [part for part in parts if len(part.corners)]
    if not parts:
        raise MeshError(f'{path} holds no triangles')
    if not all(np.isfinite(part.vertices).all() for part in parts):
        raise MeshError(f'{path} holds vertices that are not finite')
    return tuple(parts)


def simplified(part: Triangles, most: int) -> Triangles:
    """A surface of at most `most` triangles: vertices of one cell of a grid become their mean.

    The grid is the finest that will do. What is thinner than its cells may vanish.
    """
    if len(part.corners) <= most:
        return part
    low = part.vertices.min(axis=0)
    extent = float((part.vertices.max(axis=0) - low).max())
    coarse, fine = 1, 4096
    best = _clustered(part, low, extent)
    while fine - coarse > max(1, coarse // 20):
        cells = (coarse + fine) // 2
        found = _clustered(part, low, extent / cells)
        if len(found.corners) <= most:
            coarse, best = cells, found
        else:
            fine = cells
    return best


def _clustered(part: Triangles, low: FloatArray, size: float) -> Triangles:
    cells = np.floor((part.vertices - low) / size).astype(np.int64)
    key = (cells[:, 0] << 42) + (cells[:, 1] << 21) + cells[:, 2]
    _, group, count = np.unique(key, return_inverse=True, return_counts=True)
    group = group.reshape(-1)  # of another shape in one version of NumPy
    sums = [np.bincount(group, part.vertices[:, k], len(count)) for k in range(3)]
    return _without_slivers(np.stack(sums, axis=1) / count[:, None], group[part.corners], part)


def _without_slivers(vertices: FloatArray, corners: IntArray, part: Triangles) -> Triangles:
    """Without triangles that have become lines or points, and those that are there already."""
    a, b, c = corners.T
    corners = corners[(a != b) & (b != c) & (c != a)]
    _, first = np.unique(np.sort(corners, axis=1), axis=0, return_index=True)
    return replace(part, vertices=vertices, corners=corners[np.sort(first)])


def _merged(part: Triangles) -> Triangles:
    """Vertices at one place become one, so that files hold them once."""
    if not len(part.corners):
        return part
    if part.corners.min() < 0 or part.corners.max() >= len(part.vertices):
        raise ValueError('a triangle has a vertex that is not there')
    used, corners = np.unique(part.corners, return_inverse=True)
    vertices, places = np.unique(part.vertices[used], axis=0, return_inverse=True)
    return replace(part, vertices=vertices, corners=places.reshape(-1)[corners].reshape(-1, 3))


def _read_stl(path: Path) -> List[Triangles]:
    data = path.read_bytes()
    count = int.from_bytes(data[80:84], 'little') if len(data) >= 84 else 0
    # Binary files may begin with "solid" too; their length gives them away.
    if data.lstrip()[:5].lower() == b'solid' and len(data) != 84 + 50 * count:
        words = data.split()
        corners = [words[k + 1 : k + 4] for k, w in enumerate(words) if w.lower() == b'vertex']
        vertices = np.array(corners, dtype=float).reshape(-1, 3)
    elif len(data) < 84 + 50 * count:
        raise MeshError(f'{path} is neither a text STL file nor a whole binary one')
    else:
        facet = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('more', '<u2')])
        facets = np.frombuffer(data, facet, count, 84)
        vertices = facets['corners'].reshape(-1, 3).astype(float)
    return [Triangles(vertices, np.arange(len(vertices)).reshape(-1, 3))]


def _read_obj(path: Path) -> List[Triangles]:
    vertices: List[List[float]] = []
    parts: Dict[str, List[Tuple[int, int, int]]] = {}
    colours: Dict[str, Colour] = {}
    material = ''
    for line in path.read_bytes().splitlines():
        words = line.split()
        if words[:1] == [b'v']:
            vertices.append([float(x) for x in words[1:4]])
        elif words[:1] == [b'f']:
            # Numbers count from 1; negative ones from the end of what has been read so far.
            ring = [int(word.split(b'/')[0]) for word in words[1:]]
            ring = [k - 1 if k > 0 else len(vertices) + k for k in ring]
            triangles = parts.setdefault(material, [])
            triangles.extend((ring[0], ring[k], ring[k + 1]) for k in range(1, len(ring) - 1))
        elif words[:1] == [b'usemtl'] and len(words) > 1:
            material = words[1].decode(errors='replace')
        elif words[:1] == [b'mtllib'] and len(words) > 1:
            library = line.split(None, 1)[1].decode(errors='replace').strip()
            colours.update(_obj_colours(path.parent / library))
    array = np.array(vertices, dtype=float).reshape(-1, 3)
    return [
        Triangles(array, np.array(corners, dtype=np.int64).reshape(-1, 3), colours.get(name))
        for name, corners in parts.items()
    ]


def _obj_colours(path: Path) -> Dict[str, Colour]:
    """Diffuse colours of a material library; none where it is missing, as many are."""
    colours: Dict[str, Colour] = {}
    name = ''
    try:
        lines = path.read_bytes().splitlines()
    except (OSError, ValueError):
        return colours
    for line in lines:
        words = line.split()
        if words[:1] == [b'newmtl'] and len(words) > 1:
            name = words[1].decode(errors='replace')
        elif words[:1] == [b'Kd'] and len(words) == 4:
            try:
                r, g, b = (min(max(float(x), 0.0), 1.0) for x in words[1:])
            except ValueError:
                continue
            colours[name] = (r, g, b, 1.0)
    return colours


def _read_dae(path: Path) -> List[Triangles]:
    return [Triangles(*part) for part in read_collada(path)]
