# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact points: number, position, and persistence under small motions."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.collision_scenes import about, at, from_surface, moved, NAMES, PAIRS, scene

from rbd_ros.collision import Box, Capsule, contacts, ConvexHull, Cylinder, distance, Plane, Sphere

every_pair = pytest.mark.parametrize('pair', PAIRS, ids=NAMES)
GROUND = Plane(), np.eye(4)
CUBE = Box((1.0, 1.0, 1.0))


def corners(points):
    """Return the horizontal positions in order, rounded."""
    return sorted((round(float(x), 9), round(float(y), 9)) for x, y, _ in points)


def square(x, y, middle=(0.0, 0.0)):
    return sorted(
        (round(middle[0] + s * x, 9), round(middle[1] + t * y, 9))
        for s in (-1, 1)
        for t in (-1, 1)
    )


def test_a_box_rests_on_a_plane_by_the_four_vertices_below():
    tilted = at(0.2, 0.3, 0.249, rotation=about(2, 0.3))
    found = contacts(*GROUND, Box((1.0, 2.0, 0.5)), tilted)
    vertices = [
        tilted[:3, :3] @ [0.5 * s, 1.0 * t, -0.25] + tilted[:3, 3]
        for s in (-1, 1)
        for t in (-1, 1)
    ]
    assert corners(found.points_b) == corners(vertices)
    assert_allclose(found.points_a[:, 2], 0.0, atol=1e-15)
    assert_allclose(found.gap, -0.001, atol=1e-15)
    assert_allclose(found.normal, np.tile([0, 0, 1.0], (4, 1)), atol=1e-15)
    assert len(set(found.feature)) == 4


@pytest.mark.parametrize(
    ('angle', 'count'), [(0.0, 4), (1e-3, 4), (0.1, 2), (np.pi / 4, 2), (np.pi / 2, 4)]
)
def test_a_box_on_its_face_has_four_points_and_on_its_edge_two(angle, count):
    R = about(0, angle)
    height = 0.5 * (np.cos(angle) + np.sin(angle))
    assert len(contacts(*GROUND, CUBE, at(0, 0, height, rotation=R), margin=2e-3).gap) == count


def test_a_cylinder_stands_on_four_points_and_lies_on_two():
    can = Cylinder(0.3, 1.0)
    standing = contacts(*GROUND, can, at(0, 0, 0.5), margin=1e-6)
    assert len(standing.gap) == 4
    assert_allclose(np.linalg.norm(standing.points_b[:, :2], axis=1), 0.3, atol=1e-12)
    assert_allclose(standing.points_b[:, :2].mean(axis=0), 0.0, atol=1e-12)
    lying = contacts(*GROUND, can, at(0, 0, 0.3, rotation=about(0, np.pi / 2)), margin=1e-6)
    assert corners(lying.points_b) == [(0.0, -0.5), (0.0, 0.5)]
    # Standing on its head, it has the points of its other rim.
    other = contacts(*GROUND, can, at(0, 0, 0.5, rotation=about(0, np.pi)), margin=1e-6)
    assert not set(other.feature) & set(standing.feature)


def test_the_lowest_point_of_a_rolling_cylinder_is_below_its_axis():
    can, seen = Cylinder(0.3, 1.0), set()
    for angle in np.linspace(0.0, 2 * np.pi, 37):
        R = about(0, np.pi / 2) @ about(2, angle)
        found = contacts(*GROUND, can, at(0, 0, 0.29, rotation=R))
        assert_allclose(found.gap, -0.01, atol=1e-15)
        assert_allclose(found.points_b[:, 0], 0.0, atol=1e-15)
        seen.add(tuple(found.feature))
    assert len(seen) == 1


def test_a_capsule_lies_on_two_points_and_stands_on_one():
    pill = Capsule(0.1, 0.6)
    lying = contacts(*GROUND, pill, at(0, 0, 0.1, rotation=about(0, np.pi / 2)), margin=1e-9)
    assert corners(lying.points_b) == [(0.0, -0.3), (0.0, 0.3)]
    assert len(contacts(*GROUND, pill, at(0, 0, 0.4), margin=1e-9).gap) == 1


@pytest.mark.parametrize('tremble', [0.0, 1e-9, 1e-5])
@pytest.mark.parametrize('lift', [-1e-3, 0.0, 1e-4])
def test_contacts_of_stacked_boxes_are_corners_of_their_overlap(lift, tremble):
    above = at(0.6, 0.3, 1.0 + lift, rotation=about(0, tremble) @ about(1, -tremble))
    found = contacts(CUBE, np.eye(4), CUBE, above, margin=1e-3)
    assert len(found.gap) == 4
    xs, ys = sorted(found.points_a[:, 0]), sorted(found.points_a[:, 1])
    assert_allclose(xs, [0.1, 0.1, 0.5, 0.5], atol=3 * tremble + 1e-12)
    assert_allclose(ys, [-0.2, -0.2, 0.5, 0.5], atol=3 * tremble + 1e-12)
    assert_allclose(found.gap, lift, atol=2 * tremble + 1e-12)
    assert_allclose(found.normal, np.tile([0, 0, 1.0], (4, 1)), atol=2 * tremble + 1e-12)


