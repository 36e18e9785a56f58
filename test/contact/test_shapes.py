# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact points of shapes, ground and parameters."""

import numpy as np
import pytest
from support.simulated_robots import body, collision

from rbd_ros.compiler.loops import Vec
from rbd_ros.contact import (
    contact_shapes,
    ContactParameters,
    HalfSpace,
    hull_points,
)
from rbd_ros.contact.detection import contact_point, on_rim

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)


@pytest.mark.seed('CN13')
def test_hulls_keep_only_corners_in_any_dimension(rng):
    inside = rng.uniform(0.1, 0.9, (50, 3))
    assert np.array_equal(hull_points(np.vstack([CUBE, inside])), np.unique(CUBE, axis=0))
    flat = np.column_stack([inside[:, :2], np.ones(50)])
    square = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=float)
    assert np.array_equal(hull_points(np.vstack([square, flat])), square)
    for thickness, kept in ((1.5e-9, 8), (0.5e-9, 4)):  # the second one is flat but for rounding
        assert len(hull_points((CUBE - 0.5) * [1.0, 1.0, thickness])) == kept
    line = np.outer(np.linspace(0, 1, 9), [1, 2, 3])
    assert np.allclose(hull_points(line), [[0, 0, 0], [1, 2, 3]])
    assert np.array_equal(hull_points(np.ones((5, 3))), np.ones((1, 3)))


