# SPDX-License-Identifier: Apache-2.0
"""Pictures without a browser: triangles where they are seen, and videos of them."""

import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from support import outside

from rbd_ros import Robot
from rbd_ros.compiler.loops import allocate, Record
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer import make_scene, MotionRecording, raster, video
from rbd_ros.viewer.picture import Camera, SKY
from rbd_ros.viewer.primitives import arrow


def samples(rows=24, columns=32):
    return allocate(
        raster.Raster,
        rows=rows,
        columns=columns,
        pixel_rows=rows // raster.SAMPLES,
        pixel_columns=columns // raster.SAMPLES,
    )


def draw(made, points, paint, corners=None, interpreted=False):
    corners = np.arange(len(points)).reshape(-1, 3) if corners is None else corners
    points, paint = np.array(points, dtype=float), np.array(paint, dtype=float)
    soup = raster.Soup(np.zeros_like(points), points, corners, paint)
    look = allocate(raster.Look)
    if interpreted:
        return raster.draw.function(made, look, soup, 0, len(corners), 0)
    return raster.draw(Record(made), Record(look), Record(soup), 0, len(corners), 0)


def random_soup(rng, count=40):
    points = np.stack(
        [rng.uniform(-20, 50, 3 * count), rng.uniform(-20, 40, 3 * count)]
        + [rng.uniform(-0.1, 1.0, 3 * count)],
        axis=1,
    )
    paint = rng.uniform(0, 1, (count, 4))
    paint[: count // 2, 3] = 1.0
    return points, paint


def test_compiled_and_interpreted_loops_draw_the_same():
    points, paint = random_soup(np.random.default_rng(1))
    one, other = samples(), samples()
    assert draw(one, points, paint) == draw(other, points, paint, interpreted=True) > 10
    raster.develop(Record(one))
    raster.develop.function(other)
    for first, second in zip(one, other):
        assert np.array_equal(first, second)


def test_samples_have_the_color_of_the_nearest_triangle_that_covers_them():
    points, paint = random_soup(np.random.default_rng(2))
    paint[:, 3] = 1.0
    made = samples()
    draw(made, points, paint)
    for row in range(24):
        for column in range(32):
            nearest, color = 0.0, np.zeros(3)
            for t, (a, b, c) in enumerate(points.reshape(-1, 3, 3)):
                if min(a[2], b[2], c[2]) <= 0.0:
                    continue
                edges = np.array([b[:2] - a[:2], c[:2] - a[:2]]).T
                u, v = np.linalg.solve(edges, np.array([column, row]) - a[:2])
                near = a[2] + u * (b[2] - a[2]) + v * (c[2] - a[2])
                if min(u, v, 1 - u - v) >= 0.0 and near > nearest:
                    nearest, color = near, paint[t, :3]
            assert np.isclose(made.nearness[row, column], nearest)
            assert np.allclose(made.color[row, column], color)


def test_what_is_seen_through_blends_and_hides_nothing():
    made = samples()
    whole = [[-100, -100, 0.5], [300, -100, 0.5], [-100, 300, 0.5]]
    nearer = [[x, y, 0.8] for x, y, _ in whole]
    farther = [[x, y, 0.2] for x, y, _ in whole]
    draw(made, whole, [[1.0, 0.0, 0.0, 1.0]])
    draw(made, nearer, [[0.0, 1.0, 0.0, 0.25]])
    draw(made, farther, [[0.0, 0.0, 1.0, 1.0]])
    assert np.allclose(made.color, [0.75, 0.25, 0.0]) and np.allclose(made.nearness, 0.5)
    # What is behind the camera, and what has no area, is not drawn.
    behind = [[x, y, -0.9] for x, y, _ in whole]
    assert draw(made, behind, [[0.0, 0.0, 1.0, 1.0]]) == 0
    draw(made, [nearer[0]] * 3, [[0.0, 0.0, 1.0, 1.0]])
    assert np.allclose(made.color, [0.75, 0.25, 0.0])


def test_pixels_are_means_of_their_samples():
    made = samples()
    made.color[...] = np.random.default_rng(3).uniform(size=made.color.shape)
    raster.develop(Record(made))
    expected = made.color.reshape(12, 2, 16, 2, 3).mean(axis=(1, 3))
    assert np.allclose(made.pixels, expected)


BALL = {'type': 'sphere', 'radius': 0.2, 'color': [1.0, 0.0, 0.0], 'static': False, 'mass': 1.0}


def red(picture):
    """Return where a picture is red."""
    r, g, b = (picture[..., k].astype(int) for k in range(3))
    return (r > 2 * g + 20) & (r > 2 * b + 20)


def test_a_ball_is_seen_where_it_is_and_as_large_as_it_is():
    scene = make_scene(None, world={'objects': {'ball': BALL}})
    start = scene.poses(None, np.empty((1, 0)))[0]
    camera = Camera(scene, start, width=200, height=150)
    picture = camera.picture(start)
    seen = np.argwhere(red(picture))
    assert np.allclose(seen.mean(axis=0), [74.5, 99.5], atol=1.0)
    # It is a disc: half a height is tan(20 deg) times the distance away, as in the page.
    away = 1.3 * np.linalg.norm([1.6, -2.2, 1.1]) * np.sqrt(3.0) * 0.2
    radius = 75.0 * np.tan(np.arcsin(0.2 / away)) / np.tan(np.radians(20.0))
    assert np.isclose(len(seen), np.pi * radius**2, rtol=0.03)
    # Upward is upward, and the x axis goes to the right: the camera looks from -y.
    for axis, direction in ((0, (0, 1)), (2, (-1, 0))):
        moved = start.copy()
        moved[0, axis] += 0.05
        shift = np.argwhere(red(camera.picture(moved))).mean(axis=0) - seen.mean(axis=0)
        assert shift @ direction > 3.0
    assert np.array_equal(camera.picture(start), picture)


def test_what_is_in_front_hides_what_is_behind():
    screen = {'type': 'box', 'size': [2.0, 0.01, 2.0], 'xyz': [0, -0.5, 0], 'color': [0, 0, 1]}
    for y, hidden in ((-0.5, True), (0.5, False)):
        screen['xyz'][1] = y
        scene = make_scene(None, world={'objects': {'ball': BALL, 'screen': screen}})
        poses = scene.poses(None, np.empty((1, 0)))[0]
        assert red(Camera(scene, poses, width=80, height=60).picture(poses)).any() != hidden
    # Glass in front lets it through.
    screen['xyz'][1], screen['color'] = -0.5, [0, 0, 1, 0.2]
    scene = make_scene(None, world={'objects': {'ball': BALL, 'screen': screen}})
    poses = scene.poses(None, np.empty((1, 0)))[0]
    assert red(Camera(scene, poses, width=80, height=60).picture(poses)).any()


def test_forces_and_shadows_are_drawn():
    world = {'objects': {'ball': BALL, 'floor': {'type': 'plane', 'xyz': [0, 0, -0.3]}}}
    scene = make_scene(None, world=world)
    poses = scene.poses(None, np.empty((1, 0)))[0]
    camera = Camera(scene, poses, width=320, height=240)
    plain = camera.picture(poses).astype(int)
    arrow = camera.picture(poses, [[0.0, 0.0, 0.2, 0.0, 0.0, 9.81]]).astype(int)
    changed = np.argwhere(np.abs(arrow - plain).max(axis=-1) > 30)
    assert len(changed) > 10 and changed[:, 0].max() < 120  # above the ball
    assert np.array_equal(camera.picture(poses, np.zeros((1, 6))), plain)
    assert np.array_equal(camera.picture(poses), plain)
    shaded = (np.abs(plain - 255.0 * 0.78 * SKY).max(axis=-1) < 2.0).sum()
    assert shaded > 300
    world['objects'].pop('floor')
    alone = make_scene(None, world=world)
    picture = Camera(alone, poses, width=320, height=240).picture(poses)
    assert (np.abs(picture - 255.0 * 0.78 * SKY).max(axis=-1) < 2.0).sum() == 0


def test_colored_planes_are_painted_and_hide():
    floor = {'type': 'plane', 'color': [0.0, 0.8, 0.0], 'xyz': [0, 0, -0.3]}
    deep = {**BALL, 'xyz': [0.0, 0.0, -0.6]}
    scene = make_scene(None, world={'objects': {'ball': deep, 'floor': floor}})
    poses = scene.poses(None, np.empty((1, 0)))[0]
    picture = Camera(scene, poses, width=80, height=60).picture(poses)
    assert not red(picture).any()
    assert (picture[..., 1] > picture[..., 0] + 60).mean() > 0.3


@pytest.fixture(scope='module')
def recording():
    robot = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    made = MotionRecording(robot, make_scene(robot.model))
    for k in range(31):
        made.add(0.1 + k / 60.0, np.full(6, 0.02 * k))
    return made


def frames_of(path):
    """Return the pictures of a video, (N, rows, columns, 3)."""
    command = [video.ffmpeg(), '-loglevel', 'error', '-i', str(path)]
    raw = subprocess.run(
        [*command, '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'], capture_output=True, check=True
    ).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, 540, 960, 3)


