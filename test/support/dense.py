# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Spatial algebra as dense 6x6 matrices from the book's equations: an oracle of the compact forms.

Angular part first. E is a coordinate rotation, r the position of the new origin in old
coordinates.
"""

import numpy as np


def skew(a):
    """Return the matrix of a x."""
    x, y, z = a
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def crm(v):
    """Return the matrix of the cross product with motions (book eq 2.31)."""
    w, u = skew(v[:3]), skew(v[3:])
    return np.block([[w, np.zeros((3, 3))], [u, w]])


def crf(v):
    """Return the matrix of the cross product with forces (book eq 2.32)."""
    w, u = skew(v[:3]), skew(v[3:])
    return np.block([[w, u], [np.zeros((3, 3)), w]])


def motion_transform(E, r):
    """Return the matrix X of motions (book eq 2.24)."""
    return np.block([[E, np.zeros((3, 3))], [-E @ skew(r), E]])


def force_transform(E, r):
    """Return the matrix X* of forces (book eq 2.25)."""
    return np.block([[E, -E @ skew(r)], [np.zeros((3, 3)), E]])


def inertia(m, c, I_C):
    """Return the spatial inertia (book eq 2.63)."""
    C = skew(c)
    return np.block([[I_C + m * C @ C.T, m * C], [m * C.T, m * np.eye(3)]])


def rotation(rng):
    """Return a random proper rotation matrix."""
    q = rng.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def positive_definite(rng, n):
    """Return a random symmetric positive definite matrix."""
    A = rng.normal(size=(n, n))
    return A @ A.T + n * np.eye(n)