def test_hulls_of_many_corners_are_thinned_out_evenly(rng):
    ball = rng.normal(size=(5000, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    points = hull_points(ball)
    assert len(points) == 256
    directions = rng.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    assert np.max(points @ directions.T, axis=0).min() > 0.985


def test_hulls_are_thinned_out_from_the_corner_farthest_from_their_middle():
    one, other, aside = [0, 3, 0], [-9, 3, 0], [-7, 8, 0]
    near = [[-8, 3.5, 0], [-8, 3, 0.5], [-8.8, 3.1, 0.4]]
    corners = np.array([*near, one, aside, other], dtype=float)
    for count in (1, 2, 3):  # the farthest from all that are chosen, one by one
        expected = np.unique(np.array([one, other, aside][:count], dtype=float), axis=0)
        assert np.array_equal(np.unique(hull_points(corners, count), axis=0), expected)


def test_a_robot_without_shapes_has_none_to_touch_with():
    shapes, geometries, warnings = contact_shapes(body().model)
    assert len(shapes.kind) == len(shapes.points) == len(geometries) == len(warnings) == 0
    assert list(shapes.first) == [0]


@pytest.mark.seed('CN11', 'CN13')
@pytest.mark.parametrize(
    'shape, count',
    [
        ('sphere radius="0.1"', 1),
        ('box size="0.2 0.4 0.6"', 8),
        ('cylinder radius="0.1" length="0.5"', 8),
    ],
)
def test_the_lowest_contact_point_is_the_lowest_point_of_the_shape(rng, shape, count):
    xyz, rpy = rng.normal(size=3), rng.uniform(-1, 1, 3)
    robot = body(shape=collision(shape, xyz, rpy))
    shapes, geometries, warnings = contact_shapes(robot.model)
    assert not warnings and len(geometries) == 1 and shapes.first[-1] == count
    for _ in range(20):
        q = robot.random_configuration(rng)
        poses = robot.kernel('contact_kinematics')(q).frames[:2]
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        heights = []
        for number in range(count):
            heights.append(Vec(*normal) @ contact_point(shapes, 0, number, poses, Vec(*normal)))
        pose = robot.forward_kinematics(q)['body']
        placement = robot.model.geometries[0].placement.pose()
        world = pose @ placement
        n = world[:3, :3].T @ normal
        reach = {  # support functions
            1: 0.1,
            8: np.abs(n) @ [0.1, 0.2, 0.3]
            if 'box' in shape
            else 0.1 * np.hypot(n[0], n[1]) + 0.25 * abs(n[2]),
        }[count]
        assert min(heights) == pytest.approx(normal @ world[:3, 3] - reach, abs=1e-12)


@pytest.mark.parametrize('shape', ['box', 'cylinder', 'sphere', 'mesh'])
def test_the_bounding_sphere_is_the_least_about_the_middle(rng, tmp_path, shape):
    corners = np.array([1.0, 2.0, 3.0]) + CUBE * [0.1, 0.5, 0.2]
    (tmp_path / 'far.obj').write_text(''.join('v %g %g %g\n' % tuple(p) for p in corners))
    text, middle, reach = {
        'box': ('box size="0.1 0.5 0.2"', np.zeros(3), np.linalg.norm([0.05, 0.25, 0.1])),
        'cylinder': ('cylinder radius="0.1" length="0.5"', np.zeros(3), np.hypot(0.1, 0.25)),
        'sphere': ('sphere radius="0.1"', np.zeros(3), 0.1),
        'mesh': (
            f'mesh filename="file://{tmp_path}/far.obj"',
            np.array([1.05, 2.25, 3.1]),
            np.linalg.norm([0.05, 0.25, 0.1]),
        ),
    }[shape]
    model = body(shape=collision(text, rng.normal(size=3), rng.uniform(-1, 1, 3))).model
    shapes, _, warnings = contact_shapes(model)
    placement = model.geometries[0].placement.pose()
    assert not warnings and shapes.reach[0] == pytest.approx(reach)
    center = placement[:3, :3] @ middle + placement[:3, 3]
    assert shapes.center[0] == pytest.approx(center, abs=1e-12)
    if shape in ('box', 'mesh'):
        corners = middle + (CUBE - 0.5) * [0.1, 0.5, 0.2]
        expected = corners @ placement[:3, :3].T + placement[:3, 3]
        found = shapes.points[:8]
        distances = np.linalg.norm(found[:, None] - expected[None], axis=2)
        assert distances.min(axis=0).max() < 1e-12 and distances.min(axis=1).max() < 1e-12


def test_the_points_of_a_rim_are_quarter_turns_from_its_lowest(rng):
    for _ in range(5):
        axis, first, normal = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        normal = normal + 0.5 * axis
        normal /= np.linalg.norm(normal)
        center = rng.normal(size=3)
        directions = [Vec(*each) for each in (axis, first, normal)]
        size = np.array([0.1, 0.25, 0.0])
        points = center + np.array([on_rim(*directions, size, number) for number in range(8)])
        for rim, half in ((points[:4], 0.25), (points[4:], -0.25)):
            radial = rim - center - half * axis
            assert np.abs(radial @ axis).max() < 1e-12
            assert radial[0] @ normal == pytest.approx(
                -0.1 * np.linalg.norm(np.cross(axis, normal))
            )
            aside = np.cross(axis, radial[0])
            expected = [radial[0], aside, -radial[0], -aside]
            assert np.allclose(radial, expected, atol=1e-12)
            assert np.linalg.norm(radial[0]) == pytest.approx(0.1)


@pytest.mark.seed('CN13')
def test_a_cylinder_that_stands_rests_on_four_points_of_its_rim():
    robot = body(shape=collision('cylinder radius="0.1" length="0.5"'))
    shapes, _, _ = contact_shapes(robot.model)
    poses = robot.kernel('contact_kinematics')(robot.neutral()).frames[:2]
    up = Vec(0.0, 0.0, 1.0)
    points = np.array([contact_point(shapes, 0, number, poses, up) for number in range(8)])
    assert np.linalg.norm(points[:, :2], axis=1) == pytest.approx([0.1] * 8)
    assert points[:, 2] == pytest.approx([0.25] * 4 + [-0.25] * 4)
    assert np.abs(points[:4, :2].sum(axis=0)).max() < 1e-15
    assert points[0, :2] @ points[1, :2] == pytest.approx(0.0, abs=1e-15)


def test_the_ground_is_a_unit_normal_with_two_tangents(rng):
    for normal in [*np.eye(3), *-np.eye(3), *rng.normal(size=(20, 3)), [0, 0, 1e-200]]:
        axes = HalfSpace(tuple(normal), 2.0).axes()
        assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-14)
        assert np.linalg.det(axes) == pytest.approx(1.0)
        assert axes[0] @ (np.array(normal) / np.abs(normal).max()) > 0.5


@pytest.mark.parametrize(
    'make',
    [
        lambda: HalfSpace((0, 0, 0)),
        lambda: HalfSpace((0, np.nan, 1)),
        lambda: HalfSpace((0, 1)),
        lambda: HalfSpace(offset=np.inf),
        lambda: ContactParameters(stiffness=0.0),
        lambda: ContactParameters(damping=-1.0),
        lambda: ContactParameters(friction=np.nan),
        lambda: ContactParameters(tangential_stiffness=-1.0),
    ],
)
def test_invalid_ground_is_rejected(make):
    with pytest.raises(ValueError, match='must'):
        make()
