# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scaled problems: numbers of order one, residuals against a projection by hand."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import random_contacts, stack
from support.friction_loops import Coefficients, scale_alone

from rbd_ros.compiler.loops import allocate, Record, Vec
from rbd_ros.constraints import friction_problem, solve_friction
from rbd_ros.constraints.friction_solution import scaled_space
from rbd_ros.constraints.friction_space import (
    BEST,
    contact_residual,
    energy_line_search,
    find_floor,
    FLOOR,
    FrictionSpace,
    is_small,
    refresh,
    residual,
    TOLERANCE,
    unscale_forces,
)
from rbd_ros.constraints.solvers.friction_solver import (
    COMBINED,
    solve_friction_space,
    solve_space,
    SWEEPS_ALONE,
)


def projection(w):
    """Return the nearest point of the Lorentz cone, by its three cases."""
    size = np.linalg.norm(w[1:])
    if size <= w[0]:
        return w.copy()
    if size <= -w[0]:
        return np.zeros(3)
    return 0.5 * (w[0] + size) * np.array([1.0, *(w[1:] / size)])


def test_residuals_of_any_contact():
    rng = np.random.default_rng(0)
    for _ in range(500):
        x, u = rng.normal(size=3) * rng.choice([0.1, 1.0, 10.0]), rng.normal(size=3)
        shifted = u + [np.linalg.norm(u[1:]), 0.0, 0.0]
        expected = np.linalg.norm(x - projection(x - shifted))
        assert_allclose(contact_residual(Vec(*x), Vec(*u)), expected, atol=1e-12)


def test_residuals_of_rows():
    """Residual of x: x minus the nearest admissible force to x - u."""
    rng = np.random.default_rng(8)
    problem = friction_problem(
        np.eye(4),
        np.zeros(4),
        np.zeros((0, 2)),
        [-np.inf, 0.0, -1.0, -1.0],
        [np.inf, np.inf, 1, 1],
    )
    for _ in range(200):
        space, _ = scaled_space(problem)
        space.x[:], space.u[:] = rng.normal(size=4), rng.normal(size=4)
        expected = np.abs(space.x - np.clip(space.x - space.u, problem.low, problem.high))
        assert_allclose(residual(space), expected.max(), atol=1e-14)
    space.x[:], space.u[:] = 1e6, [3e-12, 0, 0, 0]
    space.high[:] = np.inf
    assert_allclose(residual(space), 3e-12, rtol=1e-9)


def test_residuals_of_small_velocities_under_large_forces_are_exact():
    x, u = np.array([1e6, 1e5, -1e5]), np.array([3e-12, 4e-12, 0.0])
    assert_allclose(contact_residual(Vec(*x), Vec(*u)), math.hypot(7e-12, 4e-12), rtol=1e-9)


def test_blocks_have_ones_on_the_diagonal_and_velocities_are_at_most_one():
    rng = np.random.default_rng(1)
    for rough in (random_contacts(rng, 4, 12, 1e6), stack()[0]):
        G = np.zeros((len(rough.g) + 2,) * 2)
        G[:-2, :-2], G[-2:, -2:] = rough.G, np.diag([5.0, 0.0])
        problem = friction_problem(
            G, [*rough.g, 0.3, 0.0], rough.friction, [-1.0, 0.0], compliance=0.5
        )
        space, scale = scaled_space(problem)
        n = problem.contacts
        diagonal = np.diag(space.A)
        assert_allclose(diagonal[: 3 * n].reshape(n, 3).max(axis=1), 1.0)
        assert_allclose(diagonal[3 * n :], 1.0)
        assert_allclose(np.abs(space.b).max(), 1.0)
        # The cone stays a cone, and velocities are those of the problem.
        for c in range(n):
            expected = scale[3 * c] * problem.friction[c]
            assert_allclose(scale[3 * c + 1 : 3 * c + 3], expected)
        x = rng.normal(size=len(scale))
        v = problem.velocity(scale * x) + problem.compliance * scale * x
        unit = (space.A @ x + space.b) / (scale * v)
        assert_allclose(unit, unit[0], rtol=1e-9)
        assert_allclose(space.low * scale[3 * n :], problem.low)


