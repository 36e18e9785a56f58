# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulation cycle without a node: bytes in, physics steps, bytes out."""

from collections import deque

import numpy as np
import pytest
from support import outside
from support.simulated_robots import ball, turntable

outside.load('rclpy')

from node_harness import joint_state, TWO_LINK_ARM
from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from rbd_ros import Robot
from rbd_ros.nodes.simulator.commands.control_tag import NO_TAG
from rbd_ros.nodes.simulator.cycle.simulation_cycle import SimulationCycle
from rbd_ros.nodes.simulator.interface.simulator_interface import SIMULATOR_PARAMETERS


class Recorder:
    """Ports that store sent messages, and return given ones."""

    def __init__(self):
        self.by_name, self.by_order, self.wrenches = deque(), deque(), deque()
        self.accelerations = deque()
        self.states, self.clocks, self.bases = [], [], []

    @staticmethod
    def _next(waiting):
        return (waiting.popleft(), None) if waiting else None

    def take_by_name(self):
        return self._next(self.by_name)

    def take_by_order(self):
        return self._next(self.by_order)

    def take_accelerations(self):
        return self._next(self.accelerations)

    def take_wrench(self):
        return self._next(self.wrenches)

    def send_state(self, data):
        self.states.append(deserialize_message(bytes(data), JointState))

    def send_clock(self, data):
        self.clocks.append(deserialize_message(bytes(data), Clock))

    def send_base(self, q, v, time):
        self.bases.append((q, v, time))


class DiagnosticsRecorder:
    """Stands in for diagnostics."""

    def event(self, *args, **options):
        raise AssertionError(args)

    def condition(self, *args, **options):
        pass


def make(robot, tag=NO_TAG, **parameters):
    values = {each.name: each.default for each in SIMULATOR_PARAMETERS if hasattr(each, 'default')}
    ports, warnings = Recorder(), []
    cycle = SimulationCycle(
        robot, {**values, **parameters}, DiagnosticsRecorder(), ports, warnings.append, tag=tag
    )
    return cycle, ports


def test_commands_move_the_robot_and_every_cycle_sends_its_state():
    cycle, ports = make(turntable(0.2), command_timeout=0.0)
    sent = len(ports.states)
    cycle.run()
    assert ports.states[-1].velocity[0] == 0.0  # locked until the first command
    command = joint_state(list(ports.states[-1].name), effort=[1.0])
    for _ in range(10):  # read at first, then taken by machine code
        ports.by_name.append(serialize_message(command))
        cycle.run()
    assert len(ports.states) == sent + 11
    assert ports.states[-1].velocity[0] == pytest.approx(10 * 1e-3 / 0.2)
    stamps = [each.header.stamp.sec * 10**9 + each.header.stamp.nanosec for each in ports.states]
    assert np.all(np.diff(stamps[sent:]) == 10**6)


def test_the_first_state_shows_the_effort_that_holds_the_arm():
    """Before the first step as after it: an observer must not see a torque that comes and goes."""
    robot = Robot.from_urdf(TWO_LINK_ARM)
    expected = list(robot.gravity_torque(np.array([0.5, -0.8])))
    for command, effort in (('gravity', expected), ('hold', expected), ('zero', [0.0, 0.0])):
        cycle, ports = make(robot, initial_command=command, initial_positions=[0.5, -0.8])
        assert list(ports.states[-1].effort) == pytest.approx(effort)
        cycle.run()
        assert list(ports.states[-1].effort) == pytest.approx(effort)


def test_a_free_base_is_sent_too():
    cycle, ports = make(ball(), initial_command='zero')
    for _ in range(5):
        cycle.run()
    q, v, time = ports.bases[-1]
    assert v[5] == pytest.approx(-9.81 * 5e-3) and time == cycle.time_ns
    assert len(q) == 7 and ports.clocks


def ticks(cycle, ports, count):
    """Return the times on /clock in so many cycles [ms]."""
    seen = len(ports.clocks)
    for _ in range(count):
        cycle.run()
    return [each.clock.nanosec // 10**6 for each in ports.clocks[seen:]]


def test_the_clock_ticks_every_cycle_while_a_controller_manager_follows_it():
    cycle, ports = make(turntable(0.2))
    assert ticks(cycle, ports, 40) == [2, 10, 20, 30, 40]
    cycle.follow_clock_listeners(lambda: ['rviz', 'left_controller_manager'])
    assert np.all(np.diff(ticks(cycle, ports, 40)) == 1)
    cycle.follow_clock_listeners(lambda: ['rviz'])
    assert ticks(cycle, ports, 40) == [90, 100, 110, 120]


@pytest.mark.parametrize('rate, count', [(200.0, 8), (1000.0, 40), (1e5, 40), (0.0, 0)])
def test_a_fixed_clock_rate_holds_with_a_controller_manager(rate, count):
    cycle, ports = make(turntable(0.2), clock_publish_rate=rate, clock_policy='fixed_rate')
    cycle.follow_clock_listeners(lambda: ['controller_manager'])
    cycle.run()  # the first cycle publishes the time at any rate
    assert len(ticks(cycle, ports, 40)) == count


def test_no_clock_is_published_for_a_controller_manager_at_rate_zero():
    cycle, ports = make(turntable(0.2), clock_publish_rate=0.0)
    cycle.follow_clock_listeners(lambda: ['controller_manager'])
    cycle.run()
    assert not ticks(cycle, ports, 40)
