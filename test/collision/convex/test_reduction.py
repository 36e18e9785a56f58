# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reduction of a contact patch to the deepest points and those that span its area."""

from itertools import combinations

import numpy as np
import pytest

from rbd_ros.collision.concave.candidates import CAPACITY, GAP, NORMAL, reduce_candidates
from rbd_ros.collision.convex.reduction import choose


def chosen_of(points):
    chosen = np.full(4, -1.0)
    count = choose(np.asarray(points, dtype=float), len(points), chosen)
    return chosen[:count].astype(int).tolist()


def areas_of(points):
    """Return the areas of the convex hulls of four points in a plane each, (n, 4, 2 or more)."""
    found = []
    for order in ((0, 1, 2, 3), (0, 2, 1, 3), (0, 1, 3, 2)):
        x, y = np.moveaxis(points[:, order, :2], 2, 0)
        found.append(np.abs((x * np.roll(y, -1, 1) - y * np.roll(x, -1, 1)).sum(axis=1)))
    return 0.5 * np.max(found, axis=0)


@pytest.mark.parametrize('count', range(5))
def test_up_to_four_points_are_all_kept(count):
    assert chosen_of(np.random.default_rng(0).normal(size=(count, 3))) == list(range(count))


def test_the_deepest_is_kept_with_nearly_the_largest_area():
    rng = np.random.default_rng(1)
    for _ in range(200):
        points = rng.normal(size=(int(rng.integers(5, 30)), 3))
        points[:, 2] = -np.abs(points[:, 2])
        kept = chosen_of(points)
        assert len(set(kept)) == 4
        deepest = int(np.argmin(points[:, 2]))
        assert kept[0] == deepest and points[deepest, 2] < 0.0
        others = [k for k in range(len(points)) if k != deepest]
        fours = [(deepest, *three) for three in combinations(others, 3)]
        assert areas_of(points[[kept]])[0] >= 0.5 * areas_of(points[fours]).max()


def test_corners_of_a_rectangle_are_kept_among_points_on_its_sides():
    corners = [[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]]
    sides = [[1, 0, 0], [2, 0.3, 0], [0.7, 1, 0], [0, 0.4, 0], [1, 0.5, 0]]
    for shift in range(4):
        points = np.roll(corners, shift, axis=0).tolist()
        assert sorted(chosen_of(points + sides)) == [0, 1, 2, 3]


@pytest.mark.parametrize('count', [3, 4, 6])
def test_collinear_points_are_reduced_to_both_ends(count):
    """This holds in any order, and with one slightly deeper point."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        along = rng.permutation(np.append(rng.uniform(0.1, 0.9, count - 2), [0.0, 1.0]))
        points = np.outer(along, [3.0, 6.0, 0.0]) + [7.0, 8.0, 9.0]
        points[:, 2] -= 1e-11 * rng.random(count)
        kept = chosen_of(points)
        assert sorted(along[kept]) == [0.0, 1.0]
        points[:, 2] += 1e-4 * along  # of which one is deeper
        assert sorted(along[chosen_of(points)]) == [0.0, 1.0]
        inner = np.flatnonzero((along > 0.0) & (along < 1.0))[:2]
        points[inner, 2] -= 1e-6  # as on a floor that is not flat
        assert set(chosen_of(points)) == {*kept, *inner}


@pytest.mark.parametrize('count', [3, 4, 6])
def test_points_at_one_place_are_kept_by_one(count):
    assert chosen_of(np.ones((count, 3))) == [0]


def test_rounding_does_not_choose_among_equally_deep_points():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(9, 3))
    points[:, 2] = 0.1
    kept = chosen_of(points)
    points[:, 2] += 1e-16 * rng.normal(size=9)
    assert chosen_of(points) == kept


def test_touching_points_are_kept_before_near_points_farther_out():
    """A hull that rests on three of its vertices, in any order and place."""
    rng = np.random.default_rng(4)
    for number in range(100):
        touching = np.array([[1.0, 0, 0], [-0.5, 0.8, 0], [-0.5, -0.8, 0]])
        near = rng.uniform(-5, 5, (5, 3))
        near[:, 2] = rng.uniform(1e-5, 2e-4, 5)
        points = np.vstack([touching, near]) + [3, 4, 0]
        points[:3, 2] += 1e-9 * rng.random(3) - (1e-4 if number % 2 else 0.0)
        order = rng.permutation(8)
        kept = order[chosen_of(points[order])]
        assert {0, 1, 2} <= set(kept.tolist()) and len(kept) == 4


def test_the_first_of_equally_deep_points_does_not_depend_on_order():
    rng = np.random.default_rng(5)
    points = np.column_stack([rng.normal(size=(7, 2)), -0.01 + 1e-8 * rng.normal(size=7)])
    points[3, 2] += 1e-6
    kept = {
        tuple(sorted(order[chosen_of(points[order])]))
        for order in (rng.permutation(7) for _ in range(20))
    }
    assert len(kept) == 1


def test_points_far_apart_in_position_and_direction_are_kept():
    """Against the same by distances in six dimensions, those of normals by the patch's size."""
    rng = np.random.default_rng(6)
    for _ in range(50):
        normals = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        size = rng.uniform(0.1, 3.0)
        candidates, rows = np.zeros((CAPACITY, 8)), []
        for normal, u, v in zip(normals, np.roll(normals, 1, 0), np.roll(normals, 2, 0)):
            middle = size * rng.normal(size=3)
            for a, b in ((1, 1), (1, -1), (-1, -1.2), (-1.3, 1)):
                rows.append([*(middle + size * (a * u + b * v)), *normal, 0.0, len(rows)])
        deepest = int(rng.integers(12))
        rows[deepest][GAP] = -1e-3
        candidates[:12] = np.array(rows)[rng.permutation(12)]
        points = np.array(rows)[:, :6].copy()
        extent = np.abs(points[:, :3] - points[0, :3]).max()
        assert reduce_candidates(candidates, 12, 8) == 8
        found = candidates[:8, 7].astype(int).tolist()
        assert found[0] == deepest and len(set(found)) == 8
        # None that is left out is much farther from all that are kept than those from each other.
        for scale in (0.4 * extent, 3.0 * extent):
            points[:, NORMAL:] = np.array(rows)[:, 3:6] * scale
            away = np.linalg.norm(points[:, None] - points[found], axis=2)
            left_out = np.delete(away, found, axis=0).min(axis=1)
            assert left_out.max() <= 1.5 * away[found][away[found] > 0.0].min()
        assert all(sum(k // 4 == each for k in found) >= 2 for each in range(3))
