# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Distances of parallel, touching or many features: boxes on boxes, meshes, hulls."""

from itertools import product

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation
from support import outside
from support.collision_scenes import (
    at,
    coal_distance,
    from_surface,
    random_pose,
    random_shape,
    support,
)

from rbd_ros.collision import (
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    distance,
    Plane,
    Sphere,
    TriangleMesh,
)

HERE = np.eye(4)
QUARTERS = [
    np.array(rotation, dtype=float)
    for rotation in (
        ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        ((0, -1, 0), (1, 0, 0), (0, 0, 1)),
        ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
        ((-1, 0, 0), (0, 0, 1), (0, 1, 0)),
    )
]


def separation(a, pose_a, b, pose_b, d):
    """Return the signed width between two shapes along a direction [m]."""
    return -support(b, pose_b, -d) - support(a, pose_a, d)


def check(a, pose_a, b, pose_b, found, atol=1e-12):
    """Check a distance that the shapes have along the normal, between points of both surfaces."""
    gap, point_a, point_b, normal = found
    assert_allclose(separation(a, pose_a, b, pose_b, normal), gap, atol=atol)
    assert_allclose(point_b - point_a, gap * normal, atol=atol)
    assert_allclose(from_surface(a, pose_a, point_a), 0.0, atol=atol)
    assert_allclose(from_surface(b, pose_b, point_b), 0.0, atol=atol)


@pytest.mark.parametrize('scale', [1e-2, 1.0, 1e3])
def test_boxes_with_parallel_faces(scale):
    """Side by side, above each other, corner to corner, at a face and deep inside: by axes."""
    rng = np.random.default_rng(0)
    offsets = [0.0, -0.3, 0.4, 0.4 + 1e-6, -0.5]
    for x, y, z in product(offsets, repeat=3):
        half = rng.choice([0.1, 0.2, 0.3], 3)
        R = QUARTERS[rng.integers(4)]
        pose, T = at(x, y, z, rotation=R), random_pose(rng, 1.0) if x > 0.0 else HERE
        pose[:3, 3] *= scale
        T[:3, 3] *= scale
        a, b = Box((0.4 * scale,) * 3), Box(tuple(2 * scale * half))
        excess = np.abs(pose[:3, 3]) / scale - 0.2 - np.abs(R) @ half
        expected = np.linalg.norm(np.maximum(excess, 0.0))
        expected = expected if excess.max() > 1e-9 else excess.max()
        found = distance(a, T, b, T @ pose)
        assert_allclose(found.gap, scale * expected, atol=1e-13 * scale)
        if expected > 1e-3:
            check(a, T, b, T @ pose, found, atol=1e-12 * scale)


def test_boxes_with_parallel_edges_and_with_almost_parallel_ones():
    coal = outside.load('coal')
    rng, apart = np.random.default_rng(1), 0
    for number in range(400):
        a, b = (Box(tuple(rng.choice([0.2, 0.4, 0.7], 3))) for _ in range(2))
        turn = rng.uniform(-3.0, 3.0)
        tilt = 10.0 ** rng.uniform(-14.0, -2.0) if number % 2 else 0.0
        axis = np.eye(3)[rng.integers(3)] + tilt * rng.normal(size=3)
        axis *= turn / np.linalg.norm(axis)
        R = Rotation.from_rotvec(axis).as_matrix()
        pose = at(*rng.choice([0.0, 0.2, -0.35, 0.5, 0.9], 3), rotation=R)
        found = distance(a, HERE, b, pose)
        assert_allclose(found.gap, coal_distance(coal, a, HERE, b, pose), atol=1e-9)
        if found.gap > 1e-3:
            apart += 1
            # Along edges that are parallel but for rounding, points are as near as each other.
            check(a, HERE, b, pose, found, atol=1e-6 if tilt else 1e-12)
    assert apart > 100


def test_boxes_that_just_touch():
    """A vertex or a face above a face: at a small gap, none, and a small depth."""
    cube = Box((1.0, 1.0, 1.0))
    onto_vertex = np.array([[1, 1, 1], [1, -1, 0], [1, 1, -2]]) / np.sqrt([[3], [2], [6]])
    for R, height in ((onto_vertex[[1, 2, 0]], np.sqrt(0.75)), (np.eye(3), 0.5)):
        for gap in (1e-3, 1e-7, 1e-10, 0.0, -1e-10, -1e-7, -1e-3):
            pose = at(0.1, 0.2, 0.5 + height + gap, rotation=R)
            found = distance(cube, HERE, cube, pose)
            assert_allclose(found.gap, gap, atol=1e-15)
            assert_allclose(found.normal, [0, 0, 1], atol=1e-5)


