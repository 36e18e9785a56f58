# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Convex hulls of meshes cached on disk beside machine code: computing them takes seconds."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
import math
import os
from typing import Any, Dict, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import Tables
from rbd_ros.collision.shapes.contact_shapes import ConvexHull
from rbd_ros.compiler import cache
from rbd_ros.compiler.source import source_digest


def cached_hull(points: FloatArray) -> ConvexHull:
    """Return the convex hull of points, from disk if it is cached.

    :param points: (N, 3) [m]
    :raises ValueError: as `ConvexHull`

    >>> from rbd_ros.collision.shapes.hull_cache import cached_hull
    >>> cached_hull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]]).vertices.shape
    (4, 3)
    """
    points = np.ascontiguousarray(points, dtype=float)
    key = {
        'points': hashlib.sha256(points.tobytes()).hexdigest(),
        'source': source_digest('rbd_ros.collision.shapes.hulls'),
        'qhull': _qhull_file(),
    }
    name = cache.entry_name('convex_hull', 'any', cache.digest(key))
    entry = cache.load(name)
    if entry is not None:
        return _hull(*entry)
    hull = ConvexHull(points)
    arrays = {k: v for k, v in hull.tables._asdict().items() if isinstance(v, np.ndarray)}
    header = {
        'notice': hull.notice,
        'lost': hull.lost,
        'flags': {k: v for k, v in hull.tables._asdict().items() if k not in arrays},
        'arrays': [[k, v.dtype.str, v.shape] for k, v in arrays.items()],
    }
    cache.store(name, header, b''.join(v.tobytes() for v in arrays.values()))
    return hull


def _hull(header: Dict[str, Any], content: bytes) -> ConvexHull:
    """Return the hull of an entry."""
    arrays: Dict[str, Any] = {}
    at = 0
    for name, dtype, shape in header['arrays']:
        count = math.prod(shape)
        array = np.frombuffer(content, dtype, count, at).reshape(shape)
        arrays[name] = array.copy()  # aligned, without a reference to the whole file
        at += array.nbytes
    vertices = arrays['vertex'].copy()
    vertices.flags.writeable = False
    # The hull is complete: bypass the constructor.
    hull = object.__new__(ConvexHull)
    made = {
        'vertices': vertices,
        'notice': header['notice'],
        'lost': header['lost'],
        'tables': Tables(**arrays, **header['flags']),
    }
    for name, value in made.items():
        object.__setattr__(hull, name, value)
    return hull


def _qhull_file() -> Tuple[str, int]:
    """Return a key for the versions of NumPy and SciPy, which is slow to import."""
    spec = find_spec('scipy')
    assert spec is not None and spec.origin is not None
    return np.__version__, os.stat(spec.origin).st_mtime_ns