@pytest.mark.slow
def test_a_video_shows_the_pictures_at_their_times(recording, tmp_path):
    if not video.ffmpeg():
        outside.load('imageio_ffmpeg')
    path = tmp_path / 'motion.mp4'
    recording.write(path)
    found = frames_of(path)
    assert len(found) == 16  # of half a second, with both ends
    poses = recording.poses()
    camera = Camera(recording.scene, poses[0])
    for k in (0, 7, 15):
        expected = camera.picture(poses[2 * k]).astype(int)
        # Lossy, but nothing like the next one.
        off = np.abs(found[k] - expected).mean()
        other = np.abs(found[k] - camera.picture(poses[(2 * k + 8) % 31]).astype(int)).mean()
        assert off < 2.0 and off < 0.6 * other


def test_a_video_that_cannot_be_written_says_why(recording, monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, 'which', lambda name: None)
    monkeypatch.setitem(sys.modules, 'imageio_ffmpeg', None)
    with pytest.raises(ValueError, match='a video needs ffmpeg: apt install ffmpeg, or pip'):
        recording.write(tmp_path / 'motion.mp4')
    monkeypatch.setattr(shutil, 'which', lambda name: '/bin/true')
    with monkeypatch.context() as patch:
        patch.setattr(video, 'interpreted_reason', lambda: 'there is none')
        with pytest.raises(ValueError, match='needs the compiler, but there is none'):
            recording.write(tmp_path / 'motion.mp4')
    script = tmp_path / 'ffmpeg'
    script.write_text('#!/bin/sh\necho no such codec >&2\nexit 1\n')
    script.chmod(0o755)
    monkeypatch.setattr(shutil, 'which', lambda name: str(script))
    with pytest.raises(ValueError, match='ffmpeg failed: no such codec'):
        recording.write(tmp_path / 'motion.mp4')
    with pytest.raises(ValueError, match='cannot be written: there is no folder'):
        recording.write(tmp_path / 'no' / 'motion.mp4')


