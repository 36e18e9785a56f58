# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact problems: every solver against enumeration of active sets."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.complementarity import enumerated, random_problem

from rbd_ros.textbook.complementarity import (
    infeasibility,
    InfeasibleContactError,
    lcp,
    NotSolvedError,
    solve_gauss,
    solve_lcp,
)
from rbd_ros.textbook.complementarity.lcp import METHODS

KINDS = ('any', 'feasible', 'tied')
every_method = pytest.mark.parametrize('method', [*METHODS, 'gauss'])


def solved(method, M, T, H, d):
    if method == 'gauss':  # with all of d as the bias, the free motion is none
        return solve_gauss(H, np.zeros(len(H)), T, d)
    return solve_lcp(M, d, method)


@pytest.mark.seed('CN06', 'CN07', 'CN08', kind='full')
@pytest.mark.parametrize('kind', KINDS)
@every_method
def test_solutions_are_those_of_brute_force(method, kind):
    """Up to 7 contacts, of any rank: unique accelerations and forces T lambda, or a proof."""
    rng = np.random.default_rng(1)
    counts = {True: 0, False: 0}
    for _ in range(250):
        contacts, rank = rng.integers(1, 8, 2)
        M, T, H, d = random_problem(rng, contacts, rank, kind)
        expected = enumerated(M, d)
        counts[expected is None] += 1
        size = 1.0 + np.abs(d).max()
        if expected is None:
            with pytest.raises(InfeasibleContactError) as caught:
                solved(method, M, T, H, d)
            mu = caught.value.certificate
            assert mu.min() >= 0.0 and mu.sum() == pytest.approx(1.0)
            assert np.abs(M @ mu).max() < 1e-8 * np.abs(M).max()
            assert mu @ d == pytest.approx(caught.value.rate, rel=1e-9) and mu @ d < 0.0
            continue
        found = solved(method, M, T, H, d)
        force, rate = found.force, found.acceleration
        assert force.min() >= 0.0 and rate.min() > -1e-8 * size
        assert np.abs(force * rate).max() <= 1e-9 * size * (1.0 + force.max())
        assert_allclose(M @ force + d, rate, atol=1e-8 * size * (1.0 + np.abs(M @ force).max()))
        assert_allclose(rate, expected[1], atol=1e-7 * size)
        assert_allclose(T @ force, T @ expected[0], atol=1e-6 * (1.0 + np.abs(T @ force).max()))
        assert np.array_equal(found.active, force > 0.0)
        # Basic: normals of positive forces are independent.
        columns = T[:, found.active]
        assert np.linalg.matrix_rank(columns, 1e-9) == columns.shape[1]
        if np.linalg.cond(M) < 1e6:
            assert_allclose(force, expected[0], atol=1e-6 * (1.0 + np.abs(force).max()))
    assert counts[False] > 200
    assert (counts[True] > 5) == (kind == 'any')


@pytest.mark.seed('CN03', kind='full')
@pytest.mark.parametrize('scale', [1.0, 1e-6, 1e6])
@every_method
def test_a_disc_in_a_narrowing_slot_has_no_solution_if_and_only_if_the_walls_close(method, scale):
    """M = m [[1, -1], [-1, 1]]: none if d_1 + d_2 < 0 (book example 11.1)."""
    m = 0.7
    T, H = np.array([[1.0, -1.0]]), np.array([[1.0 / m]])
    M = T.T @ np.linalg.solve(H, T)
    rng = np.random.default_rng(2)
    for total in (-5.0, -1e-3, -1e-6, 0.0, 1e-6, 1e-3, 5.0):
        for first in (-2.0, 0.0, 0.3, *rng.normal(size=3)):
            d = scale * np.array([first, total - first])
            if d.sum() < -1e-7 * scale:
                with pytest.raises(InfeasibleContactError, match='contacts 0, 1') as caught:
                    solved(method, M, T, H, d)
                assert caught.value.certificate == pytest.approx([0.5, 0.5])
                assert caught.value.rate == pytest.approx(d.sum() / 2.0, rel=1e-6)
            else:
                found = solved(method, M, T, H, d)
                assert found.acceleration.min() >= -1e-8 * np.abs(d).max()
                assert found.acceleration.sum() == pytest.approx(d.sum(), abs=2e-8 * scale)


@pytest.mark.seed('CN06', 'CN07', 'CN08', kind='full')
@pytest.mark.parametrize('ratio', [1e-8, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e8])
@every_method
def test_a_stack_of_two_cubes_of_any_masses_rests(method, ratio):
    """Four corners each, a light cube under a heavy one and vice versa: weights add up."""
    lower, upper, side, gravity = 1.0, ratio, 0.2, 9.81
    corners = 0.5 * side * np.array([[x, y] for x in (-1, 1) for y in (-1, 1)])
    # Degrees of freedom of each: vertical, and the two rotations about horizontal axes.
    arms = np.array([[1.0, y, -x] for x, y in corners]).T
    T = np.block([[arms, -arms], [np.zeros((3, 4)), arms]])
    turn = side**2 / 6.0
    H = np.diag([lower, lower * turn, lower * turn, upper, upper * turn, upper * turn])
    free = np.array([-gravity, 0.0, 0.0, -gravity, 0.0, 0.0])
    M = T.T @ np.linalg.solve(H, T)
    if method == 'gauss':
        found = solve_gauss(H, free, T, np.zeros(8))
    else:
        found = solve_lcp(M, T.T @ free, method)
    assert found.force[:4].sum() == pytest.approx((lower + upper) * gravity, rel=1e-6)
    assert found.force[4:].sum() == pytest.approx(upper * gravity, rel=1e-6)
    assert_allclose(found.acceleration, 0.0, atol=1e-6 * gravity)


