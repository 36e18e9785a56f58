# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contacts of cylinders and hulls: bodies at rest have enough points."""

from itertools import product

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.collision_scenes import (
    about,
    at,
    CURVED,
    from_surface,
    moved,
    random_hull,
    random_pose,
    scene,
    support,
)

from rbd_ros.collision import Box, Capsule, contacts, ConvexHull, Cylinder, distance, Plane, Sphere

CORNERS = 0.5 * np.array(list(product((-1, 1), repeat=3)))
CUBE, HULL = Box((1.0, 1.0, 1.0)), ConvexHull(CORNERS)
ROD = Cylinder(0.2, 1.0)
LYING = about(1, np.pi / 2)


def rows(points, digits=9):
    return sorted(tuple(np.round(each, digits) + 0.0) for each in points)


@pytest.mark.parametrize(
    'table', [CUBE, HULL, Cylinder(0.6, 1.0)], ids=['box', 'hull', 'cylinder']
)
def test_a_cylinder_stands_on_four_points_of_its_rim_and_lies_on_two(table):
    standing = contacts(table, np.eye(4), ROD, at(0.1, 0.0, 0.999))
    assert len(standing.gap) == 4
    assert_allclose(np.linalg.norm(standing.points_b[:, :2] - [0.1, 0], axis=1), 0.2, atol=1e-12)
    assert_allclose(standing.points_b[:, :2].mean(axis=0), [0.1, 0], atol=0.02)
    assert_allclose(standing.gap, -1e-3, atol=1e-12)
    assert_allclose(standing.normal, [[0, 0, 1.0]] * 4, atol=1e-12)
    lying = contacts(table, np.eye(4), ROD, at(0.1, 0, 0.7 + 1e-4, rotation=LYING), margin=1e-3)
    assert len(lying.gap) == 2
    assert_allclose(lying.gap, 1e-4, atol=1e-12)
    assert_allclose(lying.points_a[:, 1:], [[0, 0.5]] * 2, atol=1e-12)


def test_a_leaning_cylinder_touches_with_the_lowest_point_of_its_rim_exactly():
    for angle in (1e-7, 1e-3, 0.01, 0.3, 1.2):
        R = about(1, angle)
        pose = at(0, 0, 0.5 + 0.5 * np.cos(angle) + 0.2 * np.sin(angle), rotation=R)
        found = contacts(CUBE, np.eye(4), ROD, pose, margin=1e-9)
        k = np.argmin(found.gap)
        assert_allclose(found.gap[k], 0.0, atol=1e-12)
        assert_allclose(found.points_b[k], pose[:3] @ [0.2, 0, -0.5, 1], atol=1e-9)


@pytest.mark.parametrize('turned', [False, True])
@pytest.mark.parametrize('table', [CUBE, HULL], ids=['box', 'hull'])
def test_a_rim_on_a_face_does_not_feel_its_cylinder_turn(table, turned):
    """The point is where the rim is lowest, to rounding, so that the arm of a spin is none.

    Along the rim the distance hardly changes: what looks for the nearest point may stop too soon,
    as it does where that point is right on an edge of the face.
    """
    random = np.random.default_rng(11)
    for trial in range(400):
        lean = about(2, random.uniform(-np.pi, np.pi)) @ about(1, random.uniform(0.02, 1.5))
        R = lean @ about(2, random.uniform(-np.pi, np.pi))
        gap = random.choice([-1.0, 1.0]) * 10.0 ** random.uniform(-11, -4)
        lowest = np.array([0.0, 0.0, -1.0]) @ R
        lowest = np.array([*(0.2 * lowest[:2] / np.hypot(*lowest[:2])), -0.5])
        there = np.array([*random.uniform(-0.3, 0.3, 2), 0.5 + gap])
        on_edge = trial % 2 == 1
        if on_edge:
            # A little too deep: over an edge, and far below, the normal is another one.
            gap = -(10.0 ** random.uniform(-11, -9))
            there[random.integers(2)], there[2] = random.choice([-0.5, 0.5]), 0.5 + gap
        pose = at(*(there - R @ lowest), rotation=R)
        if turned:
            found = contacts(ROD, pose, table, np.eye(4), margin=2e-4)
            points, normal = found.points_a, -found.normal
        else:
            found = contacts(table, np.eye(4), ROD, pose, margin=2e-4)
            points, normal = found.points_b, found.normal
        k = np.argmin(found.gap)
        assert abs(found.gap[k] - gap) < 1e-13
        assert_allclose(normal[k], [0.0, 0.0, 1.0], atol=1e-9 if on_edge else 1e-15)
        spin = R[:, 2]
        assert abs(np.cross(spin, points[k] - pose[:3, 3]) @ normal[k]) < 1e-13
        # On the surface itself: the rim, and the face that it touches.
        assert abs(points[k] - pose[:3] @ [*lowest, 1.0]).max() < 1e-12