def test_forces_are_seen_through_what_they_act_on():
    scene = make_scene(None, world={'objects': {'ball': BALL}})
    poses = scene.poses(None, np.empty((1, 0)))[0]
    camera = Camera(scene, poses, width=320, height=240)
    arrow = camera.picture(poses, [[0.0, 0.0, -0.2, 0.0, 0.0, 5.0]]).astype(int)
    plain = camera.picture(poses).astype(int)
    inside = red(plain) & (np.abs(arrow - plain).max(axis=-1) > 30)
    assert inside.sum() > 20


def looking():
    """Return a camera at (1, 2, 10) that looks down, its top to the north."""
    look = allocate(raster.Look)
    look.place[:], look.axes[...] = (1.0, 2.0, 10.0), np.eye(3)
    look.light[:], look.lens[:] = (0.6, 0.0, 0.8), (15.5, 11.5, 20.0, 0.5)
    return look


def test_compiled_and_interpreted_loops_see_and_light_the_same():
    rng = np.random.default_rng(4)
    look, one, other = looking(), samples(), samples()
    world, paint = rng.normal(size=(60, 3)) * (6, 6, 4), rng.uniform(0, 1, (20, 4))
    soups = [
        raster.Soup(world, np.zeros((60, 3)), np.arange(60).reshape(-1, 3), paint)
        for _ in range(2)
    ]
    raster.project(Record(look), Record(soups[0]), 0.0)
    raster.project.function(look, soups[1], 0.0)
    raster.draw(Record(one), Record(look), Record(soups[0]), 0, 20, 1)
    raster.draw.function(other, look, soups[1], 0, 20, 1)
    assert np.array_equal(soups[0].points, soups[1].points)
    assert np.array_equal(one.color, other.color) and one.color.any()


def test_vertices_are_seen_in_perspective():
    world = np.array([[1.0, 2.0, 0.0], [3.0, 2.0, 0.0], [1.0, 7.0, 5.0], [1.0, 2.0, 9.6]])
    soup = raster.Soup(world, np.zeros((4, 3)), np.zeros((0, 3), int), np.zeros((0, 4)))
    raster.project(Record(looking()), Record(soup), 0.0)
    assert np.allclose(soup.points[0], [15.5, 11.5, 0.1])
    assert np.allclose(soup.points[1], [15.5 + 20.0 * 2.0 / 10.0, 11.5, 0.1])
    assert np.allclose(soup.points[2], [15.5, 11.5 - 20.0 * 5.0 / 5.0, 0.2])
    assert soup.points[3, 2] == 0.0  # too near
    raster.project(Record(looking()), Record(soup), 7.0)
    assert np.allclose(soup.points[:, 2], [7.1, 7.1, 7.2, 0.0])


