# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node udp_bridge over DDS and UDP: a program without ROS controls the robot, or fails."""

import contextlib
import socket
import struct
import subprocess
import threading
from types import SimpleNamespace

import pytest
from support import outside

outside.load('rclpy')

from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_harness import Managed
from node_harness import (
    Feed,
    gravity_torque,
    joint_state,
    NodeProcess,
    ROOT,
    TWO_LINK_ARM,
)
import numpy as np
from numpy.testing import assert_allclose
from sensor_msgs.msg import JointState
from support.c_example import build_example
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rbd_ros.control import TorqueLimiter
from rbd_ros.nodes.bridge.bridge_node import BridgeCommander
from rbd_ros.robot.wraparound import Wraparound

NAMES = ('shoulder', 'elbow')
Q, V = (0.3, -0.6), (0.02, -0.01)
NODE = '/udp_bridge'


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(('127.0.0.1', 0))
        return free.getsockname()[1]


class Program:
    """A program at a port, in a thread: `answer` makes the packets for a state."""

    def __init__(self, port):
        self.states, self.answer = [], lambda state: [packet(state, (1.5, -0.5))]
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(('127.0.0.1', port))
        self._socket.settimeout(0.05)
        self._stop = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop:
            with contextlib.suppress(TimeoutError):
                data, where = self._socket.recvfrom(65536)
                state = State(data)
                self.states.append(state)
                for each in self.answer(state):
                    self._socket.sendto(each, where)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop = True
        self._thread.join()
        self._socket.close()


class State:
    """A state of two joints, read as the page says."""

    def __init__(self, data):
        assert len(data) == 112
        magic, version, n, self.sequence, self.stamp, self.flags, zero = struct.unpack_from(
            '<4sHHQqII', data
        )
        assert (magic, version, n, zero) == (b'RBDS', 1, 2, 0)
        self.q, self.v, self.q_desired, self.v_desired, self.a_desired = np.reshape(
            struct.unpack_from('<10d', data, 32), (5, 2)
        )


def packet(state, torque, version=1, n=2):
    head = struct.pack('<4sHHQ', b'RBDA', version, n, state.sequence)
    return head + struct.pack(f'<{len(torque)}d', *torque)


class Rig:
    """The node, synthetic states of a two-link arm, and its responses."""

    def __init__(self, ros, **parameters):
        self.ros, self.port = ros, free_port()
        given = {
            'robot_description': TWO_LINK_ARM,
            'port': self.port,
            'response_timeout': 0.2,
            'state_timeout': 1.0,
            **parameters,
        }
        self.process = ros.start('udp_bridge', given)
        self.commands = ros.listen(JointState, 'joint_commands')
        self.states = ros.publisher(JointState, 'joint_states')
        self.life = Managed(ros, NODE)
        ros.until_status('waiting for the first answer from', 'controller')

    def state(self):
        return joint_state(NAMES, Q, V)

    def comes(self, torque):
        """Wait for a command that is `torque`, among those from now on."""
        since = len(self.commands)
        self.ros.until(
            lambda: any(np.allclose(c.effort, torque, atol=1e-12) for c in self.commands[since:]),
            f'the torque {torque}',
        )

    def until_reported(self, text, subject='controller'):
        self.ros.until_status(text, subject, since=self.ros.mark())


@pytest.fixture(scope='module')
def rig(ros):
    rig = Rig(ros)
    yield rig
    assert rig.process.stop() == 0


def test_states_go_out_and_torques_come_back_within_the_limits(rig):
    with Program(rig.port) as program, Feed(rig.states, rig.state()):
        rig.comes((1.5, -0.5))
        rig.until_reported('answering')
        assert list(rig.commands[-1].name) == list(NAMES) and not rig.commands[-1].position
        program.answer = lambda state: [packet(state, (100.0, -100.0))]
        rig.comes((40.0, -15.0))
        state = program.states[-1]
        assert_allclose(state.q, Q, atol=1e-15)
        assert_allclose(state.v, V, atol=1e-15)
        assert_allclose(state.q_desired, Q, atol=1e-15)
        assert not state.v_desired.any() and not state.a_desired.any()
        stamps = {c.header.stamp.sec * 10**9 + c.header.stamp.nanosec for c in rig.commands}
        assert {each.stamp for each in program.states} & stamps
        numbers = [each.sequence for each in program.states]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert program.states[0].flags == 1 and program.states[-1].flags == 0


def test_a_trajectory_is_shown_to_the_program(rig):
    goal = np.array(Q) + (0.05, -0.04)
    point = JointTrajectoryPoint(positions=list(goal))
    point.time_from_start.nanosec = 500_000_000
    trajectories = rig.ros.publisher(JointTrajectory, 'joint_trajectory')
    with Program(rig.port) as program, Feed(rig.states, rig.state()):
        rig.comes((1.5, -0.5))
        trajectories.publish(JointTrajectory(joint_names=list(NAMES), points=[point]))
        rig.ros.until(
            lambda: np.allclose(program.states[-1].q_desired, goal, atol=1e-12), 'the goal'
        )
        assert any(each.v_desired[0] > 0.01 for each in program.states)
        assert any(each.a_desired[0] > 0.01 for each in program.states)


