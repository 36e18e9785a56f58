# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The smallest forces of redundant contacts: the same from any start; they stick if they can."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import box_on_plane, GRAVITY, stack

from rbd_ros.constraints.friction_solution import scaled_space
from rbd_ros.constraints.friction_space import is_solved, refresh, RESIDUAL
from rbd_ros.constraints.solvers import friction_solver
from rbd_ros.constraints.solvers.friction_load_sharing import COMPLIANCE, share_load
from rbd_ros.constraints.solvers.friction_newton import newton
from rbd_ros.constraints.solvers.friction_solver import (
    any_slides,
    begin_report,
    COMBINED,
    solve_friction_space,
    solve_redundant,
)

MU = 0.4
MOVING = {
    'slides': (0, 0, 0, 1.0, 0.2, 0),
    'turns': (0, 0, 3.0, 0, 0, 0),
    'slides and turns': (0, 0, 3.0, 0.1, 0.05, 0),
}


def space_of(problem, start=None):
    """Return the space of a problem, with velocities at a start."""
    space, _ = scaled_space(problem)
    if start is not None:
        space.x[:] = start
    begin_report(space, 1e-10)
    refresh(space)
    return space


def starts(n):
    """Return forces within their cones, of any distribution."""
    rng = np.random.default_rng(2)
    for _ in range(4):
        yield np.abs(rng.normal(size=3 * n)) * np.tile([1.0, 0.5, 0.5], n)


def test_forces_that_stick_are_those_of_the_least_norm():
    problem, _ = box_on_plane(8, mu=MU)
    for start in starts(8):
        space = space_of(problem, start)
        assert share_load(space, 500)
        assert_allclose(space.x, -np.linalg.pinv(space.A) @ space.b, atol=1e-8)


@pytest.mark.parametrize('kind', MOVING)
def test_forces_that_slide_are_the_same_from_any_start(kind):
    problem, _ = box_on_plane(8, velocity=MOVING[kind], mu=MU)
    found = []
    for start in starts(8):
        space = space_of(problem, start)
        assert share_load(space, 500) and space.report[RESIDUAL] <= 1e-10
        found.append(space.x.copy())
    assert any_slides(space)
    assert_allclose(found, [found[0]] * len(found), atol=1e-6)
    # They are the limit of forces with compliance.
    space = space_of(problem, found[0])
    assert newton(space, COMPLIANCE, 50, 0.0)
    assert_allclose(space.x, found[0], atol=1e3 * COMPLIANCE)


def test_a_box_is_held_by_forces_that_could_let_it_turn():
    """Points in the middle of an edge are 0.1 m from the axis, those at the corners 0.14 m.

    Forces in the middles alone would let the box turn; with a share at the corners it is held.
    """
    problem, _ = box_on_plane(8, mu=MU, force=(0, 0, 0.105 * MU * GRAVITY, 0, 0, 0))
    start = np.zeros((8, 3))
    start[[1, 3, 4, 6]] = 1.0, 1.0, 0.0
    space = space_of(problem, start.ravel())
    assert any_slides(space)
    assert solve_redundant(space, 500, 1e-10)
    # The corners are at their bound: with compliance they creep.
    assert_allclose(space.u, 0.0, atol=COMPLIANCE)


def test_a_start_that_solves_the_problem_is_kept():
    problem, _ = box_on_plane(4, velocity=MOVING['slides'], mu=MU)
    space = space_of(problem)
    assert solve_friction_space(space, COMBINED, 500, 1e-12)
    start = space.x.copy()
    assert solve_redundant(space, 500, 1e-10)
    assert (space.x == start).all()


def test_forces_near_the_start_are_kept_where_all_contacts_stick():
    problem, _ = box_on_plane(4, mu=MU)
    unequal = np.kron([1.5, 0.5, 0.5, 1.5], [0.25, 0.0, 0.0])
    unequal *= 1.001 * -space_of(problem).b[0] / (space_of(problem).A @ unequal)[0]
    space = space_of(problem, unequal)
    assert not is_solved(space)
    assert solve_redundant(space, 500, 1e-10)
    assert_allclose(space.x, unequal, atol=2e-3 * np.abs(unequal).max())


def test_unequal_masses_are_solved_although_compliance_hides_the_heavy_one():
    problem, _ = stack(velocity=(0, 0, 1.0, 0.1, 0, 0, 0, 0, -1.0, 0, 0.2, 0))
    space = space_of(problem)
    assert solve_redundant(space, 1000, 1e-10) and space.report[RESIDUAL] <= 1e-10


def test_without_smallest_forces_any_solution_is_returned(monkeypatch):
    monkeypatch.setattr(friction_solver, 'share_load', lambda space, limit: False)
    problem, _ = box_on_plane(8, velocity=MOVING['turns'], mu=MU)
    space = space_of(problem)
    assert solve_redundant(space, 500, 1e-10) and space.report[RESIDUAL] <= 1e-10
