# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Visible shapes of a robot, and their poses."""

import numpy as np
import pytest
from support import example_robots
from support.mesh_files import box_triangles, write_stl
from support.urdf_text import joint, link, robot as urdf

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import load_urdf
from rbd_ros.viewer import make_scene
from rbd_ros.viewer.viewer_scene import GRAY, ORANGE, quaternions

RED = '<material name="r"><color rgba="1 0 0 0.5"/></material>'


def shape(role, inside, more=''):
    return f'<{role}>{more}<geometry>{inside}</geometry></{role}>'


def rotation(q):
    """Return the rotation matrix of (x, y, z, w), by the text book."""
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_quaternions_are_those_of_the_rotations():
    rng = np.random.default_rng(1)
    given = rng.normal(size=(200, 4))
    # Half turns as well, about the axes and others.
    given = np.concatenate([given, np.eye(4), [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, -1, 1e-9]]])
    given /= np.linalg.norm(given, axis=1, keepdims=True)
    found = quaternions([rotation(q) for q in given])
    assert np.allclose(np.abs(np.sum(found * given, axis=1)), 1.0, atol=1e-12)


def test_visual_shapes_and_collision_shapes_where_there_are_none():
    text = urdf(
        link(
            'a',
            shape('visual', '<box size="1 2 3"/>', RED)
            + shape('visual', '<sphere radius="2"/>')
            + shape('collision', '<sphere radius="9"/>'),
        ),
        link('b', shape('collision', '<cylinder radius="1" length="4"/>')),
        link('c'),
        joint('i', 'a', 'b'),
        joint('j', 'b', 'c'),
    )
    model = load_urdf(text)
    scene = make_scene(model)
    assert [(s.link, s.kind, s.size, s.color) for s in scene.shapes] == [
        ('a', 'box', (1.0, 2.0, 3.0), (1.0, 0.0, 0.0, 0.5)),
        ('a', 'sphere', (2.0,), GRAY),
        ('b', 'cylinder', (1.0, 4.0), ORANGE),
    ]
    assert scene.links == ('a', 'b')
    collision = make_scene(model, 'collision')
    assert [(s.link, s.size) for s in collision.shapes] == [('a', (9.0,)), ('b', (1.0, 4.0))]
    with pytest.raises(ValueError, match="one of visual, collision, got 'both'"):
        make_scene(model, 'both')


def test_shapes_are_placed_in_their_links_although_these_are_merged():
    turn = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
    text = urdf(
        link('a'),
        link('b'),
        link('c', shape('visual', '<sphere radius="1"/>', turn)),
        joint('i', 'a', 'b'),
        joint('j', 'b', 'c', 'fixed', inside='<origin xyz="5 0 0" rpy="1 0 0"/>'),
    )
    (found,) = make_scene(load_urdf(text)).shapes
    assert np.allclose(found.placement[:3, 3], [1, 2, 3])
    (a, b, c), (s, t, u) = np.cos([0.1, 0.2, 0.3]), np.sin([0.1, 0.2, 0.3])
    roll = np.array([[1, 0, 0], [0, a, -s], [0, s, a]])
    pitch = np.array([[b, 0, t], [0, 1, 0], [-t, 0, b]])
    yaw = np.array([[c, -u, 0], [u, c, 0], [0, 0, 1]])
    assert np.allclose(found.placement[:3, :3], yaw @ pitch @ roll)


def test_poses_are_those_of_the_frames():
    robot = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    scene = make_scene(robot.model)
    rng = np.random.default_rng(2)
    q = np.array([robot.random_configuration(rng) for _ in range(5)])
    found = scene.poses(robot, q)
    assert found.shape == (5, len(scene.links), 7)
    for row, configuration in zip(found, q):
        for pose, name in zip(row, scene.links):
            expected = robot.frame(name).pose(configuration)
            assert np.allclose(pose[:3], expected[:3, 3])
            assert np.allclose(rotation(pose[3:]), expected[:3, :3])