def prism(sides):
    turns = 2.0 * np.pi * np.arange(sides) / sides
    return ConvexHull([(0.2 * np.cos(t), 0.2 * np.sin(t), z) for t in turns for z in (-0.5, 0.5)])


@pytest.mark.parametrize('column', [ROD, prism(64)], ids=['cylinder', 'prism'])
def test_the_lowest_point_of_a_rim_is_there_with_others_of_both_surfaces(column):
    """Whichever way it leans; of a face of 64 corners only half are looked at."""
    replaced = 0
    for tilt in np.linspace(0, 2 * np.pi, 25)[:-1] + 0.01:
        R = about(2, tilt) @ about(0, 4e-3) @ about(2, 0.3)
        height = support(column, at(0, 0, 0, rotation=R), np.array([0, 0, -1.0]))
        pose = at(0, 0, 0.5 + height - 1e-3, rotation=R)
        for table in (CUBE, HULL):
            found = contacts(table, np.eye(4), column, pose, margin=5e-3)
            assert found.gap.min() == pytest.approx(-1e-3, abs=1e-9)
            assert 2 <= len(found.gap) <= 4
            for point, on_table, gap in zip(found.points_b, found.points_a, found.gap):
                assert abs(from_surface(column, pose, point)) < 1e-8
                assert on_table[2] == pytest.approx(0.5, abs=1e-9)
                assert point[2] - on_table[2] == pytest.approx(gap, abs=1e-8)
            replaced += len(found.gap) == 4
    assert replaced > 20


def test_a_cylinder_over_the_border_of_a_table_stands_on_the_table():
    found = contacts(CUBE, np.eye(4), ROD, at(0.5, 0, 0.999))
    assert len(found.gap) == 4
    assert found.points_b[:, 0].max() == pytest.approx(0.5, abs=1e-12)
    assert found.points_b[:, 0].min() == pytest.approx(0.3, abs=1e-12)
    assert contacts(CUBE, np.eye(4), ROD, at(0.8, 0, 0.999)).gap.size == 0


def test_a_cylinder_rolls_on_a_box_without_a_bump():
    for angle in np.linspace(0.0, 3.0, 50):
        pose = at(0.3 * np.sin(angle), 0, 0.699, rotation=about(0, np.pi / 2) @ about(2, angle))
        found = contacts(ROD, pose, CUBE, np.eye(4))
        assert len(found.gap) == 2
        assert_allclose(found.gap, -1e-3, atol=1e-14)
        assert_allclose(found.points_a[:, 0], pose[0, 3], atol=1e-12)


@pytest.mark.parametrize('other', [Capsule(0.1, 2.0), Cylinder(0.1, 2.0)])
def test_round_bars_side_by_side_touch_at_both_ends_of_where_they_are(other):
    for R in (np.eye(3), about(0, np.pi)):
        found = contacts(ROD, np.eye(4), other, at(0.3, 0, 1.3, rotation=R), margin=1e-9)
        assert_allclose(sorted(found.points_a[:, 2]), [0.3, 0.5], atol=1e-9)
        assert_allclose(found.points_a[:, 0], 0.2, atol=1e-12)
        assert len(set(found.feature)) == 2
    crossed = contacts(ROD, np.eye(4), other, at(0.3, 0, 0, rotation=about(0, 0.7)), margin=1e-9)
    assert_allclose(crossed.points_a, [[0.2, 0, 0]], atol=1e-9)
    assert_allclose(crossed.gap, 0.0, atol=1e-12)


