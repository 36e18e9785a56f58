# SPDX-License-Identifier: Apache-2.0
"""Steps of a simulator: a problem much like the one before, with its forces and states."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import box_on_plane, GRAVITY, legs, stack

from rbd_ros.compiler.loops import Record
from rbd_ros.constraints import friction_problem, solve_friction
from rbd_ros.constraints.friction_solution import scaled_space
from rbd_ros.constraints.friction_space import (
    NEWTON_STEPS,
    OPEN,
    refresh,
    SLIDE,
    STICK,
    SWEEPS,
)
from rbd_ros.constraints.solvers.friction_newton import correct_start, guess_states, is_warm
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
    following.state[:], following.slip_direction[:] = space.state, space.slip_direction
    following.slip[:] = space.slip
    return following, unit


TURNING = (0, 0, 0.3, 1, 0.2, 0)


@pytest.mark.parametrize(
    ('problem', 'states'),
    [
        (legs(4), {STICK}),
        (legs(8), {STICK}),
        (legs(4, slide=0.5), {STICK, SLIDE}),
        (box_on_plane(4, (0, 0, 0, 1, 0.2, 0))[0], {SLIDE}),
        (box_on_plane(8, TURNING)[0], {SLIDE}),
        (box_on_plane(8, mu=2.0, force=(0, 0, 0, 10.5, 0, 0))[0], None),
        (stack(1.0, 1.0)[0], None),
    ],
)
def test_the_next_step_takes_one_or_two_linear_systems(problem, states):
    space, scale = scaled_space(problem)
    assert solve_space(Record(space), COMBINED, 2000, 1e-12)
    assert states is None or set(space.state) == states
    rng = np.random.default_rng(0)
    g = problem.g
    for _ in range(5):
        # Velocities that forces cause, so that they are possible whatever the rank.
        g = g + 1e-3 * problem.G @ (rng.normal(size=len(g)) * np.abs(scale * space.x).max())
        following = next_problem(problem, g)
        space, scale = next_space(following, space, scale)
        assert is_warm(space)
        assert solve_space(Record(space), COMBINED, 2000, 1e-10)
        assert space.report[SWEEPS] == 0.0 and space.report[NEWTON_STEPS] <= 3.0
        cold = solve_friction(following)
        assert cold.converged
        if set(space.state) != {SLIDE} or problem.contacts != 8:  # unique velocities
            assert_allclose(following.velocity(scale * space.x), cold.velocity, atol=1e-9)


def test_a_solution_takes_no_step_at_all():
    problem = legs(4)
    space, _ = scaled_space(problem)
    assert solve_space(Record(space), COMBINED, 2000, 1e-12)
    assert solve_space(Record(space), COMBINED, 2000, 1e-10)
    assert space.report[SWEEPS] == space.report[NEWTON_STEPS] == 0.0


def test_states_that_have_nothing_to_do_with_the_problem_do_no_harm():
    rng = np.random.default_rng(1)
    for problem in (legs(4), legs(4, slide=0.5), stack()[0], box_on_plane(8, TURNING)[0]):
        expected = solve_friction(problem)
        for _ in range(20):
            space, scale = scaled_space(problem)
            space.state[:] = rng.integers(0, 3, problem.contacts)
            space.slip_direction[:] = rng.choice([0.0, 1.0, np.nan], (problem.contacts, 1))
            space.x[:] = rng.normal(size=len(problem.g)) * rng.choice([0.0, 1.0, 1e3])
            assert solve_space(Record(space), COMBINED, 2000, 1e-10)
            if problem.contacts == 4:
                found = problem.velocity(scale * space.x)
                assert_allclose(found, expected.velocity, atol=1e-8)


def test_contacts_that_come_and_rows_whose_bounds_have_moved():
    """Three contacts: approaching, departing, sliding no one knows where; rows at old bounds."""
    low, high = [-2.0, -2.0, 0.0, 0.0, -2.0], [2.0, 2.0, np.inf, np.inf, 2.0]
    g = [-1.0, 0, 0, 1.0, 0, 0, 0.5, 0, 0, 1.0, -1.0, 0.5, -0.5, 0.1]
    problem = friction_problem(np.eye(14), g, [0.5] * 3, low, high)
    space, scale = scaled_space(problem)
    refresh(space)
    assert not is_warm(space)
    space.state[:] = [OPEN, OPEN, SLIDE, OPEN, OPEN, OPEN, OPEN, STICK]
    assert is_warm(space)
    correct_start(space)
    assert list(space.state) == [STICK, OPEN, STICK, OPEN, OPEN, OPEN, STICK, STICK]
    assert_allclose(scale * space.x, [0] * 9 + [-2.0, 2.0, 0.0, 0.0, 0.0])
    u = space.u.copy()
    refresh(space)
    assert (space.u == u).all()
    for block in range(8):
        space.state[:] = OPEN
        space.state[block] = SLIDE
        assert is_warm(space)
    space.state[:] = OPEN
    space.state[2], space.slip_direction[2] = SLIDE, [0.6, -0.8]
    correct_start(space)
    assert space.state[2] == SLIDE


def test_loaded_or_approaching_contacts_are_guessed_to_stick():
    """By loads and velocities: contacts that bear something or approach; rows off their bounds."""
    low, high = [-2.0, -2.0, 0.0, 0.0, -2.0, -2.0], [2.0, 2.0, np.inf, np.inf, 2.0, 2.0]
    g = [-1.0, 0, 0, 1.0, 0, 0, 1.0, 0, 0, 0.0, 0, 0, 0.1, -0.1, -0.5, 0.5, 0.3, 0.3]
    G = np.eye(18)
    G[9:12, 9:12] = 0.0
    problem = friction_problem(G, g, [0.5] * 4, low, high)
    space, scale = scaled_space(problem)
    force = [0.0] * 6 + [3.0] + [0.0] * 2 + [1.0, 0, 0] + [-2.0, 2.0, 0.0, 0.0, 2.0, 0.0]
    np.divide(force, scale, out=space.x)
    space.u[:] = space.b
    guess_states(space)
    expected = [STICK, OPEN, STICK, OPEN, OPEN, OPEN, STICK, OPEN, STICK, STICK]
    assert list(space.state) == expected


def test_a_resting_box_is_solved_by_one_system_with_minimum_friction():
    """From nothing: the forces of least size, so that no contact pushes against another."""
    for points in (4, 8, 64):
        problem, _ = box_on_plane(points)
        found = solve_friction(problem)
        assert found.converged and found.iterations == (0, 1, 0)
        forces = found.force.reshape(-1, 3)
        each = 1e-4 * GRAVITY * 1e-3 / points
        assert_allclose(forces[:, 1:], 0.0, atol=each)
        assert_allclose(forces[:, 0], forces[::-1, 0], atol=each)
