# SPDX-License-Identifier: Apache-2.0
"""Fewer triangles to draw where there are too many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.meshes.triangles import (
    Triangles,
)


def simplified(part: Triangles, most: int) -> Triangles:
    """Return a surface of at most `most` triangles.

    Vertices of one cell of a grid become their mean.

    The grid is the finest that will do. What is thinner than its cells may vanish.
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
    group = group.reshape(-1)  # of another shape in one version of NumPy
    sums = [np.bincount(group, part.vertices[:, k], len(count)) for k in range(3)]
    return _without_slivers(np.stack(sums, axis=1) / count[:, None], group[part.corners], part)


def _without_slivers(vertices: FloatArray, corners: IntArray, part: Triangles) -> Triangles:
    """Return triangles without duplicates and without those that are lines or points."""
    a, b, c = corners.T
    corners = corners[(a != b) & (b != c) & (c != a)]
    _, first = np.unique(np.sort(corners, axis=1), axis=0, return_index=True)
    return replace(part, vertices=vertices, corners=corners[np.sort(first)])
