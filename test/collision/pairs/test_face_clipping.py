# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faces of boxes clipped by faces of other boxes, against plain geometry."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rbd_ros.collision.arrays import BOX, FoundPoints, NO_TABLES, PlacedShape, Tables
from rbd_ros.collision.convex.reduction import HEIGHT
from rbd_ros.collision.pairs.face_clipping import (
    add_face,
    clip,
    EDGE,
    FIRST_FEATURE,
    IN_LINE,
    polygon_of_face,
)
from rbd_ros.compiler.loops import allocate

HALF = np.array([0.3, 0.2, 0.1])


def turned_box(rng, k, sign, tilt=0.3):
    """Return a pose of which one face is nearly against that of axis k: rotation, center."""
    R = Rotation.from_rotvec(tilt * rng.normal(size=3)).as_matrix()
    R = R @ Rotation.create_group('O').as_matrix()[rng.integers(24)]
    center = rng.uniform(-0.1, 0.1, 3)
    center[k] = sign * 0.4
    return R, center


def box(half, R, center):
    return PlacedShape(BOX, half, np.array([*R.ravel(), *center]), allocate(Tables, **NO_TABLES))


@pytest.mark.parametrize('seed', range(12))
def test_the_face_that_is_turned_most_against_another_one(seed):
    rng = np.random.default_rng(seed)
    k, sign, level = seed % 3, (-1.0, 1.0)[seed % 2], 0.15
    R, center = turned_box(rng, k, sign)
    polygon = np.full((12, 4), np.nan)
    number = polygon_of_face(box(HALF, R, center), k, sign, level, polygon)
    outward = np.array([side * R[:, m] for m in range(3) for side in (-1.0, 1.0)])
    assert number == int(np.argmin(sign * outward[:, k]))
    axis, side = number // 2, (-1.0, 1.0)[number % 2]
    corners = [
        center + R @ (HALF * signs)
        for signs in product((-1.0, 1.0), repeat=3)
        if signs[axis] == side
    ]
    u, v = (k + 1) % 3, (k + 2) % 3
    expected = [[p[u], p[v], sign * p[k] - level] for p in corners]
    found = polygon[:4, :3]
    assert sorted(found.round(9).tolist()) == sorted(np.round(expected, 9).tolist())
    # One after the other along the edges, which are numbered.
    for i in range(4):
        assert np.allclose(found[i] - found[i - 1], found[i - 3] - found[i - 2], atol=1e-14)
    assert polygon[:4, EDGE].tolist() == [0, 1, 2, 3]


def convex(rng, count):
    """Return a convex polygon around the origin, its heights those of a plane."""
    angles = np.sort(rng.uniform(0, 2 * np.pi, count)) if count != 4 else np.arange(4) * 1.5 + 0.3
    polygon = np.zeros((12, 4))
    polygon[:count, 0], polygon[:count, 1] = np.cos(angles), np.sin(angles)
    polygon[:count, HEIGHT] = plane(polygon[:count])
    polygon[:count, EDGE] = np.arange(count)
    return polygon


def plane(points):
    return 0.3 + 0.2 * points[:, 0] - 0.5 * points[:, 1]


