# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The inverse-dynamics node, over DDS: its terms, and bad trajectories and states."""

import math
import time

import pytest
from support import outside

outside.load('rclpy')

from builtin_interfaces.msg import Duration
from lifecycle_harness import Managed
from node_harness import effort_by_name, Feed, gravity_torque, joint_state, LIMITS, TWO_LINK_ARM
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rbd_ros import Robot

NODE = '/inverse_dynamics'
POSE = (0.3, -1.1)
NAMES = ('shoulder', 'elbow')


def seconds(stamp):
    return stamp.sec + stamp.nanosec * 1e-9


def point(time_from_start, positions, velocities=(), accelerations=()):
    whole = math.floor(time_from_start)
    return JointTrajectoryPoint(
        positions=[float(x) for x in positions],
        velocities=[float(x) for x in velocities],
        accelerations=[float(x) for x in accelerations],
        time_from_start=Duration(sec=whole, nanosec=round((time_from_start - whole) * 1e9)),
    )


def trajectory(*points, names=NAMES, start=None):
    message = JointTrajectory(joint_names=list(names), points=list(points))
    if start is not None:
        message.header.stamp.sec = int(start)
        message.header.stamp.nanosec = int((start - int(start)) * 1e9)
    return message


class Rig:
    """The node, a publisher of states, and what the node has published."""

    def __init__(self, ros):
        self.ros = ros
        self.robot = Robot.from_urdf(TWO_LINK_ARM)
        # A pause of the machine must not drop the trajectory of a test.
        parameters = {
            'robot_description': TWO_LINK_ARM,
            'state_timeout': 5.0,
            'state_loss_policy': 'hold',
        }
        self.process = ros.start('inverse_dynamics', parameters)
        self.life = Managed(ros, NODE)
        self.life.until('active')
        self.by_name = ros.listen(JointState, 'joint_commands')
        self.by_order = ros.listen(Float64MultiArray, 'effort_commands')
        self.desired = ros.listen(JointState, '/inverse_dynamics/desired_state')
        self.trajectories = ros.publisher(JointTrajectory, 'joint_trajectory')
        self.states = ros.publisher(JointState, 'joint_states')
        # The same message all the time: a robot that stays where it is.
        self.feed = Feed(self.states, joint_state(position=POSE, velocity=(0.0, 0.0)))
        self.hold()

    def configure(self, **values):
        for name, value in values.items():
            self.ros.set_parameter(NODE, name, value)

    def hold(self, position=POSE):
        """Make the node hold the position of the robot, from any state."""
        self.feed.message = joint_state(position=position, velocity=(0.0, 0.0))

        def rests():
            self.life.must('deactivate', 'activate')
            return list(self.latest_desired().position) == pytest.approx(position, abs=1e-9)

        self.ros.until(rests, 'rest')

    def torque(self):
        """Return a torque sent from now on."""
        count = len(self.by_name)
        self.ros.until(lambda: len(self.by_name) > count + 2, 'a torque')
        return effort_by_name(self.by_name[-1])

    def latest_desired(self):
        count = len(self.desired)
        self.ros.until(lambda: len(self.desired) > count + 2, 'a desired state')
        return self.desired[-1]


@pytest.fixture(scope='module')
def rig(ros):
    rig = Rig(ros)
    yield rig
    rig.feed.stop()


@pytest.fixture(autouse=True)
def nothing_unsafe(rig):
    since = len(rig.by_name)
    rig.configure(
        feedforward='inverse_dynamics',
        feedback='pd',
        friction_compensation='none',
        kp=[],
        kd=[],
        ki=[],
    )
    yield
    assert rig.process.alive()
    for message in rig.by_name[since:]:
        for name, torque in effort_by_name(message).items():
            assert math.isfinite(torque) and abs(torque) <= LIMITS[name]


def test_without_a_trajectory_the_first_measured_position_is_held(rig):
    assert rig.torque() == pytest.approx(gravity_torque(POSE))
    rig.feed.message = joint_state(position=(POSE[0] - 0.01, POSE[1]), velocity=(0.0, 0.0))
    rig.ros.until(
        lambda: rig.torque()['shoulder'] > gravity_torque(POSE)['shoulder'] + 1e-3, 'a push back'
    )
    rig.hold()


@pytest.mark.parametrize(
    'feedforward, expected',
    [('none', (0.0, 0.0)), ('gravity', tuple(gravity_torque(POSE).values()))],
)
def test_feedforward_terms_can_be_chosen(rig, feedforward, expected):
    rig.configure(feedforward=feedforward, feedback='none')
    rig.ros.until(lambda: tuple(rig.torque().values()) == pytest.approx(expected), 'that torque')


