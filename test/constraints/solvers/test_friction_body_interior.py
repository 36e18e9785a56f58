# SPDX-License-Identifier: Apache-2.0
"""The interior-point method among many bodies: solutions from no forces, none where none is."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import pile_of_boxes
from support.contacts_of_bodies import closing_walls, random_stars, space_of

from rbd_ros.constraints.solvers.friction_body_interior import (
    interior_bodies,
    invert,
    longest_step,
)
from rbd_ros.constraints.solvers.friction_body_newton import find_velocities
from rbd_ros.constraints.solvers.friction_body_space import largest_residual, renew, UNIT
from rbd_ros.constraints.solvers.friction_interior import MIDDLE_FORCE


@pytest.mark.parametrize(('mu', 'kind'), [(1.0, 'stick'), (0.3, 'slide')])
def test_it_finds_the_forces_of_the_dense_solver_from_none(mu, kind):
    rng, tried = np.random.default_rng(3), 0
    for _ in range(12):
        pile, expected = random_stars(rng, mu, kind)
        if expected is None:
            continue
        tried += 1
        space = space_of(pile, mu)
        enough = 1e-11 * space.report[UNIT]
        found = interior_bodies(space, MIDDLE_FORCE, enough)
        assert found <= enough and found == largest_residual(space)
        force = expected.force.reshape(4, 3)
        assert_allclose(space.scale * space.x, force, atol=1e-8 * (1.0 + np.abs(force).max()))
    assert tried >= 4


def test_a_pile_that_turns_and_slides_is_solved():
    rng = np.random.default_rng(2)
    pile = pile_of_boxes(2, 3, velocity=0.3 * rng.normal(size=(12, 6)))
    space = space_of(pile, 0.4)
    enough = 1e-10 * space.report[UNIT]
    assert interior_bodies(space, MIDDLE_FORCE, enough) <= enough
    x = space.x
    assert (np.hypot(x[:, 1], x[:, 2]) <= x[:, 0] * (1.0 + 1e-9) + 1e-12).all()


def test_worse_forces_are_not_taken():
    space = closing_walls()
    renew(space)
    before = find_velocities(space)
    found = interior_bodies(space, MIDDLE_FORCE, 1e-10)
    assert found <= before and found == largest_residual(space)


def test_a_step_that_is_not_a_number_has_zero_length():
    space = space_of(pile_of_boxes(1, 1), 0.5)
    space.inside[:] = space.velocity_inside[:] = (1.0, 0.0, 0.0)
    space.force_step[:], space.velocity_step[:] = (-0.5, 0.0, 0.0), 0.0
    assert longest_step(space) == pytest.approx(2.0)
    space.force_step[1, 2] = np.nan
    assert longest_step(space) == 0.0


def test_three_by_three_matrices_are_inverted():
    A = np.random.default_rng(1).normal(size=(3, 3))
    inverse = A.copy()
    invert(inverse)
    assert_allclose(inverse @ A, np.eye(3), atol=1e-12)
