# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quadratic program in the forces, and nonnegative least squares against SciPy's."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.optimize import minimize, nnls
from support.complementarity import enumerated, random_problem

from rbd_ros.constraints.friction import NotSolvedError
from rbd_ros.textbook.complementarity import force_qp as module
from rbd_ros.textbook.complementarity.force_qp import force_qp, nonnegative_least_squares
from rbd_ros.textbook.complementarity.lcp_problem import LcpProblem


@pytest.mark.seed('CN07', kind='full')
@pytest.mark.parametrize('kind', ['any', 'feasible', 'tied'])
def test_it_finds_the_minimum_or_a_ray_along_which_there_is_none(kind):
    rng = np.random.default_rng(8)
    for _ in range(300):
        contacts, rank = rng.integers(1, 8, 2)
        M, _, _, d = random_problem(rng, contacts, rank, kind)
        problem = LcpProblem.of(M, d)
        u, positive, steps = force_qp(problem.M, problem.d)
        assert np.array_equal(np.flatnonzero(u), positive) and steps <= 4 * contacts
        expected = enumerated(M, d)
        rho = 1.0 + problem.d @ u
        if expected is None:
            assert rho < 1e-9
            assert np.abs(problem.M @ u).max() < 1e-8 * u.sum()
        else:
            force = u / rho * problem.D * problem.unit
            scale = 1.0 + np.abs(d).max()
            assert_allclose(M @ force + d, expected[1], atol=1e-6 * scale / min(rho, 1.0))


def test_a_force_that_moves_nothing_is_zero_despite_rounding(monkeypatch):
    """Eigenvectors of some LAPACK have rounding errors where a row of M is zero."""
    M, d = np.diag([1.0, 0.0, 1.0]), np.array([-1.0, 0.0, 0.5])

    def rounded(matrix, eigh=np.linalg.eigh):
        values, vectors = eigh(matrix)
        vectors[1] -= 1e-16 * (vectors[1] == 0.0)
        return values, vectors

    monkeypatch.setattr(np.linalg, 'eigh', rounded)
    u, positive, _ = force_qp(M, d)
    assert list(positive) == [0]
    assert_allclose(u / (1.0 + d @ u), [1.0, 0.0, 0.0], atol=1e-12)


@pytest.mark.seed('CN07', kind='full')
def test_no_other_forces_have_a_lower_value():
    """Against a general minimizer of l . M l / 2 + l . d with bounds."""
    rng = np.random.default_rng(4)
    for _ in range(10):
        M, _, _, d = random_problem(rng, 6, 4, 'feasible')
        problem = LcpProblem.of(M, d)
        u, _, _ = force_qp(problem.M, problem.d)
        force = u / (1.0 + problem.d @ u) * problem.D * problem.unit

        def value(x, M=M, d=d):
            return 0.5 * x @ M @ x + x @ d

        found = minimize(
            value,
            np.ones(6),
            jac=lambda x, M=M, d=d: M @ x + d,
            bounds=[(0.0, None)] * 6,
            method='L-BFGS-B',
            options={'ftol': 1e-15, 'gtol': 1e-12, 'maxiter': 5000},
        )
        assert value(force) <= found.fun + 1e-9 * (1.0 + abs(found.fun))
        assert value(force) == pytest.approx(found.fun, rel=1e-6, abs=1e-9)


@pytest.mark.seed('CN07')
@pytest.mark.parametrize('shape', [(3, 2), (5, 5), (4, 9), (6, 30)])
def test_least_squares_with_signs_are_scipys(shape):
    rng = np.random.default_rng(sum(shape))
    for trial in range(40):
        E, f = rng.normal(size=shape), rng.normal(size=shape[0])
        if trial % 2:  # columns in pairs that depend on each other
            E[:, 1::2] = E[:, 0 : 2 * (shape[1] // 2) : 2] * rng.uniform(0.5, 2.0)
        if trial % 3 == 0:
            f = E @ np.maximum(rng.normal(size=shape[1]), 0.0)
        u, positive, _ = nonnegative_least_squares(E, f)
        assert u.min() >= 0.0 and np.array_equal(np.flatnonzero(u), positive)
        expected, residual = nnls(E, f)
        assert np.linalg.norm(E @ u - f) == pytest.approx(residual, abs=1e-10)
        assert_allclose(E @ u, E @ expected, atol=1e-9)
        assert np.linalg.matrix_rank(E[:, positive]) == len(positive)


def test_columns_of_any_scale_and_columns_of_zeros():
    E = np.array([[1e-6, 0.0, 3.0, 0.0], [0.0, 1e6, 0.0, 0.0]])
    u, positive, _ = nonnegative_least_squares(E, np.array([2.0, 5.0]))
    assert_allclose(E @ u, [2.0, 5.0], rtol=1e-12)
    assert 3 not in positive
    none, empty, steps = nonnegative_least_squares(np.zeros((2, 0)), np.array([1.0, 2.0]))
    assert none.shape == (0,) and len(empty) == 0 and steps == 0
    assert nonnegative_least_squares(-np.eye(2), np.ones(2)).u.tolist() == [0.0, 0.0]


def test_it_stops_at_its_limit_of_steps(monkeypatch):
    assert nonnegative_least_squares(np.eye(2), np.ones(2)).steps == 2
    assert nonnegative_least_squares(np.eye(40), np.ones(40)).steps == 40
    monkeypatch.setattr(module, 'STEPS', 0)
    with pytest.raises(NotSolvedError, match='not converge within 0 steps'):
        nonnegative_least_squares(np.eye(2), np.ones(2))
