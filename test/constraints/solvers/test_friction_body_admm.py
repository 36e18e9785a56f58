# SPDX-License-Identifier: Apache-2.0
"""ADMM among many bodies: solutions from no forces, its fixed point, cones, the acceleration."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import pile_of_boxes
from support.contacts_of_bodies import closing_walls, random_stars, space_of

from rbd_ros.compiler.loops import Vec
from rbd_ros.constraints.friction_space import OPEN, SLIDE, STICK
from rbd_ros.constraints.solvers.friction_body_admm import (
    admm_bodies,
    find_state,
    find_weights,
    iterate,
    penalize,
    projected,
)
from rbd_ros.constraints.solvers.friction_body_newton import find_velocities
from rbd_ros.constraints.solvers.friction_body_space import (
    find_free_velocities,
    largest_residual,
    MEMORY,
    renew,
    UNIT,
)


@pytest.mark.parametrize(('mu', 'kind'), [(1.0, 'stick'), (0.3, 'slide')])
def test_it_finds_the_forces_of_the_dense_solver_from_none(mu, kind):
    rng, tried = np.random.default_rng(3), 0
    for _ in range(12):
        pile, expected = random_stars(rng, mu, kind)
        if expected is None:
            continue
        tried += 1
        space = space_of(pile, mu)
        enough = 1e-9 * space.report[UNIT]
        found = admm_bodies(space, enough)
        assert found <= enough and found == largest_residual(space)
        force = expected.force.reshape(4, 3)
        scale = 1.0 + np.abs(force).max()
        assert_allclose(space.scale * space.x, force, atol=1e-6 * scale)
        for c, state in enumerate(expected.state):
            if np.abs(force[c]).max() > 1e-3 * scale or state == 'open':
                assert space.state[c] == {'open': OPEN, 'stick': STICK, 'slide': SLIDE}[state]
    assert tried >= 4


def test_a_pile_that_turns_and_slides_is_solved():
    rng = np.random.default_rng(2)
    space = space_of(pile_of_boxes(2, 3, velocity=0.3 * rng.normal(size=(12, 6))), 0.4)
    enough = 1e-6 * space.report[UNIT]
    assert admm_bodies(space, enough) <= enough


@pytest.mark.parametrize('penalty', [0.05, 0.3, 2.0])
def test_a_solution_is_a_fixed_point_whatever_the_penalty(penalty):
    rng = np.random.default_rng(7)
    space = space_of(pile_of_boxes(2, 2, velocity=0.3 * rng.normal(size=(8, 6))), 0.4)
    assert admm_bodies(space, 1e-9 * space.report[UNIT]) <= 1e-9 * space.report[UNIT]
    find_velocities(space)
    u, x = space.image.copy(), space.x.copy()
    u[:, 0] += np.hypot(u[:, 1], u[:, 2])  # De Saxce's shift
    space.w[:] = x - u / penalty
    find_free_velocities(space)
    penalize(space, penalty)
    assert iterate(space, penalty) <= 1e-12 * space.report[UNIT] ** 2
    assert_allclose(space.x, x, atol=1e-6 * np.abs(x).max())


def test_worse_forces_are_not_taken():
    space = closing_walls()
    renew(space)
    before = find_velocities(space)
    found = admm_bodies(space, 1e-10)
    assert found <= before and found == largest_residual(space)


def test_projections_are_closest_points_of_the_cone():
    rng = np.random.default_rng(4)
    for w in rng.normal(size=(200, 3)):
        y = np.array(list(projected(Vec(*w))))
        rest = y - w  # in the polar cone, and orthogonal to y
        assert np.hypot(y[1], y[2]) <= y[0] + 1e-15
        assert np.hypot(rest[1], rest[2]) <= rest[0] + 1e-15
        assert abs(y @ rest) <= 1e-15 * (w @ w)


def test_weights_are_those_of_least_squares():
    space = space_of(pile_of_boxes(1, 1), 0.5)
    rng = np.random.default_rng(6)
    A, b = rng.normal(size=(30, MEMORY)), rng.normal(size=30)
    space.gram[:], space.weight[:] = A.T @ A, A.T @ b
    find_weights(space, MEMORY)
    assert_allclose(space.weight, np.linalg.lstsq(A, b, rcond=None)[0], atol=1e-8)
    space.gram[:], space.weight[:] = 0.0, 0.0
    find_weights(space, MEMORY)
    assert_allclose(space.weight, 0.0)


def test_states_are_those_that_forces_show():
    space = space_of(pile_of_boxes(1, 1), 0.5)
    space.x[:] = [[0, 0, 0], [1, 0.5, 0.5], [1, 0.6, -0.8], [0, 0, 0]]
    for c in range(3):
        find_state(space, c)
    assert list(space.state[:3]) == [OPEN, STICK, SLIDE]
    assert_allclose(space.slip_direction[2], [-0.6, 0.8])
