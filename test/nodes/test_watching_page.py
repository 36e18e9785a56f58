# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The page of `rbd_ros simulate --watch` follows a node that moves the robot."""

import signal
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest
from support import outside
from support.waiting import CEILING

outside.load('rclpy')

from geometry_msgs.msg import PoseStamped
from node_harness import Feed, joint_state, reliable, ROOT, with_signals
from sensor_msgs.msg import JointState

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer import make_scene
from rbd_ros.viewer.live import LivePage
from rbd_ros.viewer.watching import WatchSession

ARM = resource_path('urdf', 'two_link_arm.urdf')


@pytest.fixture
def watch(ros, monkeypatch):
    """Make a session in the domain of the test."""
    monkeypatch.setenv('ROS_DOMAIN_ID', str(ros.domain))
    started = []

    def start(floating=False, **more):
        robot = Robot.from_urdf(ARM, floating_base=floating)
        started.append(WatchSession(robot, make_scene(robot.model), port=0, **more))
        return started[-1]

    yield start
    for session in started:
        session.close()


def run_until(session, condition):
    for _ in range(400):
        session.run(0.05)
        if condition():
            return
    raise AssertionError('nothing came')


def test_it_follows_the_simulator(ros, watch):
    node = ros.start(
        'simulator',
        {'robot_description_file': str(ARM), 'initial_positions': [0.5, -0.8]},
    )
    session = watch()
    run_until(session, lambda: np.array_equal(session.q, [0.5, -0.8]))
    state = session._state()
    assert state['message'] == '' and state['time'] > 0.0
    commands = ros.publisher(JointState, 'joint_commands')
    with Feed(commands, joint_state(['elbow'], position=[-0.5])):
        run_until(session, lambda: abs(session.q[1] + 0.5) < 1e-3)
    node.stop()


def test_it_takes_names_in_any_order_and_a_base(ros, watch):
    session = watch(floating=True, namespace='/left')
    assert session._problem() == 'No message on /left/joint_states yet.'
    states = ros.publisher(JointState, '/left/joint_states')
    poses = ros.publisher(PoseStamped, '/left/base_pose')
    message = joint_state(['wing', 'elbow'], position=[9.0, 0.7])
    pose = PoseStamped()
    pose.pose.position.z, pose.pose.orientation.x, pose.pose.orientation.w = 2.0, 0.6, 0.8

    def heard():
        states.publish(message)
        poses.publish(pose)
        return session.q[6] == 2.0 and session.q[-1] == 0.7

    run_until(session, heard)
    assert np.array_equal(session.q, [0.8, 0.6, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.7])
    assert session._problem() == '/left/joint_states does not have shoulder.'
    session._received -= 10.0
    assert session._problem() == 'No message on /left/joint_states any more.'


def test_invalid_messages_are_not_shown(watch):
    session = watch(floating=True)
    session._take_states(joint_state(['shoulder', 'elbow'], position=[0.3, 0.4]))
    before = session.q.copy()
    session._take_states(joint_state(['shoulder', 'elbow'], position=[0.1]))
    session._take_states(joint_state(['shoulder'], position=[np.nan]))
    pose = PoseStamped()
    pose.pose.position.x = np.inf
    session._take_pose(pose)
    pose.pose.position.x, pose.pose.orientation.w = 1.0, 0.0
    session._take_pose(pose)
    assert np.array_equal(session.q, before) and before[-2:].tolist() == [0.3, 0.4]


def test_a_bad_namespace_and_a_port_in_use_are_rejected(watch):
    with pytest.raises(ValueError, match="--namespace 'a b' is not valid"):
        watch(namespace='a b')
    page = LivePage('', 0)
    robot = Robot.from_urdf(ARM)
    port = int(page.url.rstrip('/').rpartition(':')[2])
    with pytest.raises(ValueError, match='is in use'):
        WatchSession(robot, make_scene(robot.model), port=port)
    page.close()


def test_the_command_serves_until_it_is_interrupted(ros, watch):
    command = [sys.executable, '-m', 'rbd_ros.cli.main', 'simulate', str(ARM), '--watch']
    process = subprocess.Popen(
        with_signals([*command, '--no-browser', '--port', '0']),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        url = process.stdout.readline().split()[0]
        with urllib.request.urlopen(url, timeout=CEILING) as answer:
            assert b'"live": "watch"' in answer.read()
        states = ros.publisher(JointState, 'joint_states', reliable(1))
        with urllib.request.urlopen(f'{url}events', timeout=CEILING) as stream:
            end, line = time.monotonic() + 60.0, b''
            while b'"message": ""' not in line:
                assert time.monotonic() < end, line
                states.publish(joint_state(['shoulder', 'elbow'], position=[0.3, 0.4]))
                line = stream.readline()
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=CEILING)
        assert process.returncode == 130 and complaints == ''
    finally:
        process.kill()


def test_a_session_that_is_stopped_does_not_run(ros, watch):
    session = watch()
    session.stopped = True
    session.run()
