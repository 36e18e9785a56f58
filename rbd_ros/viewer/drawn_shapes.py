# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shapes to draw, from links and objects, with meshes that are read once and simplified."""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from typing import Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.collision.shapes.convex_decomposition import convex_parts
from rbd_ros.meshes import hull_triangles, MeshError, read_mesh, Triangles
from rbd_ros.model.geometry import (
    Box,
    Capsule,
    Color,
    Cylinder,
    HeightField,
    Mesh,
    Sphere,
)


def simplified(part: Triangles, most: int) -> Triangles:
    """Return a surface of at most `most` triangles.

    Vertices in one cell of a grid become their mean, with the finest possible grid. Parts thinner
    than its cells may vanish.
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
    group = group.reshape(-1)  # one version of NumPy returns another shape
    sums = [np.bincount(group, part.vertices[:, k], len(count)) for k in range(3)]
    return _without_slivers(np.stack(sums, axis=1) / count[:, None], group[part.corners], part)


def _without_slivers(vertices: FloatArray, corners: IntArray, part: Triangles) -> Triangles:
    """Return triangles without duplicates and degenerate ones."""
    a, b, c = corners.T
    corners = corners[(a != b) & (b != c) & (c != a)]
    _, first = np.unique(np.sort(corners, axis=1), axis=0, return_index=True)
    return replace(part, vertices=vertices, corners=corners[np.sort(first)])


Drawn = Union[Box, Sphere, Cylinder, Capsule, Mesh, HeightField]

#: Owner of the shapes of the simulated robot, as in world files.
ROBOT = 'robot'


@dataclass(frozen=True)
class SceneShape:
    """A shape on a link, on a movable object, or static.

    :param link: name of the link, '' if it is not on one
    :param placement: pose in coordinates of the link or the movable object, or in the world if
        static, (4, 4): p_link = T p_shape
    :param kind: 'box', 'sphere', 'cylinder' and 'capsule' (about z), or 'mesh'
    :param size: lengths along x, y, z; radius; radius and length (of a capsule's cylinder); index
        of the mesh's part
    :param owner: 'robot', or the name of an object or further robot of the world

    >>> shape = make_scene(robot.model).shapes[0]
    >>> shape.placement[:3, 3], shape.size, shape.color[3]  # center, radius and length [m]
    (array([0.  , 0.  , 0.05]), (0.08, 0.1), 1.0)
    """

    link: str
    placement: FloatArray
    kind: str
    size: Tuple[float, ...]
    color: Color
    owner: str = ROBOT


class ShapeCollector:
    """Shapes and the parts of their meshes, during the creation of a scene.

    :param most: maximum number of triangles of all meshes
    :param others: collector whose meshes are there already, and are used again; None: none
    """

    def __init__(self, most: int, others: Optional[ShapeCollector] = None):
        self.most = most
        self.shapes: List[SceneShape] = []
        self._parts: List[Triangles] = [] if others is None else list(others._parts)
        self._first = len(self._parts)  # own part
        self._read: Dict[Tuple[object, ...], List[int]] = {}
        if others is not None:
            self._read.update(others._read)
        self._failed: Dict[str, None] = {}
        self._notices: List[str] = []

    def add(
        self,
        owner: str,
        link: str,
        placement: FloatArray,
        shape: Drawn,
        color: Color,
        own_colors: bool = True,
        convex: bool = False,
        concavity: Optional[float] = None,
    ) -> None:
        """Add a shape.

        :param own_colors: whether colors of a mesh file have priority over `color`, as in RViz
        :param convex: whether to use the convex hull of a mesh
        :param concavity: concavity of its drawn convex parts, see `convex_parts`; None: not
            decomposed
        """
        if isinstance(shape, (Mesh, HeightField)):
            numbers = (
                self._height_field(owner, shape)
                if isinstance(shape, HeightField)
                else self._mesh(shape, convex, concavity)
            )
            for k in numbers:
                own = self._parts[k].color if own_colors else None
                size = (k,)
                self.shapes.append(SceneShape(link, placement, 'mesh', size, own or color, owner))
        else:
            kind, lengths = _primitive(shape)
            self.shapes.append(SceneShape(link, placement, kind, lengths, color, owner))

    def parts(self) -> Tuple[Triangles, ...]:
        """Return the triangles of the meshes, simplified if there are too many."""
        parts = self._parts[self._first :]
        total = sum(len(part.corners) for part in parts)
        if total > self.most:
            # Small parts are unchanged; the others share the rest.
            share = _share([len(part.corners) for part in parts], self.most)
            parts = [simplified(part, share) for part in parts]
            drawn = sum(len(part.corners) for part in parts)
            self._notices.append(f'meshes are drawn with {drawn} triangles of their {total}')
        return tuple(parts)

    def notices(self) -> Tuple[str, ...]:
        """Return notices about shapes that are simplified or not drawn."""
        if not self._failed:
            return tuple(self._notices)
        first, more = next(iter(self._failed)), len(self._failed) - 1
        others = f' (and {more} more)' if more else ''
        return (f'meshes that cannot be drawn: {first}{others}', *self._notices)

    def _mesh(self, mesh: Mesh, convex: bool, concavity: Optional[float]) -> Sequence[int]:
        """Return the indices of the parts of a mesh file, which is read once."""
        key = (mesh.path or mesh.uri, tuple(mesh.scale), convex, concavity)
        if key not in self._read:
            self._read[key] = []
            if mesh.path is None:
                self._failed[f'{mesh.uri} was not found'] = None
                return []
            scale = np.array(mesh.scale)
            try:
                parts = read_mesh(mesh.path)
                if concavity is not None:
                    scale, hulls = np.ones(3), map(hull_triangles, convex_parts(mesh, concavity))
                    parts = tuple(_soup(each, parts[0].color) for each in hulls)
                elif convex:
                    points = np.concatenate([part.vertices for part in parts])
                    parts = (_soup(hull_triangles(points), parts[0].color),)
            except MeshError as error:
                self._failed[str(error)] = None
                return []
            for part in parts:
                scaled = part.vertices * scale
                self._read[key].append(len(self._parts))
                self._parts.append(Triangles(scaled, part.corners, part.color))
        return self._read[key]

    def _height_field(self, name: str, field: HeightField) -> Sequence[int]:
        rows, columns = field.heights.shape
        # Drop rows and columns before creating triangles, which could be 60 million.
        every = max(1, math.ceil(math.sqrt(2.0 * rows * columns / self.most)))
        i, j = (np.union1d(np.arange(0, n, every), [n - 1]) for n in (rows, columns))
        if every > 1:
            self._notices.append(
                f'{name} is drawn with {len(i)}x{len(j)} of its {rows}x{columns} heights'
            )
        self._parts.append(_surface(field, i, j))
        return [len(self._parts) - 1]


def _surface(field: HeightField, i: NDArray[np.int64], j: NDArray[np.int64]) -> Triangles:
    """Return the surface over chosen rows and columns of a height field."""
    rows, columns = field.heights.shape
    x = field.size[0] * (j / (columns - 1) - 0.5)
    y = field.size[1] * (0.5 - i / (rows - 1))
    vertices = np.empty((len(i), len(j), 3))
    vertices[..., 0], vertices[..., 1] = x, y[:, None]
    vertices[..., 2] = field.heights[np.ix_(i, j)]
    number = np.arange(len(i) * len(j)).reshape(len(i), len(j))
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    corners = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    return Triangles(vertices.reshape(-1, 3), corners)


def _soup(triangles: FloatArray, color: Optional[Color]) -> Triangles:
    return Triangles(triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3), color)


def _share(sizes: Sequence[int], most: int) -> int:
    """Return the maximum size of a part such that all parts together do not exceed `most`."""
    left, rest = most, sorted(sizes)
    for k, size in enumerate(rest):
        share = left // (len(rest) - k)
        if size > share:
            return share
        left -= size
    return rest[-1]


def _primitive(shape: Union[Box, Sphere, Cylinder, Capsule]) -> Tuple[str, Tuple[float, ...]]:
    if isinstance(shape, Box):
        return 'box', tuple(shape.size)
    if isinstance(shape, Cylinder):
        return 'cylinder', (shape.radius, shape.length)
    if isinstance(shape, Capsule):
        return 'capsule', (shape.radius, shape.length)
    return 'sphere', (shape.radius,)
