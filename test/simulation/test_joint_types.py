# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every joint type in motion: order of the integrators, energy."""

import numpy as np
import pytest
from support.all_joints import every_joint, tree

from rbd_ros import Robot, Simulator

DURATION = 0.32


@pytest.fixture(scope='module')
def robots():
    """Return the robots by joint: compiled once for all tests."""
    return {}


def released(robots, joint, h, integrator):
    """Return the robot after a while of swinging and tumbling, from the same beginning."""
    if joint not in robots:
        robots[joint] = Robot(tree(joint, 3))
    robot, rng = robots[joint], np.random.default_rng(11)
    simulator = Simulator(robot, h, integrator)
    simulator.reset(q=robot.random_configuration(rng), v=rng.normal(size=robot.nv))
    begin = robot.energy(simulator.q, simulator.v).total
    simulator.step(n=round(DURATION / h))
    return robot, simulator.q, simulator.v, begin


@pytest.mark.parametrize('integrator, order', [('semi_implicit', 1), ('midpoint', 2), ('rk4', 4)])
@every_joint
def test_integrators_keep_their_order(robots, joint, integrator, order):
    """Of the fourth order only if the bracket of velocities is right (Munthe-Kaas)."""
    robot, exact_q, exact_v, _ = released(robots, joint, 2.5e-4, 'rk4')
    steps = np.array([8e-3, 4e-3, 2e-3])
    errors = []
    for h in steps:
        _, q, v, _ = released(robots, joint, h, integrator)
        errors.append(np.abs([*robot.difference(exact_q, q), *(v - exact_v)]).max())
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert slopes == pytest.approx([order, order], abs=0.35)


@every_joint
def test_motion_without_losses_keeps_its_energy(robots, joint):
    robot, q, v, begin = released(robots, joint, 1e-3, 'rk4')
    assert robot.energy(q, v).total == pytest.approx(begin, abs=1e-7)
