# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Newton's method on many bodies: cold starts, steps by the equations, no degraded solution."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import pile_of_boxes
from support.contacts_of_bodies import closing_walls, random_stars, space_of

from rbd_ros.constraints import solve_friction_bodies
from rbd_ros.constraints.solvers.friction_body_newton import (
    evaluate,
    find_direction,
    move,
    newton_bodies,
    UNIT_COMPLIANCE,
)
from rbd_ros.constraints.solvers.friction_body_space import largest_residual, renew, soften, UNIT
from rbd_ros.constraints.solvers.friction_body_sweeps import finish, MAX_STEPS


@pytest.mark.parametrize(('mu', 'kind'), [(1.0, 'stick'), (0.3, 'slide')])
def test_forces_are_those_of_the_dense_solver_from_none(mu, kind):
    rng, tried = np.random.default_rng(3), 0
    for _ in range(12):
        pile, expected = random_stars(rng, mu, kind)
        if expected is None:
            continue
        tried += 1
        space = space_of(pile, mu)
        enough = 1e-11 * space.report[UNIT]
        found = newton_bodies(space, enough, MAX_STEPS)
        assert found <= enough and found == largest_residual(space)
        force = expected.force.reshape(4, 3)
        assert_allclose(space.scale * space.x, force, atol=1e-8 * (1.0 + np.abs(force).max()))
        assert not space.search_direction.any()
    assert tried >= 4


@pytest.mark.parametrize('coefficient', [None, (0.05, 0.02, 0.02)])
def test_a_pile_that_turns_and_slides_is_solved(coefficient):
    rng = np.random.default_rng(2)
    pile = pile_of_boxes(2, 3, velocity=0.3 * rng.normal(size=(12, 6)))
    space = space_of(pile, 0.4, coefficient=coefficient)
    enough = 1e-9 * space.report[UNIT]
    assert newton_bodies(space, enough, MAX_STEPS) <= enough
    x = space.x
    assert (np.hypot(x[:, 1], x[:, 2]) <= x[:, 0] * (1.0 + 1e-9) + 1e-12).all()
    if coefficient:
        assert np.abs(space.y).max() > 0.01 * x.max()
        assert (np.abs(space.y[:, 0]) <= x[:, 0] + 1e-12).all()
        assert (np.hypot(space.y[:, 1], space.y[:, 2]) <= x[:, 0] * (1 + 1e-9) + 1e-12).all()


@pytest.mark.parametrize('seed', range(4))
def test_a_step_changes_the_equations_as_their_derivative_says(seed):
    """Contacts that are open, stick and slide; moments within and beyond their bounds."""
    rng, damping, part = np.random.default_rng(seed), 0.3, 1e-6
    pile = pile_of_boxes(2, 2, velocity=0.3 * rng.normal(size=(8, 6)))
    space = space_of(pile, (0.5, 0.3), compliance=0.1, coefficient=(0.05, 0.02, 0.02))
    soften(space, 0.2)
    n = len(pile.bodies)
    space.w[:], space.moment_w[:] = rng.normal(size=(2, n, 3))
    space.w[:, 0] += 0.5
    open_, length = space.w[:, 0] < 0.0, np.hypot(space.w[:, 1], space.w[:, 2])
    assert open_.any() and (length > space.w[:, 0])[~open_].any()
    assert (length < space.w[:, 0]).any()
    size = evaluate(space, UNIT_COMPLIANCE)
    before = space.right.copy(), space.moment_right.copy(), space.x.copy(), space.y.copy()
    assert size == pytest.approx(np.sqrt(np.sum(before[0] ** 2) + np.sum(before[1] ** 2)))
    find_direction(space, UNIT_COMPLIANCE, damping)
    move(space, part)
    evaluate(space, UNIT_COMPLIANCE)
    for after, was, moved, force in (
        (space.right, before[0], space.x, before[2]),
        (space.moment_right, before[1], space.y, before[3]),
    ):
        # A whole step leaves of f what the compliance of the step alone takes up.
        expected = -was + damping * (moved - force) / part
        assert_allclose((after - was) / part, expected, atol=1e-4 * np.abs(was).max())


def test_contacts_yield_by_the_change_of_their_forces_alone():
    """From step to step of the same problem, forces become those of rigid contacts."""
    rng, soft, errors = np.random.default_rng(5), 1e-2, []
    pile = pile_of_boxes(2, 3, velocity=0.3 * rng.normal(size=(12, 6)))
    space = space_of(pile, 0.4, coefficient=(0.05, 0.02, 0.02))
    enough = 1e-11 * space.report[UNIT]
    for _ in range(12):
        start, before = space.x.copy(), space.y.copy()
        space.force[:], space.start_moment[:] = space.scale * space.x, space.y
        soften(space, soft)
        assert newton_bodies(space, enough, MAX_STEPS) <= enough
        change = np.hypot(np.linalg.norm(space.x - start, axis=1).max(), np.abs(space.y - before))
        soften(space, -soft)
        errors.append(largest_residual(space))
        assert errors[-1] <= 2.0 * soft * change.max() + enough
    assert errors[0] > 1e-4 * space.report[UNIT] and errors[-1] < 0.01 * errors[0]


def test_a_tower_of_ten_stands_after_few_iterations():
    pile = pile_of_boxes(1, 10)
    found = solve_friction_bodies(*pile.arguments, np.full(len(pile.bodies), 0.5))
    assert found.converged and found.iterations <= 50
    assert_allclose(found.velocity, 0.0, atol=1e-8)
    ground = pile.bodies[:, 1] < 0
    assert_allclose(found.force[ground, 0].sum(), pile.weight, rtol=1e-6)


def test_worse_forces_are_not_taken():
    space = closing_walls()
    renew(space)
    before = largest_residual(space)
    found = newton_bodies(space, 1e-10, MAX_STEPS)
    assert found <= before and found == largest_residual(space)
    space.x[:] = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    assert finish(space, 1e-10) <= before