def test_the_program_is_shown_the_turn_that_is_nearest():
    """Its difference of positions is right although the driver wraps at pi."""
    values, turn = np.zeros(10), 2.0 * np.pi
    exchange = SimpleNamespace(
        writer=SimpleNamespace(values=values), exchange=lambda time, timeout: np.zeros(2)
    )
    diagnostics = SimpleNamespace(condition=lambda *given, **options: None)
    places = np.arange(2), np.zeros(1, np.int64), np.zeros(2), np.zeros(0)
    commander = BridgeCommander(
        SimpleNamespace(places=places), TorqueLimiter([1.0, 1.0]), None, exchange, lambda: 0.1,
        diagnostics, Wraparound([turn, np.inf]),
    )  # fmt: skip
    state = SimpleNamespace(q=np.array([-3.1, -3.1]), v=np.array([0.1, 0.2]), time=0)
    commander._ask(state, (np.array([3.1, 3.1]), np.array([0.3, 0.4]), np.array([0.5, 0.6])))
    assert_allclose(values[4:6], [3.1 - turn, 3.1], atol=1e-15)
    assert_allclose(values[[0, 1, 2, 3, 6, 7, 8, 9]], [-3.1, -3.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])


@pytest.mark.parametrize(
    ('answer', 'text'),
    [
        (lambda s: [packet(s, (1.0, float('nan')))], 'a torque that is not finite'),
        (lambda s: [packet(s, (1.0, float('inf')))], 'a torque that is not finite'),
        (lambda s: [packet(s, (1.0,))], 'an answer has 24 bytes'),
        (lambda s: [packet(s, (1.0, 1.0), version=2)], 'version 2; the required version is 1'),
        (lambda s: [packet(s, (1.0,) * 3, n=3)], 'is for 3 joints; the robot has 2'),
        (lambda s: [b'RBDA'], 'fewer than its header'),
        (lambda s: [], 'no packet arrives from'),
        (lambda s: [b'hello'], 'without RBDA'),
    ],
    ids=['nan', 'inf', 'short', 'version', 'joints', 'head', 'silent', 'foreign'],
)
def test_bad_responses_are_dropped_and_reported_and_the_node_continues(rig, answer, text):
    with Program(rig.port) as program, Feed(rig.states, rig.state(), rate=50.0):
        program.answer = lambda state: [packet(state, (2.5, 0.25))]
        rig.comes((2.5, 0.25))
        since = len(rig.commands)
        program.answer = answer
        rig.until_reported(text)
        rig.until_reported('no usable answer for 1 s')
        # States go on: the status is visible later as well.
        rig.ros.spin(0.3)
        status = rig.ros.until_status('', 'controller', since=rig.ros.mark())
        assert status.level == DiagnosticStatus.ERROR
        assert 'no usable answer for 1 s' in status.message and text in status.message
        # Zero is what the timeout ends with; of the bad ones there is nothing.
        rig.ros.until(lambda: not np.any(rig.commands[-1].effort), 'the last command')
        found = {tuple(c.effort) for c in rig.commands[since:]}
        assert found <= {(2.5, 0.25), (0.0, 0.0)}
        # Some states may have been under way when the timeout came; the next one starts again.
        rig.ros.until(lambda: program.states[-1].flags == 1, 'a state that begins')
        program.answer = lambda state: [packet(state, (3.0, 0.5))]
        rig.comes((3.0, 0.5))
        rig.until_reported('answering')


def test_answers_that_come_twice_or_late_are_omitted(rig):
    with Program(rig.port) as program, Feed(rig.states, rig.state()):
        before = []

        def answer(state):
            old, before[:] = list(before), [packet(state, (9.0, 9.0))]
            return [*old, packet(state, (4.0, 1.0)), *before, b'?']

        program.answer = answer
        rig.comes((4.0, 1.0))
        since = len(rig.commands)
        rig.ros.until(lambda: len(rig.commands) > since + 50, 'more torques')
        # Zero: a busy machine may keep the program from answering in time.
        assert {tuple(c.effort) for c in rig.commands[since:]} - {(0.0, 0.0)} == {(4.0, 1.0)}
        status = rig.ros.until_status('', 'torque', since=rig.ros.mark())
        values = {each.key: each.value for each in status.values}
        assert int(values['packets_late']) > 50 and int(values['packets_foreign']) > 10
        assert int(values['packets_answered']) <= int(values['packets_sent'])


def test_without_the_program_nothing_is_sent_and_it_may_come_later(rig):
    def asked():
        status = rig.ros.until_status('', 'torque', since=rig.ros.mark())
        return int({each.key: each.value for each in status.values}['packets_sent'])

    with Feed(rig.states, rig.state(), rate=50.0):
        with Program(rig.port):
            rig.comes((1.5, -0.5))
        rig.until_reported('no usable answer for 1 s')
        rig.until_reported('no program listens at 127.0.0.1:')
        rig.until_reported('no answer')
        rig.ros.until(lambda: not np.any(rig.commands[-1].effort), 'the last command')
        since, before = len(rig.commands), asked()
        rig.ros.until(lambda: asked() > before + 3, 'states that nobody answers')
        assert len(rig.commands) == since
        with Program(rig.port):
            rig.comes((1.5, -0.5))


