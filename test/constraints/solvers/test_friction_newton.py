# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Newton's method on the equations of Alart and Curnier: its Jacobian and solutions."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import box_on_plane, random_contacts, stack, with_moments

from rbd_ros.constraints import friction_problem, solve_friction
from rbd_ros.constraints.friction_solution import scaled_space
from rbd_ros.constraints.friction_space import BEST, refresh, residual, TOLERANCE
from rbd_ros.constraints.solvers.friction_newton import (
    enter_unknowns,
    evaluate,
    HALVES,
    newton,
    search,
    UNIT,
)
from rbd_ros.constraints.solvers.friction_newton_step import find_step


def space_of(problem):
    """Return the space of a problem, ready for the method alone."""
    space, scale = scaled_space(problem)
    space.report[BEST], space.report[TOLERANCE] = math.inf, 1e-10
    return space, scale


def equations(space, w, give=0.0):
    """Return f, and the forces, of unknowns: by the law, one contact and one moment at a time."""
    n, m, moments = map(int, space.sizes)
    x = w.copy()

    def shorten(at, bound):
        size = np.linalg.norm(w[at])
        x[at] = w[at] * min(1.0, bound / size) if size > 0.0 else 0.0

    for i in range(0, 3 * n, 3):
        x[i] = max(w[i], 0.0)
        shorten(slice(i + 1, i + 3), x[i])
    rows = slice(3 * n, 3 * n + m)
    x[rows] = np.clip(w[rows], space.low[:m], space.high[:m])
    for k in range(moments):
        i, bound = 3 * n + m + k, x[3 * space.moment_contact[k]]
        if space.part[k] < 2:
            shorten(slice(i, i + 1 + space.part[k]), bound)
    return space.A @ x + space.b + give * x - UNIT * (x - w), x


def random_problem(rng, rows=2):
    """Return contacts with moments and rows, all coupled."""
    problem = with_moments(rng, 4, 60, rows=rows)
    low, high = np.array([-0.3, 0.0])[:rows], np.array([0.3, np.inf])[:rows]
    return friction_problem(
        problem.G, problem.g, problem.friction, low, high,
        torsion=problem.torsion, rolling=problem.rolling,
    )  # fmt: skip


