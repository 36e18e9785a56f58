# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quadratic program in the accelerations (book eq 11.44), against forces and a minimizer."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.optimize import minimize
from support.complementarity import random_problem
from support.contacts import random_geometry
from support.states import every_robot, named_robot, random_state

from rbd_ros.textbook.complementarity import (
    gauss,
    InfeasibleContactError,
    NotSolvedError,
    solve_gauss,
    solve_lcp,
)


@pytest.mark.seed('CN08', kind='full')
@pytest.mark.parametrize('contacts', [2, 12])
@every_robot
def test_accelerations_are_those_of_the_contact_forces(name, contacts):
    """With fewer contacts than degrees of freedom and with more: a = free + H^-1 T lambda."""
    robot = named_robot(name)
    names = robot.body_names
    rng = np.random.default_rng(contacts)
    pairs = [(None, names[-1]), (names[0], names[-1])] * (contacts // 2)
    functions = robot.contacts.between(pairs)
    solved = 0
    for seed in range(6):
        q, v, tau = random_state(robot, seed)
        geometry = random_geometry(rng, contacts, False)
        terms = functions.equations(q, v, tau, *geometry)
        # A motion that opens all contacts shall exist: its bias is what it lacks, and more.
        bias = np.abs(terms.d) * rng.random(contacts) - terms.T.T @ rng.normal(size=robot.nv)
        d = terms.T.T @ terms.free + bias
        H = robot.mass_matrix(q)
        found = solve_gauss(H, terms.free, terms.T, bias)
        for method in ('lemke', 'qp'):
            expected = solve_lcp(terms.M, d, method)
            a = terms.free + terms.response @ expected.force
            assert_allclose(found.a, a, atol=1e-7 * (1.0 + np.abs(a).max()))
            size = 1.0 + np.abs(d).max()
            assert_allclose(found.acceleration, expected.acceleration, atol=1e-7 * size)
        joint_force = terms.T @ found.force
        assert_allclose(
            H @ (found.a - terms.free), joint_force, atol=1e-8 * (1 + np.abs(joint_force).max())
        )
        assert np.linalg.matrix_rank(terms.T[:, found.active], 1e-9) == found.active.sum()
        solved += found.active.any()
    assert solved >= 2


@pytest.mark.seed('CN08', kind='full')
def test_no_motion_that_is_allowed_is_nearer_to_the_free_one():
    """Against a general minimizer with linear constraints."""
    rng = np.random.default_rng(7)
    for _ in range(8):
        _, T, H, bias = random_problem(rng, 9, 4, 'feasible')
        free = rng.normal(size=4)
        found = solve_gauss(H, free, T, bias)

        def value(a, H=H, free=free):
            return 0.5 * (a - free) @ H @ (a - free)

        best = minimize(
            value,
            np.linalg.lstsq(T.T, np.abs(bias) + 1.0, rcond=None)[0],
            jac=lambda a, H=H, free=free: H @ (a - free),
            constraints={
                'type': 'ineq',
                'fun': lambda a, T=T, b=bias: T.T @ a + b,
                'jac': lambda a, T=T: T.T,
            },
            method='SLSQP',
            options={'ftol': 1e-14, 'maxiter': 500},
        )
        assert (T.T @ found.a + bias).min() > -1e-9
        assert value(found.a) <= best.fun + 1e-7 * (1.0 + best.fun)


@pytest.mark.seed('CN08', 'CN03', kind='full')
def test_motions_that_all_penetrate_are_rejected_with_a_proof():
    H, T = np.diag([2.0, 3.0]), np.array([[1.0, -0.5, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(InfeasibleContactError, match='contacts 0, 1') as caught:
        solve_gauss(H, [0.0, 0.0], T, [1.0, -0.6, 3.0])
    assert_allclose(caught.value.certificate, [1 / 3, 2 / 3, 0.0])
    assert caught.value.rate == pytest.approx(1 / 3 - 0.4)
    found = solve_gauss(H, [0.0, 0.0], T, [1.0, -0.4, 3.0])
    assert_allclose(found.a, [-0.8, 0.0], atol=1e-14)
    assert_allclose(found.force, [0.0, 3.2, 0.0], atol=1e-13)
    assert found.acceleration[1] == 0.0 and found.active.tolist() == [False, True, False]
    # A contact that no motion changes, with nothing to lose and with something.
    fixed = np.array([[0.0], [0.0]])
    assert not solve_gauss(H, [0.0, 0.0], fixed, [0.0]).force.any()
    with pytest.raises(InfeasibleContactError) as caught:
        solve_gauss(H, [0.0, 0.0], fixed, [-1.0])
    assert caught.value.certificate.tolist() == [1.0] and caught.value.rate == -1.0


def test_rounding_errors_are_not_active():
    found = solve_gauss(np.eye(2), [0.0, 0.0], np.eye(2), [-1.0, -1e-13])
    assert found.active.tolist() == [True, False] and found.iterations == 1
    assert solve_gauss(np.eye(2), [0.0, 0.0], np.eye(2), [-1.0, -1e-9]).active.all()
    for small, pushed in ((-5e-12, False), (-2e-11, True)):
        found = solve_gauss(np.eye(2), [0.0, 0.0], np.eye(2), [-1.0, small])
        assert found.active.tolist() == [True, pushed]


def test_the_threshold_of_rounding_grows_with_the_forces():
    """A wedge drives two contacts apart by some 800 times the force that a third one has not."""
    wedge = np.array([[1.0, -np.cos(0.05), 0.0], [0.0, np.sin(0.05), 0.0], [0.0, 0.0, 1.0]])
    for small, pushed in ((-5e-11, False), (-2e-10, True)):
        found = solve_gauss(np.eye(3), np.zeros(3), wedge, [-1.0, -1.0, small])
        assert 700.0 < found.force.max() < 900.0
        assert found.active.tolist() == [True, True, pushed]


def test_how_near_to_having_none_a_problem_is_taken_to_have_a_solution():
    across = np.array([[1.0, -1.0]])
    assert solve_gauss(np.eye(1), [0.0], across, [1.0, -1.0 - 1.5e-9]).active.tolist() == [
        False,
        True,
    ]
    with pytest.raises(InfeasibleContactError):
        solve_gauss(np.eye(1), [0.0], across, [1.0, -1.0 - 3e-9])


def test_it_stops_at_its_limit_of_steps(monkeypatch):
    problem = (np.eye(2), [-1.0, -1.0], np.eye(2), [0.0, 0.0])
    assert solve_gauss(*problem).iterations == 2
    monkeypatch.setattr(gauss, 'STEPS', 1)
    assert solve_gauss(*problem).iterations == 2
    monkeypatch.setattr(gauss, 'STEPS', 0)
    with pytest.raises(NotSolvedError, match='not converge within 0 steps'):
        solve_gauss(*problem)


@pytest.mark.parametrize(
    'H, free, T, bias, message',
    [
        (np.eye(3), np.zeros(2), np.zeros((2, 1)), [0.0], r'H must have shape \(2, 2\)'),
        (np.eye(2), np.zeros(2), np.zeros((1, 2)), [0.0], r'T \(2, 1\)'),
        (np.eye(2), [0.0, np.nan], np.zeros((2, 1)), [0.0], 'finite'),
    ],
)
def test_bad_programs_are_rejected(H, free, T, bias, message):
    with pytest.raises(ValueError, match=message):
        solve_gauss(H, free, T, bias)
    with pytest.raises(np.linalg.LinAlgError):
        solve_gauss(-np.eye(2), np.zeros(2), np.zeros((2, 1)), [0.0])
