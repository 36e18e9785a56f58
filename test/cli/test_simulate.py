# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The command `rbd_ros simulate`."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest
from support import example_robots, outside
from support.urdf_text import INERTIA, joint, link, robot as urdf
from support.waiting import CEILING

from rbd_ros import Robot, Simulator
from rbd_ros.cli import simulate
from rbd_ros.cli.main import main
from rbd_ros.cli.simulate_torque import chosen_torque
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import load_urdf
from rbd_ros.viewer import LivePage, LiveSession, make_scene, video

#: What is compiled is used for a moment: see conftest.py.
OPTIMIZED = False

ARM = str(resource_path('urdf', 'six_axis_arm.urdf'))
LINKAGE = str(resource_path('urdf', 'four_bar.urdf'))


@pytest.mark.parametrize('torque', [[], ['--gravity-compensation'], ['--hold-start']])
def test_a_recording_is_written_without_a_display(capsys, tmp_path, torque):
    path = tmp_path / 'out.html'
    start = '--start=0,-1,0.8,0,0.5,0'
    options = ['--duration', '0.2', '--record', str(path), *torque]
    assert main(['simulate', ARM, start, *options]) == 0
    assert capsys.readouterr().out == f'{path}\n'
    assert path.read_text().startswith('<!DOCTYPE html>')


@pytest.mark.parametrize('others', ['', ',0.1,-1,1,0,0,0'])
def test_a_start_is_that_of_the_robot_that_is_named_or_of_all(others, tmp_path, monkeypatch):
    found = []
    monkeypatch.setattr(simulate, 'record', lambda simulator, *rest: found.append(simulator))
    with pytest.raises(AttributeError):  # of a recording that is none
        main(
            [
                *('simulate', ARM, '--world', 'two_arms', '--record', str(tmp_path / 'a.html')),
                f'--start=0.2,-1.2,1.5,0,0,0{others}',
            ]
        )
    q = dict(zip(found[0].robot.joint_names, found[0].q, strict=True))
    own = [value for name, value in q.items() if '/' not in name]
    theirs = [value for name, value in q.items() if '/' in name]
    assert own == [0.2, -1.2, 1.5, 0.0, 0.0, 0.0]
    assert theirs == (
        [0.1, -1.0, 1.0, 0.0, 0.0, 0.0] if others else [0.0, -1.2, 1.5, 0.0, 0.0, 0.0]
    )


@pytest.mark.skipif(bool(video.unavailable_reason()), reason=video.unavailable_reason())
@pytest.mark.parametrize('name', ['10:30.mp4', 'file:x.mp4', '-x.mp4', '100%03d.mp4'])
def test_videos_have_the_names_that_they_are_given(name, tmp_path, monkeypatch):
    """This includes names with a meaning to the encoder."""
    monkeypatch.chdir(tmp_path)
    assert main(['simulate', ARM, f'--record={name}', '--duration', '0.05']) == 0
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes()[4:8] == b'ftyp'


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--duration', '0'], '--duration must be positive'),
        (['--start=1,2'], '--start has 2 numbers, this robot has 6 position variables'),
        (['--start=a'], 'separated by commas'),
        (['--start=1e300,0,0,0,0,0'], 'no number may exceed'),
        (
            ['--world', 'two_arms', '--start=1,2'],
            'variables, all robots together have 12 (shoulder_pan',
        ),
        (['--record', 'no/such/folder/out.mp4'], 'there is no folder no/such/folder'),
        (['--record', 'no/such/folder/out.mcap'], 'there is no folder no/such/folder'),
        (['--gravity-compensation', '--floating-base'], 'needs a fixed base'),
        (['--record', 'no/such/folder/out.html', '--duration', '0.01'], 'cannot be written'),
        (['--timestep', '-1'], 'timestep'),
        (['--ground', '--world', 'table'], 'ground does not apply to a world'),
        (['--srdf', 'none.srdf'], "'none.srdf': there is no such file"),
        (['--start=elbow_joint=up'], "--start elbow_joint must be a finite number, got 'up'"),
        (['--start=elbow=1'], "unknown joint 'elbow'; did you mean 'elbow_joint'?"),
        (['--start=height=1'], "unknown joint 'height'"),  # the base is fixed
        (['--ground', '--srdf', 'none.srdf'], "'none.srdf': there is no such file"),
        (['--srdf', 'none.srdf', '--watch'], '--srdf does not apply to --watch'),
    ],
)
def test_invalid_options_are_rejected(capsys, options, message):
    assert main(['simulate', ARM, '--no-browser', *options]) == 1
    assert message in capsys.readouterr().err