@pytest.mark.parametrize('solid', [CUBE, HULL], ids=['box', 'hull'])
def test_a_cylinder_along_an_edge_has_two_points(solid):
    edge = at(0, 0.5 + 0.2 * np.sqrt(0.5), 0.5 + 0.2 * np.sqrt(0.5), rotation=LYING)
    found = contacts(solid, np.eye(4), ROD, edge, margin=1e-9)
    assert_allclose(rows(found.points_a), [[-0.5, 0.5, 0.5], [0.5, 0.5, 0.5]], atol=1e-9)
    assert_allclose(found.normal, [[0, np.sqrt(0.5), np.sqrt(0.5)]] * 2, atol=1e-9)


@pytest.mark.parametrize('lift', [-1e-3, 0.0, 1e-4])
@pytest.mark.parametrize('tremble', [0.0, 1e-9, 1e-5])
@pytest.mark.parametrize('pair', [(HULL, HULL), (HULL, CUBE), (CUBE, HULL)])
def test_a_hull_rests_on_a_hull_as_a_box_on_a_box(pair, tremble, lift):
    above = at(0.6, 0.3, 1.0 + lift, rotation=about(0, tremble) @ about(1, -tremble))
    found = contacts(pair[0], np.eye(4), pair[1], above, margin=1e-3)
    assert len(found.gap) == len(set(found.feature)) == 4
    expected = contacts(CUBE, np.eye(4), CUBE, above, margin=1e-3)
    assert_allclose(rows(found.points_a), rows(expected.points_a), atol=3 * tremble + 1e-12)
    assert_allclose(found.gap, lift, atol=2 * tremble + 1e-12)
    assert_allclose(found.normal, [[0, 0, 1.0]] * 4, atol=2 * tremble + 1e-12)


def test_a_hull_of_a_box_has_the_distances_of_the_box():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        box, other = Box(tuple(rng.uniform(0.2, 1, 3))), Box(tuple(rng.uniform(0.2, 1, 3)))
        hull = ConvexHull(2 * CORNERS * box.half_sizes)
        poses = random_pose(rng, 0.3), random_pose(rng, 0.5)
        expected = distance(box, poses[0], other, poses[1])
        found = distance(hull, poses[0], other, poses[1])
        assert_allclose(found.gap, expected.gap, atol=1e-14)


@pytest.mark.parametrize('table', [HULL, Cylinder(0.6, 1.0)], ids=['hull', 'cylinder'])
@pytest.mark.parametrize('gap', [-1e-3, 1e-3])
def test_a_capsule_lies_on_a_face_with_both_its_ends(table, gap):
    bar = Capsule(0.1, 0.6)
    for first in (True, False):
        pose = at(0.05, 0.0, 0.6 + gap, rotation=LYING)
        scene = (bar, pose, table, np.eye(4)) if first else (table, np.eye(4), bar, pose)
        found = contacts(*scene, margin=5e-3)
        on_table, on_bar = (found.points_b, found.points_a)[:: 1 if first else -1]
        assert rows(on_table) == rows([[-0.25, 0, 0.5], [0.35, 0, 0.5]])
        assert rows(on_bar) == rows([[-0.25, 0, 0.5 + gap], [0.35, 0, 0.5 + gap]])
        assert_allclose(found.gap, gap, atol=1e-12)


def test_a_plane_may_be_anywhere():
    rng, seen = np.random.default_rng(11), 0
    for _ in range(50):
        hull, there, frame = (
            random_hull(rng),
            *(random_pose(rng, 0.5) for _ in range(2)),
        )
        heights = (hull.vertices @ there[:3, :3].T + there[:3, 3])[:, 2]
        there[2, 3] -= heights.min() + 1e-3
        found = contacts(Plane(), frame, hull, frame @ there, margin=0.05)
        seen += len(found.gap)
        heights = (found.points_b - frame[:3, 3]) @ frame[:3, 2]
        assert found.gap.min() == pytest.approx(-1e-3, abs=1e-12)
        assert found.gap == pytest.approx(heights, abs=1e-12)
        assert np.abs((found.points_a - frame[:3, 3]) @ frame[:3, 2]).max() < 1e-12
        assert np.abs(found.normal - frame[:3, 2]).max() < 1e-12
    assert seen > 60