def test_eight_corners_are_reduced_to_four_that_span_the_patch():
    turned = at(0, 0, 0.999, rotation=about(2, np.pi / 4))
    found = contacts(CUBE, np.eye(4), CUBE, turned)
    assert len(found.gap) == 4
    # The octagon that two squares share has 0.828 of their area, four corners of it 0.6 or more.
    ring = found.points_a[np.argsort(np.arctan2(found.points_a[:, 1], found.points_a[:, 0]))]
    area = 0.5 * abs(
        sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(ring, np.roll(ring, -1, axis=0)))
    )
    assert area > 0.55


def test_crossed_edges_touch_at_one_point():
    lower = at(0, 0, 0, rotation=about(0, np.pi / 4))
    upper = at(0.1, 0.0, np.sqrt(2) - 0.01, rotation=about(2, np.pi / 2) @ about(0, np.pi / 4))
    found = contacts(CUBE, lower, CUBE, upper)
    assert len(found.gap) == 1
    assert_allclose(found.gap, -0.01, atol=1e-12)
    assert_allclose(found.normal, [[0, 0, 1]], atol=1e-12)
    assert_allclose(found.points_a, [[0.1, 0, np.sqrt(0.5)]], atol=1e-12)
    upper[2, 3] += 0.02
    apart = contacts(CUBE, lower, CUBE, upper, margin=0.02)
    assert_allclose(apart.gap, [0.01], atol=1e-12)
    assert apart.feature == found.feature


def test_a_capsule_on_a_box_has_two_points_where_it_lies_on_it():
    pill = Capsule(0.1, 2.0)
    for height in (0.599, 0.6 + 1e-4, 0.45):
        lying = at(0.2, 0.1, height, rotation=about(1, np.pi / 2))
        found = contacts(pill, lying, CUBE, np.eye(4), margin=1e-3)
        assert_allclose(sorted(found.points_b[:, 0]), [-0.5, 0.5], atol=1e-12)
        assert_allclose(found.points_b[:, 1:], [[0.1, 0.5]] * 2, atol=1e-12)
        assert_allclose(found.gap, height - 0.6, atol=1e-12)
        assert_allclose(found.normal, [[0, 0, -1]] * 2, atol=1e-12)
    # Over the edge of the face, and along an edge of the box.
    off = contacts(pill, at(1.3, 0, 0.6, rotation=about(1, np.pi / 2)), CUBE, np.eye(4), 1e-3)
    assert_allclose(sorted(off.points_b[:, 0]), [0.3, 0.5], atol=1e-12)
    diagonal = 0.5 + 0.1 * np.sqrt(0.5)
    edge = at(0, diagonal, diagonal, rotation=about(1, np.pi / 2))
    found = contacts(pill, edge, CUBE, np.eye(4), margin=1e-3)
    assert_allclose(sorted(found.points_b[:, 0]), [-0.5, 0.5], atol=1e-12)
    assert_allclose(found.normal, [[0, -np.sqrt(0.5), -np.sqrt(0.5)]] * 2, atol=1e-9)


def test_a_capsule_across_an_edge_of_a_box_touches_at_one_point():
    pill, T = Capsule(0.1, 2.0), at(0, 0, 0, rotation=about(0, np.pi / 4))
    for height in (np.sqrt(0.5) + 0.09, np.sqrt(0.5) - 0.01):  # the second one beyond its axis
        found = contacts(pill, at(0.2, 0, height, rotation=about(0, np.pi / 2)), CUBE, T)
        assert_allclose(found.points_b, [[0.2, 0, np.sqrt(0.5)]], atol=1e-12)
        assert_allclose(found.gap, height - np.sqrt(0.5) - 0.1, atol=1e-12)


def test_parallel_capsules_touch_where_they_are_side_by_side():
    a, b = Capsule(0.1, 1.0), Capsule(0.2, 2.0)
    for R in (np.eye(3), about(0, np.pi)):
        found = contacts(a, np.eye(4), b, at(0.29, 0, 1.3, rotation=R))
        assert_allclose(sorted(found.points_a[:, 2]), [0.3, 0.5], atol=1e-12)
        assert_allclose(found.points_a[:, 0], 0.1, atol=1e-12)
        assert_allclose(found.gap, -0.01, atol=1e-12)
    assert len(contacts(a, np.eye(4), b, at(0.2, 0, 1.6), margin=1.0).gap) == 1
    crossed = contacts(a, np.eye(4), b, at(0.29, 0, 0, rotation=about(0, 0.5)))
    assert_allclose(crossed.points_a, [[0.1, 0, 0]], atol=1e-12)