def test_robots_with_loops_have_no_torque(capsys, tmp_path):
    options = ['--extension', str(resource_path('config', 'four_bar.yaml'))]
    path = tmp_path / 'out.html'
    record = ['--duration', '0.1', '--record', str(path)]
    assert main(['simulate', LINKAGE, *options, *record]) == 0 and path.is_file()
    assert main(['simulate', LINKAGE, *options, '--hold-start']) == 1
    assert '--hold-start does not apply to robots with kinematic loops' in capsys.readouterr().err


def test_a_port_in_use_is_rejected(capsys):
    page = LivePage('', 0)
    port = page.url.rstrip('/').rpartition(':')[2]
    try:
        assert main(['simulate', ARM, '--no-browser', '--port', port]) == 1
    finally:
        page.close()
    assert f'port {port} is in use: choose another' in capsys.readouterr().err


def test_it_serves_until_it_is_interrupted():
    command = [sys.executable, '-m', 'rbd_ros.cli.main', 'simulate', ARM]
    process = subprocess.Popen(
        [*command, '--no-browser', '--port', '0'],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, 'no_proxy': '*'},
    )
    try:
        url = process.stdout.readline().split()[0]
        with urllib.request.urlopen(url, timeout=CEILING) as answer:
            assert b'six_axis_arm' in answer.read()
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=CEILING)
        assert process.returncode == 130 and complaints == ''
    finally:
        process.kill()


def test_an_interruption_that_is_lost_ends_it_nonetheless(capsys, monkeypatch):
    """As one that arrives while Python takes something apart."""

    def lose(session):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1.0)
        except KeyboardInterrupt:
            return

    monkeypatch.setattr(LiveSession, '_execute', lose)
    assert main(['simulate', ARM, '--no-browser', '--port', '0']) == 130
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_it_ends_after_its_duration(capsys):
    assert main(['simulate', ARM, '--no-browser', '--port', '0', '--duration', '0.1']) == 0
    assert capsys.readouterr().out.startswith('http://localhost:')


@pytest.mark.slow
@pytest.mark.parametrize('floating', [False, True])
def test_a_robot_without_masses_is_shown_and_stands_still(capsys, monkeypatch, tmp_path, floating):
    """With the reason and the cure; a recording of its motion is rejected for them."""
    shape = '<collision><geometry><box size="0.1 0.1 0.4"/></geometry></collision>'
    path, sessions = tmp_path / 'arm.urdf', []
    path.write_text(urdf(link('a', shape), link('b', shape), joint('j', 'a', 'b')))

    class Noted(LiveSession):
        def __init__(self, *rest):
            super().__init__(*rest)
            sessions.append(self)

    monkeypatch.setattr(simulate, 'LiveSession', Noted)
    words = ['simulate', str(path), '--ground', '--hold-start', '--start=j=0.5']
    words += ['--floating-base'] if floating else []
    page = ['--no-browser', '--port', '0', '--duration', '0.1']
    assert main([*words, *page]) == 0
    out, err = capsys.readouterr()
    assert out.startswith('http://localhost:')
    assert re.search('^not simulated: .* singular: joints? .*; give the links .*<inertial>', err)
    (session,) = sessions
    q = session.simulator.q
    assert q[-1] == 0.5 and session.simulator.time == 0.0 and not session.playing
    if floating:
        assert q[6] == pytest.approx(0.2, abs=1e-6)  # on the ground
    assert session._state()['message'] in err
    assert main([*words, '--record', str(tmp_path / 'out.html')]) == 1
    assert 'the mass matrix is singular' in capsys.readouterr().err


WORLD = str(resource_path('config', 'table_world.yaml'))


def test_a_world_is_shown_around_the_robot(capsys, tmp_path):
    path = tmp_path / 'out.html'
    assert (
        main(['simulate', ARM, '--world', WORLD, '--duration', '0.1', '--record', str(path)]) == 0
    )
    (text,) = re.findall('id="data">(.*?)</script>', path.read_text())
    assert json.loads(text)['objects'] == ['box', 'peg', 'ball', 'roller']


def test_robots_of_a_world_move_without_another(capsys, tmp_path):
    world = tmp_path / 'world.yaml'
    arm = resource_path('urdf', 'six_axis_arm.urdf')
    world.write_text(f'robots: {{left: {{urdf: {arm}, static: false}}}}')
    path = tmp_path / 'motion.html'
    options = ['--world', str(world), '--duration', '0.1', '--record', str(path)]
    assert main(['simulate', *options, '--hold-start', '--start', '0,1,1,0,0,0']) == 0
    out, err = capsys.readouterr()
    assert out == f'{path}\n'
    assert (
        "robot 'left' of the world is movable: v[0:6] holds the velocity of its joints left/..."
        in err
    )
    assert '"left/upper_arm_link"' in path.read_text()
    assert main(['simulate', *options, '--watch']) == 1
    assert '--watch needs a robot; name one' in capsys.readouterr().err