def test_the_best_forces_are_stored():
    space, _ = scaled_space(random_contacts(np.random.default_rng(2), 3, 9))
    space.report[BEST] = math.inf
    rng = np.random.default_rng(3)
    least, best = math.inf, None
    for _ in range(20):
        space.x[:] = rng.normal(size=9)
        refresh(space)
        now = residual(space)
        if now < least:
            least, best = now, space.x.copy()
        assert space.report[BEST] == least and (space.best == best).all()
    space.x[:] = 1e6
    find_floor(space)
    assert_allclose(
        space.report[FLOOR],
        8.0 * np.finfo(float).eps * (np.abs(space.A) @ space.x + np.abs(space.b)).max(),
    )
    assert 1e-10 < space.report[FLOOR] < 1e-7


@pytest.mark.parametrize('size', [1e-3, 1.0, 1e3])
def test_forces_that_solve_nothing_add_no_energy(size):
    """The part of them is left that takes the most away, forces of a solution are left alone."""
    rng = np.random.default_rng(8)
    shortened = 0
    for problem in [random_contacts(rng, 3, 9) for _ in range(20)] + [
        problem_with_rows(rng, 2) for _ in range(20)
    ]:
        space, _ = scaled_space(problem)
        for c in range(problem.contacts):
            space.x[3 * c : 3 * c + 3] = projection(size * rng.normal(size=3))
        rows = slice(3 * problem.contacts, None)
        space.x[rows] = np.clip(size * rng.normal(size=len(space.x[rows])), space.low, space.high)
        refresh(space)
        x = space.x.copy()
        energy_line_search(space)
        part = space.x @ x / (x @ x)
        assert 0.0 <= part <= 1.0
        shortened += 0.0 < part < 1.0
        assert_allclose(space.x, part * x, rtol=1e-13)
        assert_allclose(space.u, space.A @ space.x + space.b, rtol=1e-12, atol=1e-12)
        assert space.x @ space.u <= 1e-12 * np.abs(space.x) @ np.abs(space.b)
        parts = np.linspace(0.0, 1.0, 101)
        energies = parts * (x @ space.b) + 0.5 * parts**2 * (x @ space.A @ x)
        least = part * (x @ space.b) + 0.5 * part**2 * (x @ space.A @ x)
        assert least <= energies.min() + 1e-12 * np.abs(energies).max()
        assert solve_friction_space(space, COMBINED, 500, 1e-12)
        solution = space.x.copy()
        energy_line_search(space)
        assert_allclose(space.x, solution, rtol=1e-9)
    assert shortened > 0 or size < 1.0


@pytest.mark.parametrize('contact', range(3))
def test_a_residual_that_is_not_a_number_is_worse_than_all_after_it(contact):
    space, _ = scaled_space(random_contacts(np.random.default_rng(2), 3, 9))
    space.x[:], space.u[:] = 0.0, np.tile([1.0, 0.0, 0.0], 3)
    assert residual(space) == 0.0  # all of them part
    for forces in (True, False):
        space.report[BEST], space.x[:] = math.inf, 0.0
        space.u[:] = np.tile([1.0, 0.0, 0.0], 3)
        (space.x if forces else space.u)[3 * contact + 1] = math.nan
        assert residual(space) == math.inf
        assert not is_small(space, residual(space)) and space.report[BEST] == math.inf


def test_rounding_excuses_small_residuals_alone():
    space, _ = scaled_space(random_contacts(np.random.default_rng(2), 3, 9))
    for size, excused in ((1.0, 1e-15), (1e4, 1e-12), (1e15, 1e-8)):
        space.report[TOLERANCE], space.x[:] = 1e-16, size
        assert is_small(space, excused) and not is_small(space, 2e-7)
        # That it is more than what rounding can do is seen without finding out what that is.
        floor = space.report[FLOOR]
        find_floor(space)
        assert space.report[FLOOR] <= floor <= 1e3 * space.report[FLOOR]
    assert not is_small(space, math.nan)


def test_an_unsolved_problem_ends_with_the_best_forces():
    rng = np.random.default_rng(5)
    unsolved = 0
    for _ in range(20):
        problem = random_contacts(rng, 8, 6, 1e6)
        for method in (COMBINED, SWEEPS_ALONE):
            space, _ = scaled_space(problem)
            if solve_friction_space(space, method, 25, 1e-10):
                continue
            unsolved += 1
            best = space.best.copy()
            assert (space.x == best).all()
            refresh(space)
            assert_allclose(residual(space), space.report[BEST], rtol=1e-3, atol=1e-9)
    assert unsolved > 10


def test_sweeps_alone_use_all_that_they_may():
    for limit in (1, 2, 50):
        found = solve_friction(stack()[0], 'sweeps', iterations=limit)
        assert not found.converged and found.iterations == (limit, 0)


