# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pose and Jacobian of a frame in one pass, against separate kernels and each other's rate."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support import random_trees

from rbd_ros import Robot

REFERENCES = ('body', 'base', 'aligned')


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(random_trees.mixed_tree(5), floating_base=True)


@pytest.mark.parametrize('reference', REFERENCES)
def test_pose_and_jacobian_are_those_of_the_frame(robot, reference):
    name = robot.link_names[-1]
    kernel = robot.kernel('frame_kinematics', frame=name, reference=reference)
    frame = robot.frame(name, reference)
    for q in robot.random_configurations(5, np.random.default_rng(1)):
        found = kernel.function(q)
        assert_allclose(found.T, frame.pose(q), rtol=1e-13, atol=1e-14)
        assert_allclose(found.J, frame.jacobian(q), rtol=1e-13, atol=1e-14)
        assert_array_equal(found.T[3], [0.0, 0.0, 0.0, 1.0])


def test_the_pose_moves_as_the_jacobian_says(robot):
    name, step = robot.link_names[-1], 1e-6
    kernel = robot.kernel('frame_kinematics', frame=name, reference='aligned')
    rng = np.random.default_rng(2)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    ahead, back = (kernel.function(robot.integrate(q, v, dt)).T for dt in (step, -step))
    here = kernel.function(q)
    angular, linear = (here.J @ v).reshape(2, 3)
    rate = (ahead - back) / (2.0 * step)
    assert_allclose(rate[:3, 3], linear, atol=1e-7)
    assert_allclose(rate[:3, :3].T, np.cross(angular, here.T[:3, :3].T), atol=1e-7)
