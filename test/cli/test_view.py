# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros view` shows every readable robot, with sliders for its joints."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots
from support.urdf_text import joint, link, robot as urdf

from rbd_ros.cli import view
from rbd_ros.cli.main import main
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer.session import LiveSession

PAGE = ['--no-browser', '--port', '0', '--duration', '0.1']


@pytest.fixture
def sessions(monkeypatch):
    """Return the sessions that the command makes."""
    found = []

    class Noted(LiveSession):
        def __init__(self, *rest, **options):
            super().__init__(*rest, **options)
            found.append(self)

    monkeypatch.setattr(view, 'LiveSession', Noted)
    return found


def test_a_robot_stands_where_sliders_put_it(capsys, sessions):
    assert main(['view', 'six_axis_arm', '--start', 'elbow_joint=0.5', *PAGE]) == 0
    out, err = capsys.readouterr()
    assert out.startswith('http://localhost:') and err == ''
    (session,) = sessions
    q = session.simulator.q
    assert q[2] == 0.5 and session.simulator.time == 0.0
    session._on_joint([0, 1.0])
    q[0] = 1.0
    assert_allclose(session.simulator.q, q)


def test_a_robot_that_cannot_be_simulated_is_shown_with_the_reason(capsys, sessions, tmp_path):
    shape = '<visual><geometry><box size="0.1 0.1 0.4"/></geometry></visual>'
    path = tmp_path / 'arm.urdf'
    path.write_text(urdf(link('a', shape), link('b', shape), joint('j', 'a', 'b')))
    assert main(['view', str(path), *PAGE]) == 0
    assert capsys.readouterr().err.startswith('not simulated: ')
    sessions[0]._on_joint([0, 0.3])
    assert_allclose(sessions[0].simulator.q, [0.3])


def test_a_mimic_joint_follows_and_has_no_slider(sessions):
    assert main(['view', str(example_robots.path('panda')), *PAGE]) == 0
    scene = sessions[0].scene
    assert [each.name for each in scene.joints if 'finger' in each.name] == ['panda_finger_joint1']
    before = sessions[0]._poses()[0, scene.links.index('panda_rightfinger')]
    sessions[0]._on_joint([7, 0.04])
    after = sessions[0]._poses()[0, scene.links.index('panda_rightfinger')]
    assert_allclose(np.linalg.norm(after[:3] - before[:3]), 0.04, atol=1e-12)


def test_a_linkage_stays_closed(sessions):
    linkage = str(resource_path('urdf', 'four_bar.urdf'))
    extension = str(resource_path('config', 'four_bar.yaml'))
    assert main(['view', linkage, '--extension', extension, *PAGE]) == 0
    simulator = sessions[0].simulator
    sessions[0]._on_joint([0, float(simulator.q[0]) + 0.1])
    assert np.abs(simulator.loop_errors).max() < 1e-6


def test_a_world_is_shown(sessions):
    assert main(['view', 'six_axis_arm', '--world', 'push', *PAGE]) == 0
    assert sessions[0].scene.objects
    assert main(['view', '--world', 'push', *PAGE]) == 0
    assert sessions[1].scene.joints == ()


def test_nothing_to_show_is_rejected(capsys):
    assert main(['view', *PAGE]) == 1
    assert 'no robot is given' in capsys.readouterr().err
    assert main(['view', '--world', 'push', '--start=0', *PAGE]) == 1
    assert '--start needs a robot' in capsys.readouterr().err