def test_a_hard_problem_without_a_solution_yet_has_no_certificate():
    """Two soft walls that face each other: one sweep does not solve it, but forces exist."""
    wall = np.eye(3)
    J = np.vstack([wall, wall * [[-1.0], [1.0], [1.0]]])
    problem = friction_problem(J @ J.T, [-1.0, 0, 0, -1.0, 0, 0], [0.5, 0.5], compliance=0.1)
    found = solve_friction(problem, 'sweeps', iterations=1)
    assert not found.converged and found.certificate is None
    assert solve_friction(problem).converged


def problem_with_rows(rng, contacts, ratio=10.0):
    """Return random contacts, and two rows of which one has bounds."""
    J = rng.normal(size=(3 * contacts + 2, 3 * contacts + 6))
    inertia = ratio ** rng.uniform(-0.5, 0.5, J.shape[1])
    return friction_problem(
        J / inertia @ J.T,
        rng.normal(size=len(J)),
        rng.uniform(0.1, 1.0, contacts),
        [-np.inf, -0.1],
        [np.inf, 0.1],
    )


def test_a_problem_is_scaled_where_it_lies():
    """Machine code scales it in a larger space as NumPy does in an exact one."""
    rng = np.random.default_rng(7)
    still = friction_problem(np.zeros((4, 4)), np.zeros(4), [0.5])
    smooth = random_contacts(rng, 2, 6)
    smooth = friction_problem(smooth.G, smooth.g, [[0.0, 0.0], [0.3, 0.0]])
    for problem in (problem_with_rows(rng, 3, 1e6), stack()[0], still, smooth):
        n, size = problem.contacts, len(problem.g)
        own, scale = scaled_space(problem)
        room = allocate(FrictionSpace, N=size + 4, n=n + 1, m=size - 3 * n + 1)
        coefficients = allocate(Coefficients, n=n + 1)
        for array in room:
            array[...] = np.nan if array.dtype == float else 0
        start = rng.normal(size=size)
        room.sizes[:], room.A[:size, :size] = own.sizes, problem.G
        room.b[:size], room.x[:size], coefficients.friction[:n] = (
            problem.g,
            start,
            problem.friction,
        )
        room.low[: size - 3 * n], room.high[: size - 3 * n] = problem.low, problem.high
        scale_alone(Record(room), Record(coefficients))
        assert_allclose(room.scale[:size], scale, rtol=1e-14)
        for name, expected in (('A', own.A), ('b', own.b), ('low', own.low), ('high', own.high)):
            array = getattr(room, name)
            part = tuple(slice(0, k) for k in expected.shape)
            assert_allclose(array[part], expected, rtol=1e-14)
            array[part] = np.nan
            assert np.isnan(array).all()
        assert_allclose(room.x[:size] * scale, np.where(scale > 0.0, start, 0.0), rtol=1e-14)
        unscale_forces(room)
        assert_allclose(room.x[:size], np.where(scale > 0.0, start, 0.0), rtol=1e-14)
        assert np.isnan(room.x[size:]).all() and np.isnan(room.scale[size:]).all()


@pytest.mark.parametrize('method', [COMBINED, SWEEPS_ALONE])
def test_one_space_serves_problems_of_any_size(method):
    """Results are bitwise those in an exact space; other memory is neither read nor written."""
    rng = np.random.default_rng(6)
    n, m = 7, 5
    room = allocate(FrictionSpace, N=3 * n + m, n=n, m=m)
    record = Record(room)
    problems = [problem_with_rows(rng, contacts) for contacts in (7, 2, 0, 4)]
    problems += [random_contacts(rng, 5, 4, 1e6)]  # which takes all methods
    for problem in problems:
        own, _ = scaled_space(problem)
        for array in room:
            array[...] = np.nan if array.dtype == float else -(2**62)
        room.sizes[:] = own.sizes
        taken = []
        for mine, its in zip(room[1:], own[1:]):
            part = tuple(slice(0, k) for k in its.shape)
            mine[part] = its
            taken.append((mine, its, part))
        expected = solve_space(Record(own), method, 300, 1e-10)
        assert solve_space(record, method, 300, 1e-10) == expected
        for mine, its, part in taken:
            assert np.array_equal(mine[part], its, equal_nan=True)
            mine[part] = np.nan if mine.dtype == float else -(2**62)
            assert np.isnan(mine).all() if mine.dtype == float else (mine == -(2**62)).all()