def test_meshes_are_read_once_scaled_and_with_their_own_colors(tmp_path):
    (tmp_path / 'm.obj').write_text('mtllib m.mtl\nusemtl g\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n')
    (tmp_path / 'm.mtl').write_text('newmtl g\nKd 0 1 0\n')
    mesh, large = '<mesh filename="m.obj"/>', '<mesh filename="m.obj" scale="2 2 -2"/>'
    path = tmp_path / 'robot.urdf'
    inside = shape('visual', mesh, RED) + shape('visual', mesh) + shape('visual', large)
    path.write_text(urdf(link('a', inside)))
    scene = make_scene(load_urdf(path))
    assert [shape.size for shape in scene.shapes] == [(0,), (0,), (1,)]
    assert all(shape.color == (0.0, 1.0, 0.0, 1.0) for shape in scene.shapes)
    assert scene.parts[0].vertices.max() == 1.0 and scene.parts[1].vertices.max() == 2.0
    assert scene.notices == ()


def test_meshes_that_cannot_be_drawn_are_named_in_one_notice(tmp_path):
    (tmp_path / 'bad.stl').write_bytes(b'')
    inside = ''.join(shape('visual', f'<mesh filename="{x}.stl"/>') for x in ('bad', 'none', 'no'))
    path = tmp_path / 'robot.urdf'
    path.write_text(urdf(link('a', inside + shape('visual', '<sphere radius="1"/>'))))
    scene = make_scene(load_urdf(path))
    assert [shape.kind for shape in scene.shapes] == ['sphere']
    (notice,) = scene.notices
    assert 'bad.stl' in notice and 'and 2 more' in notice


def test_too_many_triangles_become_fewer_with_one_notice():
    model = load_urdf(example_robots.path('panda'))
    full, less = make_scene(model), make_scene(model, triangles=20_000)
    before, after = ([_corners(scene, k) for k in _meshes(scene)] for scene in (full, less))
    total, drawn = (sum(map(len, each)) for each in (before, after))
    assert full.notices == () and 10_000 < drawn <= 20_000 < total
    assert less.notices == (f'meshes are drawn with {drawn} triangles of their {total}',)
    # Small parts stay, large ones share.
    assert all(0 < len(b) <= len(a) for a, b in zip(before, after))
    smallest = min(range(len(before)), key=lambda k: len(before[k]))
    assert np.array_equal(after[smallest], before[smallest])


def test_hidden_collision_shapes_are_there_and_bounded():
    model = load_urdf(example_robots.path('panda'))
    scene = make_scene(model, triangles=20_000)
    assert {shape.link for shape in scene.collision} <= set(scene.links)
    assert len(scene.collision) == sum(each.role == 'collision' for each in model.geometries)
    hidden = {int(shape.size[0]) for shape in scene.collision if shape.kind == 'mesh'}
    assert hidden and hidden.isdisjoint(_meshes(scene)) and max(hidden) < len(scene.parts)
    assert sum(len(_corners(scene, k)) for k in hidden) <= 4000
    assert make_scene(model, shapes='collision').collision == ()


def test_a_mesh_that_is_visual_and_collision_shape_is_there_once(tmp_path):
    write_stl(tmp_path / 'a.stl', box_triangles((1.0, 1.0, 1.0)))
    mesh = '<geometry><mesh filename="a.stl"{}/></geometry>'
    shapes = ''.join(
        f'<{role}>{mesh.format(scale)}</{role}>'
        for role, scale in (('visual', ''), ('collision', ''), ('collision', ' scale="2 2 2"'))
    )
    (tmp_path / 'a.urdf').write_text(urdf(link('a', shapes)))
    scene = make_scene(load_urdf(tmp_path / 'a.urdf'))
    assert [shape.size for shape in (*scene.shapes, *scene.collision)] == [(0,), (0,), (1,)]
    sizes = [np.ptp(part.vertices, axis=0).tolist() for part in scene.parts]
    assert sizes == [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]


def _meshes(scene):
    return sorted({int(shape.size[0]) for shape in scene.shapes if shape.kind == 'mesh'})


def _corners(scene, number):
    return scene.parts[number].corners
