# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node trajectory_feedforward over DDS: efforts of trajectories, and rejections."""

import pytest
from support import outside

outside.load('rclpy')

from node_harness import Feed, gravity_torque, joint_state, TWO_LINK_ARM
import numpy as np
from numpy.testing import assert_allclose
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rbd_ros import Robot
from rbd_ros.control import add_feedforward, Feedforward, JointTrajectory as Motion

NODE = '/trajectory_feedforward'
NAMES = ('shoulder', 'elbow')


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(TWO_LINK_ARM)


class Rig:
    """The node, a publisher of trajectories, and its output."""

    def __init__(self, ros):
        self.ros = ros
        self.process = ros.start('trajectory_feedforward', {'robot_description': TWO_LINK_ARM})
        self.out = ros.listen(JointTrajectory, 'feedforward_trajectory')
        self.trajectories = ros.publisher(JointTrajectory, 'joint_trajectory')
        self.states = ros.publisher(JointState, 'joint_states')
        ros.until_status('waiting for trajectories', 'trajectory')

    def answer(self, message):
        count = len(self.out)
        self.trajectories.publish(message)
        self.ros.until(lambda: len(self.out) > count, 'a trajectory with efforts')
        return self.out[-1]

    def rejected(self, message, text):
        """Whether a trajectory is rejected with a text, and nothing published."""
        count, since = len(self.out), self.ros.mark()
        self.trajectories.publish(message)
        self.ros.until_status(text, 'trajectory', since=since)
        assert len(self.out) == count


@pytest.fixture(scope='module')
def rig(ros):
    rig = Rig(ros)
    yield rig
    assert rig.process.stop() == 0


def trajectory(*positions, names=NAMES, seconds=2.0, stamp=0):
    message = JointTrajectory(joint_names=list(names))
    message.header.stamp.sec = stamp
    for k, q in enumerate(positions):
        point = JointTrajectoryPoint(positions=[float(x) for x in q])
        at = round(seconds * k * 1e9)
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(at, 10**9)
        message.points.append(point)
    return message


def efforts(message):
    return np.array([point.effort for point in message.points])


def test_the_efforts_are_those_of_the_library_and_all_else_stays(rig, arm):
    sent = trajectory((0.1, 0.2), (0.5, -0.3), (0.2, 0.4), stamp=17)
    got = rig.answer(sent)
    motion = Motion(NAMES, [0.0, 2.0, 4.0], [list(point.positions) for point in sent.points])
    assert_allclose(efforts(got), add_feedforward(Feedforward(arm), motion).efforts, atol=1e-12)
    holds = gravity_torque((0.2, 0.4))
    assert_allclose(efforts(got)[-1], [holds[name] for name in NAMES], atol=1e-9)
    for point in got.points:
        point.effort = []
    assert got == sent


def test_a_trajectory_without_points_is_passed_on(rig):
    """It stops a controller."""
    got = rig.answer(trajectory(stamp=3))
    assert got == trajectory(stamp=3)


@pytest.mark.parametrize(
    ('message', 'text'),
    [
        (trajectory((0, 0), (0, 9)), "'elbow'"),
        (trajectory((0, 0), (0, float('nan'))), "point 1, joint 'elbow'"),
        (trajectory((0, 0), (0, 0), names=('shoulder', 'wing')), "'wing'"),
        (trajectory((0, 0), (0, 0), seconds=0.0), 'point 1'),
        (trajectory((0,), (0,)), '1 positions for 2 joint names'),
        (trajectory((0, 0), (2, 0), seconds=0.3), 'times as long'),
    ],
    ids=['position', 'nan', 'name', 'time', 'length', 'speed'],
)
def test_an_impossible_trajectory_is_rejected_by_joint_and_point(rig, message, text):
    rig.rejected(message, text)


def test_omitted_joints_are_at_the_measured_positions(rig, arm):
    alone = trajectory((0.1,), (0.4,), names=('elbow',))
    rig.rejected(alone, 'shoulder')
    with Feed(rig.states, joint_state(position=(0.7, 0.0))):

        def answered():  # once the state is known
            count, since = len(rig.out), rig.ros.mark()
            rig.trajectories.publish(alone)
            rig.ros.until(
                lambda: rig.out[count:] or rig.ros.status('shoulder', 'trajectory', since=since),
                'an answer or a rejection',
            )
            return rig.out[count:]

        got = rig.ros.until(answered, 'a trajectory with efforts')[-1]
    assert_allclose(efforts(got)[-1], [gravity_torque((0.7, 0.4))['elbow']], atol=1e-9)


def test_parameters_change_the_published_trajectory(rig, arm):
    fast = trajectory((0, 0), (2, 0), seconds=0.3)
    rig.ros.set_parameters(NODE, limit_violation_policy='time_scale', max_point_spacing=0.1)
    got = rig.answer(fast)
    end = got.points[-1].time_from_start
    seconds = end.sec + 1e-9 * end.nanosec
    assert seconds > 0.59  # 2 rad with 5 rad/s at most take 0.6 s
    assert len(got.points) == np.ceil(seconds / 0.1) + 1
    assert all(len(p.velocities) == len(p.accelerations) == 2 for p in got.points)
    rig.ros.set_parameters(NODE, limit_violation_policy='warn', max_point_spacing=0.0)
    assert len(rig.answer(fast).points) == 2
    rig.ros.set_parameters(NODE, payload_link='tool', payload_mass=1.0)
    holds = gravity_torque((2.0, 0.0), payload=1.0)
    assert_allclose(efforts(rig.answer(fast))[-1], [holds[name] for name in NAMES], atol=1e-9)
    rig.ros.set_parameters(
        NODE, payload_mass=0.0, payload_link='', limit_violation_policy='reject'
    )