@every_method
def test_normals_that_no_joint_can_follow_are_not_made_of_rounding_errors(method):
    """A slider and a contact across it, whose normal is zero but for rounding."""
    for noise, lack in ((0.0, 0.0), (1e-17, -1e-16), (-1e-16, 1e-16)):
        T, H = np.array([[1.0, noise]]), np.array([[2.0]])
        d = np.array([-9.81, lack])
        found = solved(method, T.T @ np.linalg.solve(H, T), T, H, d)
        assert_allclose(found.force, [2.0 * 9.81, 0.0], atol=1e-12)
        assert found.active.tolist() == [True, False]
        assert_allclose(found.acceleration, 0.0, atol=1e-12)
        d = np.array([-9.81, -1e-3])
        with pytest.raises(InfeasibleContactError, match='contacts 1 from') as caught:
            solved(method, T.T @ np.linalg.solve(H, T), T, H, d)
        assert caught.value.certificate == pytest.approx([0.0, 1.0])
        assert caught.value.rate == pytest.approx(-1e-3)


@pytest.mark.seed('CN03')
def test_a_certificate_explains_why_a_problem_has_no_solution():
    M = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert infeasibility(M, [1.0, -0.5]) is None
    error = infeasibility(M, [1.0, -1.5])
    assert 'allow a slight penetration' in str(error) and error.rate == -0.25


def test_a_problem_that_one_solver_leaves_is_solved_by_another(monkeypatch):
    def astray(problem):
        raise NotSolvedError('astray')

    M, d = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-3.0, 1.0])
    expected = solve_lcp(M, d)
    for method in METHODS:
        for failing in (astray, lambda problem: None):
            monkeypatch.setitem(lcp._SOLVERS, method, failing)
            assert_allclose(solve_lcp(M, d, method).force, expected.force, rtol=1e-12)
        monkeypatch.undo()
    for method in METHODS:
        monkeypatch.setitem(lcp._SOLVERS, method, astray)
    with pytest.raises(NotSolvedError, match='too badly conditioned'):
        solve_lcp(M, d)


@pytest.mark.parametrize('method', METHODS)
def test_each_solver_proves_by_itself_that_nothing_solves_a_problem(method, monkeypatch):
    """With forces at all contacts in the proof, and at some of them."""
    for other in set(METHODS) - {method}:
        monkeypatch.delitem(lcp._SOLVERS, other)
        monkeypatch.setattr(lcp, 'METHODS', (method,))
    wedged = np.array([[1.0, -1.0], [-1.0, 1.0]])
    beside = np.block([[wedged, np.zeros((2, 1))], [np.zeros((1, 2)), np.eye(1)]])
    for M, d in (([[0.0]], [-1.0]), (wedged, [1.0, -1.5]), (beside, [1.0, -1.5, 2.0])):
        with pytest.raises(InfeasibleContactError):
            solve_lcp(M, d, method)


@pytest.mark.seed('CN03')
@every_method
def test_a_problem_on_the_verge_of_having_no_solution_is_taken_to_have_one(method):
    T, H = np.array([[1.0, -1.0]]), np.eye(1)
    M = T.T @ T
    for gap in (1e-16, 1e-12, 1e-10, 1e-9):
        found = solved(method, M, T, H, np.array([1.0, -1.0 - gap]))
        assert np.abs(found.acceleration).max() < 5e-9
        assert found.force[1] - found.force[0] == pytest.approx(1.0, abs=1e-8)
    with pytest.raises(InfeasibleContactError):
        solved(method, M, T, H, np.array([1.0, -1.0 - 1e-8]))


@pytest.mark.parametrize(
    'M, d, message',
    [
        (np.eye(2), np.zeros(3), r'M must have shape \(r, r\)'),
        (np.eye(2), np.zeros((2, 1)), r'M must have shape \(r, r\)'),
        ([[1.0, 0.5], [0.4, 1.0]], [0.0, 0.0], 'symmetric'),
        ([[1.0, 2.0], [2.0, 1.0]], [0.0, 0.0], 'positive-semidefinite'),
        ([[-1.0]], [0.0], 'positive-semidefinite'),
        ([[np.nan]], [0.0], 'finite'),
        ([[1.0]], [np.inf], 'finite'),
    ],
)
def test_bad_problems_are_rejected(M, d, message):
    with pytest.raises(ValueError, match=message):
        solve_lcp(M, d)


def test_an_unknown_method_is_rejected():
    with pytest.raises(ValueError, match="unknown method 'pgs'; there are lemke, qp"):
        solve_lcp([[1.0]], [1.0], 'pgs')


@every_method
def test_no_contacts_and_no_forces(method):
    found = solved(method, np.zeros((0, 0)), np.zeros((2, 0)), np.eye(2), np.zeros(0))
    assert found.force.shape == found.acceleration.shape == (0,)
    free = solved(method, np.eye(2), np.eye(2), np.eye(2), np.array([0.0, 3.0]))
    assert not free.force.any() and free.acceleration.tolist() == [0.0, 3.0]
