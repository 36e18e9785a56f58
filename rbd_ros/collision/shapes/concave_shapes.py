# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Triangle meshes and height fields as shapes for contact with convex shapes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, List, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.collision.arrays import (
    HEIGHT_FIELD,
    MESH,
    Tables,
)
from rbd_ros.collision.shapes.hulls import empty_tables, hull_of
from rbd_ros.meshes import MeshError

#: Triangles of a leaf of the tree (concave_search.py).
_LEAF = 4

#: Maximum number of triangles: features contain their numbers.
MAX_TRIANGLES = 1 << 26


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Surface of triangles, convex or not.

    A closed one is solid and touched from outside, an open one from both sides.

    :param triangles: corners, counterclockwise from outside, (T, 3, 3) [m]; a closed surface that
        is inside out is reversed
    :raises MeshError: without any triangle of a finite area

    >>> from rbd_ros.collision import TriangleMesh
    >>> x, y, z = np.eye(3)
    >>> sheet = TriangleMesh([[0 * x, x, y], [x, x + y, y]])
    >>> sheet.closed, sheet.notice
    (False, '')
    """

    triangles: FloatArray = field(repr=False)
    kind: ClassVar[int] = MESH
    #: Whether it encloses a solid
    closed: bool = field(default=False, init=False)
    #: Omitted or odd parts of it, '' if there are none
    notice: str = field(default='', init=False)
    #: Its triangles and their tree, for compiled loops
    tables: Tables = field(init=False, repr=False)

    def __post_init__(self) -> None:
        triangles, notices = _with_area(np.asarray(self.triangles, dtype=float))
        beside, closed, odd = _neighbors(triangles)
        if closed and _volume(triangles) < 0.0:
            triangles = np.ascontiguousarray(triangles[:, ::-1])
            beside, closed, odd = _neighbors(triangles)
            notices.append('its triangles are inside out; their order is reversed')
        if odd:
            notices.append(f'{odd} of its edges have more than two triangles')
        triangles.flags.writeable = False
        made: Any = {
            'triangles': triangles,
            'closed': closed,
            'notice': '; '.join(notices),
            'tables': _mesh_tables(triangles, beside, closed),
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)

    @property
    def half_sizes(self) -> Tuple[float, float, float]:
        """Sizes for compiled loops: its number in its own tables of one mesh, (3,)."""
        return 0.0, 0.0, 0.0


@dataclass(frozen=True, eq=False)
class HeightField:
    """Ground of varying height over a rectangle centered at the origin; solid below.

    :param size: lengths of the rectangle along x and y, (2,) [m]
    :param heights: z on a regular grid as seen from above, (rows, columns), both at least 2 [m]:
        the first row lies at the largest y, the first column at the smallest x
    :raises ValueError: if sizes or heights are invalid

    >>> from rbd_ros.collision import HeightField
    >>> HeightField((2.0, 2.0), [[0.0, 0.0], [0.0, 0.5]])
    HeightField(size=(2.0, 2.0))
    """

    size: Tuple[float, float]
    heights: FloatArray = field(repr=False)
    kind: ClassVar[int] = HEIGHT_FIELD
    #: Its heights, for compiled loops
    tables: Tables = field(init=False, repr=False)

    def __post_init__(self) -> None:
        heights = np.array(self.heights, dtype=float)
        if heights.ndim != 2 or min(heights.shape) < 2 or 2 * heights.size > MAX_TRIANGLES:
            raise ValueError(
                'heights must have at least 2 rows and 2 columns and at most '
                f'{MAX_TRIANGLES // 2} numbers, got shape {heights.shape}'
            )
        if not np.isfinite(heights).all():
            raise ValueError('heights must be finite')
        if len(self.size) != 2 or not all(0.0 < each < np.inf for each in self.size):
            raise ValueError(
                f'size of a height field must be two positive lengths, got {self.size}'
            )
        heights.flags.writeable = False
        object.__setattr__(self, 'heights', heights)
        (rows, columns), (x, y) = heights.shape, self.size
        grid = [-0.5 * x, 0.5 * y, x / (columns - 1), y / (rows - 1), heights.max()]
        tables = empty_tables()._replace(
            field=np.array([[0, rows, columns]], dtype=np.int64),
            grid=np.array([grid]),
            height=heights.ravel(),
        )
        object.__setattr__(self, 'tables', tables)

    @property
    def half_sizes(self) -> Tuple[float, float, float]:
        """Sizes for compiled loops: its number in its own tables of one field, (3,)."""
        return 0.0, 0.0, 0.0


def _with_area(triangles: FloatArray) -> Tuple[FloatArray, List[str]]:
    """Return triangles without those of zero area, and notices of these."""
    if triangles.ndim != 3 or triangles.shape[1:] != (3, 3):
        raise MeshError(f'triangles must have shape (T, 3, 3), got {triangles.shape}')
    if not len(triangles):
        raise MeshError('a mesh must have at least one triangle, got none')
    if len(triangles) > MAX_TRIANGLES:
        raise MeshError(f'a mesh has at most {MAX_TRIANGLES} triangles, got {len(triangles)}')
    if not np.isfinite(triangles).all():
        raise MeshError('vertices of a mesh must be finite')
    a, b, c = (triangles[:, k] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.maximum(np.maximum(_square(b - a), _square(c - b)), _square(a - c))
    whole = area > 1e-10 * longest
    if not whole.any():
        raise MeshError('all triangles of the mesh are lines or points; export it again')
    lost = int((~whole).sum())
    notices = [f'{lost} of its {len(triangles)} triangles are lines or points'] if lost else []
    return np.ascontiguousarray(triangles[whole]), notices


def _volume(triangles: FloatArray) -> float:
    """Return the volume that closed triangles enclose, negative if they are inside out [m^3]."""
    a, b, c = (triangles[:, k] - triangles[0, 0] for k in range(3))
    return float(np.einsum('ij,ij->', a, np.cross(b, c))) / 6.0


def _square(vectors: FloatArray) -> FloatArray:
    squares: FloatArray = np.einsum('ij,ij->i', vectors, vectors)
    return squares


def _neighbors(triangles: FloatArray) -> Tuple[IntArray, bool, int]:
    """Return neighbors across edges, whether the surface is closed, and the number of odd edges.

    An odd edge has more than two triangles.
    """
    corners = triangles.reshape(-1, 3) + 0.0  # minus zero is zero
    keys = corners.view([('', float)] * 3).ravel()
    _, index = np.unique(keys, return_inverse=True)
    index = index.reshape(-1, 3).astype(np.int64)
    start, end = index, np.roll(index, -1, axis=1)
    count = np.int64(index.max() + 1)
    low, high = np.minimum(start, end), np.maximum(start, end)
    edge = (low * count + high).ravel()
    order = np.argsort(edge, kind='stable')
    sorted_edge = edge[order]
    first = np.flatnonzero(np.concatenate([[True], sorted_edge[1:] != sorted_edge[:-1]]))
    length = np.diff(np.append(first, len(edge)))
    beside = np.full(edge.shape, -1, dtype=np.int64)
    one, other = order[first[length == 2]], order[first[length == 2] + 1]
    # Consistently oriented neighbors pass their edge in opposite directions.
    forth = (start < end).ravel()
    well = forth[one] != forth[other]
    one, other = one[well], other[well]
    beside[one], beside[other] = other // 3, one // 3
    closed = bool((beside >= 0).all())
    return beside.reshape(-1, 3), closed, int((length > 2).sum())


def _mesh_tables(triangles: FloatArray, beside: IntArray, closed: bool) -> Tables:
    """Return the triangles in the order of a tree of boxes with leaves of four, and the tree."""
    order = _morton_order(triangles.mean(axis=1))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    beside = np.where(beside >= 0, place[beside], -1)[order]
    leaves = 1
    while _LEAF * leaves < len(triangles):
        leaves *= 2
    capacity = _LEAF * leaves
    corners, across = np.zeros((capacity, 9)), np.full((capacity, 3), -1, dtype=np.int64)
    corners[: len(order)], across[: len(order)] = triangles[order].reshape(-1, 9), beside
    low, high = np.full((capacity, 3), np.inf), np.full((capacity, 3), -np.inf)
    low[: len(order)] = triangles[order].min(axis=1)
    high[: len(order)] = triangles[order].max(axis=1)
    low = low.reshape(leaves, _LEAF, 3).min(axis=1)
    high = high.reshape(leaves, _LEAF, 3).max(axis=1)
    levels = [np.concatenate([low, high], axis=1)]
    while len(low) > 1:
        low, high = low.reshape(-1, 2, 3).min(axis=1), high.reshape(-1, 2, 3).max(axis=1)
        levels.append(np.concatenate([low, high], axis=1))
    hull, number = empty_tables(), -1
    try:
        hull, number = hull_of(triangles.reshape(-1, 3)).tables, 0
    except ValueError:
        pass  # flat: no hull for contact with a plane
    return hull._replace(
        mesh=np.array([[0, leaves, 0, closed, number]], dtype=np.int64),
        node=np.ascontiguousarray(np.concatenate(levels[::-1])),
        triangle=corners,
        beside=across,
    )


def _morton_order(points: FloatArray) -> IntArray:
    """Return the order of points along a space-filling curve, which keeps neighbors together."""
    low = points.min(axis=0)
    extent = float(np.ptp(points, axis=0).max()) or 1.0
    cells = np.minimum((points - low) / extent * 2**20, 2**20 - 1).astype(np.uint64)
    code = np.zeros(len(points), dtype=np.uint64)
    for k in range(3):
        x = cells[:, k]
        # Two zeros between any two bits.
        for shift, mask in (
            (32, 0x1F00000000FFFF),
            (16, 0x1F0000FF0000FF),
            (8, 0x100F00F00F00F00F),
            (4, 0x10C30C30C30C30C3),
            (2, 0x1249249249249249),
        ):
            x = (x | (x << np.uint64(shift))) & np.uint64(mask)
        code |= x << np.uint64(k)
    return np.argsort(code, kind='stable')