def test_feedback_gains_are_newton_meters_per_radian(rig):
    rig.configure(feedforward='none', feedback='pd', kp=[3.0, 2.0], kd=[0.5])
    rig.feed.message = joint_state(position=(POSE[0] + 0.1, POSE[1] - 0.2), velocity=(1.0, -2.0))
    expected = {'shoulder': -0.3 - 0.5, 'elbow': 0.4 + 1.0}
    rig.ros.until(lambda: rig.torque() == pytest.approx(expected), 'kp e + kd de')
    rig.hold()


def test_computed_torque_is_the_model_at_the_measured_state(rig):
    rig.configure(feedback='computed_torque', kp=[100.0], kd=[20.0])
    q, v = np.array([POSE[0] + 0.02, POSE[1] - 0.01]), np.array([0.3, -0.2])
    rig.feed.message = joint_state(position=q, velocity=v)
    a = 100.0 * (np.array(POSE) - q) - 20.0 * v
    expected = dict(zip(NAMES, rig.robot.inverse_dynamics(q, v, a)))
    rig.ros.until(lambda: rig.torque() == pytest.approx(expected), 'H a + C')
    rig.hold()


def test_feedforward_is_the_inverse_dynamics_of_the_desired_motion(rig):
    rig.configure(feedback='none')
    rig.latest_desired()
    rig.trajectories.publish(trajectory(point(1.0, (0.5, -0.8)), point(2.0, POSE)))
    rig.ros.until_status('trajectory of 2 points', 'trajectory')
    pairs = {}

    def moving():
        torques = {seconds(m.header.stamp): m for m in rig.by_name[-50:]}
        for m in rig.desired[-20:]:
            stamp = seconds(m.header.stamp)
            if stamp in torques and max(abs(x) for x in m.velocity) > 0.05:
                pairs[stamp] = (m, torques[stamp])
        return len(pairs) > 20

    rig.ros.until(moving, 'the motion')
    order = sorted(pairs)
    for before, here, after in zip(order, order[1:], order[2:]):
        if not 0.0 < after - before < 0.05:
            continue
        m, torque = pairs[here]
        # The acceleration is not published: it follows from the torque, and must fit the motion.
        H = rig.robot.mass_matrix(np.array(m.position))
        C = rig.robot.bias_force(np.array(m.position), np.array(m.velocity))
        a = np.linalg.solve(H, np.array(torque.effort) - C)
        v = [np.array(pairs[t][0].velocity) for t in (before, after)]
        assert a == pytest.approx((v[1] - v[0]) / (after - before), abs=0.3)
    rig.hold()


def test_a_trajectory_ends_in_holding_its_last_position(rig):
    rig.trajectories.publish(trajectory(point(0.3, (0.35, -1.0))))
    # The motion first: the status may still be that of the trajectory before.
    rig.ros.until(
        lambda: list(rig.latest_desired().position) == pytest.approx([0.35, -1.0]), 'the end'
    )
    rig.ros.until_status('trajectory done', 'trajectory')
    assert list(rig.latest_desired().position) == pytest.approx([0.35, -1.0])
    assert list(rig.latest_desired().velocity) == [0.0, 0.0]
    rig.hold()


def test_joints_of_a_trajectory_may_be_in_another_order(rig):
    rig.trajectories.publish(trajectory(point(0.2, (-1.0, 0.4)), names=('elbow', 'shoulder')))
    rig.ros.until(
        lambda: list(rig.latest_desired().position) == pytest.approx([0.4, -1.0]), 'that position'
    )
    rig.hold()


def test_a_trajectory_can_begin_later_in_the_time_of_the_states(rig):
    count = len(rig.desired)
    start = time.time() + 0.5
    rig.trajectories.publish(trajectory(point(0.0, POSE), point(0.5, (0.4, -1.0)), start=start))
    rig.ros.until(
        lambda: list(rig.latest_desired().position) == pytest.approx([0.4, -1.0]), 'the end'
    )
    moving = [
        m for m in rig.desired[count:] if list(m.position) != pytest.approx(list(POSE), abs=1e-9)
    ]
    assert seconds(moving[0].header.stamp) >= start
    rig.hold()


