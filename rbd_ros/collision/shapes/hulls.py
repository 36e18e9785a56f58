# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Convex hulls: their vertices, edges and faces, for compiled loops."""

from __future__ import annotations

from collections import defaultdict
import hashlib
from typing import Any, Dict, List, NamedTuple, Sequence, Set, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.collision.arrays import (
    NO_TABLES,
    Tables,
)
from rbd_ros.compiler.loops import allocate

#: Maximum number of vertices of a hull, and of corners of one of its faces.
MAX_VERTICES, MAX_CORNERS = 256, 32

#: Number of points above which only those farthest along `DIRECTIONS` directions count: the hull
#: of all would take seconds.
MANY, DIRECTIONS = 20_000, 320

#: Triangles belong to one face if their normals differ by less than this angle [rad], and their
#: vertices are within this distance of its plane, relative to the size of the hull.
_COPLANAR, _IN_PLANE = 1e-4, 1e-6

#: Minimum extent in the thinnest direction of a volume, relative to the widest.
_THINNEST = 1e-9

#: Maximum number of cached hulls.
_KEPT = 256


class Hull(NamedTuple):
    """A convex hull.

    :param vertices: its vertices, read-only, (N, 3) [m]
    :param notice: omitted parts, '' if there are none
    :param lost: resulting decrease of its extent [m]
    :param tables: its vertices, edges and faces
    """

    vertices: FloatArray
    notice: str
    lost: float
    tables: Tables


_kept: Dict[Tuple[int, bytes], Hull] = {}


def hull_of(points: FloatArray) -> Hull:
    """Return the convex hull of points.

    Some are cached: a robot has the same meshes in its simulation and for its distances.

    :param points: (N, 3) [m]
    :raises ValueError: if the points are not finite or enclose no volume
    """
    points = np.asarray(points, dtype=float)
    key = len(points), hashlib.sha256(points.tobytes()).digest()
    hull = _kept.get(key)
    if hull is None or points.ndim != 2:
        vertices, notice, lost = hull_vertices(points)
        vertices.flags.writeable = False
        hull = Hull(vertices, notice, lost, hull_tables(vertices))
        if len(_kept) >= _KEPT:
            _kept.clear()
        _kept[key] = hull
    return hull


def hull_vertices(points: FloatArray) -> Tuple[FloatArray, str, float]:
    """Return the vertices of the convex hull of points, thinned evenly if there are too many.

    :param points: (N, 3) [m]
    :return: vertices, (M, 3) [m], omitted parts, '' if there are none, and the resulting decrease
        of the hull's extent [m]
    :raises ValueError: if the points are not finite or enclose no volume
    """
    points = np.asarray(points, dtype=float)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f'vertices of a hull must have shape (N, 3), got {points.shape}')
    if not np.isfinite(points).all():
        raise ValueError('vertices of a hull must be finite')
    if len(points) > MANY:
        points = points[_farthest(points)]
    # Meshes repeat each vertex for every triangle that has it.
    points = np.unique(points, axis=0)
    # Singular values: extents along the principal axes, for any orientation.
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) if len(points) else [0]
    if len(points) < 4 or not spread[2] > _THINNEST * spread[0]:
        flat = len(points) > 2 and spread[1] > _THINNEST * spread[0]
        shape = 'in a plane' if flat else 'in line'
        raise ValueError(
            f'vertices of a hull enclose no volume ({len(points)} different ones, '
            f'{shape if len(points) > 1 else "at one place"}); give a solid, or a thin box'
        )
    vertices = _extreme(points)
    if len(vertices) <= MAX_VERTICES:
        return vertices, '', 0.0
    chosen = _spread(vertices, MAX_VERTICES)
    lost = _shrinkage(vertices, vertices[chosen])
    notice = (
        f'its convex hull has {len(vertices)} vertices, more than the limit of {MAX_VERTICES}; '
        f'the simplified hull is smaller by up to {1e3 * lost:.2g} mm'
    )
    return _extreme(vertices[chosen]), notice, lost


