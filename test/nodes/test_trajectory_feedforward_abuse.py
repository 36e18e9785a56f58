# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node trajectory_feedforward under hostile input, over DDS: its output is complete."""

import itertools

import fuzz_messages
from node_harness import joint_state
import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from sensor_msgs.msg import JointState
from test_node_floods import trajectory_bytes
from test_trajectory_feedforward_node import NAMES, Rig, trajectory

MESSAGES = 400
LIMITS = {'shoulder': 40.0, 'elbow': 15.0}


@pytest.fixture(scope='module')
def rig(ros):
    rig = Rig(ros)
    yield rig
    assert rig.process.stop() == 0
    assert 'Traceback' not in rig.process.output()


def goes_on(rig):
    """Check that the next good trajectory is answered, and all output is finite and legal."""
    found = []

    def answered():
        rig.trajectories.publish(trajectory((0.1, 0.1), stamp=77))
        rig.ros.spin(0.05)
        found[:] = [message for message in rig.out if message.header.stamp.sec == 77]
        return bool(found)

    rig.ros.until(answered, 'a trajectory with efforts')
    assert rig.process.alive()
    for message in rig.out:
        limits = [LIMITS[name] for name in message.joint_names]
        for each in message.points:
            assert len(each.effort) == len(message.joint_names)
            assert (np.abs(each.effort) <= limits).all()  # which NaN is not
    rig.out.clear()


@pytest.mark.parametrize('seed', [1, 2])
def test_trajectories_that_make_no_sense_are_survived(rig, seed):
    stream = fuzz_messages.joint_trajectories(seed)
    for number in range(MESSAGES):
        rig.trajectories.publish(stream[number])
        rig.ros.executor.spin_once(timeout_sec=0.0)
    goes_on(rig)


def test_states_that_make_no_sense_are_survived(rig):
    stream = fuzz_messages.joint_states(1)
    for number in range(MESSAGES):
        rig.states.publish(stream[number])
        rig.ros.executor.spin_once(timeout_sec=0.0)
    goes_on(rig)


def test_states_without_positions_are_reported_and_change_nothing(rig):
    since = rig.ros.mark()
    empty = JointState(name=list(NAMES), velocity=[0.0, 0.0])

    def is_reported():
        rig.states.publish(empty)
        return rig.ros.status('position', 'joint_states', since=since)

    rig.ros.until(is_reported, 'a report')
    rig.states.publish(joint_state(position=(0.0, 0.0)))
    goes_on(rig)


def test_a_flood_of_large_trajectories_is_survived(rig):
    data = trajectory_bytes(3000)
    for _ in itertools.repeat(None, 20):
        rig.trajectories.publish(data)
    goes_on(rig)


@pytest.mark.parametrize(
    'values',
    [
        {'payload_mass': -1.0},
        {'payload_mass': 1.0},
        {'effort_limits': [1.0, 2.0, 3.0]},
        {'limit_violation_policy': 'fly'},
        {'max_point_spacing': float('nan')},
        {'robot_description': '<robot name="x"/>'},
        {'gravity': [float('inf'), 0.0, 0.0]},
    ],
    ids=str,
)
def test_parameters_that_make_no_sense_are_rejected_with_a_reason(rig, values):
    (result,) = rig.ros.set_parameters('/trajectory_feedforward', **values)
    assert not result.successful and result.reason
    goes_on(rig)