def test_a_capsule_deep_in_a_box_and_parallel_to_its_face_has_its_points_there():
    for x in (-0.9, -0.3, 0.0, 0.8):
        pose = at(x, 0.1, 0.25, rotation=QUARTERS[2])
        found = distance(Capsule(0.1, 2.0), pose, Box((1.0, 1.0, 1.0)), HERE)
        assert_allclose(found.gap, -0.35, atol=1e-15)
        assert_allclose(found.point_b[2], 0.5, atol=1e-15)
        assert (np.abs(found.point_b) <= 0.5 + 1e-15).all()


@pytest.mark.parametrize('other', [Capsule, Box, Cylinder, ConvexHull])
def test_a_cylinder_parallel_to_something(other):
    """Sides, rims and caps beside edges and faces: where what is endless is nearer."""
    rng, apart = np.random.default_rng(2), 0
    for _ in range(80):
        a, b = random_shape(other, rng), Cylinder(0.2, 0.5)
        pose = at(*rng.choice([0.0, 0.3, -0.6, 0.9], 3), rotation=QUARTERS[rng.integers(4)])
        found = distance(a, HERE, b, pose)
        assert_allclose(separation(a, HERE, b, pose, found.normal), found.gap, atol=1e-12)
        if found.gap > 1e-3:
            apart += 1
            check(a, HERE, b, pose, found, atol=1e-8)
    assert apart > 20


def test_the_lowest_vertex_of_a_hull_is_nearest_to_a_plane():
    rng = np.random.default_rng(3)
    for _ in range(100):
        hull, pose, ground = (
            random_shape(ConvexHull, rng),
            random_pose(rng, 1),
            random_pose(rng, 1),
        )
        corners = hull.vertices @ pose[:3, :3].T + pose[:3, 3]
        heights = (corners - ground[:3, 3]) @ ground[:3, 2]
        found = distance(Plane(), ground, hull, pose)
        assert_allclose(found.gap, heights.min(), atol=1e-14)
        assert_allclose(found.point_b, corners[heights.argmin()], atol=1e-14)
        mesh_gap = distance(hull, pose, Plane(), ground).gap
        assert_allclose(mesh_gap, heights.min(), atol=1e-14)


def ring(around, across):
    """Return the triangles of a torus, which no box of the search tree fits."""
    u = 2 * np.pi * np.arange(around + 1) / around
    w = 2 * np.pi * np.arange(across + 1) / across
    radius = 0.4 + 0.12 * np.cos(w)[None, :]
    x, y = np.cos(u)[:, None] * radius, np.sin(u)[:, None] * radius
    p = np.stack([x, y, np.broadcast_to(0.12 * np.sin(w), x.shape)], axis=-1)
    return np.array(
        [
            triangle
            for i, j in product(range(around), range(across))
            for triangle in (
                [p[i, j], p[i + 1, j], p[i + 1, j + 1]],
                [p[i, j], p[i + 1, j + 1], p[i, j + 1]],
            )
        ]
    )


@pytest.mark.parametrize('kind', [Sphere, Capsule, Box, Cylinder, ConvexHull])
def test_a_mesh_is_as_far_away_as_the_nearest_of_its_triangles(kind):
    rng, triangles, apart = np.random.default_rng(4), ring(9, 5), 0
    mesh, each = TriangleMesh(triangles), [TriangleMesh([one]) for one in triangles]
    for _ in range(12):
        shape, pose, there = random_shape(kind, rng), random_pose(rng, 0.9), random_pose(rng, 0.2)
        gaps = [distance(shape, pose, one, there).gap for one in each]
        found = distance(shape, pose, mesh, there)
        if min(gaps) > 0.0:
            apart += 1
            assert_allclose(found.gap, min(gaps), atol=1e-12)
            assert_allclose(from_surface(shape, pose, found.point_a), 0.0, atol=1e-9)
        else:
            assert found.gap < 1e-12
    assert apart > 2
