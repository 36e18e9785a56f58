# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of simulator or torque node: the other reaches its safe state, and both resume."""

import pytest
from support import outside
from support.waiting import CEILING

outside.load('rclpy')

from node_harness import TWO_LINK_ARM
import numpy as np
import rclpy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from rbd_ros.nodes.common.diagnostics import WARN

SIMULATOR = {'robot_description': TWO_LINK_ARM, 'command_timeout': 0.2}
TORQUE = {'robot_description': TWO_LINK_ARM, 'state_timeout': 0.2}
NODES = ('gravity_compensation', 'inverse_dynamics')
#: How long both may take once a node has started again [s], and how often it is started.
SOON, STARTS = 30.0, 4


def kill(ros, process):
    """Kill a node, unless it was killed when a test was tried before."""
    if process in ros.processes:
        process.process.kill()
        process.process.wait()
        ros.processes.remove(process)


class Sides:
    """Both nodes, and their messages."""

    def __init__(self, ros, module):
        self.ros, self.module = ros, module
        self.torques = ros.listen(JointState, 'joint_commands')
        self.states = ros.listen(JointState, 'joint_states')
        self.simulator = ros.start('simulator', SIMULATOR)
        self.torque = ros.start(module, TORQUE)
        self.until_both()

    def start_again(self, module, parameters):
        """Start a node in the place of one that was killed, and wait for both.

        The other side may take the new one's shared memory for what the killed one left behind,
        and remove it: then nothing arrives at the new one, ever, and its user starts it once more;
        see "When a node is killed" in docs/safety.md.
        """
        for k in range(STARTS):
            process = self.ros.start(module, parameters)
            self.ros.until(lambda p=process: "robot 'two_link'" in p.output(), f'{module} starts')
            try:
                self.until_both(SOON)
                break
            except AssertionError:
                if k == STARTS - 1 or 'waiting for states' not in self.what_torque_waits_for():
                    raise
                assert process.stop() == 0
                self.ros.processes.remove(process)
        return process

    def simulated_time(self):
        """Return the time of the newest state [s]."""
        stamp = self.states[-1].header.stamp
        return stamp.sec + 1e-9 * stamp.nanosec

    def what_torque_waits_for(self):
        name = f'{self.module}: joint_states'
        return next(s.message for s in reversed(self.ros.diagnostics) if s.name == name)

    def until_both(self, ceiling=CEILING):
        """Wait until torques other than zero answer states, and are taken."""
        since = self.ros.mark()
        torques, states = len(self.torques), len(self.states)
        self.ros.until(
            lambda: (
                len(self.torques) > torques + 50
                and len(self.states) > states + 50
                and any(self.torques[-1].effort)
            ),
            'states and torques',
            ceiling,
        )
        self.ros.until_status('receiving', 'simulator: commands', since=since)


@pytest.fixture(scope='module', params=NODES)
def sides(request, ros):
    sides = Sides(ros, request.param)
    yield sides
    for process in (sides.simulator, sides.torque):
        if process in ros.processes:
            assert process.stop() == 0
            ros.processes.remove(process)
        assert 'Traceback' not in process.output()


@pytest.mark.parametrize('moment', [0.0, 0.1, 0.37])
def test_the_torque_ends_when_the_simulator_is_killed_and_continues_with_the_next_one(
    sides, moment
):
    ros = sides.ros
    ros.spin(moment)
    since = ros.mark()
    kill(ros, sides.simulator)
    ros.until_status('last torque sent: zero', f'{sides.module}: torque', since=since)

    def silent():
        count = len(sides.torques)
        ros.spin(0.5)
        return len(sides.torques) == count and not any(sides.torques[-1].effort)

    ros.until(silent, 'silence after a torque of zero, and after what was under way')
    sides.simulator = sides.start_again('simulator', SIMULATOR)
    assert all(np.isfinite(message.effort).all() for message in sides.torques)


@pytest.mark.parametrize('moment', [0.0, 0.1, 0.37])
def test_when_the_torque_node_is_killed_the_simulator_holds_and_the_next_one_takes_over(
    sides, moment
):
    ros = sides.ros
    ros.spin(moment)
    since = ros.mark()
    kill(ros, sides.torque)
    ros.until_status('no command for', 'simulator: commands', since=since)
    later = sides.simulated_time() + 1.0
    ros.until(lambda: sides.simulated_time() > later, 'a second')  # servos take it to rest
    held = list(sides.states[-1].position)
    ros.until(lambda: sides.simulated_time() > later + 0.5, 'half a second')
    assert sides.states[-1].position == pytest.approx(held, abs=0.02)
    sides.torque = sides.start_again(sides.module, TORQUE)
    assert np.abs([message.position for message in sides.states]).max() < 3.0


def test_a_manager_that_waits_for_a_later_time_is_named_with_the_cure(ros):
    """As ros2_control's, which has seen the time of a simulator that is gone: it sends nothing."""
    manager = rclpy.create_node('controller_manager', context=ros.node.context)
    manager.create_subscription(Clock, '/later/clock', lambda _: None, 1)
    commands = manager.create_publisher(JointState, '/later/joint_commands', 10)
    apart = ('-r', '__ns:=/later', '-r', '/clock:=/later/clock')
    process = ros.start('simulator', SIMULATOR, apart)
    try:
        status = ros.until_status('start_time', 'later/simulator: simulation', level=WARN)
        assert 'sends no commands' in status.message
        commands.publish(JointState(name=['shoulder'], position=[0.1]))
        ros.until_status('receiving', 'later/simulator: commands')
    finally:
        manager.destroy_node()
        assert process.stop() == 0
        ros.processes.remove(process)
