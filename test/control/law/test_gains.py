# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Gains from the robot's inertia."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.arms import EMBEDDED, load
from support.random_trees import chain

from rbd_ros import Robot
from rbd_ros.control import pd_gains
from rbd_ros.control.robot_joints import free_inertia

POINT_MASS = {
    'type': 'revolute', 'axis': (0, 1, 0), 'mass': 2.0, 'center': (0, 0, 0.5),
    'inertia': (0.01, 0, 0, 0.01, 0, 0.01),
}  # fmt: skip


@pytest.fixture(scope='module', params=EMBEDDED)
def arm(request):
    return load(request.param)


def test_one_joint_gets_the_gains_of_an_oscillator():
    robot = Robot.from_urdf(chain([POINT_MASS]))
    inertia = 0.01 + 2.0 * 0.5**2
    kp, kd = pd_gains(robot, [0.0], 10.0, 0.7)
    assert_allclose(kp, [100.0 * inertia])
    assert_allclose(kd, [2 * 0.7 * 10.0 * inertia])


def test_free_inertia_relates_a_torque_to_the_acceleration_of_its_joint(arm, rng):
    q = arm.random_configuration(rng)
    for j, inertia in enumerate(free_inertia(arm, q)[0]):
        torque = np.zeros(arm.nv)
        torque[j] = 1.0
        rest = np.zeros(arm.nv)
        a = arm.forward_dynamics(q, rest, torque + arm.bias_force(q, rest))
        assert_allclose(a[j], 1.0 / inertia, rtol=1e-8)


def test_no_mode_is_much_faster_than_the_requested_bandwidth(arm, rng):
    """At the configuration of the gains, all modes of H a + kp q = 0 are below w sqrt(nv)."""
    q = arm.random_configuration(rng)
    kp, _ = pd_gains(arm, q, 10.0)
    modes = np.linalg.eigvals(np.linalg.solve(arm.mass_matrix(q), np.diag(kp)))
    assert np.sqrt(modes.real.max()) <= 10.0 * np.sqrt(arm.nv) * (1 + 1e-9)


@pytest.mark.parametrize(
    ('frequency', 'ratio'), [(0.0, 1.0), (-1.0, 1.0), (np.inf, 1.0), (1.0, -1.0), (1.0, np.nan)]
)
def test_gains_that_are_none_are_rejected(frequency, ratio):
    with pytest.raises(ValueError, match='must'):
        pd_gains(load('two_link_arm'), [0.0, 0.0], frequency, ratio)


def test_a_joint_that_moves_no_mass_is_named():
    robot = Robot.from_urdf(chain([POINT_MASS, {'type': 'revolute', 'xyz': (0, 0, 1)}]))
    with pytest.raises(ValueError, match='joint2 moves no mass'):
        pd_gains(robot, [0.0, 0.0], 10.0)