def test_a_world_with_an_error_is_rejected(capsys, tmp_path):
    path = tmp_path / 'world.yaml'
    path.write_text('objects:\n  box: {type: bx}\n')
    assert main(['simulate', ARM, '--world', str(path), '--no-browser']) == 1
    assert 'line 2' in capsys.readouterr().err


@pytest.mark.parametrize('ending', ['mp4', 'mcap'])
def test_recordings_are_of_the_format_that_their_name_says(capsys, tmp_path, ending):
    path = tmp_path / f'out.{ending}'
    if ending == 'mcap':
        outside.load('mcap')
    elif video.unavailable_reason():
        pytest.skip(video.unavailable_reason())
    assert main(['simulate', ARM, '--duration', '0.1', '--record', str(path)]) == 0
    start = path.read_bytes()[:8]
    assert start[4:] == b'ftyp' if ending == 'mp4' else start[:5] == b'\x89MCAP'


def test_an_unknown_recording_type_is_rejected_before_the_simulation(capsys, monkeypatch):
    monkeypatch.setattr(Robot, 'from_urdf', None)
    assert main(['simulate', ARM, '--record', 'out.avi']) == 1
    assert (
        r'out.avi has an unknown type; give a page (.html), a video (.mp4)'
        in capsys.readouterr().err
    )


def test_the_ground_is_rigid(monkeypatch, tmp_path):
    falling = tmp_path / 'ball.urdf'
    sphere = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    falling.write_text(
        urdf(link('ball', f'<inertial><mass value="1"/>{INERTIA}</inertial>{sphere}'))
    )
    made, recorded = [], simulate.record
    monkeypatch.setattr(simulate, 'record', lambda *rest: made.extend(rest[:2]) or recorded(*rest))
    words = ['--floating-base', '--start=1,0,0,0,0,0,0.15', '--ground', '--duration', '0.3']
    assert main(['simulate', str(falling), *words, '--record', str(tmp_path / 'out.html')]) == 0
    simulator, scene = made
    assert len(scene.grounds) == 1  # a grid is drawn there
    assert simulator.ground is None and simulator.world.names == ('robot', 'ground')
    assert simulator.q[6] == pytest.approx(0.1, abs=1e-4) and simulator.contacts


LEGS = '0,0.8,-1.6,0,0.8,-1.6,0,0.8,-1.6,0,0.8,-1.6'
STATE = '<robot><group_state name="bent" group="arm"><joint name="{}" value="-1.6"/></group_state>'


@pytest.mark.slow
@pytest.mark.parametrize(
    ('start', 'knees', 'height'),
    [
        (None, 0.0, 0.422),  # straight legs of 0.2 m each, and feet of 0.022 m
        ('--start=' + LEGS, -1.6, 0.4 * np.cos(0.8) + 0.022),
        ('--start=1,0,0,0,0,0,0.5,' + LEGS, -1.6, 0.5),
        ('--start=height=0.5,front_left_knee_joint=-1.6', -1.6, 0.5),
        ('--start=front_left_knee_joint=-1.6', -1.6, 0.422),  # of the other legs
        ('--start=bent', -1.6, 0.422),
    ],
)
def test_a_walker_stands_on_the_ground_at_its_start(monkeypatch, tmp_path, start, knees, height):
    made, recorded = [], simulate.record
    monkeypatch.setattr(
        simulate, 'record', lambda *rest: made.append(rest[0].q) or recorded(*rest)
    )
    (tmp_path / 'a.srdf').write_text(STATE.format('front_left_knee_joint') + '</robot>')
    words = ['quadruped', '--floating-base', '--ground', '--hold-start', '--duration', '0.01']
    words += ['--srdf', str(tmp_path / 'a.srdf'), '--record', str(tmp_path / 'out.html')]
    assert main(['simulate', *words, *([start] if start else [])]) == 0
    (q,) = made
    assert q[:4].tolist() == [1, 0, 0, 0] and q[9] == knees
    assert q[6] == pytest.approx(height, abs=1e-6)