def hull_tables(vertices: FloatArray) -> Tables:
    """Return the tables of one hull.

    :param vertices: its vertices, all of them extreme points, (N, 3) [m]
    """
    # Quickhull (Barber, Dobkin and Huhdanpaa 1996), in triangles.
    hull = _qhull(vertices)
    triangles = _outward(vertices, hull.simplices, hull.equations[:, :3])
    faces, planes = _faces(vertices, triangles, hull.neighbors, hull.equations)
    neighbors: Dict[int, Set[int]] = defaultdict(set)
    for a, b, c in triangles.tolist():
        neighbors[a] |= {b, c}
        neighbors[b] |= {a, c}
        neighbors[c] |= {a, b}
    faces_at: Dict[int, List[int]] = defaultdict(list)
    for number, ring in enumerate(faces):
        for v in ring:
            faces_at[v].append(number)
    # A vertex within a face, by its tolerance, belongs to that face.
    owner = {v: number for number, group in enumerate(planes[1]) for v in group}
    around: List[List[int]] = []
    edges: List[int] = []
    incidences: List[int] = []
    for v in range(len(vertices)):
        here = faces_at[v] or [owner[v]]
        around.append([len(edges), len(neighbors[v]), len(incidences), len(here)])
        edges += sorted(neighbors[v])
        incidences += here
    ring_table: List[List[int]] = []
    corners: List[int] = []
    for ring in faces:
        # Buffers of manifolds have this size; omitted corners are between others of a round face.
        if len(ring) > MAX_CORNERS:
            ring = [ring[k] for k in np.linspace(0, len(ring), MAX_CORNERS, False).astype(int)]
        ring_table.append([len(corners), len(ring)])
        corners += ring
    return empty_tables()._replace(
        hull=_integers([[0, len(vertices), 0]]),
        vertex=np.array(vertices, dtype=float),
        around=_integers(around),
        neighbor=_integers(edges),
        face_at=_integers(incidences),
        face=np.array(planes[0], dtype=float),
        ring=_integers(ring_table),
        corner=_integers(corners),
    )


def empty_tables() -> Tables:
    """Return empty tables.

    >>> from rbd_ros.collision.shapes.hulls import empty_tables
    >>> len(empty_tables().hull)
    0
    """
    return join_tables([])


def join_tables(parts: Sequence[Tables]) -> Tables:
    """Return the tables of several shapes, numbered in their order, each kind from 0.

    :param parts: tables of the shapes

    >>> from rbd_ros.collision import ConvexHull
    >>> from rbd_ros.collision.shapes.hulls import join_tables
    >>> corner = ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> join_tables([corner.tables, corner.tables]).hull
    array([[0, 4, 0],
           [4, 4, 4]])
    """
    empty = allocate(Tables, **NO_TABLES)
    whole: Dict[str, Any] = {}
    arrays = [name for name, value in zip(Tables._fields, empty) if isinstance(value, np.ndarray)]
    for name in arrays:
        rows = [getattr(empty, name)]
        done = dict.fromkeys(arrays, 0)
        for part in parts:
            shift = [done[each] if each else 0 for each in _NUMBERS.get(name, ())]
            array = getattr(part, name)
            # Negative numbers mean none.
            rows.append(np.where(array >= 0, array + np.array(shift), array) if shift else array)
            for each in arrays:
                done[each] += len(getattr(part, each))
        whole[name] = np.ascontiguousarray(np.concatenate(rows))
    return Tables(**whole)


#: Columns of tables that are indices into others.
_NUMBERS = {
    'hull': ('vertex', '', 'face'),
    'around': ('neighbor', '', 'face_at', ''),
    'face_at': ('face',),
    'ring': ('corner', ''),
    'mesh': ('node', '', 'triangle', '', 'hull'),
    'field': ('height', '', ''),
}


def _integers(rows: Sequence[object]) -> IntArray:
    return np.array(rows, dtype=np.int64)


def _qhull(points: FloatArray):  # type: ignore[no-untyped-def]
    from scipy.spatial import ConvexHull, QhullError

    try:
        return ConvexHull(points)
    except QhullError:
        raise ValueError('vertices of a hull enclose no volume; give a solid') from None


def _extreme(points: FloatArray) -> FloatArray:
    """Return the vertices of the hull of points that are vertices of their own hull too."""
    while True:
        vertices: FloatArray = points[np.sort(_qhull(points).vertices)]
        if len(vertices) == len(points):
            return vertices
        points = vertices


