# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Conversion of shapes of robots and worlds to collision shapes and arrays of compiled loops.

In arrays, a shape is a kind, three sizes, and a table if it has more sizes.
"""

from __future__ import annotations

from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from rbd_ros import meshes  # loads readers of files on first use
from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    CAPSULE,
    CYLINDER,
    HEIGHT_FIELD,
    HULL,
    MESH,
    PLANE,
    Tables,
)
from rbd_ros.collision.shapes import contact_shapes as shapes
from rbd_ros.collision.shapes.concave_shapes import HeightField, TriangleMesh
from rbd_ros.collision.shapes.contact_shapes import ConvexHull, Shape, Sizes
from rbd_ros.collision.shapes.hulls import join_tables
from rbd_ros.model import geometry

#: Shapes with tables instead of three sizes.
WITH_TABLES = (ConvexHull, TriangleMesh, HeightField)


def tabulated(shapes: Sequence[Shape]) -> Tuple[List[Sizes], List[Tables]]:
    """Return the sizes of shapes and the parts of their tables.

    The first size of a shape with tables is its number.

    :param shapes: the shapes; the same shape has the same number
    :return: sizes of each, (3,), and parts for `join_tables`

    >>> from rbd_ros.collision import ConvexHull, Sphere
    >>> from rbd_ros.collision.shapes.scene_shapes import tabulated
    >>> wedge = ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> cube = ConvexHull([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    >>> tabulated([Sphere(0.1), wedge, cube, wedge])[0]
    [(0.1, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)]
    """
    sizes: List[Sizes] = []
    numbers: Dict[int, Sizes] = {}
    parts: List[Tables] = []
    done = {HULL: 0, MESH: 0, HEIGHT_FIELD: 0}
    for shape in shapes:
        if not isinstance(shape, WITH_TABLES):
            sizes.append(shape.half_sizes)
            continue
        if id(shape.tables) not in numbers:
            numbers[id(shape.tables)] = (float(done[shape.kind]), 0.0, 0.0)
            parts.append(shape.tables)
            # A mesh has its own hull.
            done[HULL] += len(shape.tables.hull)
            done[MESH] += len(shape.tables.mesh)
            done[HEIGHT_FIELD] += len(shape.tables.field)
        sizes.append(numbers[id(shape.tables)])
    return sizes, parts


def code_of(kind_a: int, kind_b: int) -> Tuple[bool, bool]:
    """Return whether a pair needs supports, and whether it needs triangles.

    :param kind_a: kind of one shape
    :param kind_b: kind of the other one

    >>> from rbd_ros.collision.arrays import BOX, CYLINDER, MESH, PLANE
    >>> from rbd_ros.collision.shapes.scene_shapes import code_of
    >>> code_of(PLANE, CYLINDER), code_of(CYLINDER, BOX), code_of(BOX, MESH)
    ((False, False), (True, False), (False, True))
    """
    lower, higher = sorted((kind_a, kind_b))
    if lower == PLANE:
        return False, False
    if higher >= MESH:
        return False, True
    return higher == HULL or (higher == CYLINDER and lower >= CAPSULE), False


def tables_for(pairs: Sequence[Tuple[int, int]], parts: Sequence[Tables]) -> Tables:
    """Return the tables of all shapes of a scene, with flags for the machine code of its pairs.

    :param pairs: kinds of the shapes of each pair
    :param parts: tables of the shapes, in the order of `tabulated`

    >>> from rbd_ros.collision.arrays import BOX, CYLINDER, PLANE
    >>> from rbd_ros.collision.shapes.scene_shapes import tables_for
    >>> tables_for([(PLANE, CYLINDER)], []).by_support
    False
    >>> tables_for([(PLANE, CYLINDER), (BOX, CYLINDER)], []).by_support
    True
    """
    needed = [code_of(*pair) for pair in set(pairs)]
    return join_tables(parts)._replace(
        by_support=any(by_support for by_support, _ in needed),
        concave=any(concave for _, concave in needed),
    )


class Touching(NamedTuple):
    """A collision shape and its place.

    :param shape: the shape; None without collision
    :param center: origin of its frame in that of the geometry; their axes are parallel, (3,) [m]
    :param notice: an oddity, or the reason of no collision; '' if there is none
    """

    shape: Optional[shapes.Shape]
    center: FloatArray
    notice: str = ''


class ShapeMaker:
    """Factory of collision shapes; a mesh of several links is read once.

    >>> from rbd_ros.collision.shapes.scene_shapes import ShapeMaker
    >>> from rbd_ros.model import geometry
    >>> ShapeMaker().make(geometry.Mesh('box.stl', None, (1.0, 1.0, 1.0)), convex=True).notice
    'box.stl was not found; add the folder of its package to package_paths'
    """

    def __init__(self) -> None:
        self._meshes: Dict[Tuple[object, ...], Touching] = {}
        self._parts: Dict[Tuple[object, ...], Tuple[Touching, ...]] = {}
        #: Notices of hulls smaller than their meshes, and by how much [m].
        self._smaller: Dict[str, float] = {}

    @property
    def notices(self) -> Tuple[str, ...]:
        """Notices of hulls smaller than their meshes: one line, or none.

        >>> from rbd_ros.collision.shapes.scene_shapes import ShapeMaker
        >>> ShapeMaker().notices
        ()
        """
        found = self._smaller
        if len(found) < 2:
            return tuple(found)
        most = max(found, key=lambda notice: found[notice])
        return (
            f'{len(found)} meshes have convex hulls with too many vertices, which are '
            f'simplified; most of all {most}',
        )

    def make_parts(
        self, shape: object, convex: bool, threshold: Optional[float]
    ) -> Tuple[Touching, ...]:
        """Return the collision shapes: one, or the convex parts of a mesh.

        :param shape: shape of a link or of an object
        :param convex: whether to take the convex hull of a mesh
        :param threshold: concavity of the convex parts of a mesh, see `convex_parts`; None: it
            is one shape
        :raises MeshError: for a mesh that cannot be decomposed

        >>> from rbd_ros.collision.shapes.scene_shapes import ShapeMaker
        >>> from rbd_ros.model import geometry
        >>> len(ShapeMaker().make_parts(geometry.Sphere(0.1), convex=True, threshold=None))
        1
        """
        if threshold is None or not isinstance(shape, geometry.Mesh):
            return (self.make(shape, convex),)
        key = shape.path or shape.uri, tuple(shape.scale), threshold
        if key not in self._parts:
            self._parts[key] = tuple(self._noted(each) for each in _parts_of(shape, threshold))
        return self._parts[key]

    def make(self, shape: object, convex: bool) -> Touching:
        """Return the collision shape.

        :param shape: shape of a link or of an object
        :param convex: whether to take the convex hull of a mesh
        """
        nowhere = np.zeros(3)
        if isinstance(shape, geometry.Sphere):
            return Touching(shapes.Sphere(shape.radius), nowhere)
        if isinstance(shape, geometry.Box):
            return Touching(shapes.Box(shape.size), nowhere)
        if isinstance(shape, geometry.Cylinder):
            return Touching(shapes.Cylinder(shape.radius, shape.length), nowhere)
        if isinstance(shape, geometry.Capsule):
            return Touching(shapes.Capsule(shape.radius, shape.length), nowhere)
        if isinstance(shape, geometry.Plane):
            return Touching(shapes.Plane(), nowhere)
        if isinstance(shape, geometry.HeightField):
            return Touching(HeightField(shape.size, shape.heights), nowhere)
        if not isinstance(shape, geometry.Mesh):
            return Touching(None, nowhere, f'it is a {type(shape).__name__}')
        # The path identifies a file: links of a hand share meshes.
        key = shape.path or shape.uri, tuple(shape.scale), convex
        if key not in self._meshes:
            try:
                self._meshes[key] = self._noted(_of_mesh(shape, convex))
            except ValueError as error:  # a MeshError, or points that enclose no volume
                self._meshes[key] = Touching(None, nowhere, str(error))
        return self._meshes[key]

    def _noted(self, made: Touching) -> Touching:
        """Return a shape without the notice of a hull.

        There is one for all of them, in `notices`, instead of a line for each mesh.
        """
        if not (isinstance(made.shape, shapes.ConvexHull) and made.notice):
            return made
        self._smaller[made.notice] = made.shape.lost
        return made._replace(notice='')


def _parts_of(mesh: geometry.Mesh, threshold: float) -> Iterator[Touching]:
    from rbd_ros.collision.shapes.convex_decomposition import convex_parts

    for points in convex_parts(mesh, threshold):
        center = _middle(points)
        made = ConvexHull(points - center)
        yield Touching(made, center, f'{mesh.uri}: {made.notice}' if made.notice else '')


def _of_mesh(mesh: geometry.Mesh, convex: bool) -> Touching:
    if mesh.path is None:
        raise meshes.MeshError(
            f'{mesh.uri} was not found; add the folder of its package to package_paths'
        )
    if convex:
        triangles = meshes.mesh_vertices(mesh.path, mesh.scale)
    else:
        triangles = meshes.mesh_triangles(mesh.path, mesh.scale)
    # Imported here: only meshes need it.
    from rbd_ros.collision.shapes.hull_cache import cached_hull

    center = _middle(triangles.reshape(-1, 3))
    made = cached_hull(triangles - center) if convex else TriangleMesh(triangles - center)
    return Touching(made, center, f'{mesh.uri}: {made.notice}' if made.notice else '')


def _middle(points: FloatArray) -> FloatArray:
    """Return the middle of the bounding box, which becomes the origin of the shape, (3,) [m]."""
    middle: FloatArray = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return middle


def reach(shape: shapes.Shape) -> float:
    """Return the radius of the sphere about its origin that encloses a shape [m].

    It is infinite for a plane.

    >>> from rbd_ros.collision import Box
    >>> from rbd_ros.collision.shapes.scene_shapes import reach
    >>> reach(Box((0.2, 0.4, 0.4)))
    0.3
    """
    if isinstance(shape, shapes.Plane):
        return float('inf')
    if isinstance(shape, shapes.Capsule):
        return shape.radius + 0.5 * shape.length
    if isinstance(shape, shapes.Cylinder):
        return float(np.hypot(shape.radius, 0.5 * shape.length))
    if isinstance(shape, shapes.ConvexHull):
        return float(np.linalg.norm(shape.vertices, axis=1).max())
    if isinstance(shape, TriangleMesh):
        return float(np.linalg.norm(shape.triangles.reshape(-1, 3), axis=1).max())
    if isinstance(shape, HeightField):
        return float(np.linalg.norm([*(0.5 * np.array(shape.size)), np.abs(shape.heights).max()]))
    return float(np.linalg.norm(shape.half_sizes))
