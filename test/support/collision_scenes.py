# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shapes at random poses, and their distances by coal."""

from functools import lru_cache
from itertools import combinations_with_replacement, product

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull as Hull
from scipy.spatial.transform import Rotation

from rbd_ros.collision import Box, Capsule, ConvexHull, Cylinder, pair_is_supported, Plane, Sphere

KINDS = (Plane, Sphere, Capsule, Box, Cylinder, ConvexHull)
PAIRS = [pair for pair in combinations_with_replacement(KINDS, 2) if pair_is_supported(*pair)]
#: Shapes with a cylinder, which have no closed form
CURVED = [(a, b) for a, b in PAIRS if Cylinder in (a, b) and a not in (Plane, Sphere)]
NAMES = [f'{a.__name__}-{b.__name__}' for a, b in PAIRS]


def random_shape(kind, rng):
    """Return the shape of a kind, 0.1 to 1.2 m."""
    sizes = rng.uniform(0.05, 0.6, 3)
    return {
        Plane: lambda: Plane(),
        Sphere: lambda: Sphere(sizes[0]),
        Capsule: lambda: Capsule(sizes[0], 2 * sizes[1]),
        Box: lambda: Box(tuple(2 * sizes)),
        Cylinder: lambda: Cylinder(sizes[0], 2 * sizes[1]),
        ConvexHull: lambda: random_hull(rng),
    }[kind]()


def random_hull(rng):
    """Return one of a hundred hulls, as finding the faces of each takes a millisecond."""
    return hundred_hulls()[rng.integers(100)]


@lru_cache(maxsize=None)
def hundred_hulls():
    """Return hulls of 4 to 60 points in a box, or of its corners."""
    rng, found = np.random.default_rng(100), []
    for number in range(100):
        sizes, count = rng.uniform(0.05, 0.6, 3), int(rng.integers(4, 61))
        corners = np.array(list(product((-1, 1), repeat=3)))
        points = corners if number % 5 == 0 else rng.uniform(-1, 1, (count, 3))
        found.append(ConvexHull(sizes * points))
    return found


def random_pose(rng, spread):
    """Return a homogeneous matrix with random rotation and normally distributed position."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(rng.normal(size=4)).as_matrix()
    T[:3, 3] = spread * rng.normal(size=3)
    return T


def at(*position, rotation=None):
    """Return the homogeneous matrix of a position and a rotation."""
    T = np.eye(4)
    T[:3, 3] = position
    if rotation is not None:
        T[:3, :3] = rotation
    return T


def about(axis, angle):
    """Return the rotation about a coordinate axis, (3, 3)."""
    return Rotation.from_rotvec(angle * np.eye(3)[axis]).as_matrix()


def scene(pair, rng, near=False):
    """Return two shapes and their poses, as the arguments of functions."""
    a, b = (random_shape(kind, rng) for kind in pair)
    return a, random_pose(rng, 0.3), b, random_pose(rng, 0.4 if near else 0.7)


def moved(T, step):
    """Return the pose after a small motion of the body: rotation vector and translation, (6,)."""
    result = T.copy()
    result[:3, :3] = Rotation.from_rotvec(step[:3]).as_matrix() @ T[:3, :3]
    result[:3, 3] += step[3:]
    return result


def coal_distance(coal, shape_a, pose_a, shape_b, pose_b):
    """Return the signed distance by coal, at its best accuracy [m]."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance, request.epa_tolerance = 1e-12, 1e-10
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    each = []
    for shape, pose in ((shape_a, pose_a), (shape_b, pose_b)):
        each += [_in_coal(coal, shape), coal.Transform3s(pose[:3, :3].copy(), pose[:3, 3].copy())]
    return coal.distance(*each, request, result)


def _in_coal(coal, shape):
    if isinstance(shape, Plane):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, ConvexHull):
        points = coal.StdVec_Vec3s()
        for each in shape.vertices:
            points.append(each)
        return coal.Convex.convexHull(points, True, None)
    if isinstance(shape, Box):
        return coal.Box(*shape.size)
    kind = coal.Capsule if isinstance(shape, Capsule) else coal.Cylinder
    return kind(shape.radius, shape.length)


def support(shape, pose, direction):
    """Return the maximum of direction . x over a shape other than a plane.

    Its support function [m].
    """
    d = pose[:3, :3].T @ direction
    if isinstance(shape, ConvexHull):
        return direction @ pose[:3, 3] + (shape.vertices @ d).max()
    h = shape.half_sizes
    extent = {
        Sphere: lambda: h[0],
        Capsule: lambda: h[0] + h[1] * abs(d[2]),
        Box: lambda: np.abs(d) @ h,
        Cylinder: lambda: h[0] * np.hypot(d[0], d[1]) + h[1] * abs(d[2]),
    }[type(shape)]()
    return direction @ pose[:3, 3] + extent


def from_surface(shape, pose, point):
    """Return the signed distance of a point from the surface of a shape.

    Independent of the package [m].
    """
    x = pose[:3, :3].T @ (point - pose[:3, 3])
    h = shape.half_sizes
    if isinstance(shape, ConvexHull):
        return from_hull(shape.vertices, x)
    if isinstance(shape, Plane):
        return x[2]
    if isinstance(shape, Sphere):
        return np.linalg.norm(x) - h[0]
    if isinstance(shape, Capsule):
        return np.linalg.norm(x - [0, 0, np.clip(x[2], -h[1], h[1])]) - h[0]
    excess = np.abs(x) - h
    if isinstance(shape, Cylinder):
        excess = np.array([np.hypot(x[0], x[1]) - h[0], abs(x[2]) - h[1]])
    outside = np.linalg.norm(np.maximum(excess, 0.0))
    return outside if outside > 0.0 else excess.max()


def from_hull(vertices, x):
    """Return the signed distance of a point from a hull, by a quadratic program [m]."""
    equations = Hull(vertices).equations
    inside = (equations[:, :3] @ x + equations[:, 3]).max()
    if inside <= 1e-9:  # of which little is known beside an edge
        return inside
    weight = 1e6 * np.ptp(vertices, axis=0).max()
    shares, _ = nnls(np.vstack([vertices.T, np.full(len(vertices), weight)]), np.append(x, weight))
    return np.linalg.norm(vertices.T @ shares - x)
