# SPDX-License-Identifier: Apache-2.0
"""Newton's method among many bodies: one step where states are right, states, worse forces."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import pile_of_boxes
from support.contacts_of_bodies import closing_walls, random_stars, space_of

from rbd_ros.constraints import solve_friction_bodies
from rbd_ros.constraints.friction_space import OPEN, SLIDE, STICK
from rbd_ros.constraints.solvers.friction_body_newton import (
    correct_states,
    factorize_contacts,
    find_stiffness,
    find_velocities,
    newton_bodies,
    solve_contacts,
)
from rbd_ros.constraints.solvers.friction_body_space import largest_residual, renew
from rbd_ros.constraints.solvers.friction_body_sweeps import FEW_SWEEPS, finish


@pytest.mark.parametrize(('mu', 'kind'), [(5.0, 'stick'), (0.3, 'slide')])
def test_it_finds_the_forces_of_the_dense_solver_from_nearby(mu, kind):
    rng, tried = np.random.default_rng(3), 0
    states = {'open': OPEN, 'stick': STICK, 'slide': SLIDE}
    for _ in range(12):
        pile, expected = random_stars(rng, mu, kind)
        if expected is None:
            continue
        tried += 1
        space = space_of(pile, mu, [states[each] for each in expected.state])
        force = expected.force.reshape(4, 3)
        away = force * rng.uniform(0.99, 1.01, (4, 1))
        for c in range(4):
            if space.state[c] == SLIDE:
                space.slip_direction[c] = -force[c, 1:] / np.linalg.norm(force[c, 1:])
        space.x[:] = away / space.scale
        renew(space)
        before = largest_residual(space)
        found = newton_bodies(space, 1e-11)
        assert found <= 1e-11 < before and found == largest_residual(space)
        scale = 1.0 + np.abs(force).max()
        assert_allclose(space.scale * space.x, force, atol=1e-8 * scale)
        assert not space.search_direction.any()
    assert tried >= 4


def test_a_tower_of_ten_stands_after_few_sweeps():
    pile = pile_of_boxes(1, 10)
    found = solve_friction_bodies(*pile.arguments, np.full(len(pile.bodies), 0.5))
    assert found.converged and found.iterations <= 2 * FEW_SWEEPS
    assert_allclose(found.velocity, 0.0, atol=1e-8)
    ground = pile.bodies[:, 1] < 0
    assert_allclose(found.force[ground, 0].sum(), pile.weight, rtol=1e-6)


def test_stiffness_is_that_of_the_state():
    pile = pile_of_boxes(1, 1)
    space = space_of(pile, 0.5, compliance=0.1)
    soft = space.scale[0] ** 2 * 0.1
    find_stiffness(space, 0)
    assert_allclose(space.stiffness[0], np.diag(1.0 / soft), rtol=1e-3)
    space.state[0] = OPEN
    find_stiffness(space, 0)
    assert not space.stiffness[0].any()
    space.state[0], space.slip_direction[0], space.image[0] = SLIDE, (0.6, 0.8), (0.0, 1.2, 1.6)
    space.x[0, 0] = 4.0
    find_stiffness(space, 0)
    K = space.stiffness[0]
    # Its friction opposes the sliding, and turns with it: s = 2 of a force of 4.
    assert_allclose(K @ [1.0, 0.0, 0.0], np.array([1.0, -0.6, -0.8]) * K[0, 0])
    assert_allclose(K @ [0.0, 0.8, -0.6], np.array([0.0, 0.8, -0.6]) * 2.0, rtol=1e-5)
    assert_allclose(K @ [0.0, 0.6, 0.8], 0.0, atol=1e-12)


def test_states_follow_contradicting_forces():
    pile = pile_of_boxes(1, 1)
    space = space_of(pile, 0.5, [OPEN, STICK, STICK, SLIDE])
    space.x[:] = [[0, 0, 0], [-1, 0, 0], [1, 3, 4], [1, 0.6, 0.8]]
    space.slip_direction[3] = 0.6, 0.8
    space.image[:] = 0.0
    space.image[0, 0], space.image[3, 1] = -1.0, -1.0
    assert correct_states(space, 1e-9)
    assert list(space.state) == [STICK, OPEN, SLIDE, STICK]
    assert not space.x[1].any()
    assert_allclose(space.x[2], [1.0, 0.6, 0.8])
    assert_allclose(space.slip_direction[2], [-0.6, -0.8])
    space.state[:], space.x[:], space.image[:] = STICK, [1.0, 0.0, 0.0], 0.0
    # What is about to slide, and what has stopped just now, stay what they are.
    space.state[3], space.x[3], space.slip_direction[3] = SLIDE, [1.0, 0.6, 0.8], [-0.6, -0.8]
    assert not correct_states(space, 1e-9)


def test_worse_forces_are_not_taken():
    space = closing_walls()
    renew(space)
    before = find_velocities(space)
    found = newton_bodies(space, 1e-10)
    assert found <= before and found == largest_residual(space)
    space.x[:] = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    assert finish(space, 1e-10) <= before


def test_contacts_are_solved_for_through_their_bodies():
    """(K^-1 + J E^T) x = r, with any stiffness of each contact, as a dense matrix has it."""
    rng = np.random.default_rng(5)
    pile = pile_of_boxes(2, 2)
    space, n = space_of(pile, 0.5), len(pile.bodies)
    space.stiffness[:] = rng.normal(size=(n, 3, 3)) + 3.0 * np.eye(3)
    space.stiffness[3] = 0.0
    space.right[:] = rng.normal(size=(n, 3))
    J, E = (np.zeros((n, 3, len(pile.velocity), 6)) for _ in range(2))
    for c, pair in enumerate(pile.bodies):
        for side, b in enumerate(pair):
            if b >= 0:
                J[c, :, b] += space.jacobian[c, side]
                E[c, :, b] += space.effect[c, side]
    left = J.reshape(3 * n, -1) @ E.reshape(3 * n, -1).T
    for c in range(n):
        own = slice(3 * c, 3 * c + 3)
        left[own, own] += np.linalg.inv(space.stiffness[c]) if c != 3 else 1e30 * np.eye(3)
    factorize_contacts(space)
    solve_contacts(space, space.change)
    expected = np.linalg.solve(left, space.right.ravel()).reshape(n, 3)
    assert_allclose(space.change, expected, atol=1e-10 * np.abs(expected).max())
    assert not space.change[3].any()