@every_pair
def test_points_are_within_the_margin_and_a_gap_apart(pair):
    rng, most = np.random.default_rng(1), 0
    for _ in range(500):
        a, pose_a, b, pose_b = scene(pair, rng, near=True)
        margin = rng.choice([0.0, 0.1, 1.0])
        found = contacts(a, pose_a, b, pose_b, margin)
        most = max(most, len(found.gap))
        assert len(found.gap) <= 4
        assert len(set(found.feature)) == len(found.feature)
        assert (found.gap <= margin).all()
        assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, atol=1e-12)
        apart = found.gap[:, None] * found.normal
        assert_allclose(found.points_b - found.points_a, apart, atol=1e-12)
        # No point is outside its shape, but as far as a face is taken for an edge.
        for point in found.points_a:
            assert from_surface(a, pose_a, point) <= 0.03 * abs(found.gap).max() + 1e-9
    assert most > 0


@every_pair
def test_the_nearest_points_are_a_contact(pair):
    """Contacts are there whenever the shapes are within the margin; the first gap is the distance.

    But where a face is favored: it may be deeper by 5 percent and 1e-4 of a length.
    """
    rng, seen = np.random.default_rng(2), 0
    for _ in range(500):
        each = scene(pair, rng, near=True)
        gap, margin = distance(*each).gap, 0.05
        found = contacts(*each, margin)
        assert (len(found.gap) > 0) == (gap <= margin)
        if gap <= margin:
            seen += 1
            least = found.gap.min()
            assert (
                gap / 0.9 - 1e-4 <= least <= gap + 1e-3 * abs(gap) + 1e-12
                if gap < 0
                else (abs(least - gap) <= 1e-3 * gap)
            )
    assert seen > 50


@every_pair
def test_features_stay_the_same_under_small_motions(pair):
    rng, same, all_of_them = np.random.default_rng(3), 0, 0
    for _ in range(300):
        a, pose_a, b, pose_b = scene(pair, rng, near=True)
        found = contacts(a, pose_a, b, pose_b, 0.05)
        if len(found.gap) == 0:
            continue
        after = contacts(a, pose_a, b, moved(pose_b, 1e-7 * rng.normal(size=6)), 0.05)
        all_of_them += 1
        if list(after.feature) == list(found.feature):
            same += 1
            assert_allclose(after.points_a, found.points_a, atol=1e-4)
    assert all_of_them > 50
    assert same >= all_of_them - 1  # one may be at the end of its feature


@pytest.mark.parametrize(
    ('height', 'tremble'), [(0.95, 1e-3), (0.9999, 1e-6), (1.0, 1e-6), (1.0 + 1e-5, 1e-6)]
)
def test_a_sliding_box_keeps_its_features(height, tremble):
    """Also where one face or the other penetrates more at each step."""
    rng, seen = np.random.default_rng(4), set()
    for k in range(200):
        T = moved(at(0.3 + 1e-3 * k, 0.2, height), tremble * rng.normal(size=6))
        seen.add(frozenset(contacts(CUBE, np.eye(4), CUBE, T, 1e-2).feature.tolist()))
    assert len(seen) == 1


def test_the_normal_of_a_sphere_follows_the_surface():
    """Around a capsule's end, and round a cylinder: the point slides, the gap stays."""
    for shape, middle in ((Capsule(0.2, 1.0), (0, 0, 0.5)), (Cylinder(0.2, 1.0), (0, 0, 0.2))):
        for angle in np.linspace(0.0, 1.5, 7):
            n = np.array([np.cos(angle), np.sin(angle), 0.0])
            if isinstance(shape, Capsule):
                n = np.array([np.cos(angle), 0.0, np.sin(angle)])
            center = np.array(middle) + 0.29 * n
            found = contacts(Sphere(0.1), at(*center), shape, np.eye(4))
            assert_allclose(found.normal, [-n], atol=1e-12)
            assert_allclose(found.gap, -0.01, atol=1e-12)
            assert_allclose(found.points_b, [np.array(middle) + 0.2 * n], atol=1e-12)


