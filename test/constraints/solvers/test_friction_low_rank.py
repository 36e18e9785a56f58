# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Newton's step of redundant contacts by Woodbury's formula: that of the full matrix."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import box_on_plane, legs, random_contacts, with_moments

from rbd_ros.constraints import friction_problem
from rbd_ros.constraints.friction_solution import scaled_space
from rbd_ros.constraints.friction_space import BEST, RANK
from rbd_ros.constraints.solvers.friction_low_rank import find_low_rank_step, find_root
from rbd_ros.constraints.solvers.friction_newton import evaluate, UNIT
from rbd_ros.constraints.solvers.friction_newton_step import find_derivatives, find_step


def space_of(problem):
    space, _ = scaled_space(problem)
    space.report[BEST] = math.inf
    return space


def redundant(rng, rows, slides):
    """Return a problem of 10 contacts and rows of 8 degrees of freedom, and an iterate of it.

    Contacts are in every state, and rows at and between their bounds.
    """
    J = rng.normal(size=(30 + rows, 8))
    bound = np.full(rows, 0.5)
    problem = friction_problem(
        J @ J.T, J @ rng.normal(size=8), rng.uniform(0.2, 1.0, 10), -bound, bound
    )
    space = space_of(problem)
    contacts, others = space.w[:30].reshape(10, 3), space.w[30:]
    contacts[:] = rng.normal(size=(10, 3)) if slides else [1.0, 0.1, -0.1]
    contacts[:2, 0] = -1.0
    others[:] = rng.uniform(-2.0, 2.0, rows) * space.high[:rows]
    evaluate(space, UNIT, 1e-4)
    return space


@pytest.mark.parametrize('slides', [False, True])
@pytest.mark.parametrize('rows', [0, 4])
def test_the_step_is_that_of_the_full_matrix(rows, slides):
    rng = np.random.default_rng(rows)
    for _ in range(5):
        space = redundant(rng, rows, slides)
        assert find_derivatives(space) == slides
        find_step(space, UNIT, 1e-4)
        expected = space.change.copy()
        find_root(space)
        assert space.report[RANK] == 8
        find_low_rank_step(space, UNIT, 1e-4)
        assert_allclose(space.change, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize('problem, rank', [(box_on_plane(8)[0], 6), (box_on_plane(16)[0], 6)])
def test_the_root_has_as_many_columns_as_the_bodies_can_move(problem, rank):
    space = space_of(problem)
    find_root(space)
    assert space.report[RANK] == rank
    B = space.root[:, :rank]
    assert_allclose(B @ B.T, space.A, atol=1e-13)


def test_there_is_no_root_where_the_matrix_is_as_fast():
    rng = np.random.default_rng(3)
    for problem in (random_contacts(rng, 3, 9), with_moments(rng, 4, 6), legs(4)):
        space = space_of(problem)
        space.report[RANK] = 5.0
        find_root(space)
        assert space.report[RANK] == 0.0
