"""Triangles of mesh files and of convex hulls.

STL and OBJ have readers of our own, others are read by coal where it is there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, List, Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Maximum size of a mesh file: reading takes several times its size of memory [bytes].
MAX_FILE_SIZE = 500_000_000


class MeshError(ValueError):
    """A mesh that cannot be used; the message names it, says why and what to do."""


def mesh_triangles(path: str, scale: Sequence[float] = (1.0, 1.0, 1.0)) -> FloatArray:
    """Corners of the triangles of a mesh, scaled, (T, 3, 3) [m]: triangle, corner, coordinate.

    Seen from outside, corners run anticlockwise, also where a negative factor mirrors the mesh.

    :param path: file in STL (binary or text), OBJ, or a format that coal reads, such as DAE
    :param scale: factors along x, y, z, (3,)
    :raises MeshError: if the file cannot be read or holds no finite triangles

    >>> from rbd_ros.collision.mesh_triangles import mesh_triangles
    >>> mesh_triangles('no_such_file.stl')
    Traceback (most recent call last):
        ...
    rbd_ros.collision.mesh_triangles.MeshError: no_such_file.stl cannot be read: No such file ...
    """
    readers = {'.stl': _read_stl, '.obj': _read_obj}
    try:
        if Path(path).stat().st_size > MAX_FILE_SIZE:
            raise MeshError(f'{path} has more than {MAX_FILE_SIZE} bytes; give a coarser mesh')
        read = readers.get(Path(path).suffix.lower(), _read_with_coal)
        factors = np.asarray(scale, dtype=float)
        triangles: FloatArray = np.asarray(read(path), dtype=float).reshape(-1, 3, 3) * factors
    except OSError as error:
        raise MeshError(
            f'{path} cannot be read: {error.strerror or error}; check the file'
        ) from error
    except MeshError:
        raise
    except (ValueError, IndexError) as error:
        raise MeshError(f'{path} is damaged ({error}); export it again') from error
    if not len(triangles) or not np.isfinite(triangles).all():
        lacks = 'vertices that are not finite' if len(triangles) else 'no triangles'
        raise MeshError(f'{path} holds {lacks}; export it again')
    if np.prod(np.sign(factors)) < 0.0:
        triangles = triangles[:, ::-1]
    return triangles


def is_closed(triangles: FloatArray) -> bool:
    """Whether triangles enclose a solid: each edge is passed once in each direction.

    :param triangles: corners, (T, 3, 3) [m]; those at the same place are one

    >>> from rbd_ros.collision.mesh_triangles import is_closed
    >>> is_closed(np.eye(3)[None])  # one triangle
    False
    """
    _, index = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    corners = np.asarray(index).reshape(-1, 3)
    whole = (
        (corners[:, 0] != corners[:, 1])
        & (corners[:, 1] != corners[:, 2])
        & (corners[:, 2] != corners[:, 0])
    )
    corners = corners[whole]  # a triangle with two corners alike is a line
    edges = np.concatenate([corners[:, [k, (k + 1) % 3]] for k in range(3)])
    forth, times = np.unique(edges, axis=0, return_counts=True)
    back, times_back = np.unique(edges[:, ::-1], axis=0, return_counts=True)
    return bool(len(edges) and np.array_equal(forth, back) and np.array_equal(times, times_back))


def hull_triangles(points: FloatArray) -> FloatArray:
    """Triangles of the convex hull of points, anticlockwise from outside, (T, 3, 3) [m].

    :param points: (N, 3) [m]
    :raises MeshError: if all points lie in a plane

    >>> from rbd_ros.collision.mesh_triangles import hull_triangles
    >>> hull_triangles(np.vstack([np.zeros(3), 0.1 * np.ones(3), np.eye(3)])).shape
    (4, 3, 3)
    """
    from scipy.spatial import ConvexHull, QhullError

    points = np.unique(points.reshape(-1, 3), axis=0)
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        raise MeshError('its points enclose no volume; give a mesh of a solid') from None
    triangles: FloatArray = points[hull.simplices]
    outward = hull.equations[:, :3]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    inside_out = np.einsum('ij,ij->i', normals, outward) < 0.0
    triangles[inside_out] = triangles[inside_out][:, ::-1]
    return triangles


def _read_stl(path: str) -> Any:
    data = Path(path).read_bytes()
    # A binary file is 80 bytes of anything, the number of facets, and 50 bytes for each of these.
    count = int.from_bytes(data[80:84], 'little') if len(data) >= 84 else 0
    # Binary files may begin with "solid" too; their length gives them away.
    if data.lstrip()[:5].lower() == b'solid' and len(data) != 84 + 50 * count:
        words = data.split()
        return [words[k + 1 : k + 4] for k, word in enumerate(words) if word.lower() == b'vertex']
    if len(data) < 84 + 50 * count:
        raise MeshError(
            f'{path} is neither a text STL file nor a whole binary one; export it again'
        )
    facet = np.dtype([('normal', '<f4', 3), ('vertices', '<f4', (3, 3)), ('attribute', '<u2')])
    return np.frombuffer(data, facet, count, 84)['vertices'] if count else np.empty((0, 3, 3))


def _read_obj(path: str) -> Any:
    vertices: List[List[float]] = []
    faces: List[List[int]] = []
    for line in Path(path).read_bytes().splitlines():
        words = line.split()
        if words[:1] == [b'v']:
            if len(words) < 4:
                raise MeshError(f'{path} is damaged (a vertex has no z); export it again')
            vertices.append([float(x) for x in words[1:4]])
        elif words[:1] == [b'f']:
            # Numbers count from 1; negative ones from the end of what has been read so far.
            corners = [int(word.split(b'/')[0]) for word in words[1:]]
            corners = [k - 1 if k > 0 else len(vertices) + k for k in corners]
            # A polygon is a fan of triangles.
            faces.extend([corners[0], *pair] for pair in zip(corners[1:], corners[2:]))
    if any(not 0 <= k < len(vertices) for face in faces for k in face):
        raise MeshError(f'{path} is damaged (a face names no vertex); export it again')
    return np.array(vertices)[np.array(faces)] if faces else np.empty((0, 3, 3))


def _read_with_coal(path: str) -> Any:
    try:
        import coal
    except ImportError:
        raise MeshError(
            f"{path}: this format needs coal (pip install 'rbd_ros[collision]'); or use STL or OBJ"
        ) from None
    try:
        mesh = coal.MeshLoader().load(str(path), np.ones(3))
        vertices = np.array(mesh.vertices())
        count = mesh.num_tris
        faces = [[int(mesh.tri_indices(k)[c]) for c in range(3)] for k in range(count)]
    except Exception as error:  # coal raises errors of many kinds
        raise MeshError(f'{path} cannot be read by coal ({error}); use STL or OBJ') from error
    return vertices[np.array(faces, dtype=int)] if faces else np.empty((0, 3, 3))