@every_pair
def test_exchanged_shapes_exchange_the_points_of_contacts(pair):
    rng, seen = np.random.default_rng(5), 0
    for _ in range(300):
        a, pose_a, b, pose_b = scene(pair, rng, near=True)
        one, other = contacts(a, pose_a, b, pose_b, 0.1), contacts(b, pose_b, a, pose_a, 0.1)
        deep = one.gap[:1].sum() < 0.0
        if deep and pair == (Box, Box) or pair in ((Cylinder,) * 2, (ConvexHull,) * 2):
            # Faces of the first shape are favored, so the deepest points may be others.
            assert (len(one.gap) > 0) == (len(other.gap) > 0)
            if len(one.gap) > 0:
                assert one.normal[0] @ other.normal[0] < 0.0 or abs(one.gap.min()) > 0.1
                seen += pair != (Box, Box)
            continue
        assert len(one.gap) == len(other.gap)
        seen += len(one.gap) > 0
        order, other_order = (
            np.lexsort(one.points_a.round(9).T),
            np.lexsort(other.points_b.round(9).T),
        )
        assert_allclose(other.points_b[other_order], one.points_a[order], atol=1e-7)
        assert_allclose(other.points_a[other_order], one.points_b[order], atol=1e-7)
        assert_allclose(other.normal[other_order], -one.normal[order], atol=1e-7)
        assert_allclose(other.gap[other_order], one.gap[order], atol=1e-12)
    assert seen > 10


def test_a_box_under_a_box_has_the_points_of_the_one_above_exchanged():
    above = at(0.3, 0.2, 0.999, rotation=about(2, 0.2))
    one = contacts(CUBE, np.eye(4), CUBE, above)
    other = contacts(CUBE, above, CUBE, np.eye(4))
    assert corners(one.points_a) == corners(other.points_b)
    assert_allclose(one.gap, -0.001, atol=1e-12)
    assert_allclose(other.gap, -0.001, atol=1e-12)
    assert_allclose(other.normal, -one.normal, atol=1e-12)


@pytest.mark.parametrize('quarter', range(4))
def test_a_corner_that_leaves_the_face_is_another_feature(quarter):
    """Of a plate over the edge of a table, two vertices stay and two edges cross that of it."""
    R = about(2, quarter * np.pi / 2)
    table, plate = Box((2.0, 2.0, 1.0)), Box((0.4, 0.3, 0.1))
    inside = contacts(table, np.eye(4), plate, at(0.7, 0, 0.55, rotation=R), 1e-3)
    over = contacts(table, np.eye(4), plate, at(0.9, 0, 0.55, rotation=R), 1e-3)
    assert len(inside.gap) == len(over.gap) == 4
    stays = over.points_a[:, 0] < 0.95
    assert stays.sum() == 2
    assert set(over.feature[stays]) <= set(inside.feature)
    assert not set(over.feature[~stays]) & set(inside.feature)


def feature_at(shape, *center):
    (feature,) = contacts(Sphere(0.1), at(*center), shape, np.eye(4), margin=9.0).feature
    return int(feature)


def test_each_feature_of_a_solid_has_its_number():
    sides = (-1.0, 0.0, 1.0)
    box = {(x, y, z): feature_at(CUBE, x, y, z) for x in sides for y in sides for z in sides}
    del box[0.0, 0.0, 0.0]
    assert len(set(box.values())) == 26
    for k in range(3):
        for side in (-1.0, 1.0):
            axis = side * np.eye(3)[k]
            assert feature_at(CUBE, *(0.3 * axis)) == box[tuple(axis + 0.0)]  # from inside
    can = Cylinder(0.2, 1.0)
    assert [feature_at(can, x, 0, z) for x, z in ((1, 0), (0.1, 1), (0.1, -1))] == [3, 5, 1]
    assert [feature_at(can, 1, 0, z) for z in (-1, 1)] == [0, 4]
    assert [feature_at(can, 0.1, 0, z) for z in (-0.45, 0.45)] == [1, 5]
    assert [feature_at(Capsule(0.2, 1.0), 1, 0, z) for z in (-1, 0, 1)] == [0, 1, 2]


@pytest.mark.parametrize(('tilt', 'count'), [(0.0, 4), (0.7, 4), (0.85, 2), (np.pi / 2, 2)])
def test_a_cylinder_stands_up_to_half_a_right_angle(tilt, count):
    tilted = at(0, 0, 1.0, rotation=about(0, tilt))
    found = contacts(*GROUND, Cylinder(0.3, 1.0), tilted, margin=9.0)
    assert len(found.gap) == count
    assert_allclose(found.gap.min(), 1 - 0.5 * np.cos(tilt) - 0.3 * np.sin(tilt), atol=1e-12)


def test_a_capsule_just_beside_a_face_touches_its_edge():
    beside = at(0, 0.5005, 0.55)
    beside[:3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]  # exactly along the edge
    found = contacts(Capsule(0.1, 2.0), beside, CUBE, np.eye(4))
    assert_allclose(found.points_b[:, 1:], [[0.5, 0.5]] * 2, atol=1e-12)
    assert_allclose(found.gap, np.hypot(0.0005, 0.05) - 0.1, atol=1e-12)
