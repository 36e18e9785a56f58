# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reduction of triangles for drawing."""

import numpy as np
import pytest

from rbd_ros.meshes import Triangles
from rbd_ros.viewer.drawn_shapes import simplified


def sphere(n):
    """Return a sphere of 2 n (n - 1) triangles."""
    turn, rise = np.linspace(0, 2 * np.pi, 2 * n + 1), np.linspace(0, np.pi, n + 1)
    u, w = np.meshgrid(turn, rise)
    vertices = np.stack([np.sin(w) * np.cos(u), np.sin(w) * np.sin(u), np.cos(w)], -1)
    k = np.arange(2 * n)[None, :] + (2 * n + 1) * np.arange(n)[:, None]
    one = np.stack([k, k + 2 * n + 1, k + 1], -1)
    two = np.stack([k + 1, k + 2 * n + 1, k + 2 * n + 2], -1)
    return Triangles(vertices.reshape(-1, 3), np.concatenate([one, two]).reshape(-1, 3))


@pytest.mark.parametrize('most', [300, 2000])
def test_fewer_triangles_keep_the_shape(most):
    full = sphere(100)
    less = simplified(full, most)
    assert 0.5 * most < len(less.corners) <= most
    radii = np.linalg.norm(less.vertices, axis=1)
    assert radii.max() <= 1.0 + 1e-9 and radii.min() > (0.8 if most == 300 else 0.99)
    a, b, c = np.moveaxis(less.vertices[less.corners], 1, 0)
    volume = np.einsum('ij,ij->i', a, np.cross(b, c)).sum() / 6.0
    assert abs(volume) > (0.6 if most == 300 else 0.95) * 4.0 / 3.0 * np.pi
    assert simplified(full, 10**6) is full