@pytest.mark.parametrize('turned', [False, True])
def test_the_side_that_is_seen_is_lit(turned):
    # A triangle below the camera, level, then leaning to the light and away from it.
    for lean, expected in ((0.0, 0.42 + 0.12 + 0.5 * 0.8), (0.75, 1.0), (-1.0, None)):
        world = np.array([[-50.0, -50, 50 * lean], [50, -50, -50 * lean], [0, 80, 0]])
        if turned:
            world = world[::-1].copy()
        soup = raster.Soup(world, np.zeros((3, 3)), np.array([[0, 1, 2]]), np.full((1, 4), 0.5))
        soup.paint[0, 3] = 1.0
        normal = np.array([lean, 0, 1]) / np.hypot(lean, 1)
        if expected is None:
            expected = 0.42 + 0.12 * normal[2] + 0.5 * max(normal @ [0.6, 0, 0.8], 0.0)
        color = np.zeros(4)
        raster.light_up(looking(), soup, 0, color)
        assert np.allclose(color, [0.5 * expected] * 3 + [1.0])


def test_lines_of_the_grid_are_where_the_cells_end():
    # Seen by a camera that looks along (-1.6, 2.2, -1.1), each sample by its own ray.
    ball = {**BALL, 'xyz': [0.37, 0.21, 0.4]}
    scene = make_scene(None, world={'objects': {'ball': ball, 'floor': {'type': 'plane'}}})
    poses = scene.poses(None, np.empty((1, 0)))[0]
    picture = Camera(scene, poses, width=400, height=300).picture(poses).astype(float)
    radius = np.sqrt(3.0) * 0.2
    place = np.array([0.37, 0.21, 0.4]) + 1.3 * radius * np.array([1.6, -2.2, 1.1])
    backward = np.array([1.6, -2.2, 1.1]) / np.linalg.norm([1.6, -2.2, 1.1])
    right = np.cross([0, 0, 1], backward) / np.linalg.norm(np.cross([0, 0, 1], backward))
    up = np.cross(backward, right)
    column, row = np.meshgrid(np.arange(400) - 199.5, 149.5 - np.arange(300))
    focus = 150.0 / np.tan(np.radians(20.0))
    ray = column[..., None] * right + row[..., None] * up - focus * backward
    at = place[:2] + ray[..., :2] * (-place[2] / ray[..., 2:])
    off = np.abs(at / 0.1 - np.round(at / 0.1)).min(axis=-1)
    near = (ray[..., 2] < 0) & (np.linalg.norm(at - place[:2], axis=-1) < 1.5) & (row < -60)
    darker = SKY.sum() * 255.0 - picture.sum(axis=-1)
    plain = near & (np.abs(picture / 255.0 - 0.78 * SKY).max(axis=-1) > 0.02) & ~red(picture)
    assert darker[plain & (off < 0.01)].mean() > 60.0
    assert np.abs(darker[plain & (off > 0.2)]).mean() < 4.0


def test_an_arrow_is_a_shaft_with_a_head():
    found = arrow(1.0, 0.02)
    a, b, c = (found.vertices[found.corners[:, k]] for k in range(3))
    # Of 12 sides: polygons instead of circles.
    circle = 6.0 * np.sin(np.pi / 6.0)
    volume = circle * 0.02**2 * (1.0 + 2.5**2 * 5.0 * 0.02 / 3.0)
    assert np.isclose(np.sum(a * np.cross(b, c)) / 6.0, volume)
    assert np.allclose(found.vertices.max(axis=0), [0.05, 0.05, 1.1])
    assert np.allclose(found.vertices.min(axis=0), [-0.05, -0.05, 0.0])


def test_threads_that_share_a_camera_get_their_own_pictures():
    arm = Robot.from_urdf(resource_path('urdf/six_axis_arm.urdf'))
    scene = make_scene(arm.model)
    poses = [scene.poses(arm, [np.full(6, angle)])[0] for angle in (0.0, 0.6)]
    camera = Camera(scene, poses[0], width=160, height=120)
    expected = [camera.picture(pose) for pose in poses]
    assert not np.array_equal(*expected)
    found = [[], []]

    def look(k):
        for _ in range(10):
            found[k].append(camera.picture(poses[k]))

    threads = [threading.Thread(target=look, args=(k,)) for k in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for pictures, picture in zip(found, expected):
        assert len(pictures) == 10
        assert all(np.array_equal(each, picture) for each in pictures)
