# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulator and controller over DDS: springs hold the tool of the arm."""

import math
import re

import pytest
from support import outside

outside.load('rclpy')

from geometry_msgs.msg import WrenchStamped
from node_harness import reliable
import numpy as np
from sensor_msgs.msg import JointState
from test_inverse_dynamics_node import point, trajectory
from trajectory_msgs.msg import JointTrajectory

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path

NODE = '/inverse_dynamics'
START = [0.0, -1.4, 1.2, -1.0, -1.2, 0.0]
GOAL = [0.3, -1.2, 1.0, -0.8, -1.0, 0.2]
STIFFNESS = [400.0, 500.0, 600.0, 40.0, 50.0, 60.0]
# Dry friction would hold the arm beside where the springs want it.
URDF = re.sub(r'<dynamics[^>]*/>', '', resource_path('urdf', 'six_axis_arm.urdf').read_text())


@pytest.fixture(scope='module')
def arm(ros):
    """Start the two processes and wait until the arm is held by springs.

    The simulator waits for the answer to each state, however busy the machine is.
    """
    # Without rotors a wrist has hardly any inertia, which no sampled spring can hold.
    rotors = ros.folder / 'rotors.yaml'
    rotors.write_text(''.join(f'{name}: 0.1\n' for name in Robot.from_urdf(URDF).joint_names))
    ros.start(
        'simulator',
        {
            'robot_description': URDF,
            'armature_file': str(rotors),
            'initial_positions': START,
            'lockstep': 'stamp',
            'external_wrench_duration': 0.0,
        },
    )
    ros.controller = ros.start(
        'inverse_dynamics',
        {
            'robot_description': URDF,
            'armature_file': str(rotors),
            'use_sim_time': True,
            'feedback': 'task_impedance',
            'task_frame': 'tool0',
            'task_stiffness': STIFFNESS,
            'task_bandwidth': 200.0,
            'state_timeout': 0.0,
            'output': 'joint_state',
        },
    )
    ros.states = ros.listen(JointState, 'joint_states', reliable(1))
    ros.efforts = ros.listen(JointState, 'joint_commands', reliable(1))
    ros.wrenches = ros.publisher(WrenchStamped, 'external_wrench')
    ros.trajectories = ros.publisher(JointTrajectory, 'joint_trajectory')
    ros.robot = Robot.from_urdf(URDF)
    ros.until(lambda: ros.states and ros.efforts, 'states and efforts')
    yield ros
    assert all(math.isfinite(x) for message in ros.efforts for x in message.effort)


def seconds(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def rest(arm, duration=3.0):
    """Return the joints and speed of the arm some simulated time later."""
    begin = seconds(arm.states[-1])
    arm.until(lambda: seconds(arm.states[-1]) > begin + duration, 'simulated time')
    state = arm.states[-1]
    order = [list(state.name).index(name) for name in arm.robot.joint_names]
    return np.array(state.position)[order], np.abs(state.velocity).max()


def push(arm, force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0)):
    message = WrenchStamped()
    message.header.frame_id = 'tool0'
    f, t = message.wrench.force, message.wrench.torque
    (f.x, f.y, f.z), (t.x, t.y, t.z) = map(float, force), map(float, torque)
    arm.wrenches.publish(message)


def pose(arm, q):
    return arm.robot.frame('tool0').pose(np.asarray(q, dtype=float))


def test_nothing_pushes_and_the_tool_keeps_its_pose(arm):
    q, speed = rest(arm)
    assert np.abs(pose(arm, q) - pose(arm, START)).max() < 1e-4 and speed < 1e-3


@pytest.mark.parametrize(
    'force, torque',
    [((12, 0, 0), (0, 0, 0)), ((0, 10, -8), (0, 0, 0)), ((0, 0, 0), (1.0, -1.5, 1.2))],
)
def test_a_pushed_tool_yields_by_the_push_over_the_stiffness(arm, force, torque):
    push(arm, force, torque)
    q, speed = rest(arm, 4.0)
    push(arm)
    assert speed < 5e-3
    here, there = pose(arm, q), pose(arm, START)
    turn = here[:3, :3] @ there[:3, :3].T
    angle = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    angle *= 0.5
    moved = np.concatenate([here[:3, 3] - there[:3, 3], angle])
    pushed = np.concatenate([here[:3, :3] @ force, here[:3, :3] @ torque])
    expected = pushed / STIFFNESS
    for part, negligible in ((slice(3), 2e-4), (slice(3, 6), 5e-4)):
        error = np.linalg.norm(moved[part] - expected[part])
        assert error < 0.02 * np.linalg.norm(expected[part]) + negligible
    q, _ = rest(arm, 4.0)
    assert np.abs(pose(arm, q) - pose(arm, START)).max() < 5e-4  # and comes back


def test_in_free_motion_the_tool_follows_the_trajectory(arm):
    for goal in (GOAL, START):
        since = arm.mark()
        arm.trajectories.publish(trajectory(point(1.5, goal), names=arm.robot.joint_names))
        arm.until_status('trajectory done', 'trajectory', since=since)
        q, _ = rest(arm, 2.0)
        assert np.abs(pose(arm, q) - pose(arm, goal)).max() < 2e-3


def test_the_frame_can_be_changed_and_must_be_named(arm):
    (result,) = arm.set_parameters(NODE, task_frame='')
    assert not result.successful and 'task_frame' in result.reason
    (result,) = arm.set_parameters(NODE, task_frame='moon')
    assert not result.successful and 'moon' in result.reason
    (result,) = arm.set_parameters(NODE, task_damping=[1.0, 2.0])
    assert not result.successful and 'task_damping' in result.reason
    arm.set_parameter(NODE, 'task_frame', 'wrist_3_link')
    arm.set_parameter(NODE, 'task_damping', [60.0, 60.0, 60.0, 3.0, 3.0, 3.0])
    q, speed = rest(arm)
    assert np.abs(pose(arm, q) - pose(arm, START)).max() < 1e-3 and speed < 1e-2
    arm.set_parameter(NODE, 'task_frame', 'tool0')
