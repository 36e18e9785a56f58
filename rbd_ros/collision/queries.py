# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact points and distance of two shapes: the Python interface."""

from __future__ import annotations

import math
import threading
from typing import Callable, Dict, List, NamedTuple, Tuple, Type, Union

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.collision.arrays import (
    NO_TABLES,
    Pair,
    PAIRS,
    Tables,
)
from rbd_ros.collision.shapes.contact_shapes import Shape
from rbd_ros.collision.shapes.scene_shapes import code_of, tables_for, tabulated
from rbd_ros.compiler.loops import allocate, entry_point_of, Record

#: Maximum deviation of a pose's rotation from an orthonormal matrix that counts as rounding.
_ROUNDING = 1e-6


class ContactPoints(NamedTuple):
    """Contact points of two shapes, P of them, in the common frame.

    :param points_a: points on the surface of the first shape, (P, 3) [m]
    :param points_b: points on the surface of the second shape, (P, 3) [m]
    :param normal: unit normals from the first shape to the second, (P, 3)
    :param gap: signed gaps along the normals, negative where the shapes penetrate, (P,) [m]
    :param feature: numbers that stay the same while the same features touch, (P,)
    """

    points_a: FloatArray
    points_b: FloatArray
    normal: FloatArray
    gap: FloatArray
    feature: IntArray


class Nearest(NamedTuple):
    """Nearest points of two shapes, or deepest ones where they penetrate.

    :param gap: signed distance, negative where the shapes penetrate [m]
    :param point_a: point on the surface of the first shape, (3,) [m]
    :param point_b: point on the surface of the second shape, (3,) [m]
    :param normal: unit normal from the first shape to the second, (3,)
    """

    gap: float
    point_a: FloatArray
    point_b: FloatArray
    normal: FloatArray


# By name: its source, all pairs, is imported only without machine code.
contacts_of = entry_point_of('rbd_ros.collision.pairs.narrow_phase', 'contacts_of')

#: Maximum number of cached pairs of hulls.
_MAX_PAIRS = 256

#: A pair, its machine code, and the tables of its shapes.
_Bound = Tuple[Pair, Callable[[float, int], int], List[Tables]]


class _Workspace(threading.local):
    """Machine code and its memory, separate for each thread and each pair of hulls."""

    def __init__(self) -> None:
        self._made: Dict[Tuple[object, ...], _Bound] = {}

    def get(self, kinds: Tuple[int, int], tables: List[Tables]) -> _Bound:
        # By identity; references keep the addresses in use.
        key = (code_of(*kinds), *map(id, tables))
        made = self._made.get(key)
        if made is None:
            # Drop the oldest: memory stays bounded for callers that create hulls all the time.
            if len(self._made) >= _MAX_PAIRS:
                del self._made[next(iter(self._made))]
            pair = allocate(Pair, **NO_TABLES)._replace(tables=tables_for([kinds], tables))
            # A call takes microseconds, less than releasing and acquiring the GIL.
            run = contacts_of.bind(Record(pair), release_gil=False)
            made = self._made[key] = pair, run, tables
        return made


_workspace = _Workspace()


def pair_is_supported(a: Union[Shape, Type[Shape]], b: Union[Shape, Type[Shape]]) -> bool:
    """Return whether contact of two shapes, or of two classes of them, is supported.

    One of a pair must be convex; plane with plane and plane with height field are not supported.
    height field.

    :param a: one shape
    :param b: the other one

    >>> from rbd_ros.collision import Box, Cylinder, Plane, pair_is_supported
    >>> [pair_is_supported(*pair) for pair in ((Box, Plane), (Cylinder, Box), (Plane, Plane))]
    [True, True, False]
    """
    return (min(a.kind, b.kind), max(a.kind, b.kind)) in PAIRS


