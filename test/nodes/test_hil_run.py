# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""hil_run with a controller process: over DDS, in lockstep, for any response."""

import json
import os
from pathlib import Path
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from support import outside
from support.fresh_python import python_path
from support.waiting import CEILING
import yaml

outside.load('rclpy')

ROOT = Path(__file__).resolve().parents[2]

# Answers as configured: a controller in another language would not look different.
CONTROLLER = """
import sys
import time
import rclpy
from sensor_msgs.msg import JointState

kind, count, before = sys.argv[1], 0, 0
rclpy.init()
node = rclpy.create_node('under_test')
out = node.create_publisher(JointState, 'joint_commands', 10)

def on_state(state):
    global count, before
    count += 1
    if state.header.stamp.sec < 2 and state.header.stamp.nanosec >= 900_000_000:
        before += 1
        if kind == 'pauses' and before == 50:
            time.sleep(0.3)
    if kind == 'silent' or (kind == 'ends' and count > 300):
        if kind == 'ends':
            print('no more power', flush=True)
            sys.exit(3)
        return
    names = list(state.name)
    efforts = [20.0 * (0.3 - q) - 2.0 * v for q, v in zip(state.position, state.velocity)]
    if kind in ('counts', 'pauses'):
        efforts[0] += 1e-3 * before
    if kind == 'reversed':
        names, efforts = names[::-1], efforts[::-1]
    if kind == 'partial':
        names, efforts = names[:1], efforts[:1]
    if kind == 'positions':
        answer = JointState(name=names, position=efforts)
    else:
        answer = JointState(name=names, effort=efforts)
    if kind != 'unstamped':
        answer.header = state.header
    out.publish(answer)
    if kind == 'twice':
        answer.effort = [0.0] * len(efforts)
        out.publish(answer)  # which counts no more
        answer.header.stamp.sec -= 1
        out.publish(answer)  # nor does a late one

node.create_subscription(JointState, 'joint_states', on_state, 1)
rclpy.spin(node)
"""


# As ros2_control with joint_state_topic_hardware_interface: its loop runs by /clock, reads the
# newest state, and stamps what it writes with a clock of its own.
BY_THE_CLOCK = """
import rclpy
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

rclpy.init()
node = rclpy.create_node('under_test')
out = node.create_publisher(JointState, 'joint_commands', 10)
newest = []

def on_state(state):
    newest[:] = [state]

def on_clock(clock):
    if newest:
        state = newest[0]
        efforts = [20.0 * (0.3 - q) - 2.0 * v for q, v in zip(state.position, state.velocity)]
        answer = JointState(name=state.name, effort=efforts)
        answer.header.stamp = node.get_clock().now().to_msg()
        out.publish(answer)

node.create_subscription(JointState, 'joint_states', on_state, 10)
node.create_subscription(Clock, '/clock', on_clock, QoSProfile(depth=10))
rclpy.spin(node)
"""


@pytest.fixture
def run(ros, tmp_path):
    """Return a function that runs a scenario, and gives the exit code, the output, the numbers."""
    (tmp_path / 'controller.py').write_text(CONTROLLER)

    def run_it(controller, name='report', **changes):
        content = {
            'robot': 'two_link_arm',
            'duration': 0.4,
            'trajectory': {'times': [0.0, 0.3], 'positions': [[0.2, 0.3], [0.3, 0.2]]},
            'controller': controller,
            'faults': [
                {'fault': 'position_noise', 'value': 1e-4},
                {'fault': 'jitter', 'value': 0.002},
            ],
            **changes,
        }
        path = tmp_path / 'scenario.yaml'
        path.write_text(yaml.safe_dump(content))
        command = [sys.executable, '-m', 'rbd_ros.nodes.bench.hil_run', str(path)]
        done = subprocess.run(
            [*command, '--report', str(tmp_path / name), '--ros-args'],
            env={**os.environ, 'ROS_DOMAIN_ID': str(ros.domain), 'PYTHONPATH': python_path()},
            capture_output=True,
            text=True,
            timeout=CEILING,
        )
        report = tmp_path / name / 'result.json'
        numbers = json.loads(report.read_text()) if report.is_file() else {}
        return done.returncode, done.stdout + done.stderr, numbers

    run_it.words = lambda kind: {
        'command': [sys.executable, str(tmp_path / 'controller.py'), kind]
    }
    return run_it


