# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Triangle meshes and height fields are surfaces, independent of their triangulation."""

from itertools import product
import time

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.collision_scenes import about, at, random_hull, random_pose, random_shape

from rbd_ros.collision import (
    Box,
    Capsule,
    contacts,
    ConvexHull,
    Cylinder,
    distance,
    HeightField,
    MeshError,
    pair_is_supported,
    Plane,
    Sphere,
    TriangleMesh,
)
from rbd_ros.meshes import hull_triangles

CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))
CONVEX = (Sphere, Capsule, Box, Cylinder, ConvexHull)
HERE = np.eye(4)


def box_mesh(half, middle=(0, 0, 0)):
    return hull_triangles(CORNERS * half + middle)


def grid_mesh(heights, size):
    """Return the triangles of a height field, with its division of cells."""
    rows, columns = heights.shape
    x = np.linspace(-0.5, 0.5, columns) * size[0]
    y = np.linspace(0.5, -0.5, rows) * size[1]
    p = np.array([[(x[j], y[i], heights[i, j]) for j in range(columns)] for i in range(rows)])
    triangles = []
    for i in range(rows - 1):
        for j in range(columns - 1):
            triangles.append([p[i + 1, j], p[i + 1, j + 1], p[i, j]])
            triangles.append([p[i, j + 1], p[i, j], p[i + 1, j + 1]])
    return np.array(triangles)


FLAT = np.zeros((9, 9))
FLOORS = [TriangleMesh(grid_mesh(FLAT, (2, 2))), HeightField((2, 2), FLAT)]
floors = pytest.mark.parametrize('floor', FLOORS, ids=['mesh', 'height_field'])


@pytest.mark.parametrize('kind', CONVEX)
def test_a_closed_convex_mesh_has_the_distances_of_its_hull(kind):
    rng, apart = np.random.default_rng(0), 0
    for _ in range(150):
        hull = random_hull(rng)
        mesh = TriangleMesh(hull_triangles(hull.vertices))
        assert mesh.closed and mesh.notice == ''
        shape, pose, there = random_shape(kind, rng), random_pose(rng, 0.3), random_pose(rng, 0.7)
        expected = distance(shape, pose, hull, there)
        if expected.gap <= 0.0:
            assert len(contacts(shape, pose, mesh, there).gap) or expected.gap < -0.05
            continue
        apart += 1
        found = distance(shape, pose, mesh, there)
        assert_allclose(found.gap, expected.gap, atol=1e-12)
        assert_allclose(found.normal, expected.normal, atol=1e-6)
        swapped = distance(mesh, there, shape, pose)
        assert_allclose(swapped.gap, expected.gap, atol=1e-12)
        assert_allclose(swapped.normal, -found.normal, atol=1e-12)
        assert (len(contacts(shape, pose, mesh, there, 0.05).gap) > 0) == (expected.gap <= 0.05)
    assert apart > 50


@pytest.mark.parametrize('kind', CONVEX)
def test_an_angle_of_two_boxes_is_as_far_away_as_the_nearer_one(kind):
    rng = np.random.default_rng(1)
    parts = [(0.5, 0.5, 0.1), (0, 0, 0)], [(0.1, 0.5, 0.4), (-0.4, 0, 0.5)]
    mesh = TriangleMesh(np.vstack([box_mesh(*each) for each in parts]))
    seen = 0
    for _ in range(100):
        shape, pose = random_shape(kind, rng), random_pose(rng, 0.8)
        gaps = [
            distance(shape, pose, Box(tuple(2 * np.array(half))), at(*middle)).gap
            for half, middle in parts
        ]
        if min(gaps) > 0.0:
            seen += 1
            assert_allclose(distance(shape, pose, mesh, HERE).gap, min(gaps), atol=1e-12)
    assert seen > 20


