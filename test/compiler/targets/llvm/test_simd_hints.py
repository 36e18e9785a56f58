# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""SIMD hints change no number."""

import numpy as np
import pytest
from support import example_robots
from support.small_kernels import kernel

from rbd_ros import Robot
from rbd_ros.spatial.scalar import simd_hint, sqrt


def columns(hinted):
    """Return the function of five columns that are found by the same operations."""

    def evaluate(x):
        found = []
        for a, b in zip(x[:5], x[5:]):
            e = a * x[-1] + 1.5 * (b * x[-2])
            found.append([e, sqrt(e * e + b * b) / (2.0 + a * a), e - b])
        if hinted:
            simd_hint(*found)
        return [value for row in found for value in row]

    return evaluate


def test_a_hint_changes_no_number():
    simd_hint([1.0, 2.0], [3.0, 4.0], [5.0])
    rows = np.random.default_rng(3).normal(size=(20, 10))
    with_it, without = (kernel(columns(x), [('x', 10)], (5, 3)) for x in (True, False))
    np.testing.assert_allclose(with_it(rows), without(rows), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize('robot', ['ur5_robot', 'panda'])
@pytest.mark.parametrize('name', ['inverse_dynamics_derivatives', 'forward_dynamics_derivatives'])
def test_one_state_and_many_have_the_same_bits_for_arms(name, robot, rng):
    robot = Robot.from_urdf(example_robots.path(robot))
    compiled = robot.kernel(name).function
    q = np.array([robot.random_configuration(rng) for _ in range(30)])
    v, u = rng.normal(size=(2, 30, robot.nv))
    many = compiled(q, v, u)
    one = [compiled(*row) for row in zip(q, v, u)]
    for k, array in enumerate(many):
        np.testing.assert_array_equal(np.array([each[k] for each in one]), array)
