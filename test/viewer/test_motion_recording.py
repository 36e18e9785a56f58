# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings are self-contained pages, with the added frames."""

import base64
import html
import json
import re

import numpy as np
import pytest
from support.urdf_text import joint, link, robot as urdf

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer import make_scene, MotionRecording
from rbd_ros.viewer.session import advance, record


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


def data_of(page):
    """Return the data of a page."""
    (text,) = re.findall('<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(text)


def floats(text):
    return np.frombuffer(base64.b64decode(text), '<f4').astype(float)


def test_frames_of_the_page_are_those_of_the_kinematics(robot):
    recording = MotionRecording(robot)
    rng = np.random.default_rng(3)
    frames = [robot.random_configuration(rng) for _ in range(7)]
    for k, q in enumerate(frames):
        recording.add(2.0 + 0.25 * k, q)
    data = data_of(recording.page())
    assert np.allclose(floats(data['times']), 0.25 * np.arange(7))
    poses = floats(data['poses']).reshape(7, len(data['links']), 7)
    for found, q in zip(poses, frames):
        for pose, name in zip(found, data['links']):
            T = robot.frame(name).pose(q)
            assert np.allclose(pose[:3], T[:3, 3], atol=1e-6)
            x, y, z, w = pose[3:]
            # The rotated axes, by v + 2 w u x v + 2 u x (u x v).
            u, axes = np.array([x, y, z]), np.eye(3)
            turned = axes + 2 * w * np.cross(u, axes) + 2 * np.cross(u, np.cross(u, axes))
            assert np.allclose(turned.T, T[:3, :3], atol=1e-6)


def test_meshes_of_the_page_are_those_of_the_files(tmp_path):
    vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    lines = ['v {} {} {}'.format(*v) for v in vertices] + ['f 1 2 3', 'f 1 2 4']
    (tmp_path / 'm.obj').write_text('\n'.join(lines))
    mesh = '<visual><geometry><mesh filename="m.obj" scale="2 2 2"/></geometry></visual>'
    path = tmp_path / 'robot.urdf'
    path.write_text(urdf(link('a', mesh), link('b'), joint('j', 'a', 'b')))
    recording = MotionRecording(Robot.from_urdf(path))
    recording.add(0.0, [0.0])
    (part,) = data_of(recording.page())['parts']
    corners = np.frombuffer(base64.b64decode(part['corners']), '<u4' if part['wide'] else '<u2')
    triangles = floats(part['vertices']).reshape(-1, 3)[corners].reshape(-1, 3, 3)
    expected = 2.0 * np.array(vertices)[[[0, 1, 2], [0, 1, 3]]]
    assert sorted(triangles.tolist()) == sorted(expected.tolist())


def test_the_page_loads_nothing(robot):
    recording = MotionRecording(robot)
    recording.add(0.0, robot.neutral())
    page = recording.page()
    # Names of XML's namespaces are no addresses to load from.
    addresses = set(re.findall(r'https?://[^\s"\'`)]+', page)) - {'http://www.w3.org/1999/xhtml'}
    assert addresses == set()
    assert not re.search(r'<script[^>]*\ssrc=|@import|url\(', page)
    assert re.findall(r'<link[^>]*href="([^"]*)"', page) == ['data:,']
    assert "default-src 'none'" in page
    assert 500_000 < len(page) < 800_000


def test_names_cannot_break_out_of_the_page():
    name = '</script><script>alert(1)</script>@DATA@'
    shape = '<visual><geometry><sphere radius="1"/></geometry></visual>'
    text = urdf(link(html.escape(name), shape), name=html.escape(name))
    text = urdf(
        link(html.escape(name), shape), link('b'), joint('j', html.escape(name), 'b'), name='x'
    ).replace('name="x"', f'name="{html.escape(name)}"')
    recording = MotionRecording(Robot.from_urdf(text))
    recording.add(0.0, [0.0])
    page = recording.page()
    assert data_of(page)['links'] == [name]
    assert '<script>alert' not in page


@pytest.mark.parametrize(
    ('time', 'q', 'message'),
    [
        (1.0, np.zeros(6), 'time must increase, got 1.0 s after 1.0 s'),
        (2.0, np.zeros(5), r'q must have shape \(6,\), got \(5,\)'),
        (2.0, np.full(6, np.nan), 'must be finite'),
        (np.inf, np.zeros(6), 'must be finite'),
    ],
)
def test_frames_that_are_none_are_rejected(robot, time, q, message):
    recording = MotionRecording(robot)
    recording.add(1.0, np.zeros(6))
    with pytest.raises(ValueError, match=message):
        recording.add(time, q)
    assert len(recording) == 1 and recording.configurations.shape == (1, 6)


def test_an_empty_recording_and_a_bad_path_are_rejected(robot, tmp_path):
    recording = MotionRecording(robot)
    with pytest.raises(ValueError, match='empty: add a frame'):
        recording.write(tmp_path / 'a.html')
    recording.add(0.0, robot.neutral())
    with pytest.raises(ValueError, match='a.html cannot be written'):
        recording.write(tmp_path / 'no' / 'a.html')


def test_there_is_no_grid_without_ground(robot):
    recording = MotionRecording(robot)
    recording.add(0.0, robot.neutral())
    assert data_of(recording.page())['grounds'] == []


def test_the_ground_is_where_the_simulation_has_it(robot):
    slope = HalfSpace((0.0, -0.6, 0.8), 0.5)
    recording = MotionRecording(robot, ground=slope)
    recording.add(0.0, robot.neutral())
    (ground,) = data_of(recording.page())['grounds']
    pose = np.array(ground['pose']).reshape(4, 4)
    assert np.allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3))
    assert np.isclose(np.linalg.det(pose), 1.0)
    assert np.allclose(pose[:3, 2], slope.normal)
    assert np.allclose(pose[:3, 3], 0.5 * np.array(slope.normal))