def contacts(
    shape_a: Shape, pose_a: ArrayLike, shape_b: Shape, pose_b: ArrayLike, margin: float = 0.0
) -> ContactPoints:
    """Return the contact points of two shapes, at most four: as many as a body needs to rest.

    Faces and lines that touch nearly flat have several points, others one. The deepest point need
    not give the minimum translation that separates the shapes: a face goes before an edge that
    penetrates a little less (`distance` is exact).

    :param shape_a: first shape
    :param pose_a: homogeneous matrix of its frame in the common frame, (4, 4) [1, m]
    :param shape_b: second shape
    :param pose_b: homogeneous matrix of its frame, (4, 4) [1, m]
    :param margin: maximum gap of the points, to anticipate contacts [m]
    :raises ValueError: for an unsupported pair, and for an invalid margin or pose

    >>> from rbd_ros.collision import Box, Plane, contacts
    >>> above = np.eye(4)
    >>> above[2, 3] = 0.0495  # center of a cube of 0.1 m [m]
    >>> found = contacts(Plane(), np.eye(4), Box((0.1, 0.1, 0.1)), above)
    >>> found.gap, found.normal[0]
    (array([-0.0005, -0.0005, -0.0005, -0.0005]), array([0., 0., 1.]))
    """
    if math.isnan(margin):
        raise ValueError('margin must be a number, got nan')
    pair, count = _find(shape_a, pose_a, shape_b, pose_b, margin, False)
    found = pair.found
    return ContactPoints(
        found.on_a[:count].copy(),
        found.on_b[:count].copy(),
        found.normal[:count].copy(),
        found.gap[:count].copy(),
        found.feature[:count].copy(),
    )


def distance(shape_a: Shape, pose_a: ArrayLike, shape_b: Shape, pose_b: ArrayLike) -> Nearest:
    """Return the signed distance of two shapes, with their nearest or deepest points.

    For penetrating shapes it is minus the length of the minimum translation that separates them.

    :param shape_a: first shape
    :param pose_a: homogeneous matrix of its frame in the common frame, (4, 4) [1, m]
    :param shape_b: second shape
    :param pose_b: homogeneous matrix of its frame, (4, 4) [1, m]
    :raises ValueError: for an unsupported pair, and for an invalid pose

    >>> from rbd_ros.collision import Box, distance, Sphere
    >>> beside = np.eye(4)
    >>> beside[:3, 3] = 1.0, 0.2, 0.0  # [m]
    >>> nearest = distance(Box((1.0, 1.0, 1.0)), np.eye(4), Sphere(0.1), beside)
    >>> nearest.gap, nearest.point_a
    (0.4, array([0.5, 0.2, 0. ]))
    """
    pair, count = _find(shape_a, pose_a, shape_b, pose_b, math.inf, True)
    found = pair.found
    # Without a margin there is always a nearest point.
    k = int(np.argmin(found.gap[:count]))
    return Nearest(
        float(found.gap[k]), found.on_a[k].copy(), found.on_b[k].copy(), found.normal[k].copy()
    )


def _find(
    shape_a: Shape,
    pose_a: ArrayLike,
    shape_b: Shape,
    pose_b: ArrayLike,
    margin: float,
    nearest: bool,
) -> Tuple[Pair, int]:
    if not pair_is_supported(shape_a, shape_b):
        names = [type(each).__name__ for each in (shape_a, shape_b)]
        raise ValueError(
            f'contact of {names[0]} and {names[1]} is not supported; see `pair_is_supported`'
        )
    sizes, tables = tabulated((shape_a, shape_b))
    kinds = shape_a.kind, shape_b.kind
    pair, run, _ = _workspace.get(kinds, tables)
    pair.kind[:], pair.size[:] = kinds, sizes
    _enter('pose_a', pose_a, pair.pose[0])
    _enter('pose_b', pose_b, pair.pose[1])
    return pair, run(margin, int(nearest))


def _enter(name: str, pose: ArrayLike, row: FloatArray) -> None:
    T = checked_pose(name, pose)
    row[:9], row[9:] = T[:3, :3].ravel(), T[:3, 3]


def checked_pose(name: str, pose: ArrayLike) -> FloatArray:
    """Return the homogeneous matrix, (4, 4).

    :param name: its name in errors
    :param pose: pose given by a user
    :raises ValueError: if it is invalid

    >>> from rbd_ros.collision.queries import checked_pose
    >>> checked_pose('pose', np.eye(3))
    Traceback (most recent call last):
        ...
    ValueError: pose must have shape (4, 4), got (3, 3)
    """
    T = np.asarray(pose, dtype=float)
    if T.shape != (4, 4):
        raise ValueError(f'{name} must have shape (4, 4), got {T.shape}')
    if not np.isfinite(T).all():
        raise ValueError(f'{name} must be finite, got {T.tolist()}')
    R = T[:3, :3]
    deviation = max(np.abs(R.T @ R - np.eye(3)).max(), np.abs(T[3] - (0.0, 0.0, 0.0, 1.0)).max())
    if deviation > _ROUNDING or np.linalg.det(R) < 0.0:
        raise ValueError(
            f'{name} must be a homogeneous matrix: a rotation, a position, and 0 0 0 1 below'
        )
    return T