@floors
@pytest.mark.parametrize(
    'shape',
    [Box((0.3, 0.2, 0.2)), ConvexHull(CORNERS * [0.15, 0.1, 0.1]), Cylinder(0.1, 0.3)],
    ids=['box', 'hull', 'cylinder'],
)
def test_contacts_with_a_flat_mesh_equal_those_with_a_plane(floor, shape):
    """Everywhere the contact is that with a plane: no bump, no normal that leans."""
    rng = np.random.default_rng(2)
    lying = about(0, np.pi / 2) if isinstance(shape, Cylinder) else np.eye(3)
    for number in range(120):
        depth = (1e-3, 1e-5, -1e-4, 0.03)[number % 4]
        x, y = rng.uniform(-0.7, 0.7, 2)
        if number % 3 == 0:  # along the edges of triangles
            x, y = np.round(8 * x) / 8, y
        R = about(2, rng.uniform(0, 6)) @ lying
        pose = at(x, y, 0.1 - depth, rotation=R)
        found = contacts(shape, pose, floor, HERE, margin=1e-3)
        plane = contacts(shape, pose, Plane(), HERE, margin=1e-3)
        assert_allclose(found.normal, np.tile([0, 0, -1.0], (len(found.gap), 1)), atol=1e-12)
        assert_allclose(found.gap, -depth, atol=1e-12)
        assert len(found.gap) <= 8 and len(set(found.feature)) == len(found.feature)
        # It spans what the contact with a plane spans.
        for side in (np.min, np.max):
            assert_allclose(
                side(found.points_a[:, :2], axis=0), side(plane.points_a[:, :2], axis=0), atol=1e-9
            )


@floors
def test_a_tilted_box_touches_with_its_lowest_vertex(floor):
    rng, box = np.random.default_rng(3), Box((0.3, 0.2, 0.2))
    for _ in range(60):
        R = about(2, rng.uniform(0, 6)) @ about(0, rng.uniform(-0.6, 0.6)) @ about(1, 0.3)
        corners = (CORNERS * [0.15, 0.1, 0.1]) @ R.T
        pose = at(*rng.uniform(-0.7, 0.7, 2), -corners[:, 2].min() - 1e-3, rotation=R)
        found = contacts(box, pose, floor, HERE)
        k = np.argmin(found.gap)
        assert_allclose(found.gap[k], -1e-3, atol=1e-12)
        assert_allclose(found.normal, np.tile([0, 0, -1.0], (len(found.gap), 1)), atol=1e-12)
        assert_allclose(found.points_a[k], pose[:3, 3] + corners[np.argmin(corners[:, 2])])


@floors
def test_a_ball_rolls_over_a_flat_floor_with_one_point_below_it(floor):
    rng = np.random.default_rng(4)
    for height in (0.099, 0.1005):
        for x, y in [(0.0, 0.0), (0.125, 0.0), (0.1, 0.1), *rng.uniform(-0.8, 0.8, (60, 2))]:
            found = contacts(Sphere(0.1), at(x, y, height), floor, HERE, margin=1e-3)
            assert_allclose(found.points_b, [[x, y, 0]], atol=1e-12)
            assert_allclose(found.normal, [[0, 0, -1]], atol=1e-12)


def test_a_ball_rolls_round_the_edge_of_a_mesh():
    mesh = TriangleMesh(box_mesh((0.5, 0.5, 0.5)))
    for angle in np.linspace(0.01, np.pi / 2 - 0.01, 7):
        out = np.array([np.sin(angle), 0, np.cos(angle)])
        found = contacts(Sphere(0.1), at(*(np.array([0.5, 0.1, 0.5]) + 0.099 * out)), mesh, HERE)
        assert_allclose(found.points_b, [[0.5, 0.1, 0.5]], atol=1e-12)
        assert_allclose(found.normal, [-out], atol=1e-9)


def test_a_ball_in_a_valley_touches_both_sides_of_it():
    heights = np.abs(np.linspace(-1, 1, 9))[None, :].repeat(5, axis=0)
    for valley in (HeightField((2, 2), heights), TriangleMesh(grid_mesh(heights, (2, 2)))):
        found = contacts(Sphere(0.1), at(0, 0.03, 0.1 * np.sqrt(2) - 1e-3), valley, HERE)
        assert len(found.gap) == 2
        assert_allclose(found.gap, -1e-3 * np.sqrt(0.5), atol=1e-12)
        assert_allclose(sorted(found.normal[:, 0]), [-np.sqrt(0.5), np.sqrt(0.5)], atol=1e-9)


