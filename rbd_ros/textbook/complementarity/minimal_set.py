# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Minimal contact sets: line and surface contacts as few point contacts (book 11.6).

A contact whose normal is positively dependent on the others, a nonnegative combination of them,
adds no constraint, and is dropped. Normals are spatial vectors: in a flat contact those of all
points are parallel, and yet those at the vertices of the convex hull are independent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.textbook.complementarity.force_qp import nonnegative_least_squares
from rbd_ros.textbook.complementarity.lcp_problem import Array

#: Distance from the cone of the others, relative to the normal's length, that counts as zero.
TOLERANCE = 1e-9


def positively_dependent(
    vector: ArrayLike, others: ArrayLike, tolerance: float = TOLERANCE
) -> bool:
    """Return whether a vector is a nonnegative combination of others.

    :param vector: vector of any space, (n,)
    :param others: vectors of the same space, (m, n); there may be none
    :param tolerance: distance from their cone, relative to the vector's length, that counts as
        zero

    >>> from rbd_ros.textbook.complementarity import positively_dependent
    >>> bool(positively_dependent(np.array([1.0, 1.0]), np.eye(2)))
    True
    """
    v = np.asarray(vector, dtype=float)
    length = np.linalg.norm(v)
    if length == 0.0:
        return True
    E = np.asarray(others, dtype=float).reshape(-1, len(v)).T
    u, _, _ = nonnegative_least_squares(E, v / length)
    return bool(np.linalg.norm(E @ u - v / length) <= tolerance)


def normal_screws(points: ArrayLike, normals: ArrayLike) -> Array:
    """Return the contact normals as spatial forces [n; f], (c, 6), about the middle of the points.

    Moments are in units of the size of the contact, so that all elements are comparable.

    :param points: contact points, (c, 3) [m]
    :param normals: unit normals, (c, 3), or one for all, (3,)
    :raises ValueError: for wrong shapes, or numbers that are not finite
    """
    C, e = np.asarray(points, dtype=float), np.asarray(normals, dtype=float)
    if C.ndim != 2 or C.shape[1] != 3 or e.shape not in (C.shape, (3,)):
        raise ValueError(
            f'points must have shape (c, 3) and normals the same or (3,), got {C.shape} and '
            f'{e.shape}'
        )
    if not (np.isfinite(C).all() and np.isfinite(e).all()):
        raise ValueError('points and normals must be finite')
    e = np.broadcast_to(e, C.shape)
    # Moments about the centroid, in lengths of the contact, so that one tolerance serves both
    # moments and forces.
    arms = C - C.mean(axis=0) if len(C) else C
    size = float(np.linalg.norm(arms, axis=1).max(initial=0.0)) or 1.0
    return np.hstack([np.cross(arms / size, e), e])


def minimal_contact_set(
    points: ArrayLike, normals: ArrayLike, tolerance: float = TOLERANCE
) -> NDArray[Any]:
    """Return the contacts without redundant ones.

    Of a straight edge on a face its two ends remain, of a polygon the vertices of its convex hull,
    and of a round or twisted contact all points. Of two equivalent contacts the first remains.

    :param points: contact points between one pair of bodies, (c, 3) [m]
    :param normals: unit normals, (c, 3), or one for all, (3,)
    :param tolerance: distance from the cone of the others that counts as none, relative to the
        size of the contact
    :return: indices of the contacts that are left, ascending
    :raises ValueError: for wrong shapes, or numbers that are not finite

    >>> from rbd_ros.textbook.complementarity import minimal_contact_set
    >>> feet = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, 0.0]])
    >>> minimal_contact_set(feet, np.tile([0.0, 0.0, 1.0], (4, 1)))  # not the last
    array([0, 1, 2])
    """
    screws = normal_screws(points, normals)
    left = list(range(len(screws)))
    # From the last one, so that the first of equivalent contacts stays.
    for i in reversed(range(len(screws))):
        others = [k for k in left if k != i]
        if positively_dependent(screws[i], screws[others], tolerance):
            left = others
    return np.array(left, dtype=int)


def disc_contacts(center: ArrayLike, normal: ArrayLike, radius: float, count: int) -> Array:
    """Return the points of a k-gon for a flat circular contact, (count, 3) [m].

    They are counterclockwise about the axis, from the direction normal x e, where e is the
    coordinate axis with the smallest component of the normal.

    The polygon is inscribed: the support of the disc reaches further by up to radius (1 - cos(pi /
    count)), which vanishes as count^-2.

    :param center: center of the disc, (3,) [m]
    :param normal: its axis, (3,), not zero
    :param radius: its radius [m]
    :param count: number of points, 3 at least
    :raises ValueError: if the axis is zero, the radius not positive, or the points are too few

    >>> from rbd_ros.textbook.complementarity import disc_contacts
    >>> disc_contacts((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.1, 4).shape  # corners of a square
    (4, 3)
    """
    axis = np.asarray(normal, dtype=float)
    length = float(np.linalg.norm(axis))
    if count < 3 or not radius > 0.0 or not length > 0.0:
        raise ValueError(
            f'a disc needs at least 3 points, a positive radius and an axis, got {count}, '
            f'{radius} and {axis.tolist()}'
        )
    first = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first /= np.linalg.norm(first)
    second = np.cross(axis / length, first)
    angle = 2.0 * np.pi * np.arange(count) / count
    ring = np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second
    found: Array = np.asarray(center, dtype=float) + radius * ring
    return found
