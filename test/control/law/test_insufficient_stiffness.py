# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Gains too low against gravity are reported by joint, with the required ones."""

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support.random_trees import SIMPLE_TYPES, tree
from support.simulated_robots import pendulum

from rbd_ros import Robot
from rbd_ros.control import (
    default_gains,
    describe_insufficient_stiffness,
    insufficient_stiffness_joints,
    LawSettings,
    payload_parameters,
    pd_gains,
)
from rbd_ros.control.law.gains import gravity_gradient, needed_stiffness
from rbd_ros.control.robot_joints import workspace
from rbd_ros.lookup.resources import resource_path

#: Part of the stiffness that gravity may take away: 20 % are left, as docs/control_law.md says.
TAKEN = 0.8


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


def pd(robot, kp, **options):
    options = {'feedback': 'pd', 'kd': 1.0, **options}
    return LawSettings.for_robot(robot, kp=kp, **options)


def test_a_pendulum_needs_its_weight_times_its_length():
    robot = pendulum(mass=2.0, length=0.5)
    gradient = 2.0 * 0.5 * 9.81  # -m g l where it stands upright
    assert not insufficient_stiffness_joints(robot, pd(robot, 1.01 * gradient / TAKEN))
    # More than gravity, but not by what the model may be wrong: it needs as much as any other.
    (weak,) = insufficient_stiffness_joints(robot, pd(robot, 1.1 * gradient))
    assert_allclose(weak.needed, gradient / TAKEN, rtol=1e-2)
    (weak,) = insufficient_stiffness_joints(robot, pd(robot, 0.5 * gradient))
    assert weak.joint == 'swing'
    assert weak.kp == 0.5 * gradient
    assert_allclose(weak.needed, gradient / TAKEN, rtol=1e-2)


def test_gains_from_inertia_alone_are_too_weak_for_the_default_robot(arm):
    kp, kd = pd_gains(arm, workspace(arm, 32), 10.0)
    named = [joint.joint for joint in insufficient_stiffness_joints(arm, pd(arm, kp, kd=kd))]
    assert 'shoulder_lift_joint' in named
    assert 'wrist_1_joint' in named
    assert 'shoulder_pan_joint' not in named  # it turns about the vertical


def test_the_reported_stiffness_is_sufficient(arm):
    weak = {
        joint.joint: joint.needed for joint in insufficient_stiffness_joints(arm, pd(arm, 5.0))
    }
    kp = np.array([weak.get(name, 5.0) for name in arm.joint_names])
    assert not insufficient_stiffness_joints(arm, pd(arm, 1.0001 * kp))
    least = np.linalg.eigvalsh(np.diag(kp) + gravity_gradient(arm, workspace(arm, 500)))
    assert least.min() > 0.0


def test_default_gains_are_strong_enough(arm):
    kp, kd, ki = default_gains(arm, 'pd')
    assert not insufficient_stiffness_joints(arm, pd(arm, kp, kd=kd, ki=ki))


@pytest.mark.parametrize('gravity', [9.81, 98.1])
def test_default_gains_leave_a_fifth_of_themselves_to_gravity(gravity):
    """With ten times the weight it is gravity alone that decides, and no more than needed."""
    text = Path(resource_path('urdf', 'six_axis_arm.urdf')).read_text()
    arm = Robot.from_urdf(text, gravity=(0.0, 0.0, -gravity))
    kp, _, _ = default_gains(arm, 'pd')
    gradients = gravity_gradient(arm, workspace(arm, 500))
    scale = 1.0 / np.sqrt(kp[:, None] * kp)
    left = np.linalg.eigvalsh((np.diag(TAKEN * kp) + gradients) * scale)[:, 0].min()
    assert left > -1e-5
    if gravity > 10.0:
        assert left < 0.02


@pytest.mark.parametrize('words', [{'feedback': 'computed_torque'}, {'feedforward': 'gravity'},
                                   {'feedback': 'none'}, {'feedback': 'damping'}])  # fmt: skip
def test_gravity_at_the_measured_position_needs_no_stiffness(arm, words):
    assert not insufficient_stiffness_joints(arm, pd(arm, 1.0, **words))


@pytest.mark.parametrize('feedforward', ['inverse_dynamics', 'none'])
def test_gravity_elsewhere_or_nowhere_does(arm, feedforward):
    assert insufficient_stiffness_joints(arm, pd(arm, 1.0, feedforward=feedforward))


def test_without_gravity_no_joint_is_weak(arm):
    assert not insufficient_stiffness_joints(arm, pd(arm, 1e-6, gravity=(0, 0, 0)))


def test_a_payload_asks_for_more(arm):
    kp, kd, _ = default_gains(arm, 'pd')
    settings = pd(arm, kp, kd=kd, payload=payload_parameters(10.0, (0, 0, 0.2)))
    assert insufficient_stiffness_joints(arm, settings, 'tool0')
    assert not insufficient_stiffness_joints(arm, settings)


def test_the_same_settings_get_the_same_answer(arm):
    assert insufficient_stiffness_joints(arm, pd(arm, 5.0)) == insufficient_stiffness_joints(
        arm, pd(arm, 5.0)
    )


def test_the_sentence_names_joint_and_numbers(arm):
    weak = insufficient_stiffness_joints(arm, pd(arm, 5.0))
    text = describe_insufficient_stiffness(weak)
    for joint in weak:
        assert joint.joint in text
        assert f'{joint.needed:.4g}' in text
    assert describe_insufficient_stiffness(()) == ''


@pytest.mark.parametrize('seed', range(5))
def test_the_gradient_is_the_derivative_of_gravity_torque(seed):
    robot = Robot.from_urdf(tree(seed, bodies=5, types=SIMPLE_TYPES))
    q = workspace(robot, 3)
    gradient = gravity_gradient(robot, q)
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=robot.nv)
    h = 1e-6
    forward, backward = (robot.gravity_torque(q + s * h * direction) for s in (1, -1))
    assert_allclose(gradient @ direction, (forward - backward) / (2 * h), rtol=1e-4, atol=1e-5)
    assert_array_equal(gradient, gradient.transpose(0, 2, 1))


@pytest.mark.parametrize('seed', range(20))
def test_needed_stiffness_is_enough_for_any_gradients(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 8)
    scale = 10.0 ** rng.uniform(-3, 3, n)
    gradients = rng.normal(size=(50, n, n)) * np.sqrt(scale[:, None] * scale)
    gradients = gradients + gradients.transpose(0, 2, 1)
    kp = rng.uniform(0, 3, n) * scale
    needed = needed_stiffness(kp, gradients)
    assert (needed >= kp).all()
    left = (np.diag(TAKEN * needed) + gradients) / np.sqrt(scale[:, None] * scale)
    assert np.linalg.eigvalsh(left).min() > -1e-4