@pytest.mark.parametrize(
    ('start', 'q'),
    [
        ('--start=arm=0.5', [0.2, 0.5]),
        ('--start=0.5', [0.2, 0.5]),
        ('--start=arm=-0.5,height=0.9', [0.9, -0.5]),
        ('--start=1,0,0,0,0,0,0.4,0.5', [0.9, 0.5]),
    ],
)
def test_a_start_finds_the_base_by_the_kind_of_its_joint(monkeypatch, tmp_path, start, q):
    """Its name does not matter; the joint is 0.5 m above the origin of the world."""
    inside = f'<inertial><mass value="1"/>{INERTIA}</inertial><collision><geometry>'
    inside += '<box size="0.1 0.1 0.4"/></geometry></collision>'
    text = urdf(
        *(link('world', ''), link('a', inside), link('b')),
        joint('free', 'world', 'a', 'floating', '<origin xyz="0 0 0.5"/>'),
        joint('arm', 'a', 'b'),
    )
    (tmp_path / 'own.urdf').write_text(text)
    made, recorded = [], simulate.record
    monkeypatch.setattr(
        simulate, 'record', lambda *rest: made.append(rest[0].q) or recorded(*rest)
    )
    words = ['--ground', '--duration', '0.01', '--record', str(tmp_path / 'out.html')]
    assert main(['simulate', str(tmp_path / 'own.urdf'), *words, start]) == 0
    assert [0.5 + made[0][6], made[0][7]] == pytest.approx(q, abs=1e-6)


@pytest.mark.parametrize('option', ['--hold-start', '--ground', '--record=out.html', '--start=0'])
def test_watching_rejects_options_of_the_simulation(capsys, option):
    assert main(['simulate', ARM, '--watch', option]) == 1
    name = option.partition('=')[0]
    assert f'{name} does not apply to --watch' in capsys.readouterr().err


def test_a_quadruped_is_held_on_the_ground():
    robot = Robot.from_urdf(resource_path('urdf', 'quadruped.urdf'), floating_base=True)
    simulator = Simulator(robot, world=resource_path('config', 'steps_world.yaml'))
    q = robot.neutral()
    q[6], q[8::3], q[9::3] = 0.301, 0.8, -1.6
    simulator.reset(q)
    assert chosen_torque(simulator, hold_start=True, compensation=False) is None
    assert not simulator.joint_pd_gains[0][:6].any()
    simulator.step(n=1500)
    # It stands on its four feet, a little lower, and upright.
    feet = {each.first if 'robot' in each.first else each.second for each in simulator.contacts}
    assert len(feet) == 4
    assert 0.25 < simulator.q[6] < 0.301 and simulator.q[0] > 0.999
    assert np.abs(simulator.v).max() < 1e-3
    force = sum(abs(each.force[2]) for each in simulator.contacts)
    assert np.isclose(force, 14.34 * 9.81, rtol=1e-3)


def test_some_of_many_notices_are_printed(capsys, tmp_path):
    shape = '<visual><geometry><cylinder radius="1" length="1"/></geometry></visual>'
    scene = make_scene(load_urdf(urdf(link('a', shape))))
    simulate.report([f'notice {k}' for k in range(9)], scene, 'visual')
    lines = capsys.readouterr().err.splitlines()
    assert lines == [*(f'notice {k}' for k in range(5)), '(4 more notices)']


def test_objects_move_without_a_robot(capsys, tmp_path):
    path = tmp_path / 'out.html'
    options = ['--world', WORLD, '--duration', '0.1', '--record', str(path)]
    assert main(['simulate', *options]) == 0 and path.is_file()
    for more, message in (
        ([], 'no robot is given; name one, or give a --world'),
        (['--world', WORLD, '--hold-start'], '--hold-start needs a robot; name one'),
        (['--world', WORLD, '--watch'], '--watch needs a robot; name one'),
        (['--world', WORLD, '--srdf', 'arm.srdf'], '--srdf needs a robot; name one'),
    ):
        assert main(['simulate', *more]) == 1
        assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize('name', ['go2', 'a1', 'solo12', 'g1_29dof_rev_1_0'])
def test_a_legged_robot_that_is_held_stands_from_its_default_start(name):
    """Also after a reset, as of the live page; its joints are at their limits there."""
    robot = Robot.from_urdf(example_robots.path(name), floating_base=True)
    simulator = Simulator(robot, ground=True)
    height = simulator.q[6]
    assert chosen_torque(simulator, hold_start=True, compensation=False) is None
    for _ in range(2):
        simulator.reset()
        simulator.step(n=1000)
        assert abs(simulator.q[0]) > np.cos(np.radians(1.0))  # tilts by less than 2 degrees
        assert abs(simulator.q[6] - height) < 0.01
