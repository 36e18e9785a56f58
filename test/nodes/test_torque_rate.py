# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rate of torque over DDS: every message is checked, during any operation of the node.

For any delay between computation and publication of a torque, two messages differ by at most the
rate times the time between their publications.
"""

import itertools
import signal

from lifecycle_harness import ACTIVE, Managed
from node_harness import joint_state
import numpy as np
import pytest
from safety_harness import NAMES, TorqueRig
from torque_monitor import excess_of_rate, TorqueMonitor
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

LIMITS = (40.0, 15.0)
RATE = 60.0  # [N m/s]; torques are up to 40 N m
START = np.array([0.3, -0.5])
NODES = ('gravity_compensation', 'inverse_dynamics')

_numbers = itertools.count()


class Rig:
    """A node whose robot is where the test says, and the monitor of its torques."""

    def __init__(self, ros, module, **parameters):
        self.ros, namespace = ros, f'/rated_{next(_numbers)}'
        self.rig = TorqueRig(
            ros,
            module,
            namespace,
            {
                'torque_rate_limit': RATE,
                'state_timeout': 0.3,
                'deactivate_command': 'zero',
                'autostart': False,
                **parameters,
            },
            wait=False,
        )
        self.life = Managed(ros, self.rig.name)
        self.monitor = TorqueMonitor(ros, namespace, LIMITS, RATE)
        self.trajectories = ros.publisher(
            JointTrajectory, f'{namespace}/joint_trajectory', wait=False
        )
        self.at, self.v, self.silent = START, np.zeros(2), False
        self._timer = ros.node.create_timer(0.004, self._publish)

    def _publish(self):
        if not self.silent:
            message = joint_state(NAMES, self.at, self.v)
            now = self.ros.node.get_clock().now().nanoseconds
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(now, 10**9)
            self.rig.states.publish(message)

    def torques(self, count=20):
        """Wait for more torques."""
        before = len(self.monitor)
        self.ros.until(lambda: len(self.monitor) >= before + count, 'torques')

    def until(self, condition, what):
        self.ros.until(
            lambda: len(self.monitor) and condition(self.monitor.last),
            lambda: f'{what}, after {self.monitor.last if len(self.monitor) else "none"}',
        )

    def follow(self, *goals):
        points = [JointTrajectoryPoint(positions=[float(x) for x in goal]) for goal in goals]
        for k, point in enumerate(points):
            point.time_from_start.nanosec = (k + 1) * 200_000_000
        self.trajectories.publish(JointTrajectory(joint_names=list(NAMES), points=points))

    def end(self, number=signal.SIGINT):
        """Stop the node, and judge all that it sent."""
        code = self.rig.process.stop(number)
        counts = [-1]

        def all_heard():
            self.ros.spin(0.3)
            counts.append(len(self.monitor))
            return counts[-1] == counts[-2]

        self.ros.until(all_heard, 'the last torque')
        self.ros.node.destroy_timer(self._timer)
        self.ros.processes.remove(self.rig.process)
        assert code == 0 and 'Traceback' not in self.rig.process.output()
        self.monitor.judge()


@pytest.fixture(params=NODES)
def rig(ros, request):
    rig = Rig(ros, request.param)
    rig.life.must('configure', 'activate')
    rig.torques()
    yield rig
    rig.end()


def loaded(rig):
    """Let the torque of the first joint go beyond 10 N m, which its weight alone takes."""
    rig.at = START
    rig.until(lambda torque: abs(torque[0]) > 10.0, 'a torque')


# -- the monitor itself ---------------------------------------------------------------------------


def test_the_monitor_measures_the_excess_of_a_rate():
    times, steady = np.array([0.0, 0.1, 0.2, 0.2005]), np.array([[0.0], [6.0], [0.0], [0.03]])
    assert excess_of_rate(times, steady, 60.0) == pytest.approx(0.0, abs=1e-12)
    for jump in (-1.0, 1.0):
        torques = steady.copy()
        torques[3] += jump
        assert excess_of_rate(times, torques, 60.0) > 0.9
    # Over any stretch: two small steps that are too much together.
    assert excess_of_rate([0.0, 0.1, 0.1, 0.1], [[0.0], [5.9], [6.1], [6.3]], 60.0) == (
        pytest.approx(0.4)
    )


# -- one thing after another ----------------------------------------------------------------------


def test_the_rate_holds_over_cleanup_and_configure(rig):
    """A node that is configured again continues from the last torque that was sent."""
    loaded(rig)
    for k in range(3):
        rig.life.must('deactivate', 'cleanup')
        rig.at = np.array([0.0, 0.1]) if k % 2 else np.array([3.0, 0.1])
        rig.life.must('configure', 'activate')
        rig.torques()
    rig.monitor.judge()


def test_the_rate_holds_when_the_last_torque_stands_over_cleanup(ros):
    """With deactivate_command none, what stands is what counts."""
    rig = Rig(ros, 'gravity_compensation', deactivate_command='none')
    rig.life.must('configure', 'activate')
    loaded(rig)
    rig.life.must('deactivate', 'cleanup')
    rig.at = np.array([3.0, 0.1])
    rig.life.must('configure', 'activate')
    rig.torques()
    rig.end()


def test_a_torque_comes_down_at_the_rate_when_its_limit_is_lowered(rig):
    loaded(rig)
    rig.rig.must_set(effort_limits=[2.0])
    rig.until(lambda torque: np.abs(torque).max() <= 2.0, 'the lower limit')
    rig.rig.must_set(effort_limits=[])
    rig.until(lambda torque: np.abs(torque).max() > 5.0, 'the limit of before')
    rig.monitor.judge()


def test_the_rate_holds_after_the_node_is_configured_with_lower_limits(rig):
    loaded(rig)
    rig.rig.must_set(deactivate_command='none')
    rig.life.must('deactivate', 'cleanup')
    rig.rig.must_set(effort_limits=[2.0])
    rig.life.must('configure', 'activate')
    rig.torques()
    rig.until(lambda torque: np.abs(torque).max() <= 2.0, 'the lower limit')
    rig.monitor.judge()


def test_the_rate_holds_when_one_motion_is_pre_empted_by_another(ros):
    rig = Rig(ros, 'inverse_dynamics')
    rig.life.must('configure', 'activate')
    rig.torques()
    ros.until(rig.trajectories.get_subscription_count, 'the topic of trajectories')
    for k in range(8):
        side = (-1.0) ** k
        rig.follow((0.3 + side * 0.4, -0.5 - side * 0.3), (0.3, -0.5))
        ros.spin(0.15)
    rig.end()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize('module', NODES)
def test_the_rate_holds_to_the_end(ros, module, number):
    rig = Rig(ros, module, shutdown_command='zero')
    rig.life.must('configure', 'activate')
    loaded(rig)
    rig.end(number)
    assert not rig.monitor.last.any()


@pytest.mark.parametrize('module', NODES)
def test_the_rate_holds_when_the_publisher_of_states_is_stopped_and_comes_back(ros, module):
    rig = Rig(ros, module)
    rig.life.must('configure', 'activate')
    for k in range(3):
        loaded(rig)
        rig.silent = True
        level = (8.0, 3.0, 0.0)[k]
        rig.until(lambda torque, level=level: np.abs(torque).max() <= level, 'part of the way')
        rig.silent = False
    rig.end()


# -- all of it, in any order ----------------------------------------------------------------------


@pytest.mark.parametrize('module', NODES)
@pytest.mark.parametrize('seed', range(2))
def test_the_torque_rate_is_limited_after_any_sequence_of_requests(ros, module, seed):
    rig, rng = Rig(ros, module), np.random.default_rng(seed)
    rig.life.must('configure', 'activate')
    rig.torques()
    commands = ('zero', 'gravity', 'none')
    for _ in range(40):
        event = rng.integers(9)
        if event == 0:
            rig.at = rng.uniform([-1.0, -1.0], [1.0, 1.0])
        elif event == 1:
            rig.v = rng.normal(scale=0.5, size=2)
        elif event == 2:
            rig.silent = not rig.silent
        elif event == 3:
            limits = rng.uniform(0.5, 1.0, 2) * rng.choice([0.1, 1.0]) * np.array(LIMITS)
            rig.rig.must_set(effort_limits=limits.tolist())
        elif event == 4:
            which = rng.choice(['deactivate_command', 'timeout_command'])
            rig.rig.must_set(**{str(which): str(rng.choice(commands))})
        elif event == 5:
            rig.rig.must_set(gravity=[0.0, 0.0, float(rng.choice([-9.81, 9.81]))])
        elif event == 6 and module == 'inverse_dynamics':
            rig.follow(rng.uniform(-1.0, 1.0, 2), rng.uniform(-1.0, 1.0, 2))
        else:
            possible = [each for each in rig.life.transitions() if 'shutdown' not in each]
            rig.life.must(str(rng.choice(possible)))
        ros.spin(0.1)
    rig.silent = False
    while rig.life.state() != ACTIVE:
        possible = rig.life.transitions()
        rig.life.must('activate' if 'activate' in possible else 'configure')
    rig.torques()
    rig.end()
