# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Boxes along the axes of the world that enclose shapes."""

from __future__ import annotations

from typing import Iterable, Tuple

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import FloatArray
from rbd_ros.meshes import mesh_vertices
from rbd_ros.model import geometry

#: Minimum component of a normal along an axis, up to rounding.
_ALONG = 1.0 - 1e-12


def bounding_box(shape: object, pose: ArrayLike) -> FloatArray:
    """Return the smallest box along the axes of the common frame that encloses a shape.

    A plane is the half-space below it, unbounded except at the plane itself, if that is
    perpendicular to an axis.

    :param shape: a shape of `rbd_ros.model.geometry`
    :param pose: homogeneous matrix of its frame in the common frame, (4, 4) [1, m]
    :return: corners with the smallest and largest coordinates, (2, 3) [m]
    :raises ValueError: for a mesh that cannot be read, and for an unknown type of shape

    >>> from rbd_ros.collision.shapes.bounding_boxes import bounding_box
    >>> from rbd_ros.model.geometry import Cylinder
    >>> bounding_box(Cylinder(0.1, 0.5), np.eye(4)).tolist()
    [[-0.1, -0.1, -0.25], [0.1, 0.1, 0.25]]
    """
    T = np.asarray(pose, dtype=float)
    R, center = T[:3, :3], T[:3, 3]
    if isinstance(shape, geometry.Plane):
        low, high = np.full(3, -np.inf), np.full(3, np.inf)
        for k in range(3):
            if R[k, 2] > _ALONG:
                high[k] = center[k]
            elif R[k, 2] < -_ALONG:
                low[k] = center[k]
        return np.array([low, high])
    if isinstance(shape, geometry.Sphere):
        reach = np.full(3, shape.radius)
    elif isinstance(shape, geometry.Box):
        reach = np.abs(R) @ np.asarray(shape.size) / 2.0
    elif isinstance(shape, geometry.Capsule):
        reach = np.abs(R[:, 2]) * shape.length / 2.0 + shape.radius
    elif isinstance(shape, geometry.Cylinder):
        across = np.sqrt(np.clip(1.0 - R[:, 2] ** 2, 0.0, 1.0))
        reach = np.abs(R[:, 2]) * shape.length / 2.0 + across * shape.radius
    else:
        points = _points(shape) @ R.T + center
        return np.array([points.min(axis=0), points.max(axis=0)])
    return np.array([center - reach, center + reach])


def union(boxes: Iterable[FloatArray]) -> Tuple[FloatArray, ...]:
    """Return the smallest box that encloses all boxes: none, or one.

    :param boxes: corners of each, (2, 3) [m]

    >>> from rbd_ros.collision.shapes.bounding_boxes import union
    >>> (box,) = union([np.array([[0, 0, 0], [1, 1, 1]]), np.array([[2, 0, 0], [3, 1, 2]])])
    >>> box.tolist()
    [[0, 0, 0], [3, 1, 2]]
    >>> union([])
    ()
    """
    found = list(boxes)
    if not found:
        return ()
    low, high = np.min([b[0] for b in found], axis=0), np.max([b[1] for b in found], axis=0)
    return (np.array([low, high]),)


def _points(shape: object) -> FloatArray:
    """Return points whose hull is, or contains, the shape, (n, 3) [m]."""
    if isinstance(shape, geometry.Mesh):
        if shape.path is None:
            raise ValueError(
                f'{shape.uri} was not found; add the folder of its package to package_paths'
            )
        return np.asarray(mesh_vertices(shape.path, shape.scale), dtype=float).reshape(-1, 3)
    if isinstance(shape, geometry.HeightField):
        heights = np.asarray(shape.heights, dtype=float)
        x, y = (0.5 * length for length in shape.size)
        return np.array(
            [[a, b, c] for a in (-x, x) for b in (-y, y) for c in (heights.min(), heights.max())]
        )
    raise ValueError(f'a {type(shape).__name__} has no bounded volume')
