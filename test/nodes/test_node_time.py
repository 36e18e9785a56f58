# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time that jumps, stops or has several sources, over DDS: the motion never jumps.

The test itself is the robot: it is at the commanded position, so desired and measured position
differ only if the node jumps.
"""

import signal
import time

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from node_harness import joint_state, reliable
from safety_harness import NAMES, POSE, Repeat, states_at, TorqueRig
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

SPEED = 5.0  # limit of the two-link arm [rad/s]

# Time by which one state may move the motion on [s]: some usual intervals, and what network and
# a busy machine add to them. Before it was bounded, it was as long as stamps and pauses said.
STEP = 0.06
GOAL = (-1.2, 0.9)


class Follower:
    """Inverse dynamics with a robot that is always where it should be."""

    def __init__(self, ros, namespace, **parameters):
        self.ros = ros
        self.rig = TorqueRig(ros, 'inverse_dynamics', namespace, parameters)
        self.trajectories = self.rig.publisher(JointTrajectory, 'joint_trajectory')
        self.position, self.velocity = np.array(POSE), np.zeros(2)
        self.desired, self.times = [], []
        self._heard = False  # whether the node has a subscriber
        ros.node.create_subscription(
            JointState, f'{self.rig.name}/desired_state', self._on_desired, reliable(1000)
        )
        self.stamp = time.time_ns()

    def _on_desired(self, message):
        self.position, self.velocity = np.array(message.position), np.array(message.velocity)
        self.desired.append(self.position)
        self.times.append(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)
        self._heard = True

    def state(self, stamp=None, names=NAMES, position=None):
        """Return the state of the robot with a time stamp [ns]."""
        message = joint_state(
            names, self.position if position is None else position, self.velocity
        )
        stamp = self.stamp if stamp is None else stamp
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        return message

    def _rejected(self):
        """Return how many states the node says that it has rejected."""
        name = f'{self.rig.name}: torque'.lstrip('/')
        reported = next((s for s in reversed(self.ros.diagnostics) if s.name == name), None)
        values = {v.key: v.value for v in reported.values} if reported else {}
        return int(values.get('states_rejected', 0))

    def step(self, dt_ns=5_000_000, stamp=None, brief=False):
        """Send a state, and wait for the response with the desired motion, or the rejection.

        :param brief: whether to continue after a moment in any case
        """
        self.stamp += dt_ns
        count, rejected = len(self.desired), self._rejected()
        self.rig.states.publish(self.state(stamp))
        if brief or not self._heard:
            self.ros.executor.spin_once(timeout_sec=0.02)
            return
        sent = [time.monotonic()]

        def handled():
            if time.monotonic() - sent[-1] > 2.0:  # best effort: it may have been lost
                sent.append(time.monotonic())
                self.rig.states.publish(self.state(stamp))
            return len(self.desired) > count or self._rejected() > rejected

        self.ros.until(handled, 'answer to a state')

    def begin(self, goal=GOAL, duration=1.2, **more):
        """Let the robot hold POSE, then send it to `goal`."""
        self.position, self.velocity = np.array(POSE), np.zeros(2)
        self.ros.until(lambda: self.step() or len(self.desired) > 20, 'desired states')
        del self.desired[:], self.times[:]
        self.send(goal, duration, **more)
        self.ros.until(
            lambda: self.step() or np.abs(self.position - POSE).max() > 1e-3, 'the motion begins'
        )

    def send(self, goal, duration, stamp=None):
        point = JointTrajectoryPoint(positions=[float(x) for x in goal])
        seconds = float(duration)
        point.time_from_start.sec = int(seconds)
        point.time_from_start.nanosec = int((seconds % 1.0) * 1e9)
        message = JointTrajectory(joint_names=list(NAMES), points=[point])
        if stamp is not None:
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        self.trajectories.publish(message)

    def largest_jump(self):
        return np.abs(np.diff(self.desired, axis=0)).max()

    def leaps(self):
        """Return desired positions further on than five usual intervals between states allow."""
        jumps, dt = np.abs(np.diff(self.desired, axis=0)).max(axis=1), np.diff(self.times)
        usual = [np.sort(dt[max(0, k - 16) : k])[:-1].mean() for k in range(20, len(dt))]
        longest = np.maximum(5.0 * np.array(usual), 0.01)
        return np.flatnonzero(jumps[20:] > 1.01 * SPEED * longest)

    def is_at(self, goal):
        return np.abs(self.position - goal).max() < 1e-3

    def reaches(self, goal=GOAL):
        self.ros.until(lambda: self.step() or self.is_at(goal), 'the goal')


@pytest.fixture(scope='module')
def follower(ros):
    return Follower(ros, '/follower', state_timeout=0.0)


@pytest.fixture(autouse=True)
def go_back(request):
    yield
    if 'follower' in request.fixturenames:
        follower = request.getfixturevalue('follower')
        assert follower.rig.process.alive()
        assert follower.rig.all_safe()
        for _ in range(10):
            follower.step()
        follower.send(POSE, 1.0)
        follower.reaches(POSE)


def test_one_stamp_far_ahead_does_not_end_the_trajectory(follower):
    follower.begin()
    follower.step(stamp=(2**31 - 5) * 10**9)
    follower.reaches()
    assert follower.largest_jump() < SPEED * STEP


@pytest.mark.parametrize('jump', [0.5, 3600.0, -0.5, -3600.0, 1e8])
def test_a_lasting_step_of_time_does_not_move_the_robot(follower, jump):
    follower.begin()
    follower.step(dt_ns=round(jump * 1e9))
    follower.reaches()
    assert follower.largest_jump() < SPEED * STEP


def test_a_clock_that_jumps_again_and_again_does_not_make_the_robot_leap(follower):
    follower.begin()
    for _ in range(10):
        follower.step(dt_ns=3600 * 10**9)
        for _ in range(5):
            follower.step()
    follower.reaches()
    assert follower.largest_jump() < SPEED * STEP


@pytest.mark.parametrize('seed', range(2))
def test_stamps_of_any_kind_never_make_the_robot_leap(follower, seed):
    rng = np.random.default_rng(seed)
    follower.begin(duration=3.0)
    output = follower.rig.process.output
    before = len(output())
    for _ in range(300):
        kind = rng.integers(8)
        if kind == 0:
            follower.step(stamp=int(rng.integers(-(2**31), 2**31)) * 10**9, brief=True)
        elif kind == 1:
            follower.step(stamp=0, brief=True)
        elif kind == 2:
            follower.step(dt_ns=0, brief=True)
        elif kind == 3:
            follower.step(dt_ns=-int(rng.integers(1, 10**9)), brief=True)
        elif kind == 4:
            follower.step(dt_ns=int(rng.integers(1, 10**9)), brief=True)
        else:
            follower.step(brief=True)
    for _ in range(10):
        follower.step()
    # Some states are older than what is desired by then. Where time restarts with one of them,
    # the robot may be too far from the trajectory, which is then dropped.
    follower.ros.until(
        lambda: (
            follower.step()
            or follower.is_at(GOAL)
            or 'the trajectory is dropped' in output()[before:]
        ),
        'the goal, or why it is not gone to',
    )
    follower.send(GOAL, 1.0)
    follower.reaches()
    # Seconds between states may now be usual ones: a state moves the motion by 0.2 s at the most.
    assert follower.largest_jump() < SPEED * (0.2 + STEP)


@pytest.mark.parametrize('pause', [0.05, 1.0])
@pytest.mark.parametrize('timeout', [0.0, 0.1])
def test_a_stopped_controller_does_not_leap_when_it_continues(ros, timeout, pause):
    follower = Follower(
        ros,
        f'/stopped_{round(10 * timeout)}_{round(100 * pause)}',
        state_timeout=timeout,
        max_state_gap=100.0,
    )
    with Repeat(follower.rig.states, [lambda: follower.state(time.time_ns())], 200.0):
        ros.until(lambda: len(follower.desired) > 20, 'desired states')
        sent = []

        def moves():
            # A goal that comes while this process was kept from sending states is rejected.
            if not sent or time.monotonic() > sent[-1] + 5.0:
                sent.append(time.monotonic())
                follower.send(GOAL, 2.0)
            return np.abs(follower.position - POSE).max() > 0.1

        ros.until(moves, 'motion')
        for _ in range(3):
            follower.rig.process.process.send_signal(signal.SIGSTOP)
            ros.spin(pause)
            follower.rig.process.process.send_signal(signal.SIGCONT)
            ros.spin(0.2)
        ros.until(lambda: follower.is_at(GOAL), 'the goal')
    assert not follower.leaps().size
    follower.rig.process.stop()
    ros.processes.remove(follower.rig.process)


@pytest.mark.parametrize('policy', ['resume', 'hold'])
def test_after_a_gap_the_trajectory_is_resumed_or_dropped_without_a_leap(ros, policy):
    follower = Follower(
        # Far longer than this process can be kept from sending states.
        ros,
        f'/gap_{policy}',
        state_timeout=10.0,
        state_loss_policy=policy,
        max_state_gap=1000.0,
    )
    follower.begin()
    ros.until(lambda: follower.step() or np.abs(follower.position - POSE).max() > 0.3, 'motion')
    name = f'gap_{policy}/inverse_dynamics: torque'
    ros.until_status('last torque sent', name, since=ros.mark())
    left = follower.position  # by now also what was under way has come
    follower.stamp = max(follower.stamp, time.time_ns())
    if policy == 'resume':
        follower.reaches()
    else:
        for _ in range(100):
            follower.step()
        np.testing.assert_allclose(follower.position, left, rtol=0, atol=1e-9)
    assert follower.largest_jump() < SPEED * STEP
    follower.rig.process.stop()
    ros.processes.remove(follower.rig.process)


# -- parts of the state ---------------------------------------------------------------------------


# From early to late: from one to the next, the time of the second publisher must not run back.
@pytest.mark.parametrize('apart', [-3600.0, -0.002, 0.002, 3600.0])
def test_parts_of_a_state_may_come_from_different_clocks(follower, apart):
    """Each publisher has one joint, and the second one's clock differs."""
    follower.begin()
    offset = round(apart * 1e9)

    def step():
        follower.stamp += 5_000_000
        count = len(follower.desired)
        for joint, ahead in ((0, 0), (1, offset)):
            message = joint_state(
                [NAMES[joint]], [follower.position[joint]], [follower.velocity[joint]]
            )
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(
                follower.stamp + ahead, 10**9
            )
            follower.rig.states.publish(message)
            follower.ros.executor.spin_once(timeout_sec=0.001)
        follower.ros.until(lambda: len(follower.desired) > count, 'answer to a state')

    since = follower.ros.mark()
    follower.ros.until(lambda: step() or np.abs(follower.position - GOAL).max() < 1e-3, 'the goal')
    assert follower.largest_jump() < SPEED * STEP
    reported = [s.message for s in follower.ros.diagnostics[since:]]
    assert not any(
        'dropped' in text or 'time of the states goes back' in text for text in reported
    )


# -- states that cannot be ------------------------------------------------------------------------


@pytest.mark.parametrize('module', ['gravity_compensation', 'inverse_dynamics'])
@pytest.mark.parametrize('margin', [0.5, 0.0])
def test_a_state_far_outside_the_limits_of_a_joint_is_not_used(ros, module, margin):
    rig = TorqueRig(
        ros, module, f'/margin_{module[0]}_{round(margin)}', {'position_limit_tolerance': margin}
    )
    with states_at(rig, (3.0 + 0.9 * margin, 0.0)):
        ros.until(lambda: len(rig.torques) > 5, 'torques just outside')
    since = ros.mark()
    with states_at(rig, (3.0 + 1.1 * margin + 1e-6, 0.0)):
        status = ros.until_status('above its upper limit 3', 'joint_states', since=since)
        assert "'shoulder'" in status.message
        ros.until(lambda: not rig.torques[-1].effort.any(), 'the last command')
    since = ros.mark()
    with states_at(rig, (np.degrees(1.0), 0.0)):
        ros.until_status('degrees', 'joint_states', since=since)
    rig.process.stop()
    ros.processes.remove(rig.process)
