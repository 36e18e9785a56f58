# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Poses and sizes without a unique direction, bad input, and agreement with the interpreter."""

from itertools import product
import json

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import fresh_python
from support.collision_scenes import (
    about,
    at,
    from_surface,
    KINDS,
    NAMES,
    PAIRS,
    random_shape,
    scene,
)

from rbd_ros.collision import (
    Box,
    Capsule,
    contacts,
    ConvexHull,
    Cylinder,
    distance,
    pair_is_supported,
    Plane,
    Sphere,
)
from rbd_ros.collision.arrays import NO_TABLES, Pair
from rbd_ros.collision.pairs.narrow_phase import contacts_of
from rbd_ros.compiler.loops import allocate, interpreted_reason, Record

every_pair = pytest.mark.parametrize('pair', PAIRS, ids=NAMES)
EMPTY = {
    Plane: (Plane(),),
    Sphere: (Sphere(0.0), Sphere(0.2)),
    Capsule: (Capsule(0.0, 0.0), Capsule(0.2, 0.0), Capsule(0.0, 0.4), Capsule(0.1, 0.4)),
    Box: (Box((0.0, 0.0, 0.0)), Box((0.4, 0.0, 0.2)), Box((0.4, 0.4, 0.4))),
    Cylinder: (Cylinder(0.0, 0.0), Cylinder(0.2, 0.0), Cylinder(0.0, 0.4), Cylinder(0.2, 0.4)),
    ConvexHull: (
        ConvexHull(0.2 * np.array(list(product((-1, 1), repeat=3)))),
        ConvexHull([[0.2, 0, 0], [-0.2, 0, 0], [0, 0.2, 0], [0, 0, 1e-6]]),
    ),
}
CUBE = EMPTY[ConvexHull][0]
PLACES = [
    at(*position, rotation=R)
    for position in ((0, 0, 0), (0.4, 0, 0), (0, 0.4, 0.4), (0, 0, 1e-13), (1e-160, 0, 1e-200))
    for R in (np.eye(3), about(0, np.pi / 2), about(1, np.pi / 4), about(2, 1e-9))
]


@every_pair
def test_concentric_flat_and_empty_shapes_have_finite_gaps_and_unit_normals(pair):
    for a in EMPTY[pair[0]]:
        for b in EMPTY[pair[1]]:
            for T in PLACES:
                nearest = distance(a, np.eye(4), b, T)
                found = contacts(a, np.eye(4), b, T, margin=2.0)
                assert len(found.gap) > 0
                for each in (*nearest, *found):
                    assert np.isfinite(each).all()
                normals = np.vstack([found.normal, nearest.normal])
                assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize(
    ('a', 'b', 'depth'),
    [
        (Sphere(0.1), Sphere(0.2), 0.3),
        (Sphere(0.1), Capsule(0.2, 1.0), 0.3),
        (Sphere(0.1), Box((0.4, 0.6, 0.8)), 0.3),
        (Sphere(0.1), Cylinder(0.2, 1.0), 0.3),
        (Capsule(0.1, 1.0), Capsule(0.2, 1.0), 0.3),
        (Capsule(0.1, 0.0), Capsule(0.2, 0.0), 0.3),
        (Capsule(0.1, 1.0), Box((0.4, 0.6, 0.8)), 0.3),
        (Box((0.4, 0.6, 0.8)), Box((0.4, 0.6, 0.8)), 0.4),
        (Capsule(0.1, 1.0), Cylinder(0.2, 1.0), 0.3),
        (Cylinder(0.1, 1.0), Cylinder(0.2, 1.0), 0.3),
        (Box((0.4, 0.6, 0.8)), Cylinder(0.2, 1.0), 0.4),
        (Sphere(0.1), CUBE, 0.3),
        (Cylinder(0.1, 1.0), CUBE, 0.3),
        (CUBE, CUBE, 0.4),
    ],
)
def test_concentric_shapes_have_the_depth_of_their_thinnest_direction(a, b, depth):
    assert_allclose(distance(a, np.eye(4), b, np.eye(4)).gap, -depth, atol=1e-15)
    assert_allclose(contacts(a, np.eye(4), b, np.eye(4)).gap.min(), -depth, atol=1e-15)