def test_a_height_field_is_the_mesh_of_its_triangles():
    rng = np.random.default_rng(5)
    heights = 0.1 * rng.normal(size=(7, 6))
    field, mesh = HeightField((2.0, 3.0), heights), TriangleMesh(grid_mesh(heights, (2.0, 3.0)))
    for number in range(120):
        shape = random_shape(CONVEX[number % 5], rng)
        pose = at(*rng.normal(size=2), rng.uniform(0.8, 2.0), rotation=random_pose(rng, 1)[:3, :3])
        expected = distance(shape, pose, mesh, HERE)
        if expected.gap > 0.0:
            assert_allclose(distance(shape, pose, field, HERE).gap, expected.gap, atol=1e-12)


@floors
def test_far_beside_and_above_a_floor_there_is_nothing(floor):
    for position in ((1.2, 0, 0), (0, -1.2, 0), (-1e12, 3e15, 0), (0, 0, 1e9), (0, 0, 0.2)):
        assert len(contacts(Sphere(0.1), at(*position), floor, HERE, margin=0.05).gap) == 0


def test_a_body_below_a_height_field_is_lifted():
    field = HeightField((2, 2), FLAT)
    for depth in (0.2, 0.7):
        for shape in (Sphere(0.1), Box((0.2, 0.2, 0.2)), Cylinder(0.1, 0.2)):
            found = contacts(shape, at(0.03, 0.02, 0.1 - depth), field, HERE)
            assert_allclose(found.gap.min(), -depth, atol=1e-12)
            assert_allclose(found.normal, np.tile([0, 0, -1.0], (len(found.gap), 1)), atol=1e-12)


def test_a_box_over_the_border_of_a_table_is_not_pushed_sideways():
    table = TriangleMesh(box_mesh((0.5, 0.5, 0.5)))
    for angle in (0.0, 0.3, 1.0):
        pose = at(0.45, 0.48, 0.599, rotation=about(2, angle))
        found = contacts(Box((0.3, 0.3, 0.2)), pose, table, HERE)
        assert_allclose(found.normal, np.tile([0, 0, -1.0], (len(found.gap), 1)), atol=1e-9)
        assert_allclose(found.gap, -1e-3, atol=1e-12)
        assert 3 <= len(found.gap) <= 8


def test_a_sheet_is_touched_from_both_sides_and_a_solid_from_outside():
    sheet = TriangleMesh(grid_mesh(FLAT, (2, 2)))
    assert not sheet.closed
    for side in (1.0, -1.0):
        found = contacts(Sphere(0.1), at(0.1, 0.1, 0.0995 * side), sheet, HERE)
        assert_allclose(found.normal, [[0, 0, -side]], atol=1e-12)
        box = contacts(Box((0.3, 0.2, 0.2)), at(0.03, 0.1, 0.1005 * side), sheet, HERE, 1e-3)
        assert_allclose(box.normal, np.tile([0, 0, -side], (len(box.gap), 1)), atol=1e-12)
        assert_allclose(box.gap, 5e-4, atol=1e-12)
    solid = TriangleMesh(box_mesh((0.5, 0.5, 0.5)))
    assert len(contacts(Sphere(0.1), at(0, 0, 0.3), solid, HERE, margin=0.15).gap) == 0


def test_a_mesh_rests_on_a_plane_as_its_hull():
    parts = [(0.5, 0.5, 0.1), (0, 0, 0)], [(0.1, 0.5, 0.4), (-0.4, 0, 0.5)]
    triangles = np.vstack([box_mesh(*each) for each in parts])
    mesh, hull = TriangleMesh(triangles), ConvexHull(triangles.reshape(-1, 3))
    found = contacts(Plane(), HERE, mesh, at(0, 0, 0.099))
    expected = contacts(Plane(), HERE, hull, at(0, 0, 0.099))
    assert len(found.gap) == 4
    assert_allclose(found.points_b, expected.points_b)
    both = contacts(hull, at(0, 0, 0.2), mesh, HERE), contacts(mesh, HERE, hull, at(0, 0, 0.2))
    assert len(both[0].gap) == len(both[1].gap) > 0
    assert_allclose(both[0].normal, -both[1].normal)


