# SPDX-License-Identifier: Apache-2.0
"""Newton's method with states of contacts, and ADMM that gives it states to begin with."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import box_on_plane, random_contacts, stack

from rbd_ros.constraints import friction_problem, solve_friction
from rbd_ros.constraints.friction_solution import scaled_space
from rbd_ros.constraints.friction_space import (
    BEST,
    NEWTON_STEPS,
    OPEN,
    refresh,
    residual,
    SLIDE,
    STICK,
    TOLERANCE,
)
from rbd_ros.constraints.solvers.friction_admm import admm, states_of
from rbd_ros.constraints.solvers.friction_newton import (
    assemble,
    limit_step,
    list_unknowns,
    newton,
    open_contact,
)


def space_of(problem):
    """Return the space of a problem, ready for parts of the solver."""
    space, scale = scaled_space(problem)
    space.report[BEST], space.report[TOLERANCE] = math.inf, 1e-10
    return space, scale


def put(space, x):
    """Enter forces, with the states that belong to them."""
    space.x[:] = x
    refresh(space)
    for c, f in enumerate(np.reshape(x, (-1, 3))):
        size = math.hypot(f[1], f[2])
        space.state[c] = OPEN if f[0] <= 0.0 else STICK if size < f[0] * (1 - 1e-9) else SLIDE
        if space.state[c] == SLIDE:
            space.slip_direction[c] = -f[1:] / size


def test_it_converges_quadratically_next_to_the_solution():
    rng = np.random.default_rng(0)
    states = set()
    for _ in range(20):
        problem = random_contacts(rng, 5, 20)
        space, scale = space_of(problem)
        x = solve_friction(problem, tolerance=1e-12).force / scale
        put(space, x)
        states |= set(space.state)
        moved = x.copy()
        for c in range(5):
            part = moved[3 * c : 3 * c + 3]
            part *= 1.0 + 1e-5 * rng.normal()
            turn = 1e-5 * rng.normal() if space.state[c] == SLIDE else 0.0
            part[1:] = part[1:] @ [
                [math.cos(turn), math.sin(turn)],
                [-math.sin(turn), math.cos(turn)],
            ]
        put(space, moved)
        before = residual(space)
        assert newton(space, 1, False) or space.report[BEST] < 1e-3 * before
        assert newton(space, 4, False)
        assert_allclose(space.x, x, atol=1e-8 * (1.0 + np.abs(x).max()))
    assert states == {OPEN, STICK, SLIDE}


def test_the_jacobian_is_the_slope_of_the_equations():
    """By differences of u at the unknowns: forces of sticking ones, size and angle of sliding."""
    rng = np.random.default_rng(1)
    space, _ = space_of(random_contacts(rng, 3, 12))
    w = np.array([0.6, -0.8])
    put(space, [2.0, 0.3, -0.4, 1.5, *(-1.5 * w), 0.0, 0.0, 0.0])
    assert list(space.state) == [STICK, SLIDE, OPEN]
    # A velocity along the direction, as of what slides.
    space.b[4:6] += 3.0 * w - space.u[4:6]
    refresh(space)
    assert list_unknowns(space) == 5
    assemble(space, 5)

    def equations(s):
        turn = s[4] / 1.5
        c, d = math.cos(turn), math.sin(turn)
        t = np.array([w[0] * c - w[1] * d, w[1] * c + w[0] * d])
        n = 1.5 + s[3]
        x = np.array([2.0 + s[0], 0.3 + s[1], -0.4 + s[2], n, *(-n * t), 0.0, 0.0, 0.0])
        u = space.A @ x + space.b
        return np.array([*u[:4], t[1] * u[4] - t[0] * u[5]])

    step = 1e-6
    slopes = [(equations(step * e) - equations(-step * e)) / (2 * step) for e in np.eye(5)]
    assert_allclose(space.factor[:5, :5], np.transpose(slopes), atol=1e-8)
    assert_allclose(space.step[:5], -equations(np.zeros(5)), atol=1e-12)


@pytest.mark.parametrize('case', ['slide', 'stick', 'open'])
def test_wrong_states_are_corrected(case):
    """From a sticking contact without force."""
    free = {'slide': [-1.0, 3.0, 1.0], 'stick': [-1.0, 0.1, 0.1], 'open': [0.5, 1.0, 0.0]}[case]
    problem = friction_problem(np.eye(3), free, [0.5])
    for state in (OPEN, STICK, SLIDE):
        space, scale = space_of(problem)
        refresh(space)
        space.state[0] = state
        space.slip_direction[0] = [1.0, 0.0]
        assert newton(space, 20, False)
        assert_allclose(scale * space.x, solve_friction(problem, 'sweeps').force, atol=1e-10)


def test_failed_attempts_leave_the_best_forces():
    rng = np.random.default_rng(5)
    failed = 0
    for _ in range(20):
        space, _ = space_of(random_contacts(rng, 8, 12, 1e4))
        put(space, np.abs(rng.normal(size=24)) * np.tile([1.0, 0.2, 0.2], 8))
        residual(space)
        if not newton(space, 2, False):
            failed += 1
            assert (space.x == space.best).all()
            u = space.u.copy()
            refresh(space)
            assert (space.u == u).all() and residual(space) == space.report[BEST]
    assert failed > 10


def test_a_failed_attempt_leaves_the_best_forces():
    problem, _ = stack()
    space, _ = space_of(problem)
    space.state[:] = STICK
    refresh(space)
    residual(space)
    best = space.report[BEST]
    if not newton(space, 1, False):
        refresh(space)
        assert residual(space) <= best


def test_admm_alone_identifies_states():
    for problem in (box_on_plane(8)[0], box_on_plane(8, (0, 0, 0, 1, 0.2, 0))[0], stack()[0]):
        space, _ = space_of(problem)
        assert admm(space, 2000, False)
        states_of(space)
        assert newton(space, 3, False)
        assert space.report[NEWTON_STEPS] <= 3.0


def test_admm_does_not_need_newton():
    rng = np.random.default_rng(3)
    for _ in range(5):
        problem = random_contacts(rng, 6, 24)
        found = solve_friction(problem, 'admm')
        assert found.converged and found.iterations[:2] == (0, 0)
        expected = solve_friction(problem, tolerance=1e-12)
        assert_allclose(found.velocity, expected.velocity, atol=1e-7)


def test_states_of_several_rows_are_corrected():
    """A contact and three rows, all of them free or all at their bounds in the beginning."""
    rng = np.random.default_rng(4)
    for _ in range(10):
        J = rng.normal(size=(6, 30))
        problem = friction_problem(
            J @ J.T / 30.0, rng.normal(size=6), [0.5], [0.0, -0.2, -np.inf], [np.inf, 0.2, np.inf]
        )
        expected = solve_friction(problem, 'sweeps', tolerance=1e-12)
        assert expected.converged
        for state in (OPEN, STICK):
            space, scale = space_of(problem)
            space.state[:] = state
            refresh(space)
            assert newton(space, 30, False)
            assert_allclose(scale * space.x, expected.force, atol=1e-8)


def test_a_careful_step_ends_where_the_first_contact_opens():
    problem, _ = box_on_plane(4)
    for desired, opening in (([0.4, 0.1, 0.3, 0.2], -1), ([-0.2, 0.1, -0.9, 0.3], 2)):
        space, _ = space_of(problem)
        put(space, np.tile([0.3, 0.01, 0.0], 4))
        count = list_unknowns(space)
        space.step[:count] = 0.05
        for c in range(4):
            space.step[space.normal[c]] = desired[c] - 0.3
        assert limit_step(space, count) == opening
        share = 0.3 / 1.2 if opening == 2 else 1.0
        assert_allclose(space.step[space.normal], share * (np.array(desired) - 0.3), rtol=1e-14)
        assert_allclose(space.step[1], share * 0.05, rtol=1e-14)
    open_contact(space, 2)
    assert space.state.tolist() == [STICK, STICK, OPEN, STICK]
    assert_allclose(space.x.reshape(4, 3), [[0.3, 0.01, 0.0]] * 2 + [[0] * 3] + [[0.3, 0.01, 0.0]])
