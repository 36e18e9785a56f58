# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Minimal contact sets: selection, and redundancy of the others."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.optimize import linprog, nnls
from scipy.spatial import ConvexHull

from rbd_ros.textbook.complementarity import (
    disc_contacts,
    minimal_contact_set,
    positively_dependent,
)
from rbd_ros.textbook.complementarity.minimal_set import normal_screws

UP = np.array([0.0, 0.0, 1.0])


def screws_at_origin(points, normals):
    normals = np.broadcast_to(normals, np.shape(points))
    return np.hstack([np.cross(points, normals), normals])


def demands_the_same(points, normals, left):
    """Return whether all normals are in the cone of those left, by linear programs.

    And none too many.
    """
    N = screws_at_origin(points, normals)

    def in_cone(i, others):
        if not len(others):
            return False
        done = linprog(np.zeros(len(others)), A_eq=N[others].T, b_eq=N[i], method='highs')
        return done.status == 0

    covered = all(in_cone(i, left) for i in range(len(N)))
    return covered and not any(in_cone(i, [k for k in left if k != i]) for i in left)


@pytest.mark.seed('CN13', kind='full')
def test_a_straight_edge_on_a_face_is_two_points(rng):
    points = np.outer(rng.permutation(np.linspace(-1.0, 2.0, 13)), [1.0, 2.0, 0.0]) + [
        5.0,
        1.0,
        3.0,
    ]
    left = minimal_contact_set(points, UP)
    ends = sorted((int(np.argmin(points[:, 0])), int(np.argmax(points[:, 0]))))
    assert left.tolist() == ends
    assert demands_the_same(points, UP, ends)


@pytest.mark.seed('CN13', kind='full')
def test_a_rectangle_is_four_points_and_a_polygon_the_vertices_of_its_hull(rng):
    grid = np.array([[x, y, 0.0] for x in np.linspace(0, 3, 7) for y in np.linspace(0, 1, 5)])
    left = minimal_contact_set(grid, UP)
    assert grid[left].tolist() == [[0, 0, 0], [0, 1, 0], [3, 0, 0], [3, 1, 0]]
    assert demands_the_same(grid, UP, left.tolist())
    # A star, whose inner corners count as little as what is inside.
    angle = np.arange(10) * np.pi / 5.0
    radius = np.where(np.arange(10) % 2, 0.4, 1.0)
    star = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(10)])
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rotation *= np.linalg.det(rotation)
    moved = star @ rotation.T + [10.0, -3.0, 7.0]
    assert minimal_contact_set(moved, rotation @ UP).tolist() == [0, 2, 4, 6, 8]
    for size in (1e-4, 1.0, 1e4):
        cloud = np.column_stack([rng.normal(size=(40, 2)), np.zeros(40)]) * size
        found = minimal_contact_set(cloud, UP)
        assert found.tolist() == sorted(ConvexHull(cloud[:, :2]).vertices)


@pytest.mark.seed('CN13', kind='full')
def test_a_disc_is_its_rim_and_polygons_converge_to_it(rng):
    """No point of the rim adds nothing; a k-gon lacks 1 - cos(pi/k) of the reach: as k^-2."""
    center, axis, radius = np.array([1.0, 2.0, 3.0]), np.array([1.0, -2.0, 2.0]), 0.7
    rim = disc_contacts(center, axis, radius, 24)
    inside = center + rng.random((30, 1)) * (rim[rng.integers(24, size=30)] - center)
    points = np.vstack([rim, inside, [center]])
    left = minimal_contact_set(points, axis / 3.0)
    assert left.tolist() == list(range(24))
    assert_allclose((rim - center) @ axis, 0.0, atol=1e-14)
    assert_allclose(np.linalg.norm(rim - center, axis=1), radius)
    assert_allclose(rim[0] - center, radius * np.array([0.0, 1.0, 1.0]) / np.sqrt(2.0), atol=1e-15)
    assert np.all(np.cross(rim - center, np.roll(rim, -1, axis=0) - center) @ axis > 0.0)
    # Reach of the support in all directions of the plane, against the disc's own.
    plane = np.linalg.svd(axis[None])[2][1:]
    angle = np.linspace(0.0, 2.0 * np.pi, 50401)
    directions = np.column_stack([np.cos(angle), np.sin(angle)]) @ plane
    errors = []
    for count in (3, 6, 12, 24, 48):
        polygon = disc_contacts(center, axis, radius, count) - center
        reach = (polygon @ directions.T).max(axis=0)
        assert reach.max() <= radius * (1.0 + 1e-12)
        errors.append(radius - reach.min())
        assert errors[-1] == pytest.approx(radius * (1.0 - np.cos(np.pi / count)), rel=1e-2)
    assert_allclose(np.array(errors[2:-1]) / errors[3:], 4.0, rtol=0.02)


