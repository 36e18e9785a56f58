# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertia matrix and bias force in one pass equal those of two passes."""

import numpy as np
from numpy.testing import assert_allclose
from support.states import every_robot, named_robot, random_forces, random_state


@every_robot
def test_the_equations_agree_with_mass_matrix_and_bias_force(name):
    robot = named_robot(name)
    q, v, a = random_state(robot)
    forces = random_forces(robot)
    H, C = robot.equations_of_motion(q, v, forces)
    assert_allclose(H, robot.mass_matrix(q), rtol=1e-12, atol=1e-12)
    assert_allclose(C, robot.bias_force(q, v, forces), rtol=1e-12, atol=1e-11)
    assert_allclose(H @ a + C, robot.inverse_dynamics(q, v, a, forces), atol=1e-9)
    assert np.array_equal(H, H.T)


@every_robot
def test_common_terms_are_computed_once(name):
    robot = named_robot(name)
    both = robot.operation_count('equations_of_motion')
    if both is not None:
        alone = [robot.operation_count(each) for each in ('mass_matrix', 'bias_force')]
        assert both.multiplications <= sum(count.multiplications for count in alone)
        assert both.angles == max(count.angles for count in alone)
