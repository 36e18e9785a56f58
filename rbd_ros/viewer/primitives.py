# SPDX-License-Identifier: Apache-2.0
"""Surfaces of primitive shapes as triangles, for pictures; a browser makes its own."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rbd_ros.meshes import Triangles
from rbd_ros.viewer.drawn_shapes import SceneShape
from rbd_ros.viewer.viewer_scene import Scene

FloatArray = NDArray[np.float64]

_AROUND = 48  # sides of what is round
_RINGS = 12  # from the equator to a pole


def surface(scene: Scene, shape: SceneShape) -> Triangles:
    """Return the triangles of a shape, in coordinates of the shape."""
    size = shape.size
    if shape.kind == 'mesh':
        return scene.parts[int(size[0])]
    if shape.kind == 'box':
        return _box(size[0], size[1], size[2])
    if shape.kind == 'cylinder':
        half = 0.5 * size[1]
        return _turned(np.array([[0.0, -half], [size[0], -half], [size[0], half], [0.0, half]]))
    half = 0.5 * size[1] if shape.kind == 'capsule' else 0.0
    angle = np.linspace(0.0, 0.5 * math.pi, _RINGS + 1)
    upper = np.stack([size[0] * np.cos(angle), half + size[0] * np.sin(angle)], axis=1)
    lower = upper[::-1] * (1.0, -1.0)
    return _turned(np.concatenate([lower if half else lower[:-1], upper]))


def arrow(length: float, radius: float) -> Triangles:
    """Return the arrow along z from the origin, whose point is beyond its length.

    :param length: of its shaft [m]
    :param radius: of its shaft [m]
    """
    head = 5.0 * radius
    profile = [[0, 0], [radius, 0], [radius, length], [2.5 * radius, length], [0, length + head]]
    return _turned(np.array(profile), sides=12)


def _box(x: float, y: float, z: float) -> Triangles:
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    corners = [[f[0], f[k], f[k + 1]] for f in faces for k in (1, 2)]
    return Triangles(0.5 * signs * (x, y, z), np.array(corners))


def _turned(profile: FloatArray, sides: int = _AROUND) -> Triangles:
    """Return surface of a profile of radii and heights, upward, that turns about z, (N, 2) [m]."""
    angle = 2.0 * math.pi / sides * np.arange(sides)
    vertices = np.empty((len(profile), sides, 3))
    vertices[..., 0] = profile[:, :1] * np.cos(angle)
    vertices[..., 1] = profile[:, :1] * np.sin(angle)
    vertices[..., 2] = profile[:, 1:]
    number = np.arange(vertices.shape[0] * sides).reshape(-1, sides)
    beside = np.roll(number, -1, axis=1)
    a, b, c, d = number[:-1], beside[:-1], beside[1:], number[1:]
    corners = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    return Triangles(vertices.reshape(-1, 3), corners)
