# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Boundary between passed and failed runs in the plane of two varied values."""

from __future__ import annotations

from itertools import combinations
from typing import List, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray

Segment = Tuple[float, float, float, float]
FLAT = 0.05  # height of a flat triangle, divided by its longest edge


def pass_boundary(x: FloatArray, y: FloatArray, excess: Sequence[float]) -> List[Segment]:
    """Return the segments, each x, y, x, y, where the interpolated excess is 0.

    The excess is linear in the triangles between neighboring runs. Flat triangles at the border
    are left out, since their corners are not neighbors.

    :param x: first value of each run, (N,)
    :param y: second value of each run, (N,)
    :param excess: by how much each run exceeded its limits; positive if it failed, (N,)

    >>> from rbd_ros.hil.campaign.pass_boundary import pass_boundary
    >>> pass_boundary(np.array([0.0, 0.0, 1.0]), np.array([0.0, 2.0, 0.0]), [-1.0, 1.0, -1.0])
    [(0.0, 1.0, 0.5, 1.0)]
    """
    from scipy.spatial import Delaunay, QhullError

    points = np.stack([x, y], axis=1)
    span = np.ptp(points, axis=0) if len(points) > 2 else np.zeros(2)
    if not (span > 0.0).all():
        return []
    try:
        mesh = Delaunay(points / span)
    except QhullError:  # all runs are on a line
        return []
    segments = []
    for corners, neighbors in zip(mesh.simplices, mesh.neighbors):
        if any(_is_flat(mesh.points[np.roll(corners, -k)]) for k in np.flatnonzero(neighbors < 0)):
            continue
        ends: List[float] = []
        for a, b in combinations(sorted(corners), 2):
            if (excess[a] > 0.0) != (excess[b] > 0.0):
                part = excess[a] / (excess[a] - excess[b])
                ends += (points[a] + part * (points[b] - points[a])).tolist()
        if ends:
            segments.append((ends[0], ends[1], ends[2], ends[3]))
    return segments


def _is_flat(corners: FloatArray) -> bool:
    """Return whether the first corner is close to the opposite edge, compared with its length."""
    (ax, ay), (bx, by) = corners[1:] - corners[0]
    length = np.linalg.norm(corners[2] - corners[1])
    return bool(abs(ax * by - ay * bx) < FLAT * length**2)
