"""Conversions between messages and arrays."""

import math

import pytest
from support import outside

outside.load('rclpy')

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Pose, Quaternion, Vector3, Wrench
import numpy as np
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rbd_ros.nodes import conversions
from rbd_ros.nodes.conversions import JointNames, JointStateBuffer, MessageProblem, read_field

NAMES = ('a', 'b', 'c')


def test_stamps_survive_the_way_through_nanoseconds():
    for sec, nanosec in ((0, 0), (0, 1), (1_795_000_000, 999_999_999), (2**31 - 1, 5)):
        stamp = Time()
        conversions.set_stamp(stamp, conversions.nanoseconds(Time(sec=sec, nanosec=nanosec)))
        assert (stamp.sec, stamp.nanosec) == (sec, nanosec)


@pytest.mark.parametrize(
    'names', [('a', 'b', 'c'), ('c', 'a', 'b'), ('x', 'c', 'y', 'a', 'b'), ('b',)]
)
def test_fields_are_found_by_name(names):
    values = {'a': 1.0, 'b': 2.0, 'c': 3.0, 'x': 7.0, 'y': 8.0}
    message = JointState(name=list(names), position=[values[n] for n in names])
    joints = JointNames(NAMES)
    naming = joints.naming(message.name)
    found = read_field(message, 'position', naming)
    assert {NAMES[i]: x for i, x in zip(naming.target, found)} == {
        n: values[n] for n in names if n in NAMES
    }
    assert set(naming.unknown) == set(names) - set(NAMES)
    assert set(naming.missing) == set(NAMES) - set(names)
    assert joints.naming(list(names)) is naming


def test_names_without_freedom_are_not_called_unknown():
    assert JointNames(NAMES, ignored=['mount']).naming(['a', 'mount', 'x']).unknown == ('x',)


def test_a_publisher_that_invents_names_does_not_fill_the_memory():
    joints = JointNames(NAMES)
    for k in range(10_000):
        joints.naming([f'joint_{k}'])
    assert len(joints._namings) <= conversions.MAX_CACHED_NAMINGS


def test_a_field_may_be_empty_but_not_of_another_length():
    naming = JointNames(NAMES).naming(NAMES)
    assert read_field(JointState(), 'velocity', naming) is None
    with pytest.raises(MessageProblem, match='position is empty'):
        read_field(JointState(), 'position', naming, required=True)
    for size in (1, 2, 4):
        with pytest.raises(MessageProblem, match=f'velocity has {size} elements for 3 names'):
            read_field(JointState(velocity=[0.0] * size), 'velocity', naming)


def test_what_is_read_does_not_change_with_the_message():
    message = JointState(position=[1.0, 2.0, 3.0])
    values = read_field(message, 'position', JointNames(NAMES).naming(NAMES))
    message.position[0] = 9.0
    assert values[0] == 1.0


def test_a_buffer_is_filled_in_place():
    buffer = JointStateBuffer(NAMES, ('position', 'effort'))
    buffer.position[:] = 1.0, 2.0, 3.0
    buffer.effort[:] = 4.0
    assert list(buffer.message.position) == [1.0, 2.0, 3.0]
    assert list(buffer.message.effort) == [4.0, 4.0, 4.0]
    assert not buffer.message.velocity
    assert JointStateBuffer(()).position.size == 0


def test_long_lists_of_names_are_shortened():
    assert conversions.shorten(['x'] * 100) == 'x, x, x, x, x, x and 94 more'
    assert len(conversions.shorten(['y' * 10_000])) < 100


def test_trajectories_become_arrays():
    points = [
        JointTrajectoryPoint(
            positions=[1.0, 2.0],
            velocities=[3.0, 4.0],
            time_from_start=Duration(sec=k, nanosec=500_000_000),
        )
        for k in range(2)
    ]
    fields = conversions.trajectory_fields(JointTrajectory(joint_names=['a', 'b'], points=points))
    assert fields['joint_names'] == ['a', 'b']
    assert fields['times'].tolist() == [0.5, 1.5]
    assert fields['velocities'].tolist() == [[3.0, 4.0], [3.0, 4.0]]
    assert fields['accelerations'] is None


def test_wrenches_put_force_first_and_spatial_forces_the_moment():
    wrench = Wrench(force=Vector3(x=1.0, y=2.0, z=3.0), torque=Vector3(x=4.0, y=5.0, z=6.0))
    force = conversions.force_from_wrench(wrench)
    assert force.tolist() == [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]
    assert conversions.wrench_from_force(force) == wrench


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


def test_classical_acceleration_of_a_body_on_a_circle_points_to_the_middle():
    # Radius 2 along x, turning at 3 rad/s about z: the spatial acceleration in the body's own
    # coordinates is zero, the origin's acceleration 18 m/s^2 inwards.
    velocity = np.array([0.0, 0.0, 3.0, 0.0, 6.0, 0.0])
    accel = conversions.accel_from_spatial(np.zeros(6), velocity)
    assert (accel.linear.x, accel.linear.y, accel.linear.z) == pytest.approx((-18.0, 0.0, 0.0))
    assert not math.isnan(accel.angular.x)