def test_a_process_gives_identical_bits_for_any_order_of_joints_and_number_of_answers(run):
    results = [run(run.words(kind)) for kind in ('plain', 'reversed', 'twice')]
    assert [code for code, _, _ in results] == [0, 0, 0], results
    numbers = [each for _, _, each in results]
    assert numbers[0]['steps'] == 400 and numbers[0]['largest_torque'] > 0.1
    assert len({each['digest'] for each in numbers}) == 1


def test_a_pause_of_the_controller_before_time_0_costs_it_no_state(run):
    results = [run(run.words(kind)) for kind in ('counts', 'pauses')]
    assert [code for code, _, _ in results] == [0, 0], results
    assert len({numbers['digest'] for _, _, numbers in results}) == 1


def test_answers_in_order_need_no_stamp_and_the_run_is_the_same_bitwise(run):
    """As those of ros2_control: its hardware stamps commands with the time of writing."""
    results = [run(run.words('plain'))]
    results += [run({**run.words(kind), 'answers': 'order'}) for kind in ('plain', 'unstamped')]
    assert [code for code, _, _ in results] == [0, 0, 0], results
    assert len({numbers['digest'] for _, _, numbers in results}) == 1
    assert results[-1][2]['steps'] == 400


def test_a_controller_that_runs_by_the_clock_is_waited_for(run, tmp_path):
    (tmp_path / 'by_the_clock.py').write_text(BY_THE_CLOCK)
    words = [sys.executable, str(tmp_path / 'by_the_clock.py')]
    code, text, numbers = run({'command': words, 'answers': 'order'})
    assert code == 0 and numbers['steps'] == 400 and numbers['largest_torque'] > 0.1, text


@pytest.mark.parametrize(
    ('kind', 'words'),
    [
        ('ends', 'ended with code 3: no more power'),
        ('partial', 'it must name all joints'),
        ('positions', '0 efforts for 2 joints'),
    ],
)
def test_one_that_fails_is_reported(run, kind, words):
    code, text, _ = run(run.words(kind))
    assert code == 1 and words in text


@pytest.mark.parametrize(
    ('kind', 'words', 'patience'),
    # What is unstamped must come in that time, from a process that is to start.
    [('silent', 'no answer', 3), ('unstamped', 'header.stamp', 20)],
)
def test_one_that_never_answers_is_reported(run, tmp_path, kind, words, patience, monkeypatch):
    monkeypatch.setenv('RBD_ROS_HIL_START_TIMEOUT', str(patience))
    code, text, numbers = run(run.words(kind))
    assert code == 1 and words in text
    assert numbers['steps'] == 0 and words in numbers['failure']
    suite = ElementTree.parse(tmp_path / 'report' / 'junit.xml').getroot()
    assert (suite.get('tests'), suite.get('failures')) == ('1', '1')


def test_a_command_that_is_not_there_is_reported(run):
    code, text, _ = run({'command': ['/no/such/command']})
    assert code == 1 and 'check the command' in text


def test_our_own_node_follows_its_trajectory(run):
    urdf = ROOT / 'urdf' / 'two_link_arm.urdf'
    node = [sys.executable, '-m', 'rbd_ros.nodes.inverse_dynamics', '--ros-args']
    # Its watchdog is in real time, and a busy machine may stop anything for 0.1 s.
    options = [f'robot_description_file:={urdf}', 'state_timeout:=30.0']
    command = {'command': [*node, *(word for each in options for word in ('-p', each))]}
    limits = {'tracking_error': 0.02}
    code, text, numbers = run(command, limits=limits, faults=[])
    assert code == 0, text
    again = run(command, 'again', limits=limits, faults=[])[2]
    # Here the state went out, was taken in, computed with, and came back, each time.
    latency = numbers.pop('timing')['state_to_command']
    assert 1e-5 < latency['median'] <= latency['p90'] <= latency['p99'] <= latency['largest']
    again.pop('timing')
    assert again == numbers