def _outward(vertices: FloatArray, triangles: IntArray, normals: FloatArray) -> IntArray:
    """Return the triangles with corners counterclockwise from outside."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    inside_out = np.einsum('ij,ij->i', np.cross(b - a, c - a), normals) < 0.0
    result = np.array(triangles)
    result[inside_out] = result[inside_out][:, ::-1]
    return result


def _faces(
    vertices: FloatArray, triangles: IntArray, neighbors: IntArray, equations: FloatArray
) -> Tuple[List[List[int]], Tuple[List[List[float]], List[Set[int]]]]:
    """Return rings of vertices of the faces, with planes and vertices of coplanar triangles."""
    size = float(np.ptp(vertices, axis=0).max())
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    rings: List[List[int]] = []
    planes: List[List[float]] = []
    members: List[Set[int]] = []
    free = set(range(len(triangles)))
    for seed in np.argsort(-area).tolist():
        if seed not in free:
            continue
        normal, level = equations[seed, :3], -equations[seed, 3]
        group, border = [seed], [seed]
        free.discard(seed)
        while border:
            for t in neighbors[border.pop()].tolist():
                if t not in free or not equations[t, :3] @ normal > 1.0 - 0.5 * _COPLANAR**2:
                    continue
                heights = vertices[triangles[t]] @ normal - level
                if np.abs(heights).max() <= _IN_PLANE * size:
                    free.discard(t)
                    group.append(t)
                    border.append(t)
        whole = _ring(triangles[group])
        for part in [group] if whole else [[t] for t in group]:
            ring = whole or _ring(triangles[part])
            rings.append(ring)
            normal = equations[part[0], :3]
            planes.append([*normal, float((vertices[ring] @ normal).max())])
            members.append(set(triangles[part].ravel().tolist()))
    return rings, (planes, members)


def _ring(triangles: IntArray) -> List[int]:
    """Return the border of connected triangles; none if it is no single ring."""
    edges = {(t[k], t[(k + 1) % 3]) for t in triangles.tolist() for k in range(3)}
    onward = {i: j for i, j in edges if (j, i) not in edges}
    if len(onward) != sum((j, i) not in edges for i, j in edges):
        return []
    ring = [min(onward)]
    while onward[ring[-1]] != ring[0]:
        ring.append(onward[ring[-1]])
        if len(ring) > len(onward):
            return []
    return ring if len(ring) == len(onward) else []


def _farthest(points: FloatArray) -> IntArray:
    """Return the numbers of the points farthest along evenly spread directions."""
    k = np.arange(DIRECTIONS) + 0.5
    # A spiral of equal areas from pole to pole.
    z, angle = 1.0 - 2.0 * k / DIRECTIONS, np.pi * (1.0 + 5.0**0.5) * k
    across = np.sqrt(1.0 - z * z)
    spiral = np.stack([across * np.cos(angle), across * np.sin(angle), z], axis=1)
    directions = spiral.astype(np.float32)
    best, height = np.zeros(DIRECTIONS, dtype=np.int64), np.full(DIRECTIONS, -np.inf)
    for first in range(0, len(points), 4096):
        heights = directions @ points[first : first + 4096].T.astype(np.float32)
        here = heights.argmax(axis=1)
        most = heights[np.arange(DIRECTIONS), here]
        higher = most > height
        best[higher], height[higher] = first + here[higher], most[higher]
    return np.unique(best)


def _spread(vertices: FloatArray, maximum: int) -> IntArray:
    """Return the numbers of evenly spread vertices, by farthest-point sampling (Gonzalez 1985)."""
    chosen = [int(np.argmax(np.linalg.norm(vertices - vertices.mean(axis=0), axis=1)))]
    distance = np.linalg.norm(vertices - vertices[chosen[0]], axis=1)
    while len(chosen) < maximum:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(vertices - vertices[chosen[-1]], axis=1))
    return np.sort(np.array(chosen))


def _shrinkage(vertices: FloatArray, chosen: FloatArray) -> float:
    """Return the largest distance of vertices from the hull of the chosen ones [m]."""
    equations = _qhull(chosen).equations
    return float((vertices @ equations[:, :3].T + equations[:, 3]).max())
