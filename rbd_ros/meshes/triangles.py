# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Surface triangles: whether they enclose a solid, and those of convex hulls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.model.geometry import Color

#: Maximum size of a mesh file; reading takes several times this memory [bytes].
MAX_FILE_SIZE = 500_000_000
#: Maximum number of triangles, as in the largest binary STL file.
MAX_TRIANGLES = MAX_FILE_SIZE // 50
#: Maximum number of parts.
MAX_PARTS = 100_000


class MeshError(ValueError):
    """An unusable mesh; the message gives its name, the reason and the cure."""


@dataclass(frozen=True)
class Triangles:
    """Triangles of one color.

    :param vertices: (N, 3) [m]
    :param corners: three indices of vertices for each triangle, (M, 3)
    :param color: color in the file; None: none

    >>> from rbd_ros.meshes import Triangles
    >>> Triangles(np.eye(3), np.array([[0, 1, 2]])).color is None
    True
    """

    vertices: FloatArray
    corners: IntArray
    color: Optional[Color] = None


def is_closed(triangles: FloatArray) -> bool:
    """Return whether triangles enclose a solid: each edge occurs once in each direction.

    :param triangles: corners, (T, 3, 3) [m]; those at the same position are one

    >>> from rbd_ros.meshes import is_closed
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
    corners = corners[whole]  # a triangle with two equal corners is a line
    edges = np.concatenate([corners[:, [k, (k + 1) % 3]] for k in range(3)])
    forth, times = np.unique(edges, axis=0, return_counts=True)
    back, times_back = np.unique(edges[:, ::-1], axis=0, return_counts=True)
    return bool(len(edges) and np.array_equal(forth, back) and np.array_equal(times, times_back))


def hull_triangles(points: FloatArray) -> FloatArray:
    """Return triangles of the convex hull of points, counterclockwise from outside, (T, 3, 3) [m].

    :param points: (N, 3) [m]
    :raises MeshError: if all points lie in a plane

    >>> from rbd_ros.meshes import hull_triangles
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
