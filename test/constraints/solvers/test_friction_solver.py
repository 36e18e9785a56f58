# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Hard frictional problems: many contacts of few bodies, towers, mass ratios."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import boxes, face, random_contacts, stack, tower

from rbd_ros.constraints import friction_problem, solve_friction


@pytest.mark.parametrize(
    ('contacts', 'dofs', 'ratio', 'seed'),
    [(20, 18, 1e6, 0), (20, 18, 1e6, 7), (8, 6, 1e6, 7), (20, 18, 1e8, 7)],
)
def test_many_contacts_of_few_bodies_are_solved(contacts, dofs, ratio, seed):
    rng = np.random.default_rng(seed)
    hard = 0
    for _ in range(40):
        problem = random_contacts(rng, contacts, dofs, ratio)
        found = solve_friction(problem)
        hard += not found.converged or sum(found.iterations) > 1500
        if found.converged:
            largest = np.abs(found.force).max() * (1.0 + np.abs(problem.g).max())
            rounding = 1e-8 * max(1.0, ratio / 1e7)
            assert found.residuals.contact < rounding * largest
            assert found.residuals.dual < 10.0 * rounding
    # Problems at the limit of double precision may take thousands of steps.
    assert hard <= (2 if ratio > 1e7 else 0)


MASSES = {
    'equal': [1.0] * 10,
    'heavier above': list(np.geomspace(1e-2, 1e2, 10)),
    'heavier below': list(np.geomspace(1e2, 1e-2, 10)),
    'in turn': [1e-3, 1e3] * 5,
}


@pytest.mark.parametrize('masses', MASSES)
def test_towers_of_ten_blocks_stand(masses):
    problem, _ = tower(MASSES[masses])
    found = solve_friction(problem)
    assert found.converged
    assert_allclose(found.velocity, 0.0, atol=1e-8)
    normal = found.force.reshape(10, 4, 3)[:, :, 0].sum(axis=1)
    above = np.cumsum(MASSES[masses][::-1])[::-1]
    assert_allclose(normal, 9.81e-3 * above, rtol=1e-9)


def sliding_tower(seed):
    """Return a tower whose blocks slide and turn on each other."""
    rng = np.random.default_rng(seed)
    velocity = np.zeros((10, 6))
    velocity[:, 2], velocity[:, 3] = rng.normal(size=10), 0.3 * rng.normal(size=10)
    return tower(MASSES['equal'], velocity=velocity.ravel())[0]


@pytest.mark.parametrize('seed', [*range(12), 147, 246, 280, 660, 1191, 2974, 5290])
def test_blocks_of_a_tower_turn_and_slide_on_each_other(seed):
    """Always solved, and never too long."""
    found = solve_friction(sliding_tower(seed))
    assert found.converged
    assert found.residuals.contact < 1e-9 and found.residuals.dual < 1e-9
    assert sum(found.iterations) < 1000


def test_iterations_end_at_their_limit():
    wall = np.eye(3)
    J = np.vstack([wall, wall * [[-1.0], [1.0], [1.0]]])
    problem = friction_problem(J @ J.T, [-1.0, 0.2, 0.0, -1.0, 0.2, 0.0], [0.5, 0.5])
    for limit in (20, 150, 1000):
        found = solve_friction(problem, iterations=limit)
        assert not found.converged
        assert sum(found.iterations) == limit
        # The larger they are, the less is left of the contradiction beside their rounding.
        assert np.abs(found.force).max() < 1e9


@pytest.mark.parametrize('points', [4, 8, 9])
@pytest.mark.parametrize('turn', [0.0, 1.0])
def test_a_heavy_cube_on_a_light_one(points, turn):
    """Of up to eighteen contacts; at rest, and turning on each other."""
    velocity = np.zeros(12)
    velocity[2], velocity[8] = turn, -0.5 * turn
    problem, _ = tower([1e-3, 1e3], points, velocity=velocity)
    found = solve_friction(problem)
    assert found.converged and found.residuals.dual < 1e-7
    if not turn:
        assert_allclose(found.velocity, 0.0, atol=1e-10)


def test_a_stack_that_turns_is_solved():
    for ratio in (1.0, 1e2, 1e4):
        for turn in (0.1, 1.0, 5.0):
            velocity = (0, 0, turn, 0.1, 0, 0, 0, 0, -turn, 0, 0.2, 0)
            assert solve_friction(stack(1.0, ratio, velocity=velocity)[0]).converged


def test_nothing_to_solve_and_nothing_that_moves():
    assert solve_friction(friction_problem(np.zeros((0, 0)), [], np.zeros((0, 2)))).converged
    stuck = solve_friction(friction_problem(np.zeros((3, 3)), [-1.0, 0.0, 0.0], [0.5]))
    assert not stuck.converged and np.isfinite(stuck.force).all()


def test_boxes_with_contacts_of_no_friction():
    contacts = [(0, None, p) for p in face(8)]
    body = (1.0, (0.2,) * 3, np.array([0, 0, 0.1]))
    G, g, _ = boxes([body], contacts, np.array([0, 0, 0, 1.0, 0, 0]))
    found = solve_friction(friction_problem(G, g, np.zeros(8)))
    assert found.converged and not found.force.reshape(8, 3)[:, 1:].any()
    assert_allclose(found.force[::3].sum(), 9.81e-3, rtol=1e-9)