@pytest.mark.parametrize('angle', [0.0, 1e-17, 1e-12, 1e-9, 1e-7, 1e-6, 1e-4])
def test_nearly_aligned_boxes_have_the_depth_of_aligned_ones(angle):
    """Edges that are parallel but for rounding make no axis and no points of their own."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b = (Box(tuple(rng.uniform(0.2, 1.0, 3))) for _ in range(2))
        middle = rng.uniform(-0.6, 0.6, 3)
        R = about(0, angle * rng.normal()) @ about(1, angle * rng.normal()) @ about(2, angle)
        T = at(*middle, rotation=R)
        excess = np.abs(middle) - np.array(a.half_sizes) - np.array(b.half_sizes)
        gap = excess.max() if excess.max() < 0 else np.linalg.norm(np.maximum(excess, 0.0))
        nearest = distance(a, np.eye(4), b, T)
        assert_allclose(nearest.gap, gap, atol=4 * angle + 1e-12)
        assert from_surface(a, np.eye(4), nearest.point_a) <= 4 * angle + 1e-9
        assert from_surface(b, T, nearest.point_b) <= 4 * angle + 1e-9
        assert (len(contacts(a, np.eye(4), b, T).gap) > 0) == (nearest.gap <= 0)


def test_crossing_capsules_part_at_right_angles_to_both():
    a, b = Capsule(0.1, 1.0), Capsule(0.2, 1.0)
    nearest = distance(a, np.eye(4), b, at(0, 0, 0.1, rotation=about(0, 1.0)))
    assert_allclose(nearest.gap, -0.3, atol=1e-15)
    assert_allclose(np.abs(nearest.normal), [1, 0, 0], atol=1e-15)


def test_a_capsule_without_length_leaves_another_one_sideways():
    R = about(0, 1.0)
    for a, b in ((Capsule(0.1, 0.0), Capsule(0.2, 1.0)), (Capsule(0.2, 1.0), Capsule(0.1, 0.0))):
        pose_a, pose_b = (np.eye(4), at(0, 0, 0, rotation=R))[:: 1 if b.length else -1]
        nearest = distance(a, pose_a, b, pose_b)
        assert_allclose(nearest.gap, -0.3, atol=1e-15)
        assert abs(nearest.normal @ R[:, 2]) < 1e-12


@pytest.mark.parametrize('a', KINDS)
@pytest.mark.parametrize('b', KINDS)
def test_pairs_are_supported_or_rejected_by_name(a, b):
    rng = np.random.default_rng(0)
    one, other, far = random_shape(a, rng), random_shape(b, rng), at(0, 0, 9.0)
    assert pair_is_supported(a, b) is pair_is_supported(b, a) is pair_is_supported(one, other)
    assert pair_is_supported(a, b) == ((a, b) in PAIRS or (b, a) in PAIRS)
    if pair_is_supported(a, b):
        assert len(contacts(one, np.eye(4), other, far).gap) == 0 or b is Plane
        return
    for find in (contacts, distance):
        with pytest.raises(ValueError, match=f'{a.__name__} and {b.__name__} is not supported'):
            find(one, np.eye(4), other, far)


def test_all_pairs_but_two_planes_are_there():
    assert len(PAIRS) == 20
    assert not pair_is_supported(Plane, Plane)


@pytest.mark.parametrize(
    ('make', 'name'),
    [
        (lambda x: Sphere(x), 'radius of a sphere'),
        (lambda x: Capsule(x, 1.0), 'radius of a capsule'),
        (lambda x: Capsule(1.0, x), 'length of a capsule'),
        (lambda x: Cylinder(x, 1.0), 'radius of a cylinder'),
        (lambda x: Cylinder(1.0, x), 'length of a cylinder'),
        (lambda x: Box((1.0, x, 1.0)), r'size\[1\] of a box'),
    ],
)
@pytest.mark.parametrize('size', [-0.1, np.nan, np.inf])
def test_a_size_that_makes_no_sense_is_rejected_by_name(make, name, size):
    with pytest.raises(ValueError, match=name):
        make(size)


def test_a_box_has_three_sizes():
    with pytest.raises(ValueError, match=r'shape \(3,\), got \(2,\)'):
        Box((1.0, 2.0))


@pytest.mark.parametrize(
    ('pose', 'match'),
    [
        (np.eye(3), r'pose_b must have shape \(4, 4\), got \(3, 3\)'),
        (at(0, np.nan, 0), 'pose_b must be finite'),
        (at(0, 0, 0, rotation=2 * np.eye(3)), 'pose_b must be a homogeneous matrix'),
        (at(0, 0, 0, rotation=-np.eye(3)), 'pose_b must be a homogeneous matrix'),
        (np.diag([1.0, 1.0, 1.0, 2.0]), 'pose_b must be a homogeneous matrix'),
    ],
)
def test_a_pose_that_makes_no_sense_is_rejected_by_name(pose, match):
    for find in (contacts, distance):
        with pytest.raises(ValueError, match=match):
            find(Sphere(0.1), np.eye(4), Sphere(0.1), pose)


def test_a_margin_that_is_not_a_number_is_rejected():
    with pytest.raises(ValueError, match='margin'):
        contacts(Sphere(0.1), np.eye(4), Sphere(0.1), np.eye(4), margin=np.nan)


@every_pair
def test_a_pose_that_is_not_a_number_touches_nothing_in_compiled_loops(pair):
    """Compiled loops do not check it: no point is better than NaN."""
    rng = np.random.default_rng(1)
    a, pose_a, b, pose_b = scene(pair, rng)
    record = allocate(Pair, **NO_TABLES)
    record.kind[:] = a.kind, b.kind
    record.size[:] = a.half_sizes, b.half_sizes
    record.pose[0] = np.append(pose_a[:3, :3].ravel(), pose_a[:3, 3])
    record.pose[1] = np.append(pose_b[:3, :3].ravel(), np.full(3, np.nan))
    for nearest in (0, 1):
        assert contacts_of.bind(Record(record))(1e9, nearest) == 0


SCENES = """
import json
import numpy as np
from support.collision_scenes import PAIRS, scene
from rbd_ros.collision import contacts, distance
rng, results = np.random.default_rng(1), []
for pair in PAIRS:
    for number in range(25):
        each = scene(pair, rng, near=number % 2 == 0)
        for found in (distance(*each), contacts(*each, 0.1)):
            results.append([np.asarray(x).tolist() for x in found])
"""


@pytest.mark.slow
def test_compiled_loops_agree_with_the_interpreter():
    assert interpreted_reason() is None
    here = {}
    exec(SCENES, here)
    code = f'{SCENES}print(json.dumps(results))'
    interpreted = json.loads(fresh_python.run(code, RBD_ROS_COMPILER='off').stdout)
    assert len(interpreted) == len(here['results'])
    for one, other in zip(here['results'], interpreted):
        for x, y in zip(one, other):
            # No sums are reordered, but the compiler may contract a product and a sum.
            assert_allclose(x, y, rtol=0.0, atol=1e-12)


def test_nothing_of_it_is_interpreted(caplog):
    record = allocate(Pair, **NO_TABLES)
    bound = contacts_of.bind(Record(record))
    assert not caplog.records
    assert hasattr(bound, 'kept')  # the machine code