@pytest.mark.seed('CN13', kind='full')
def test_all_points_of_an_edge_on_a_twisted_surface_stay():
    """On z = x tan(y) each normal along the y axis points in a direction of its own."""
    y = np.linspace(-0.9, 0.9, 31)
    points = np.column_stack([0.0 * y, y, 0.0 * y])
    gradients = np.column_stack([-np.tan(y), 0.0 * y, 1.0 + 0.0 * y])
    normals = gradients / np.linalg.norm(gradients, axis=1)[:, None]
    assert minimal_contact_set(points, normals).tolist() == list(range(31))
    assert demands_the_same(points, normals, list(range(31)))
    assert minimal_contact_set(points, UP).tolist() == [0, 30]


@pytest.mark.seed('CN13')
def test_the_first_of_equivalent_contacts_stays():
    points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -2.0], [1.0, 0.0, 0.0]]
    assert minimal_contact_set(points, UP).tolist() == [0, 1]
    assert minimal_contact_set(np.zeros((0, 3)), UP).tolist() == []
    assert minimal_contact_set([[1.0, 2.0, 3.0]], UP).tolist() == [0]
    # Opposite normals, as in a slot, are not positively dependent.
    assert minimal_contact_set([[0.0, 0.0, 0.0]] * 2, [[0, 0, 1.0], [0, 0, -1.0]]).tolist() == [
        0,
        1,
    ]


@pytest.mark.seed('CN13')
def test_positive_dependence_is_that_of_nonnegative_least_squares(rng):
    decisions = set()
    for _ in range(200):
        others = rng.normal(size=(rng.integers(0, 9), 3))
        vector = rng.normal(size=3)
        if len(others) and rng.random() < 0.5:
            vector = rng.random(len(others)) @ others
        distance = nnls(others.T, vector)[1] if len(others) else np.linalg.norm(vector)
        expected = distance < 1e-9 * np.linalg.norm(vector)
        assert positively_dependent(vector, others) == expected
        decisions.add(expected)
    assert decisions == {True, False}
    assert positively_dependent(np.zeros(3), [])
    near = np.array([1.0, 0.0, 1e-4])
    assert positively_dependent(near, [[1.0, 0.0, 0.0]], 1e-3)
    assert not positively_dependent(near, [[1.0, 0.0, 0.0]], 1e-5)


def test_moments_are_about_the_middle_in_units_of_the_size():
    N = normal_screws([[1.0, 0.0, 0.0], [5.0, 0.0, 0.0]], UP)
    assert_allclose(N, [[0.0, 1.0, 0.0, *UP], [0.0, -1.0, 0.0, *UP]])


@pytest.mark.parametrize(
    'points, normals, message',
    [
        (np.zeros(3), UP, 'points must have shape'),
        (np.zeros((2, 3)), np.zeros((1, 3)), 'points must have shape'),
        ([[0.0, np.nan, 0.0]], UP, 'finite'),
        ([[0.0, 0.0, 0.0]], [np.inf, 0.0, 0.0], 'finite'),
    ],
)
def test_bad_contacts_are_rejected(points, normals, message):
    with pytest.raises(ValueError, match=message):
        minimal_contact_set(points, normals)


@pytest.mark.parametrize('axis, radius, count', [(UP, 1.0, 2), (UP, 0.0, 5), (0 * UP, 1.0, 5)])
def test_bad_discs_are_rejected(axis, radius, count):
    with pytest.raises(ValueError, match='a disc needs'):
        disc_contacts(np.zeros(3), axis, radius, count)
