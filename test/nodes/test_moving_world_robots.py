# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Movable robots of a world in the simulation cycle: joints beside those of the robot."""

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from node_harness import joint_state
from rclpy.serialization import serialize_message
from test_world_interface import Rig

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path

ARM = resource_path('urdf', 'six_axis_arm.urdf')


def test_joints_of_robots_of_the_world_are_driven_and_reported_by_their_names(tmp_path):
    start = 'initial_joint_positions: {elbow_joint: 1.0}'
    entry = f'{{urdf: {ARM}, xyz: [3, 0, 0], static: false, {start}}}'
    arm = Robot.from_urdf(ARM)
    rig = Rig(tmp_path, arm, f'robots: {{other: {entry}}}')
    start = np.array([0.0] * 8 + [1.0] + [0.0] * 3)
    assert np.array_equal(rig.simulator.q, start)
    goals = {'elbow_joint': 0.3, 'other/shoulder_pan_joint': -0.2, 'other/elbow_joint': 0.9}
    command = joint_state(list(goals), position=list(goals.values()))
    rig.ports.by_name.append(serialize_message(command))
    rig.run(3000)
    message = rig.ports.states[-1]
    assert tuple(message.name) == (*arm.joint_names, *(f'other/{x}' for x in arm.joint_names))
    found = dict(zip(message.name, message.position))
    for joint, place in zip(message.name, start):
        assert found[joint] == pytest.approx(goals.get(joint, place), abs=1e-3)