@pytest.mark.parametrize('give', [0.0, 1e-2])
def test_the_equations_are_those_of_the_law(give):
    rng = np.random.default_rng(0)
    for _ in range(50):
        space, _ = space_of(random_problem(rng))
        space.w[:] = rng.normal(size=len(space.b))
        f, x = equations(space, space.w, give)
        assert_allclose(evaluate(space, UNIT, give), np.linalg.norm(f), rtol=1e-12)
        assert_allclose(space.x, x, rtol=1e-12, atol=1e-14)
        assert_allclose(space.rest, -f, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize('slides', [False, True])
def test_a_step_removes_the_equations_to_first_order(slides):
    """By differences of the equations along the step; some open, stick, slide, are at bounds."""
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(50):
        space, _ = space_of(random_problem(rng))
        space.w[:] = rng.normal(size=len(space.b))
        if not slides:
            # All closed, and within all discs.
            space.w[0:12:3] = 10.0
        evaluate(space, UNIT, 0.0)
        f, _ = equations(space, space.w)
        find_step(space, UNIT, 0.0)
        step = 1e-6
        forward, x = equations(space, space.w + step * space.change)
        slope = (forward - f) / step
        assert_allclose(slope, -f, atol=2e-4 * (1.0 + np.abs(space.change).max()))
        tangent = np.linalg.norm(space.w[:12].reshape(4, 3)[:, 1:], axis=1)
        seen |= {(normal > 0.0, size > normal) for normal, size in zip(space.w[0:12:3], tangent)}
    # Open contacts have no friction limit.
    open_ones, sticking, sliding = (False, True), (True, False), (True, True)
    assert seen == ({open_ones, sticking, sliding} if slides else {sticking})


def test_compliance_shortens_a_step():
    """As added to the matrix, of contacts that stick."""
    space, _ = space_of(box_on_plane(8)[0])
    refresh(space)
    enter_unknowns(space, UNIT)
    evaluate(space, UNIT, 0.0)
    for added in (1e-6, 1e-2, 1.0):
        find_step(space, UNIT, added)
        expected = np.linalg.solve(space.A + added * np.eye(24), space.rest)
        assert_allclose(space.change, expected, rtol=1e-6, atol=1e-8)


def test_it_converges_quadratically_next_to_the_solution():
    rng = np.random.default_rng(2)
    for _ in range(20):
        problem = random_problem(rng)
        space, scale = space_of(problem)
        x = solve_friction(problem, tolerance=1e-13).force / scale
        space.x[:] = x * (1.0 + 1e-5 * rng.normal(size=len(x)))
        refresh(space)
        before = residual(space)
        space.report[TOLERANCE] = 1e-13
        assert newton(space, 0.0, 2, 0.0) or space.report[BEST] < 1e-4 * before
        assert newton(space, 0.0, 6, 0.0)
        assert_allclose(space.x, x, atol=1e-8 * (1.0 + np.abs(x).max()))


def test_each_state_is_found_from_any_start():
    for free in ([-1.0, 3.0, 1.0], [-1.0, 0.1, 0.1], [0.5, 1.0, 0.0]):
        problem = friction_problem(np.eye(3), free, [0.5])
        expected = solve_friction(problem, 'sweeps').force
        for start in ([0.0, 0.0, 0.0], [2.0, 0.1, 0.0], [1.0, 1.0, 0.0], [1.0, -0.6, 0.8]):
            space, scale = space_of(problem)
            space.x[:] = start
            assert newton(space, 0.0, 30, 0.0)
            assert_allclose(scale * space.x, expected, atol=1e-10)


def test_a_search_does_not_let_the_equations_grow():
    """By more than what is allowed; where no part of the step will do, nothing moves."""
    rng = np.random.default_rng(3)
    lengths = set()
    for _ in range(300):
        space, _ = space_of(random_contacts(rng, 8, 12, 1e4))
        space.w[:] = 3.0 * rng.normal(size=24)
        size = evaluate(space, UNIT, 0.0)
        find_step(space, UNIT, 1e-9)
        if rng.random() < 0.3:
            space.change[:] *= -1.0
        w = space.w.copy()
        length, found = search(space, UNIT, 0.0, size, 0.0)
        lengths.add(length)
        assert_allclose(space.w, w + length * space.change, rtol=1e-9, atol=1e-9)
        assert_allclose(found, np.linalg.norm(equations(space, space.w)[0]), rtol=1e-9)
        assert found < size if length > 0.0 else found == pytest.approx(size, rel=1e-9)
    assert lengths == {0.0, *(0.5**k for k in range(HALVES + 1))}


@pytest.mark.parametrize('center', [0.0, 0.3])
def test_contacts_that_yield_share_a_load(center):
    """Of redundant ones with a compliance each, forces are unique: those of the law with it."""
    problem, _ = box_on_plane(8)
    give = 1e-3
    space, _ = space_of(problem)
    rng = np.random.default_rng(4)
    space.center[:] = center * np.tile([1.0, 0.1, 0.1], 8)
    expected = np.linalg.solve(space.A + give * np.eye(24), give * space.center - space.b)
    for _ in range(5):
        space.x[:] = np.abs(rng.normal(size=24))
        assert newton(space, give, 50, 0.0)
        assert_allclose(space.x, expected, atol=1e-8)


def test_failed_attempts_leave_the_best_forces():
    rng = np.random.default_rng(5)
    failed = 0
    for _ in range(20):
        space, _ = space_of(random_contacts(rng, 8, 12, 1e4))
        space.x[:] = np.abs(rng.normal(size=24)) * np.tile([1.0, 0.2, 0.2], 8)
        refresh(space)
        residual(space)
        if not newton(space, 0.0, 2, 0.0):
            failed += 1
            assert (space.x == space.best).all()
            u = space.u.copy()
            refresh(space)
            assert (space.u == u).all() and residual(space) == space.report[BEST]
    assert failed > 10


def test_a_turning_stack_takes_few_steps():
    velocity = (0, 0, 1.0, 0.1, 0, 0, 0, 0, -1.0, 0, 0.2, 0)
    found = solve_friction(stack(1.0, 1.0, velocity=velocity)[0])
    assert found.converged and found.iterations[0] == 0 and found.iterations[1] < 60