@pytest.mark.parametrize('with_torque', [False, True])
def test_a_recording_has_the_motion_of_the_simulator(robot, with_torque):
    torque = (lambda now: robot.gravity_torque(now.q) + 0.5) if with_torque else None
    start = [0.5, -1.0, 0.5, 0.3, 0.4, 0.2]
    simulator, alone = Simulator(robot), Simulator(robot)
    simulator.reset(start)
    alone.reset(start)
    recording = record(simulator, make_scene(robot.model), 0.25, torque)
    assert len(recording) == 16 and np.isclose(recording.times[-1], 0.25)
    assert np.allclose(np.diff(recording.times), 1 / 60, atol=1e-3)
    for _ in range(250):
        alone.step(None if torque is None else torque(alone))
    assert np.array_equal(recording.configurations[-1], alone.q)
    assert np.array_equal(recording.configurations[0], start)


def test_steps_longer_than_a_frame_are_frames(robot):
    simulator = Simulator(robot, timestep=0.05)
    recording = record(simulator, make_scene(robot.model), 0.5)
    assert np.allclose(recording.times, 0.05 * np.arange(11))


def test_advancing_stops_where_it_should(robot):
    simulator = Simulator(robot)
    advance(simulator, 1.0, lambda now: None, should_stop=lambda: simulator.time > 0.0105)
    assert np.isclose(simulator.time, 0.011)


@pytest.mark.parametrize(('side', 'wide'), [(255, False), (260, True)])
def test_numbers_of_vertices_have_room(robot, side, wide, tmp_path):
    path = tmp_path / 'heights.npy'
    np.save(path, np.random.default_rng(1).normal(size=(side, side)))
    field = {'type': 'height_field', 'size': [1, 1], 'file': str(path)}
    recording = MotionRecording(robot, make_scene(robot.model, world={'objects': {'hill': field}}))
    recording.add(0.0, robot.neutral())
    (part,) = data_of(recording.page())['parts']
    corners = np.frombuffer(base64.b64decode(part['corners']), '<u4' if wide else '<u2')
    assert part['wide'] == wide
    assert np.array_equal(corners, recording.scene.parts[0].corners.reshape(-1))