def test_pairs_without_a_convex_shape_are_rejected():
    mesh, field = FLOORS
    for a, b in ((mesh, mesh), (mesh, field), (field, field), (Plane(), field)):
        assert not pair_is_supported(a, b)
        with pytest.raises(ValueError, match='is not supported'):
            contacts(a, HERE, b, HERE)


def test_points_of_a_floor_stay_the_same_ones_in_small_motions():
    rng = np.random.default_rng(6)
    for floor in FLOORS:
        for _ in range(40):
            pose = at(*rng.uniform(-0.6, 0.6, 2), 0.0999, rotation=about(2, rng.uniform(0, 6)))
            found = contacts(Box((0.3, 0.2, 0.2)), pose, floor, HERE)
            pose[:3, 3] += 1e-11
            again = contacts(Box((0.3, 0.2, 0.2)), pose, floor, HERE)
            assert set(found.feature) == set(again.feature)


@pytest.mark.parametrize(
    ('triangles', 'match'),
    [
        (np.zeros((0, 3, 3)), 'at least one triangle, got none'),
        (np.zeros((4, 3)), r'must have shape \(T, 3, 3\), got \(4, 3\)'),
        (np.full((2, 3, 3), np.nan), 'must be finite'),
        (np.zeros((2, 3, 3)), 'are lines or points'),
        ([[[0, 0, 0], [1, 1, 1], [2, 2, 2]]], 'are lines or points'),
    ],
)
def test_triangles_that_make_no_mesh_are_rejected_with_the_reason(triangles, match):
    with pytest.raises(MeshError, match=match):
        TriangleMesh(triangles)


def test_a_defect_of_a_mesh_is_reported_and_the_rest_of_it_is_used():
    triangles = box_mesh((0.5, 0.5, 0.5))
    needle = np.array([[[0, 0, 0], [1, 0, 0], [0.5, 0, 0]]])
    mesh = TriangleMesh(np.vstack([triangles, needle]))
    assert mesh.notice == '1 of its 13 triangles are lines or points' and mesh.closed
    fin = np.array([[triangles[0, 0], triangles[0, 1], [2.0, 2.0, 2.0]]])
    odd = TriangleMesh(np.vstack([triangles, fin]))
    assert odd.notice == '1 of its edges have more than two triangles' and not odd.closed
    for each in (mesh, odd):
        assert_allclose(distance(Sphere(0.1), at(0, -0.8, 0), each, HERE).gap, 0.2, atol=1e-12)


@pytest.mark.parametrize(
    ('size', 'heights', 'match'),
    [
        ((1, 1), [[0, 0]], r'at least 2 rows and 2 columns and at most \d+ numbers, got shape'),
        ((1, 1), [0, 0, 0], 'got shape'),
        ((1, 1), [[0, 0], [0, np.nan]], 'heights must be finite'),
        ((0, 1), [[0, 0], [0, 0]], 'two positive lengths'),
        ((1, 1, 1), [[0, 0], [0, 0]], 'two positive lengths'),
        ((1, np.inf), [[0, 0], [0, 0]], 'two positive lengths'),
    ],
)
def test_heights_that_make_no_field_are_rejected_with_the_reason(size, heights, match):
    with pytest.raises(ValueError, match=match):
        HeightField(size, heights)


def test_a_large_mesh_is_found_in_fast():
    n = 150
    x = np.linspace(-1, 1, n)
    heights = 0.1 * np.sin(9 * x)[:, None] * np.cos(7 * x)[None, :]
    start = time.process_time()
    mesh = TriangleMesh(grid_mesh(heights, (2, 2)))
    assert len(mesh.triangles) == 2 * (n - 1) ** 2
    assert time.process_time() - start < 20.0
    pose = at(0.1, 0.2, 0.15)
    expected = distance(Sphere(0.05), pose, HeightField((2, 2), heights), HERE)
    start = time.process_time()
    for _ in range(20):
        found = distance(Sphere(0.05), pose, mesh, HERE)
    assert time.process_time() - start < 0.4
    assert_allclose(found.gap, expected.gap, atol=1e-12)
