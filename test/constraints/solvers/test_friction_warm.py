# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Warm starts from the solution of a similar problem, as in steps of a simulator."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import box_on_plane, GRAVITY, legs, stack

from rbd_ros.compiler.loops import Record
from rbd_ros.constraints import friction_problem, solve_friction
from rbd_ros.constraints.friction_solution import scaled_space
from rbd_ros.constraints.friction_space import NEWTON_STEPS, SWEEPS
from rbd_ros.constraints.solvers.friction_solver import COMBINED, solve_space


def next_problem(problem, g):
    """Return the same contacts and rows, another velocity without forces."""
    return friction_problem(
        problem.G, g, problem.friction, problem.low, problem.high, problem.compliance
    )


def next_space(problem, space, scale):
    """Return the space of a problem with the solution of another one as start, and its scale."""
    following, unit = scaled_space(problem)
    np.divide(space.x * scale, unit, out=following.x, where=unit > 0.0)
    following.slip[:] = space.slip
    return following, unit


TURNING = (0, 0, 0.3, 1, 0.2, 0)


@pytest.mark.parametrize(
    ('problem', 'states'),
    [
        (legs(4), {'stick'}),
        (legs(8), {'stick'}),
        (legs(4, slide=0.5), {'stick', 'slide'}),
        (box_on_plane(4, (0, 0, 0, 1, 0.2, 0))[0], {'slide'}),
        (box_on_plane(8, TURNING)[0], {'slide'}),
        (box_on_plane(8, mu=2.0, force=(0, 0, 0, 10.5, 0, 0))[0], None),
        (stack(1.0, 1.0)[0], None),
    ],
)
def test_the_next_step_takes_one_or_two_linear_systems(problem, states):
    space, scale = scaled_space(problem)
    assert solve_space(Record(space), COMBINED, 2000, 1e-12)
    first = solve_friction(problem, start=scale * space.x)
    assert states is None or set(first.state) == states
    rng = np.random.default_rng(0)
    g = problem.g
    for _ in range(5):
        # Velocities due to forces, so that they are possible at any rank.
        g = g + 1e-3 * problem.G @ (rng.normal(size=len(g)) * np.abs(scale * space.x).max())
        following = next_problem(problem, g)
        space, scale = next_space(following, space, scale)
        assert solve_space(Record(space), COMBINED, 2000, 1e-10)
        assert space.report[SWEEPS] == 0.0 and space.report[NEWTON_STEPS] <= 3.0
        cold = solve_friction(following)
        assert cold.converged
        if set(cold.state) != {'slide'} or problem.contacts != 8:  # unique velocities
            assert_allclose(following.velocity(scale * space.x), cold.velocity, atol=1e-9)


def test_a_solution_takes_no_step_at_all():
    problem = legs(4)
    space, _ = scaled_space(problem)
    assert solve_space(Record(space), COMBINED, 2000, 1e-12)
    assert solve_space(Record(space), COMBINED, 2000, 1e-10)
    assert space.report[SWEEPS] == space.report[NEWTON_STEPS] == 0.0


def test_unrelated_warm_start_forces_do_not_change_the_solution():
    rng = np.random.default_rng(1)
    for problem in (legs(4), legs(4, slide=0.5), stack()[0], box_on_plane(8, TURNING)[0]):
        expected = solve_friction(problem)
        for _ in range(20):
            space, scale = scaled_space(problem)
            space.x[:] = rng.normal(size=len(problem.g)) * rng.choice([0.0, 1.0, 1e3])
            assert solve_space(Record(space), COMBINED, 2000, 1e-10)
            if problem.contacts == 4:
                found = problem.velocity(scale * space.x)
                assert_allclose(found, expected.velocity, atol=1e-8)


def test_a_resting_box_is_solved_by_two_systems_with_minimum_friction():
    """From nothing: the forces of least size, so that no contact pushes against another."""
    for points in (4, 8, 64):
        problem, _ = box_on_plane(points)
        found = solve_friction(problem)
        assert found.converged and found.iterations[0] == 0 and found.iterations[1] <= 2
        forces = found.force.reshape(-1, 3)
        each = 1e-4 * GRAVITY * 1e-3 / points
        assert_allclose(forces[:, 1:], 0.0, atol=each)
        assert_allclose(forces[:, 0], forces[::-1, 0], atol=each)