def test_an_empty_trajectory_stops_the_motion_where_it_is(rig):
    rig.trajectories.publish(trajectory(point(5.0, (2.0, -2.0))))
    rig.ros.until(lambda: abs(rig.latest_desired().velocity[0]) > 0.01, 'motion')
    rig.trajectories.publish(JointTrajectory())
    rig.ros.until(lambda: list(rig.latest_desired().velocity) == [0.0, 0.0], 'rest')
    position = list(rig.latest_desired().position)
    assert position == list(rig.latest_desired().position)
    assert position[0] < 1.9
    rig.hold()


NEAR = (0.35, -1.0)


@pytest.mark.parametrize(
    'message, text',
    [
        (trajectory(point(1.0, NEAR), names=('shoulder', 'wing')), 'wing'),
        (trajectory(point(1.0, (0.3,)), names=('shoulder',)), 'elbow'),
        (trajectory(point(1.0, NEAR), names=('elbow', 'elbow')), 'elbow'),
        (trajectory(point(1.0, (*NEAR, 0.0)), names=(*NAMES, 'wing')), 'wing'),
        (trajectory(point(1.0, (0.3,))), '1 positions for 2 joint'),
        (trajectory(point(1.0, ())), 'positions'),
        (trajectory(point(1.0, NEAR, (0.0,))), '1 velocities for 2 joint'),
        (
            trajectory(point(1.0, NEAR, (0.0, 0.0), (0.0,))),
            '1 accelerations for 2 joint',
        ),
        (trajectory(point(1.0, NEAR, (0, 0)), point(2.0, NEAR)), 'velocities'),
        (trajectory(point(1.0, NEAR), point(1.0, POSE)), 'increas'),
        (trajectory(point(2.0, NEAR), point(1.0, POSE)), 'increas'),
        (trajectory(point(-1.0, NEAR), point(1.0, POSE)), 'trajectory rejected'),
        (trajectory(point(1.0, (math.nan, 0.0))), 'shoulder'),
        (trajectory(point(1.0, (0.0, math.inf))), 'elbow'),
        (trajectory(point(1.0, NEAR, (math.nan, 0.0)), point(2.0, POSE, (0.0, 0.0))), 'shoulder'),
        (trajectory(point(1.0, (3.5, -1.0))), 'shoulder'),
        (trajectory(point(0.1, (2.0, -1.0))), 'shoulder'),
        (trajectory(point(0.0, (1.0, -1.0)), point(1.0, NEAR)), 'start_tolerance'),
        (trajectory(point(1.0, NEAR), start=1.0), 'ended'),
        (trajectory(point(1.0, NEAR), start=2.1e9), 'must be in the time of joint_states'),
    ],
)
def test_a_bad_trajectory_is_rejected_and_the_motion_before_it_continues(rig, message, text):
    before = list(rig.latest_desired().position)
    since = rig.ros.mark()
    rig.trajectories.publish(message)
    # Diagnostics may repeat the rejection before this one.
    status = rig.ros.until_status(text, 'trajectory', since=since)
    assert 'trajectory rejected' in status.message
    assert list(rig.latest_desired().position) == before
    rig.trajectories.publish(trajectory(point(0.1, (before[0], before[1] + 0.01))))
    rig.ros.until(
        lambda: rig.latest_desired().position[1] == pytest.approx(before[1] + 0.01),
        'a good trajectory after the bad one',
    )
    rig.hold()


def test_parts_of_the_joints_suffice_if_that_is_allowed(rig):
    rig.configure(allow_partial_trajectory=True)
    rig.trajectories.publish(trajectory(point(0.2, (-1.0,)), names=('elbow',)))
    rig.ros.until(
        lambda: list(rig.latest_desired().position) == pytest.approx([POSE[0], -1.0]), 'the end'
    )
    rig.configure(allow_partial_trajectory=False)
    rig.hold()


def test_silent_states_stop_the_torque_and_drop_the_trajectory(rig):
    rig.trajectories.publish(trajectory(point(20.0, (2.0, 2.0))))
    rig.ros.until(lambda: abs(rig.latest_desired().velocity[0]) > 1e-3, 'motion')
    since = rig.ros.mark()
    rig.feed.message = None
    rig.ros.until_status('no usable state', 'joint_states', since=since)
    rig.ros.until_status('last torque sent: zero', 'torque', since=since)
    rig.feed.message = joint_state(position=(0.2, -1.0), velocity=(0.0, 0.0))
    rig.ros.until_status('the trajectory is dropped', 'trajectory', since=since)
    assert list(rig.latest_desired().position) == [0.2, -1.0]
    rig.hold()


