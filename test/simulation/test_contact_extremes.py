# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rigid contact with very small and very large numbers."""

import numpy as np
import pytest
from support.rigid_worlds import ball, cube, simulated

from rbd_ros.constraints import friction_problem, solve_friction


@pytest.mark.parametrize('speed', [1000.0, 3.0, 0.575])
def test_a_ball_that_nothing_presses_comes_to_rest_and_stays(speed):
    """Without gravity its velocity is a rounding error of the one before, step after step."""
    start = ball(z=1.0, radius=0.01, mass=0.1, velocity=(0, 0, -speed), friction=0.6)
    simulator = simulated(gravity=(0.0, 0.0, 0.0), thing=start)
    simulator.step(n=int(2.0 / speed / 1e-3) + 500)
    assert simulator.object_pose('thing')[2, 3] == pytest.approx(0.01, abs=1e-9)
    assert np.abs(simulator.object_velocity('thing')).max() < 1e-12
    assert simulator.status.unconverged_steps == 0


@pytest.mark.parametrize('many', [1, 40])
def test_so_do_piles_of_them(many):
    start = {
        f'b{k}': ball(
            x=0.24 * k - 4.7, z=0.1001, velocity=(0, 0, -0.1), friction=0.6, torsional=0.01
        )
        for k in range(many)
    }
    plate = cube(z=-5.0, size=10.0)
    plate.update(static=True)
    for each in ('mass', 'velocity'):
        del plate[each]
    simulator = simulated(False, gravity=(0.0, 0.0, 0.0), plate=plate, **start)
    simulator.step(n=600)
    for name in start:
        assert np.abs(simulator.object_velocity(name)).max() < 1e-12
    assert simulator.status.unconverged_steps == 0


def test_velocities_that_are_as_good_as_none_are_solved():
    for size in (1e-80, 1e-150, 1e-250, 1e-320, 0.0):
        problem = friction_problem(np.eye(3), [-size, 0.5 * size, 0.0], [0.3])
        found = solve_friction(problem)
        assert found.converged and np.isfinite(found.force).all()
        assert np.abs(found.velocity).max() <= size


@pytest.mark.parametrize('friction', [1e3, 1e4, 1e6, 1e12])
def test_arbitrarily_large_friction_holds(friction):
    start = cube(z=0.3, turned=(0.3, 0.2, 0.0), velocity=(1.0, 0.5, 0.0))
    pairs = [{'links': ['floor', 'thing'], 'friction': friction}]
    simulator = simulated(pairs=pairs, thing=start)
    simulator.step(n=2500)
    assert simulator.status.unconverged_steps == 0
    assert simulator.object_pose('thing')[2, 3] == pytest.approx(0.1, abs=1e-9)
    assert np.abs(simulator.object_velocity('thing')).max() < 1e-9
