# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact points of collision shapes with a plane (book 11.6).

A sphere has 1 point that moves over its surface, a box its 8 vertices. A cylinder has 4 points on
each rim: the exact lowest one and those at quarter turns, which move round the rim with it. A mesh
has the vertices of its convex hull, at most `MAX_HULL_POINTS` of them.
"""

from __future__ import annotations

from itertools import product
from typing import List, Optional, Sequence, Tuple

import numpy as np

from rbd_ros import meshes  # loads readers of files on first use
from rbd_ros.array_types import AnyArray, FloatArray
from rbd_ros.contact.detection import ContactShapes, FIXED_POINTS, RIMS, SPHERE
from rbd_ros.model import Model
from rbd_ros.model.geometry import Box, Cylinder, Geometry, Mesh, Sphere

#: Maximum number of contact points of a mesh. Larger hulls are thinned by farthest-point sampling,
#: which covers the hull evenly.
MAX_HULL_POINTS = 256

#: Contact points of a cylinder, four on each rim.
POINTS_OF_CYLINDER = 8


def contact_shapes(
    model: Model, links: Optional[Sequence[str]] = None
) -> Tuple[ContactShapes, List[Geometry], List[str]]:
    """Return the collision shapes of a robot's moving links, with their contact points.

    :param model: system model
    :param links: links that may touch; None for all
    :return: the shapes, the geometries they came from, and warnings about unusable ones
    :raises ValueError: for an unknown link
    """
    # An unknown name must not silently disable contact.
    for link in links or ():
        model.link(link)
    rows, points, geometries, warnings = [], [], [], []
    for geometry in model.geometries:
        included = links is None or geometry.link in links
        # Links fixed to the base cannot fall onto the ground.
        if geometry.role != 'collision' or geometry.body == 0 or not included:
            continue
        try:
            kind, center, reach, own, size = _shape(geometry)
        except meshes.MeshError as error:
            # One bad file does not reject the robot: its other shapes can touch.
            warnings.append(f'link {geometry.link!r} has no collision: its collision mesh {error}')
            continue
        E: FloatArray = np.array(geometry.placement.E)  # from body to geometry coordinates
        origin = np.array(geometry.placement.r)
        # x_body = E^T x + r, which is x @ E + r for rows of points. The axis of a cylinder is its
        # z axis, the third row of E.
        rows.append(
            (kind, geometry.body, origin + center @ E, reach, len(own), size, E[[2, 0, 1]])
        )
        points.append(origin + own @ E)
        geometries.append(geometry)
    columns = list(zip(*rows)) or [()] * 7
    count = len(rows)
    shapes = ContactShapes(
        kind=np.array(columns[0], dtype=np.int64),
        body=np.array(columns[1], dtype=np.int64),
        center=np.array(columns[2], dtype=float).reshape(count, 3),
        reach=np.array(columns[3], dtype=float),
        first=np.concatenate([[0], np.cumsum(columns[4])]).astype(np.int64),
        points=np.concatenate(points) if points else np.empty((0, 3)),
        size=np.array(columns[5], dtype=float).reshape(count, 3),
        axes=np.array(columns[6], dtype=float).reshape(count, 3, 3),
    )
    return shapes, geometries, warnings


def _shape(
    geometry: Geometry,
) -> Tuple[int, FloatArray, float, FloatArray, Tuple[float, float, float]]:
    """Return the fields of `ContactShapes` for one shape, in its own coordinates.

    :return: kind, center, (3,), radius of the bounding sphere, contact points, (P, 3), size
    :raises MeshError: for a mesh that cannot be used
    """
    shape, nowhere = geometry.shape, np.zeros(3)
    if isinstance(shape, Sphere):
        return SPHERE, nowhere, shape.radius, np.zeros((1, 3)), (shape.radius, 0.0, 0.0)
    if isinstance(shape, Cylinder):
        half = 0.5 * shape.length
        size = (shape.radius, half, 0.0)
        return (
            RIMS,
            nowhere,
            float(np.hypot(shape.radius, half)),
            np.zeros((POINTS_OF_CYLINDER, 3)),
            size,
        )
    if isinstance(shape, Box):
        points = 0.5 * np.array(shape.size) * np.array(list(product((-1.0, 1.0), repeat=3)))
    elif isinstance(shape, Mesh):
        if shape.path is None:
            raise meshes.MeshError(
                f'{shape.uri} was not found; add the folder of its package to package_paths'
            )
        points = hull_points(meshes.mesh_vertices(shape.path, shape.scale))
    else:
        raise meshes.MeshError(f'is of an unknown kind, {type(shape).__name__}')
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    reach = float(np.linalg.norm(points - center, axis=1).max())
    return FIXED_POINTS, center, reach, points, (0.0, 0.0, 0.0)


def hull_points(vertices: FloatArray, maximum: int = MAX_HULL_POINTS) -> FloatArray:
    """Return the vertices of the convex hull, thinned evenly if there are too many, (N, 3) [m].

    :param vertices: points, (M, 3) [m]; may be flat, in a line, or all the same
    :param maximum: maximum number of points
    """
    # Mesh files repeat a vertex for each facet that it belongs to.
    vertices = np.unique(vertices, axis=0)
    hull: FloatArray = vertices[_hull_indices(vertices)]
    if len(hull) <= maximum:
        return hull
    # Farthest-point sampling (Gonzalez 1985), from the vertex farthest from the middle.
    chosen = [int(np.argmax(np.linalg.norm(hull - hull.mean(axis=0), axis=1)))]
    distance = np.linalg.norm(hull - hull[chosen[0]], axis=1)
    while len(chosen) < maximum:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(hull - hull[chosen[-1]], axis=1))
    thinned: FloatArray = hull[np.sort(chosen)]
    return thinned


def _hull_indices(vertices: FloatArray) -> AnyArray:
    """Return the indices of the vertices of the hull, in the dimension that the vertices span."""
    from scipy.spatial import ConvexHull

    # Flat and straight meshes exist (a plate, a wire); qhull rejects them in three dimensions.
    offsets = vertices - vertices.mean(axis=0)
    _, spread, directions = np.linalg.svd(offsets, full_matrices=False)
    spanned = directions[spread > 1e-9 * spread[0]]
    coordinates = offsets @ spanned.T
    if len(spanned) == 0:
        return np.array([0])
    if len(spanned) == 1:
        return np.unique([int(np.argmin(coordinates)), int(np.argmax(coordinates))])
    return np.sort(ConvexHull(coordinates).vertices)