def test_states_that_fail_are_reported_as_such(rig):
    with Program(rig.port), Feed(rig.states, rig.state()) as feed:
        rig.comes((1.5, -0.5))
        feed.message = None
        rig.until_reported('no usable state for 1 s', 'joint_states')
        rig.ros.until(lambda: not np.any(rig.commands[-1].effort), 'the last command')
        feed.message = rig.state()
        rig.comes((1.5, -0.5))


def test_it_acts_only_while_it_is_active(rig):
    with Program(rig.port) as program, Feed(rig.states, rig.state()):
        rig.comes((1.5, -0.5))
        rig.life.must('deactivate')
        rig.ros.until(lambda: not np.any(rig.commands[-1].effort), 'the last command')
        rig.ros.spin(0.3)
        count, asked = len(rig.commands), len(program.states)
        rig.ros.spin(0.5)
        assert len(rig.commands) == count and len(program.states) == asked
        rig.life.must('activate')
        rig.ros.until(lambda: len(program.states) > asked, 'a state')
        assert program.states[asked].flags == 1
        rig.comes((1.5, -0.5))
        rig.life.must('deactivate', 'cleanup', 'configure')
        since = len(program.states)
        rig.life.must('activate')
        rig.ros.until(lambda: len(program.states) > since, 'a state')
        assert program.states[since].flags == 1
        rig.comes((1.5, -0.5))


def test_the_last_command_may_be_gravity(rig):
    rig.ros.set_parameter(NODE, 'timeout_command', 'gravity')
    holds = gravity_torque(Q)
    with Program(rig.port) as program, Feed(rig.states, rig.state(), rate=50.0):
        rig.comes((1.5, -0.5))
        program.answer = lambda state: []
        rig.comes([holds[name] for name in NAMES])
    rig.ros.set_parameter(NODE, 'timeout_command', 'zero')


def test_timeouts_that_contradict_each_other_are_rejected(rig):
    result = rig.ros.set_parameters(NODE, response_timeout=1.0)[0]
    assert (
        not result.successful and 'response_timeout must be below state_timeout' in result.reason
    )
    rig.ros.set_parameter(NODE, 'response_timeout', 0.3)
    rig.ros.set_parameter(NODE, 'response_timeout', 0.2)


@pytest.mark.parametrize(
    ('parameters', 'text'),
    [
        ({'address': 'no.such.host.invalid'}, 'UDP to no.such.host.invalid:9700'),
        ({'response_timeout': 0.2, 'state_timeout': 0.1}, 'response_timeout must be below'),
        (
            {
                'robot_description': '',
                'robot_description_file': str(ROOT / 'urdf' / 'four_bar.urdf'),
                'extension_file': str(ROOT / 'config' / 'four_bar.yaml'),
            },
            'kinematic loops',
        ),
    ],
    ids=['address', 'timeouts', 'loops'],
)
def test_invalid_parameters_are_rejected_at_the_start(ros, tmp_path, parameters, text):
    given = {'robot_description': TWO_LINK_ARM, **parameters}
    process = NodeProcess(tmp_path, ros.domain, 'udp_bridge', given)
    assert process.wait() == 1
    assert text in process.output()


@outside.needs('C compiler')
def test_a_program_in_c_moves_a_simulated_arm_to_its_goal(ros, tmp_path):
    folder = build_example(tmp_path / 'build')
    port = free_port()
    urdf = str(ROOT / 'urdf' / 'six_axis_arm.urdf')
    moved = ['-r', '__ns:=/c', '-r', 'robot_description:=/c/none']
    ros.start('simulator', {'robot_description_file': urdf, 'lockstep': 'stamp'}, moved)
    patient = {'response_timeout': 9.0, 'state_timeout': 30.0}  # in lockstep: no hurry
    given = {'robot_description_file': urdf, 'port': port, **patient}
    ros.start('udp_bridge', given, moved)
    states = ros.listen(JointState, '/c/joint_states')
    trajectories = ros.publisher(JointTrajectory, '/c/joint_trajectory')
    program = subprocess.Popen([str(folder / 'udp_controller'), str(port), 'computed_torque'])
    try:
        ros.until(lambda: len(states) > 100, 'states')
        names = list(states[-1].name)
        goal = np.array(states[-1].position) + 0.3
        point = JointTrajectoryPoint(positions=list(goal))
        point.time_from_start.sec = 1
        trajectories.publish(JointTrajectory(joint_names=names, points=[point]))
        # Dry friction, of which the program knows nothing, keeps it from the goal by a little.
        ros.until(lambda: np.abs(np.array(states[-1].position) - goal).max() < 0.05, 'the goal')
    finally:
        program.kill()
        program.wait()
