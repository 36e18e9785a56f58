"""Vertices of mesh files: STL and OBJ by our own readers, others by coal where it is there."""

from __future__ import annotations

from pathlib import Path
from typing import List, Sequence, Set

import numpy as np

from rbd_ros.contact.arrays import FloatArray

#: Maximum size of a mesh file: reading takes several times its size of memory [bytes].
MAX_FILE_SIZE = 500_000_000


class MeshError(ValueError):
    """A mesh that cannot be read; the message says why and what to do."""


def mesh_vertices(path: str, scale: Sequence[float] = (1.0, 1.0, 1.0)) -> FloatArray:
    """Vertices of a mesh, scaled, (N, 3) [m].

    :param path: file in STL (binary or text), OBJ, or a format that coal reads, such as DAE
    :param scale: factors along x, y, z, (3,)
    :raises MeshError: if the file cannot be read or holds no finite vertices
    """
    readers = {'.stl': _read_stl, '.obj': _read_obj}
    try:
        if Path(path).stat().st_size > MAX_FILE_SIZE:
            raise MeshError(f'{path} has more than {MAX_FILE_SIZE} bytes')
        read = readers.get(Path(path).suffix.lower(), _read_with_coal)
        factors = np.asarray(scale, dtype=float)
        vertices: FloatArray = np.asarray(read(path), dtype=float).reshape(-1, 3) * factors
    except OSError as error:
        raise MeshError(f'{path} cannot be read: {error.strerror or error}') from error
    except (ValueError, IndexError) as error:
        if isinstance(error, MeshError):  # a ValueError that says already what is wrong
            raise
        raise MeshError(f'{path} is damaged: {error}') from error
    if not len(vertices) or not np.isfinite(vertices).all():
        raise MeshError(
            f'{path} holds {"vertices that are not finite" if len(vertices) else "no vertices"}'
        )
    return vertices


def _read_stl(path: str) -> FloatArray:
    data = Path(path).read_bytes()
    # A binary file is 80 bytes of anything, the number of facets, and 50 bytes for each of these.
    count = int.from_bytes(data[80:84], 'little') if len(data) >= 84 else 0
    # Binary files may begin with "solid" too; their length gives them away.
    text = data.lstrip()[:5].lower() == b'solid' and len(data) != 84 + 50 * count
    if text:
        words = data.split()
        corners = [
            words[k + 1 : k + 4] for k, word in enumerate(words) if word.lower() == b'vertex'
        ]
        return np.array(corners, dtype=float)
    if len(data) < 84 + 50 * count:
        raise MeshError(f'{path} is neither a text STL file nor a whole binary one')
    facet = np.dtype([('normal', '<f4', 3), ('vertices', '<f4', (3, 3)), ('attribute', '<u2')])
    # Only the vertices: a hull needs no normals.
    return (
        np.frombuffer(data, facet, count, 84)['vertices'].reshape(-1, 3)
        if count
        else np.empty((0, 3))
    )


def _read_obj(path: str) -> FloatArray:
    vertices: List[List[float]] = []
    used: Set[int] = set()
    for line in Path(path).read_bytes().splitlines():
        words = line.split()
        if words[:1] == [b'v']:
            vertices.append([float(x) for x in words[1:4]])
        elif words[:1] == [b'f']:
            # Numbers count from 1; negative ones from the end of what has been read so far.
            corners = [int(word.split(b'/')[0]) for word in words[1:]]
            used.update(k - 1 if k > 0 else len(vertices) + k for k in corners)
    # Vertices that no face uses, as construction points of a drawing, are not of the surface.
    return np.array([vertices[k] for k in sorted(used)] if used else vertices)


def _read_with_coal(path: str) -> FloatArray:
    try:
        import coal
    except ImportError:
        raise MeshError(
            f"{path}: this format needs coal (pip install 'rbd_ros[collision]'); or use STL or OBJ"
        ) from None
    try:
        return np.array(coal.MeshLoader().load(str(path), np.ones(3)).vertices())
    except Exception as error:  # coal raises errors of many kinds
        raise MeshError(f'{path} cannot be read by coal: {error}') from error
