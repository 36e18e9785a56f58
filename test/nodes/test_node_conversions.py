# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Conversions between messages and arrays."""

import math

import pytest
from support import outside

outside.load('rclpy')

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose, Quaternion, Vector3, Wrench
import numpy as np

from rbd_ros.nodes.messages import conversions
from rbd_ros.nodes.messages.joint_names import JointNames, MessageProblem

NAMES = ('a', 'b', 'c')


def test_stamps_survive_the_way_through_nanoseconds():
    for sec, nanosec in ((0, 0), (0, 1), (1_795_000_000, 999_999_999), (2**31 - 1, 5)):
        stamp = Time()
        conversions.set_stamp(stamp, conversions.nanoseconds(Time(sec=sec, nanosec=nanosec)))
        assert (stamp.sec, stamp.nanosec) == (sec, nanosec)


@pytest.mark.parametrize(
    'names', [('a', 'b', 'c'), ('c', 'a', 'b'), ('x', 'c', 'y', 'a', 'b'), ('b',)]
)
def test_joints_are_found_by_name(names):
    naming = JointNames(NAMES).naming(names)
    assert [names[k] for k in naming.source] == [NAMES[i] for i in naming.target]
    assert set(naming.names) == set(names) & set(NAMES)
    assert naming.names == tuple(NAMES[i] for i in naming.target)
    assert set(naming.unknown) == set(names) - set(NAMES)
    assert naming.in_order == (names == NAMES)


def test_names_without_dof_are_not_called_unknown():
    assert JointNames(NAMES, ignored=['mount']).naming(['a', 'mount', 'x']).unknown == ('x',)


def test_a_name_given_twice_is_rejected_in_time_linear_in_their_number():
    with pytest.raises(MessageProblem, match='joint names given twice: b$'):
        JointNames(NAMES).naming(('a', 'b', 'b', 'b'))
    # Counting each name among all others would take minutes here.
    many = [f'joint_{k % 50_000}' for k in range(100_000)]
    with pytest.raises(MessageProblem, match='and 49994 more'):
        JointNames(NAMES).naming(many)


def test_endless_names_are_shortened():
    with pytest.raises(MessageProblem) as caught:
        JointNames(NAMES).naming(['x' * 10_000] * 2)
    assert len(str(caught.value)) < 200


@pytest.mark.seed('SV05', kind='full')
def test_wrenches_put_force_first_and_spatial_forces_the_moment():
    wrench = Wrench(force=Vector3(x=1.0, y=2.0, z=3.0), torque=Vector3(x=4.0, y=5.0, z=6.0))
    force = conversions.force_from_wrench(wrench)
    assert force.tolist() == [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]
    assert conversions.wrench_from_force(force) == wrench


@pytest.mark.seed('SV05', kind='full')
def test_twists_put_linear_first_and_spatial_motions_the_angular():
    motion = np.arange(6.0)
    twist = conversions.twist_from_motion(motion)
    assert (twist.linear.x, twist.angular.x) == (3.0, 0.0)
    assert conversions.motion_from_twist(twist).tolist() == motion.tolist()


def test_poses_put_the_scalar_of_the_quaternion_last():
    pose = Pose(orientation=Quaternion(x=0.1, y=0.2, z=0.3, w=0.9))
    pose.position.x = 5.0
    q = conversions.floating_joint_from_pose(pose)
    assert q.tolist() == [0.9, 0.1, 0.2, 0.3, 5.0, 0.0, 0.0]
    assert conversions.pose_from_floating_joint(q) == pose


@pytest.mark.seed('SV16')
def test_classical_acceleration_of_a_body_on_a_circle_points_to_the_middle():
    # Radius 2 along x, turning at 3 rad/s about z: the spatial acceleration in the body's own
    # coordinates is zero, the origin's acceleration 18 m/s^2 inwards.
    velocity = np.array([0.0, 0.0, 3.0, 0.0, 6.0, 0.0])
    accel = conversions.accel_from_spatial(np.zeros(6), velocity)
    assert (accel.linear.x, accel.linear.y, accel.linear.z) == pytest.approx((-18.0, 0.0, 0.0))
    assert not math.isnan(accel.angular.x)
