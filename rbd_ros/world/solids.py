# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Volume, center of mass and rotational inertia of solids of uniform density."""

from __future__ import annotations

import math
from typing import Union

import numpy as np

from rbd_ros import meshes  # loads readers of files on first use
from rbd_ros.array_types import FloatArray
from rbd_ros.model.geometry import Box, Capsule, Cylinder, Mesh, Sphere
from rbd_ros.spatial import linear3, RigidBodyInertia

Solid = Union[Box, Sphere, Cylinder, Capsule, Mesh]


def solid_inertia(shape: Solid, density: float = 1.0, convex: bool = False) -> RigidBodyInertia:
    """Return the inertia of a solid of uniform density, in the coordinates of its geometry frame.

    :param shape: box, sphere, cylinder, capsule or mesh
    :param density: density [kg/m^3]
    :param convex: whether to use the convex hull of a mesh; a mesh that is not closed has no
        volume
    :raises MeshError: for a mesh without a file, or one that encloses no volume
    :raises TypeError: for a shape without volume, such as a plane

    >>> from rbd_ros.world import solid_inertia
    >>> from rbd_ros.model.geometry import Box
    >>> brick = solid_inertia(Box((0.2, 0.1, 0.05)), density=2000.0)
    >>> brick.mass, np.array(brick.parameters()[4:])  # xx, xy, xz, yy, yz, zz [kg m^2]
    (2.0, array([0.002, 0.   , 0.   , 0.007, 0.   , 0.008]))
    """
    if isinstance(shape, Box):
        x, y, z = shape.size
        mass = density * x * y * z
        # About the center: I_xx = m (y^2 + z^2) / 12, and so on.
        moments = [mass * (a * a + b * b) / 12.0 for a, b in ((y, z), (z, x), (x, y))]
    elif isinstance(shape, Sphere):
        mass = density * 4.0 / 3.0 * math.pi * shape.radius**3
        # I = 2/5 m r^2.
        moments = [0.4 * mass * shape.radius**2] * 3
    elif isinstance(shape, (Cylinder, Capsule)):
        r2, length = shape.radius**2, shape.length
        mass = density * math.pi * r2 * length
        # A cylinder along z: I_xx = I_yy = m (r^2 / 4 + l^2 / 12), I_zz = m r^2 / 2.
        across, along = mass * (r2 / 4.0 + length**2 / 12.0), mass * r2 / 2.0
        if isinstance(shape, Capsule):
            # Both half spheres together; their centers of mass lie 3/8 r beyond the cylinder.
            ball = density * 4.0 / 3.0 * math.pi * shape.radius**3
            beyond = length * (length / 4.0 + 3.0 / 8.0 * shape.radius)
            mass, across = mass + ball, across + ball * (0.4 * r2 + beyond)
            along += 0.4 * ball * r2
        moments = [across, across, along]
    elif isinstance(shape, Mesh):
        return triangles_inertia(_triangles(shape, convex), density)
    else:
        raise TypeError(f'a {type(shape).__name__} has no volume; give a box, sphere, ... or mesh')
    zero = 0.0
    return RigidBodyInertia(
        mass, (zero, zero, zero), (moments[0], zero, moments[1], zero, zero, moments[2])
    )


def triangles_inertia(triangles: FloatArray, density: float = 1.0) -> RigidBodyInertia:
    """Return the inertia of the solid that triangles enclose, as a sum over signed tetrahedra.

    Each triangle and an interior point form a tetrahedron; second moments of volume as in Tonon
    (2004). If all triangles face inwards, they are reversed.

    :param triangles: corners of closed triangles, (T, 3, 3) [m]
    :param density: density [kg/m^3]
    :raises MeshError: if the volume is zero

    >>> from rbd_ros.world import triangles_inertia
    >>> corners = np.vstack([np.zeros(3), np.eye(3)])  # of a tetrahedron
    >>> faces = corners[[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]]
    >>> round(triangles_inertia(faces, density=6.0).mass, 6)
    1.0
    """
    middle = triangles.reshape(-1, 3).mean(axis=0)  # reduces cancellation
    a, b, c = (triangles[:, k] - middle for k in range(3))
    six_volumes = np.einsum('ij,ij->i', a, np.cross(b, c))
    volume = six_volumes.sum() / 6.0
    # Relative to the size of the mesh, independent of its unit.
    extent = float(np.ptp(triangles.reshape(-1, 3), axis=0).max())
    if not abs(volume) > 1e-12 * extent**3:
        raise meshes.MeshError('its triangles enclose no volume; give a mesh of a solid')
    if volume < 0.0:
        volume, six_volumes = -volume, -six_volumes
    total = a + b + c
    # The centroid of a tetrahedron with a corner at the origin is s / 4, with s the sum of the
    # others.
    center = (six_volumes @ total) / (24.0 * volume)
    # Integral of x x^T over a tetrahedron with a corner at the origin: V / 20 (sum of x_k x_k^T
    # over its corners + s s^T), s their sum.
    second = sum(np.einsum('i,ij,ik->jk', six_volumes, x, x) for x in (a, b, c, total)) / 120.0
    second = density * (second - volume * np.outer(center, center))
    # From second moments to the inertia tensor: I = tr(S) 1 - S.
    about_center = np.trace(second) * np.eye(3) - second
    return RigidBodyInertia.from_mass_center(
        float(density * volume),
        linear3.vector3((center + middle).tolist()),
        linear3.matrix3((0.5 * (about_center + about_center.T)).tolist()),
    )


def _triangles(mesh: Mesh, convex: bool) -> FloatArray:
    if mesh.path is None:
        raise meshes.MeshError(f'there is no file {mesh.uri}; check the path')
    if convex:
        return meshes.hull_triangles(meshes.mesh_vertices(mesh.path, mesh.scale))
    triangles = meshes.mesh_triangles(mesh.path, mesh.scale)
    if not meshes.is_closed(triangles):
        raise meshes.MeshError(
            f'{mesh.uri} is not closed, so its volume is undefined; close it, give mass and '
            'inertia, or use its convex hull by "convex: true"'
        )
    return triangles
