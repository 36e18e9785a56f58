# SPDX-License-Identifier: Apache-2.0
"""Shapes of robots and of worlds as shapes that can touch."""

from __future__ import annotations

from typing import Dict, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros import meshes  # which loads readers of files on first use
from rbd_ros.collision.arrays import FloatArray
from rbd_ros.collision.shapes import contact_shapes as shapes
from rbd_ros.collision.shapes.concave_shapes import HeightField, TriangleMesh
from rbd_ros.model import geometry


class Touching(NamedTuple):
    """A shape that can touch, and where it is.

    :param shape: the shape; None if nothing can touch it
    :param center: where its frame is in that of the geometry; their axes are parallel, (3,) [m]
    :param notice: what is odd about it, or why it cannot touch; '' if nothing
    """

    shape: Optional[shapes.Shape]
    center: FloatArray
    notice: str = ''


class ShapeMaker:
    """Makes shapes that can touch; a mesh that several links have is read once.

    >>> from rbd_ros.collision.shapes.scene_shapes import ShapeMaker
    >>> from rbd_ros.model import geometry
    >>> ShapeMaker().make(geometry.Mesh('box.stl', None, (1.0, 1.0, 1.0)), convex=True).notice
    'box.stl was not found; add the folder of its package to package_paths'
    """

    def __init__(self) -> None:
        self._meshes: Dict[Tuple[object, ...], Touching] = {}
        #: Notices of hulls that are smaller than their meshes, and by how much [m].
        self._smaller: Dict[str, float] = {}

    @property
    def notices(self) -> Tuple[str, ...]:
        """Notices of hulls that are smaller than their meshes: one line, or none.

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

    def make(self, shape: object, convex: bool) -> Touching:
        """Return the shape that can touch.

        :param shape: shape of a link or of an object
        :param convex: whether the convex hull of a mesh is meant
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
        # A file counts by its path: links of a hand share meshes.
        key = shape.path or shape.uri, tuple(shape.scale), convex
        if key not in self._meshes:
            try:
                made = _of_mesh(shape, convex)
                if isinstance(made.shape, shapes.ConvexHull) and made.notice:
                    # One notice for all of them, in `notices`, instead of a line for each mesh.
                    self._smaller[made.notice] = made.shape.lost
                    made = made._replace(notice='')
                self._meshes[key] = made
            except ValueError as error:  # a MeshError, or points that enclose no volume
                self._meshes[key] = Touching(None, nowhere, str(error))
        return self._meshes[key]


def _of_mesh(mesh: geometry.Mesh, convex: bool) -> Touching:
    if mesh.path is None:
        raise meshes.MeshError(
            f'{mesh.uri} was not found; add the folder of its package to package_paths'
        )
    if convex:
        triangles = meshes.mesh_vertices(mesh.path, mesh.scale)
    else:
        triangles = meshes.mesh_triangles(mesh.path, mesh.scale)
    points = triangles.reshape(-1, 3)
    # Its bounding sphere is about the origin: that belongs into the middle.
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    made = shapes.ConvexHull(triangles - center) if convex else TriangleMesh(triangles - center)
    return Touching(made, center, f'{mesh.uri}: {made.notice}' if made.notice else '')


def reach(shape: shapes.Shape) -> float:
    """Return the radius of the sphere about its origin that encloses a shape.

    Infinite for a plane [m].

    :param shape: the shape

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