def test_after_a_short_gap_the_trajectory_is_resumed_and_ends_where_it_should(rig):
    rig.configure(state_loss_policy='resume', max_state_gap=1000.0)
    rig.trajectories.publish(trajectory(point(10.0, (POSE[0] + 0.1, POSE[1] + 0.1))))
    rig.ros.until(lambda: abs(rig.latest_desired().velocity[0]) > 1e-3, 'motion')
    since = rig.ros.mark()
    rig.feed.message = None
    rig.ros.until_status('last torque sent: zero', 'torque', since=since)
    count = len(rig.desired)
    rig.feed.message = joint_state(position=POSE, velocity=(0.0, 0.0))
    rig.ros.until(
        lambda: (
            list(rig.latest_desired().position) == pytest.approx([POSE[0] + 0.1, POSE[1] + 0.1])
        ),
        'the end',
    )
    positions = np.array([m.position for m in rig.desired[count:]])
    times = np.array([seconds(m.header.stamp) for m in rig.desired[count:]])
    speeds = np.abs(np.diff(positions, axis=0)) / np.diff(times)[:, None]
    assert speeds.max() < 0.1, 'the desired position jumped'
    # It began smoothly where the robot was.
    assert positions[0] == pytest.approx(POSE, abs=5e-3)
    rig.configure(state_loss_policy='hold', max_state_gap=1.0)
    rig.hold()


def test_gains_below_the_gradient_of_gravity_are_named_by_joint(rig):
    since = rig.ros.mark()
    rig.configure(kp=[1.0, 500.0], kd=[1.0])
    status = rig.ros.until_status('kp is below the gradient of gravity', 'gains', since=since)
    assert 'shoulder (kp 1' in status.message and 'elbow' not in status.message
    since = rig.ros.mark()
    rig.configure(feedforward='gravity')
    rig.ros.until_status('no joint has too little stiffness', 'gains', since=since)
    rig.configure(feedforward='inverse_dynamics', kp=[500.0], kd=[1.0])
    rig.configure(kp=[], kd=[])


def test_a_trajectory_without_states_is_rejected(rig):
    rig.feed.message = None
    since = rig.ros.mark()
    rig.ros.until_status('last torque sent', 'torque', since=since)
    rig.trajectories.publish(trajectory(point(1.0, NEAR)))
    rig.ros.until_status('there is no usable state', 'trajectory', since=since)
    rig.hold()


def test_time_that_goes_back_drops_the_trajectory(rig):
    rig.trajectories.publish(trajectory(point(20.0, (2.0, 2.0))))
    rig.ros.until(lambda: abs(rig.latest_desired().velocity[0]) > 1e-3, 'motion')
    since = rig.ros.mark()
    rig.feed.offset -= 1000.0
    rig.ros.until_status('the trajectory is dropped', 'trajectory', since=since)
    assert list(rig.latest_desired().position) == list(POSE)
    rig.feed.offset += 1000.0
    rig.hold()


def test_velocities_that_are_not_sent_are_worked_out(rig):
    rig.configure(feedforward='none', feedback='pd', kp=[0.0], kd=[1.0])
    since = rig.ros.mark()
    begin = time.time()

    def moving():
        return joint_state(position=(POSE[0] + 0.5 * (time.time() - begin), POSE[1]))

    rig.feed.message = moving
    rig.ros.until_status('no velocities', 'joint_states', since=since)
    rig.ros.until(lambda: abs(rig.torque()['shoulder'] + 0.5) < 0.1, 'damping of the motion')
    rig.hold()


@pytest.mark.parametrize(
    'name, value, text',
    [
        ('feedforward', 'magic', 'must be one of'),
        ('feedback', 'pid', 'must be one of'),
        ('kp', [1.0, 2.0, 3.0], 'give 1 or 2'),
        ('kd', [-1.0], 'kd[0] must not be negative'),
        ('natural_frequency', 0.0, 'natural_frequency'),
        ('kp', [math.nan], 'finite'),
        ('kp', 'high', 'kp must be a double[]'),
    ],
)
def test_bad_parameters_are_rejected_with_a_reason(rig, name, value, text):
    result = rig.ros.set_parameters(NODE, **{name: value})[0]
    assert not result.successful
    assert text in result.reason


def test_torques_saturate_after_all_terms_are_summed(rig):
    rig.configure(kp=[1e5], kd=[0.0])
    rig.feed.message = joint_state(position=(POSE[0] - 1.0, POSE[1] + 1.0), velocity=(0.0, 0.0))
    rig.ros.until(lambda: rig.torque() == {'shoulder': 40.0, 'elbow': -15.0}, 'the limits')
    rig.hold()