@pytest.mark.parametrize('seed', range(16))
def test_clipping_removes_the_part_beyond_a_line(seed):
    rng = np.random.default_rng(seed)
    count, column, sign = int(rng.integers(3, 8)), seed % 2, (-1.0, 1.0)[seed // 2 % 2]
    limit = 0.3 + 0.5 * rng.random()
    before = convex(rng, count)
    polygon = before.copy()
    left = clip(polygon, count, column, sign, limit, 7)
    points, old = polygon[:left], before[:count]
    assert (sign * points[:, column] <= limit + 1e-14).all()
    # Those within are there, and where edges cross the line.
    expected = [p[:2] for p in old if sign * p[column] <= limit]
    for i in range(count):
        p, q = old[i - 1, :2], old[i, :2]
        a, b = limit - sign * p[column], limit - sign * q[column]
        if a * b < 0.0:
            expected.append(p + a / (a - b) * (q - p))
    assert left == len(expected)
    if not left:
        return
    assert sorted(points[:, :2].round(9).tolist()) == sorted(np.round(expected, 9).tolist())
    assert np.allclose(points[:, HEIGHT], plane(points), atol=1e-14)
    for i in range(left):
        # The edge that follows a vertex, in the order that they had.
        p, q, edge = points[i], points[(i + 1) % left], int(points[i, EDGE])
        if edge == 7:
            assert sign * p[column] == sign * q[column] == limit
        else:
            a, b = old[edge, :2], old[(edge + 1) % count, :2]
            for each in (p, q):
                assert abs(np.cross(np.r_[b - a, 0], np.r_[each[:2] - a, 0])[2]) < 1e-14


@pytest.mark.parametrize('beyond, count', [(0.5, 4), (-0.5, 4), (3.0, 6)])
def test_a_vertex_on_the_line_is_not_cut_off_for_rounding(beyond, count):
    """Vertices within the tolerance stay as they are; those beyond it become two."""
    limit = 2.0
    polygon = np.zeros((12, 4))
    # A square that stands on a corner, two corners on the line.
    corners = [[limit + beyond * IN_LINE * limit, 0.3], [limit, 0.9], [-1, 0.9], [-1, 0.3]]
    polygon[:4, :2], polygon[:4, EDGE] = corners, range(4)
    before = polygon.copy()
    left = clip(polygon, 4, 0, 1.0, limit, 4)
    if count == 4:
        assert left == 4 and np.array_equal(polygon, before)
    else:
        assert left == 5 and (polygon[:left, 0] <= limit).all()


@pytest.mark.parametrize('order', [(0, 1, 2, 3), (1, 0, 3, 2)])
def test_an_edge_along_the_line_is_cut_between_its_ends(order):
    """One end is within the tolerance, the other one is not."""
    slack = 2.0 * IN_LINE
    corners = np.array([[2.0 + 0.9 * slack, 0.9], [2.0 + 1.1 * slack, 0.3], [-1, 0.3], [-1, 0.9]])
    polygon = np.zeros((12, 4))
    polygon[:4, :2] = corners[list(order)]
    left = clip(polygon, 4, 0, 1.0, 2.0, 4)
    assert left == 5
    assert np.abs(polygon[:left, 1] - 0.6).max() < 0.3 + 1e-12


def box_points(half, R, center):
    return [center + R @ (half * signs) for signs in product((-1.0, 1.0), repeat=3)]


@pytest.mark.parametrize('of_second', [False, True])
@pytest.mark.parametrize('seed', range(12))
def test_contacts_are_on_the_incident_box_above_the_face(seed, of_second):
    rng = np.random.default_rng(seed)
    k, sign, margin = seed % 3, (-1.0, 1.0)[seed // 3 % 2], 0.05
    half_r, half_i = rng.uniform(0.1, 0.3, 3), rng.uniform(0.1, 0.3, 3)
    R, center = turned_box(rng, k, sign, 0.05)
    corners = np.array(box_points(half_i, R, center))
    # Some of its corners are below the face, some above it.
    center[k] += sign * half_r[k] - sign * np.sort(sign * corners[:, k])[seed % 3]
    base, origin = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
    found = allocate(FoundPoints)
    reference, incident = box(half_r, base, origin), box(half_i, R, center)
    count = add_face(reference, incident, 2 * k + (sign > 0.0), of_second, margin, found)
    assert 1 <= count <= 4
    normal = base @ (sign * np.eye(3)[k]) * (-1.0 if of_second else 1.0)
    assert len(set(found.feature[:count])) == count
    for n in range(count):
        assert np.allclose(found.normal[n], normal, atol=1e-14)
        gap = found.gap[n]
        assert gap <= margin
        # From the first shape to the second.
        assert np.allclose(found.on_b[n], found.on_a[n] + gap * normal, atol=1e-12)
        ours, theirs = (found.on_b[n], found.on_a[n])[:: 1 if of_second else -1]
        on_face = base.T @ (ours - origin)
        assert abs(on_face[k] - sign * half_r[k]) < 1e-12
        assert (np.abs(on_face) <= half_r + 1e-9).all()
        on_box = R.T @ (base.T @ (theirs - origin) - center)
        assert (np.abs(on_box) <= half_i + 1e-12).all()
        # The feature identifies these faces, and the edges that meet there.
        face, incident, edges = _decoded(int(found.feature[n]))
        assert face == 2 * k + (sign > 0.0) + 6 * of_second
        side = (-1.0, 1.0)[incident % 2]
        assert abs(on_box[incident // 2] - side * half_i[incident // 2]) < 1e-12
        for edge in edges:
            if edge >= 4:
                column, way = (k + 1 + (edge - 4) // 2) % 3, (1.0, -1.0)[edge % 2]
                assert abs(on_face[column] - way * half_r[column]) < 1e-12
            else:
                across = (incident // 2 + 1 + (edge % 2 == 0)) % 3
                assert abs(abs(on_box[across]) - half_i[across]) < 1e-12


def _decoded(feature):
    rest, edges = divmod(feature - FIRST_FEATURE, 64)
    return rest // 6, rest % 6, divmod(edges, 8)


def test_shapes_beyond_the_margin_have_no_contact():
    found = allocate(FoundPoints)
    tilt = Rotation.from_euler('y', 0.1).as_matrix()
    rest = box(np.full(3, 0.1), np.eye(3), np.zeros(3))
    for height, expected in ((0.2, 4), (0.25, 2), (0.3, 0)):
        other = box(np.full(3, 0.09), tilt, [0.0, 0.0, height])
        count = add_face(rest, other, 5, False, 0.06, found)
        assert count == expected
