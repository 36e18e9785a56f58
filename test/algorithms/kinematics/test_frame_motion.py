# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion of frames: rates of poses and velocities, in every reference."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.states import every_robot, named_robot, random_state

every_reference = pytest.mark.parametrize('reference', ['body', 'base', 'aligned'])


@every_robot
def test_poses_are_those_of_forward_kinematics(name):
    robot = named_robot(name)
    q = random_state(robot).q
    for link, pose in robot.forward_kinematics(q).items():
        assert_allclose(robot.frame(link).pose(q), pose, atol=1e-14)


@pytest.mark.seed('SV17', kind='full')
@every_reference
@every_robot
def test_velocity_and_acceleration_are_those_of_the_jacobian(name, reference):
    robot = named_robot(name)
    q, v, a = random_state(robot)
    frame = robot.frame(robot.link_names[-1], reference)
    J, rate = frame.jacobian(q), frame.jacobian_derivative(q, v)
    assert_allclose(frame.velocity(q, v), J @ v, atol=1e-12)
    assert_allclose(frame.acceleration(q, v, a), J @ a + rate @ v, atol=1e-11)


@every_robot
def test_velocity_is_the_rate_of_the_pose(name):
    robot = named_robot(name)
    q, v, _ = random_state(robot)
    frame = robot.frame(robot.link_names[-1], 'aligned')
    h = 1e-6
    before, after = (frame.pose(robot.integrate(q, v, t)) for t in (-h, h))
    rate = (after - before) / (2.0 * h)
    w, linear = np.split(frame.velocity(q, v), 2)
    assert_allclose(rate[:3, 3], linear, atol=1e-8)
    turning = rate[:3, :3] @ frame.pose(q)[:3, :3].T
    assert_allclose(turning, np.cross(np.eye(3), w), atol=1e-8)


@every_reference
@every_robot
def test_acceleration_is_the_rate_of_the_velocity(name, reference):
    robot = named_robot(name)
    q, v, a = random_state(robot)
    frame = robot.frame(robot.link_names[-1], reference)
    h = 1e-5

    def velocity(t):
        return frame.velocity(robot.integrate(q, v * t + 0.5 * a * t * t), v + a * t)

    rate = (velocity(h) - velocity(-h)) / (2.0 * h)
    assert_allclose(frame.acceleration(q, v, a), rate, atol=1e-6)


def test_unknown_frames_and_references_are_named():
    robot = named_robot('gears')
    with pytest.raises(ValueError, match="unknown link or joint 'hand'"):
        robot.frame('hand')
    with pytest.raises(ValueError, match='unknown reference .world.'):
        robot.frame(robot.link_names[-1], 'world')
