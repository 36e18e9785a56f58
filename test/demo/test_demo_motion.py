# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The motion of the demonstration: within all limits, smooth, as fast as possible."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support.arms import EMBEDDED, load, REAL
from support.random_trees import chain

from rbd_ros import Robot
from rbd_ros.control import friction_torque
from rbd_ros.demonstration.demo_motion import demonstration

POINT_MASS = {
    'type': 'revolute', 'axis': (0, 1, 0), 'mass': 2.0, 'center': (0, 0, 0.5),
    'inertia': (0.01, 0, 0, 0.01, 0, 0.01),
}  # fmt: skip


@pytest.fixture(scope='module', params=EMBEDDED)
def arm(request):
    return load(request.param)


def sampled(robot, motion, count=400):
    trajectory = motion.trajectory
    times = np.linspace(0.0, trajectory.end_time, count)
    return (np.array(x) for x in zip(*(trajectory.sample(t) for t in times)))


def check_demonstration(robot):
    motion = demonstration(robot)
    q, v, a = sampled(robot, motion, 1000)
    assert (q >= robot.lower_limits - 1e-9).all()
    assert (q <= robot.upper_limits + 1e-9).all()
    assert (np.abs(v) <= 0.81 * robot.velocity_limits).all()
    friction = friction_torque(v, robot.damping, robot.friction, 0.02)
    torque = np.abs(robot.inverse_dynamics(q, v, a) + friction)
    assert (torque <= 0.72 * robot.effort_limits).all()
    motion.trajectory.check_limits(robot.lower_limits, robot.upper_limits, robot.velocity_limits)
    return motion


def test_the_demonstration_respects_all_limits(arm):
    check_demonstration(arm)


@pytest.mark.parametrize('name', REAL)
def test_the_demonstration_respects_all_limits_of_real_arms(name):
    check_demonstration(load(name))


def test_the_demonstration_ends_at_rest_where_it_began(arm):
    trajectory = demonstration(arm).trajectory
    assert_allclose(trajectory.positions[0], trajectory.positions[-1], atol=1e-12)
    for end in (0, -1):
        assert not trajectory.velocities[end].any()
        assert not trajectory.accelerations[end].any()


def test_the_demonstration_moves_every_joint(arm):
    motion = demonstration(arm)
    assert (np.ptp(motion.trajectory.positions, axis=0) > 0.05).all()


def test_the_demonstration_is_as_fast_as_the_limits_allow(arm):
    motion = demonstration(arm)
    assert motion.trajectory.end_time <= 8.0
    if motion.trajectory.end_time > 3.0:
        velocity = (motion.peak_velocity / (0.8 * arm.velocity_limits)).max()
        torque = (motion.peak_torque / (0.7 * arm.effort_limits)).max()
        assert max(velocity, torque) > 0.98


def test_the_same_robot_gets_the_same_demonstration(arm):
    first, second = demonstration(arm).trajectory, demonstration(arm).trajectory
    assert_array_equal(first.positions, second.positions)


def test_an_arm_too_weak_to_stand_is_named():
    weak = {**POINT_MASS, 'rpy': (0, 1.5, 0), 'mass': 3e3}
    with pytest.raises(ValueError, match='joint1 cannot hold the arm'):
        demonstration(Robot.from_urdf(chain([weak])))


@pytest.mark.parametrize(
    'joints', [[], [{'type': 'floating', 'mass': 1.0, 'inertia': (1, 0, 0, 1, 0, 1)}]]
)
def test_a_robot_that_is_not_an_arm_is_rejected(joints):
    fixed = {'type': 'fixed', 'mass': 1.0, 'inertia': (1, 0, 0, 1, 0, 1)}
    with pytest.raises(ValueError, match='joint'):
        demonstration(Robot.from_urdf(chain([fixed, *joints])))
