# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Convex hulls of points: their tables, and degenerate points."""

from itertools import product
import time

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial import ConvexHull as Hull

from rbd_ros.collision import ConvexHull, distance, Sphere
from rbd_ros.collision.shapes import hulls
from rbd_ros.collision.shapes.hulls import join_tables, MAX_CORNERS, MAX_VERTICES

CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))


def faces_of(tables, hull=0):
    first = tables.hull[hull, 0]
    for begin, count in tables.ring:
        yield first + tables.corner[begin : begin + count]


def test_a_cube_has_six_faces_of_four_corners_anticlockwise_from_outside():
    cube = ConvexHull(np.vstack([CORNERS, 0.5 * CORNERS]))
    t = cube.tables
    assert (len(cube.vertices), len(t.face), len(t.corner)) == (8, 6, 24)
    assert_allclose(t.face[:, 3], 1.0, atol=1e-12)
    for (x, y, z, _), face in zip(t.face, faces_of(t)):
        p = t.vertex[face]
        assert_allclose(p @ [x, y, z], 1.0, atol=1e-12)
        turn = sum(np.cross(p[k] - p[0], p[(k + 1) % 4] - p[0]) for k in range(4))
        assert_allclose(turn, 8 * np.array([x, y, z]), atol=1e-12)
    # Triangles have diagonals besides the three edges of each vertex.
    assert t.around[:, 1].min() >= 3 and t.around[:, 3].tolist() == [3] * 8


def test_tables_of_random_hulls_fit_together():
    rng = np.random.default_rng(0)
    for number in (4, 8, 30, 200):
        hull = ConvexHull(rng.normal(size=(number, 3)))
        t, reference = hull.tables, Hull(hull.vertices)
        assert len(hull.vertices) == len(reference.vertices)
        for plane in t.face:
            assert (t.vertex @ plane[:3]).max() == pytest.approx(plane[3], abs=1e-12)
        for v, (edge, edges, incidence, faces) in enumerate(t.around):
            near = set(t.neighbor[edge : edge + edges].tolist())
            assert near == set(reference.simplices[(reference.simplices == v).any(1)].ravel()) - {
                v
            }
            here = t.face_at[incidence : incidence + faces]
            assert all(v in list(faces_of(t))[f] for f in here) and len(here) >= 3


def test_joined_tables_find_each_hull():
    hulls = [ConvexHull(scale * CORNERS + offset) for scale, offset in ((1, 0), (0.5, 3), (2, -5))]
    joined = join_tables([each.tables for each in hulls])
    for number, hull in enumerate(hulls):
        first, count, face = joined.hull[number]
        assert_allclose(joined.vertex[first : first + count], hull.vertices)
        edge, edges, incidence, faces = joined.around[first + 2]
        own = hull.tables.around[2]
        assert joined.neighbor[edge : edge + edges].tolist() == (
            hull.tables.neighbor[own[0] : own[0] + own[1]].tolist()
        )
        for f in joined.face_at[incidence : incidence + faces]:
            assert face <= f < face + len(hull.tables.face)
            begin, corners = joined.ring[f]
            assert 2 in joined.corner[begin : begin + corners]


@pytest.mark.parametrize(
    ('points', 'match'),
    [
        (np.zeros((0, 3)), 'enclose no volume .0 different ones'),
        (np.zeros((5, 3)), 'enclose no volume .1 different ones, at one place'),
        (np.outer(np.arange(9), [1, 2, 3]), 'enclose no volume .9 different ones, in line'),
        (CORNERS * [1, 1, 0], 'enclose no volume .4 different ones, in a plane'),
        (np.random.default_rng(0).normal(size=(50, 3)) @ np.diag([1, 1, 1e-12]), 'in a plane'),
        (np.full((8, 3), np.nan), 'must be finite'),
        (CORNERS * [1, np.inf, 1], 'must be finite'),
        (np.zeros((8, 2)), r'must have shape \(N, 3\), got \(8, 2\)'),
        ([1.0, 2.0, 3.0], r'must have shape \(N, 3\), got \(3,\)'),
    ],
)
def test_points_that_make_no_hull_are_rejected_with_the_reason(points, match):
    with pytest.raises(ValueError, match=match):
        ConvexHull(points)


def test_a_million_points_make_a_hull_of_few_within_a_second_or_so_with_one_notice():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1_000_000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    start = time.process_time()
    hull = ConvexHull(points)
    assert time.process_time() - start < 4.0  # on a busy machine
    assert len(hull.vertices) <= MAX_VERTICES
    assert f'limit of {MAX_VERTICES}; the simplified hull is smaller by up to' in hull.notice
    assert 0.9 < -distance(Sphere(0.0), np.eye(4), hull, np.eye(4)).gap < 1.0


def test_a_round_face_keeps_as_many_corners_as_there_is_room_for():
    a = 2 * np.pi * np.arange(100) / 100
    disc = ConvexHull(np.vstack([np.stack([np.cos(a), np.sin(a), 0 * a + z], 1) for z in (0, 1)]))
    assert disc.notice == '' and len(disc.vertices) == 200
    assert disc.tables.ring[:, 1].max() == MAX_CORNERS


def test_vertices_of_a_hull_cannot_be_changed():
    with pytest.raises(ValueError, match='read-only'):
        ConvexHull(CORNERS).vertices[0] = 0.0


def test_equal_points_share_a_hull_until_it_leaves_the_cache(monkeypatch):
    monkeypatch.setattr(hulls, '_kept', {})
    monkeypatch.setattr(hulls, '_KEPT', 2)
    cube = ConvexHull(CORNERS)
    assert ConvexHull(CORNERS.tolist()).tables is cube.tables
    wide, tall = (ConvexHull(CORNERS * size).vertices for size in ((2, 1, 1), (1, 1, 2)))
    assert_allclose([wide.max(axis=0), tall.max(axis=0)], [(2, 1, 1), (1, 1, 2)])
    again = ConvexHull(CORNERS)
    assert again.tables is not cube.tables
    assert np.array_equal(again.tables.face, cube.tables.face)
    with pytest.raises(ValueError, match=r'got \(8, 3, 1\)'):
        ConvexHull(CORNERS[:, :, None])
