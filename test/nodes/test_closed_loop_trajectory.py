# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The inverse-dynamics node of a four-bar, over DDS: trajectories of the motor."""

import pytest
from support import outside
from support.four_bar_statics import holding_torque, positions

outside.load('rclpy')

from node_harness import effort_by_name, Feed, joint_state
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rbd_ros.lookup.resources import resource_path

FOUR_BAR = str(resource_path('urdf', 'four_bar.urdf'))
PIN = str(resource_path('config', 'four_bar.yaml'))
CRANK = 'crank_joint'
JOINTS = (CRANK, 'coupler_joint', 'rocker_joint')


def test_a_trajectory_of_the_motor_moves_the_linkage(ros):
    waits = {'state_timeout': 30.0}
    parameters = {'robot_description_file': FOUR_BAR, 'extension_file': PIN, **waits}
    ros.start('inverse_dynamics', parameters)
    torques = ros.listen(JointState, 'joint_commands')
    states = ros.publisher(JointState, 'joint_states')
    trajectories = ros.publisher(JointTrajectory, 'joint_trajectory')
    desired = ros.listen(JointState, 'inverse_dynamics/desired_state')
    with Feed(states, joint_state(JOINTS, position=positions(0.7), velocity=(0, 0, 0))):
        held = pytest.approx(holding_torque(0.7), abs=1e-5)
        ros.until(lambda: torques, 'a torque')
        ros.until(lambda: effort_by_name(torques[-1]) == {CRANK: held}, 'holding torque')
        ros.until(lambda: desired, 'the desired state')
        point = JointTrajectoryPoint(positions=[0.75], velocities=[0.0])
        point.time_from_start.sec = 1
        message = JointTrajectory(joint_names=[CRANK], points=[point])
        trajectories.publish(message)
        ros.until(lambda: desired[-1].position[0] > 0.7499, 'the end of the trajectory')
        assert list(desired[-1].name) == [CRANK]
        more = holding_torque(0.7) + 0.1
        ros.until(lambda: effort_by_name(torques[-1])[CRANK] > more, 'torque towards the goal')
        message.joint_names = ['rocker_joint']
        trajectories.publish(message)
        ros.until_status("joint 'rocker_joint'", 'trajectory')