def test_a_hull_on_a_plane_rests_on_its_lowest_vertex_and_those_that_span_most():
    ring = [(np.cos(a), np.sin(a), 0.0) for a in 2 * np.pi * np.arange(12) / 12]
    stump = ConvexHull([*ring, (0, 0, 1)])
    # All of its ring is below the plane: of what is above, little would count.
    pose = at(0, 0, -2e-3, rotation=about(0, 1e-3))
    found = contacts(Plane(), np.eye(4), stump, pose, margin=5e-3)
    assert len(found.gap) == 4
    assert found.gap.min() == pytest.approx(-2e-3 - np.sin(1e-3), abs=1e-12)
    assert np.ptp(found.points_b[:, :2], axis=0).min() > 1.5
    assert set(found.feature) <= set(range(13))


def test_a_face_with_many_corners_is_known_by_some_of_them():
    a = 2 * np.pi * np.arange(120) / 120
    disc = ConvexHull(np.vstack([np.stack([np.cos(a), np.sin(a), 0 * a + z], 1) for z in (0, 1)]))
    found = contacts(CUBE, np.eye(4), disc, at(0, 0, 0.499))
    assert len(found.gap) == 4
    assert_allclose(rows(found.points_a), rows([(x, y, 0.5) for x, y, _ in CORNERS[1::2]]))


@pytest.mark.parametrize('pair', [*CURVED, (ConvexHull, ConvexHull), (Box, ConvexHull)])
def test_points_stay_the_same_ones_in_small_motions(pair):
    rng, seen = np.random.default_rng(3), 0
    for _ in range(300):
        a, pose_a, b, pose_b = scene(pair, rng, near=True)
        found = contacts(a, pose_a, b, pose_b, margin=0.01)
        again = contacts(a, pose_a, b, moved(pose_b, 1e-9 * rng.normal(size=6)), margin=0.01)
        if len(found.gap) == 0 or np.abs(found.gap - 0.01).min() < 1e-6:
            continue
        same = len(found.gap) == len(again.gap) and (found.feature == again.feature).all()
        seen += same
        if same:
            assert_allclose(again.points_a, found.points_a, atol=1e-4)
        else:
            seen -= 1
    assert seen > 60


@pytest.mark.parametrize('pair', CURVED)
def test_the_depth_is_the_minimum_over_all_directions(pair):
    """Looked for all over the sphere, not only beside our own normal."""
    rng = np.random.default_rng(8)
    d = rng.normal(size=(3000, 3))
    d /= np.linalg.norm(d, axis=1)[:, None]
    deep = 0
    while deep < 15:
        a, pose_a, b, pose_b = scene(pair, rng, near=True)
        gap = distance(a, pose_a, b, pose_b).gap
        if gap >= 0.0:
            continue
        deep += 1
        widths = [-support(b, pose_b, -each) - support(a, pose_a, each) for each in d]
        assert max(widths) <= gap + 1e-12
        assert max(widths) > gap - 0.05


def test_a_point_in_a_hull_is_as_deep_as_the_nearest_face():
    rng = np.random.default_rng(5)
    for _ in range(300):
        hull = random_hull(rng)
        share = rng.dirichlet(np.ones(len(hull.vertices)))
        point = share @ hull.vertices
        face = hull.tables.face
        expected = (face[:, :3] @ point - face[:, 3]).max()
        found = distance(Sphere(0.0), at(*point), hull, np.eye(4))
        assert_allclose(found.gap, expected, atol=1e-12)


def test_bodies_far_from_the_origin_are_no_less_exact():
    rng = np.random.default_rng(6)
    for pair in CURVED:
        a, pose_a, b, pose_b = scene(pair, rng)
        near = distance(a, pose_a, b, pose_b)
        away = np.array([1e4, -2e4, 3e4])
        pose_a, pose_b = pose_a.copy(), pose_b.copy()
        pose_a[:3, 3] += away
        pose_b[:3, 3] += away
        assert_allclose(distance(a, pose_a, b, pose_b).gap, near.gap, atol=2e-11)
