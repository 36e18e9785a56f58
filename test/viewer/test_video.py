# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Videos of recordings: a browser draws the page at each instant, ffmpeg encodes the pictures."""

import io
import shutil
import subprocess
import sys
import threading
from urllib.error import HTTPError
from urllib.request import urlopen

from matplotlib import image
import numpy as np
import pytest
from support import outside

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer import make_scene, MotionRecording, video

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def needs_a_browser():
    line = outside.browser_problem()
    if line is not None:
        pytest.skip(line)


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


def drawn(recording, rate=video.RATE):
    """Return the pictures that the browser draws, (N, rows, columns, 3)."""
    made = video.pictures(recording, 960, 540, rate)
    return np.stack([image.imread(io.BytesIO(each), format='jpg') for each in made]).astype(int)


def test_a_video_shows_the_pictures_at_their_times(recording, tmp_path):
    if not video.ffmpeg():
        outside.load('imageio_ffmpeg')
    path = tmp_path / 'motion.mp4'
    recording.write(path)
    found, expected = frames_of(path), drawn(recording)
    assert len(found) == len(expected) == 16  # of half a second, with both ends
    for k in (0, 7, 15):
        # Lossy, but nothing like another one.
        off = np.abs(found[k] - expected[k]).mean()
        assert off < 2.0 and off < 0.6 * np.abs(found[k] - expected[(k + 4) % 16]).mean()


def test_pictures_have_the_requested_rate(recording):
    assert len(drawn(recording, 12.5)) == 7
    assert len(drawn(recording, 2)) == 2


def test_a_ball_is_drawn_at_its_pose_and_size():
    ball = {'type': 'sphere', 'radius': 0.2, 'color': [1.0, 0.0, 0.0], 'static': False}
    scene = make_scene(None, world={'objects': {'ball': {**ball, 'mass': 1.0}}})
    still = Robot.from_urdf('<robot name="still"><link name="base"/></robot>')
    recording = MotionRecording(still, scene)
    for k, place in enumerate(([0.0, 0.0, 0.0], [0.05, 0.0, 0.0], [0.0, 0.0, 0.05])):
        pose = np.eye(4)
        pose[:3, 3] = place
        recording.add(float(k), [], [pose])
    pictures = drawn(recording, 1.0)
    red = (pictures[..., 0] > 2 * pictures[..., 1] + 20) & (
        pictures[..., 0] > 2 * pictures[..., 2] + 20
    )
    middle, right, up = (np.argwhere(each).mean(axis=0) for each in red)
    assert np.allclose(middle, [269.5, 479.5], atol=2.0)
    # It is a disc: half a height is tan(20 deg) times the distance away.
    away = 1.3 * np.linalg.norm([1.6, -2.2, 1.1]) * np.sqrt(3.0) * 0.2
    radius = 270.0 * np.tan(np.arcsin(0.2 / away)) / np.tan(np.radians(20.0))
    assert np.isclose(red[0].sum(), np.pi * radius**2, rtol=0.03)
    # Upward is upward, and the x axis goes to the right: the camera looks from -y.
    assert right[1] > middle[1] + 10.0 and up[0] < middle[0] - 10.0


def test_a_video_that_cannot_be_written_says_why(recording, monkeypatch, tmp_path):
    path = tmp_path / 'motion.mp4'

    def say(program, words):
        script = tmp_path / program
        script.write_text(f'#!/bin/sh\n{words}\n')
        script.chmod(0o755)
        return str(script)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, 'which', lambda name: None)
        patch.setitem(sys.modules, 'imageio_ffmpeg', None)
        with pytest.raises(ValueError, match='a video needs ffmpeg: apt install ffmpeg, or pip'):
            recording.write(path)
        patch.setattr(video, 'ffmpeg', lambda: 'ffmpeg')
        with pytest.raises(ValueError, match='a video needs a browser: apt install chromium'):
            recording.write(path)
    with monkeypatch.context() as patch:
        patch.setattr(video, 'browser', lambda: say('chromium', 'exit 1'))
        patch.setattr(video, 'ffmpeg', lambda: say('ffmpeg', 'cat'))
        with pytest.raises(ValueError, match='chromium draws no picture'):
            recording.write(path)
    monkeypatch.setattr(video, 'ffmpeg', lambda: say('ffmpeg', 'echo no such codec >&2; exit 1'))
    with pytest.raises(ValueError, match='ffmpeg failed: no such codec'):
        recording.write(path)
    with pytest.raises(ValueError, match='cannot be written: there is no folder'):
        recording.write(tmp_path / 'no' / 'motion.mp4')


def test_a_page_is_served_at_its_own_address_alone():
    with video._Server('<p>Hello</p>') as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        root = f'http://127.0.0.1:{server.server_port}'
        assert urlopen(root + server.folder).read() == b'<p>Hello</p>'
        for url, body in ((root + '/', None), (root + '/picture', b'x')):
            with pytest.raises(HTTPError, match='404'):
                urlopen(url, body)
        urlopen(f'{root}{server.folder}picture', b'picture')
        assert server.pictures.get(timeout=1.0) == b'picture' and server.pictures.empty()
        server.shutdown()
