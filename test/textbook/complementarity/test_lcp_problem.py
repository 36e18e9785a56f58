# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scaling of a contact problem, its solutions, and certificates of infeasibility."""

import pickle

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros.textbook.complementarity.lcp_problem import LcpProblem


def test_a_problem_has_ones_on_its_diagonal_and_accelerations_of_at_most_one():
    M, d = np.array([[4.0, 1.0, 0.0], [1.0, 100.0, 0.0], [0.0, 0.0, 0.0]]), [-6.0, 5.0, 7.0]
    problem = LcpProblem.of(M, d)
    assert_allclose(np.diag(problem.M), [1.0, 1.0, 0.0])
    assert_allclose(problem.D, [0.5, 0.1, 0.1])
    assert problem.M[0, 1] == problem.M[1, 0] == 0.05
    assert problem.unit == 3.0
    assert_allclose(problem.d, [-1.0, 0.5 / 3.0, 0.7 / 3.0])
    solution = problem.solution_of(np.array([0]), 5)
    assert_allclose(solution.force, [1.5, 0.0, 0.0])
    assert_allclose(solution.acceleration, M @ solution.force + d, atol=1e-14)
    assert solution.persists.tolist() == [True, False, False] and solution.iterations == 5


def test_a_force_is_positive_up_to_rounding_of_the_largest():
    """Of forces of 5e5 one of -1e-7 is none, and of forces of one it is negative."""
    for lack, accepted in ((1e-6, True), (0.5, False)):
        M = np.array([[1.0, lack - 1.0, 0.0], [lack - 1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        problem = LcpProblem.of(M, [-1.0, 0.0, 1e-7])
        found = problem.solution_of(np.array([0, 1, 2]), 1)
        assert (found is not None) == accepted
        if found is not None:
            assert found.force[2] == 0.0 and found.force[0] > 4e5
            assert found.active.tolist() == [True, True, False]
    small = LcpProblem.of(np.eye(2), [-1.0, 5e-10])
    assert small.solution_of(np.array([0, 1]), 1).force.tolist() == [1.0, 0.0]


def test_forces_and_accelerations_of_less_than_a_billionth_are_zero():
    problem = LcpProblem.of(np.eye(2), [1.0, 5e-10])
    assert problem.solution_of(np.array([1]), 1).force.tolist() == [0.0, 0.0]
    assert LcpProblem.of(np.eye(2), [1.0, 1.5e-9]).solution_of(np.array([1]), 1) is None
    for lack, accepted in ((5e-10, True), (1.5e-9, False)):
        found = LcpProblem.of(np.eye(2), [-1.0, -lack]).solution_of(np.array([0]), 1)
        assert (found is not None) == accepted
        if found is not None:
            assert found.acceleration.tolist() == [0.0, 0.0] and found.persists.all()


def test_accelerations_are_zero_up_to_rounding_of_large_forces():
    for across in np.linspace(3e-5, 6e-5, 12):
        # Two normals that are almost opposite, and a third along the first.
        T = np.array([[1.0, -1.0, 0.7], [0.0, across, 0.0]])
        problem = LcpProblem.of(T.T @ T, [-1.0, 0.0, -0.7])
        found = problem.solution_of(np.array([0, 1]), 1)
        assert found is not None and found.force[:2].min() > 2e8
        assert found.acceleration.tolist() == [0.0, 0.0, 0.0]


def test_a_vector_that_is_not_a_solution_is_reported():
    problem = LcpProblem.of(np.eye(2), [-1.0, -1.0])
    assert problem.solution_of(np.array([0]), 1) is None
    assert problem.solution_of(np.array([0, 1]), 1) is not None
    singular = LcpProblem.of(np.ones((2, 2)), [-1.0, -1.0])
    assert singular.solution_of(np.array([0, 1]), 1) is None
    assert singular.solution_of(np.array([1]), 1) is not None
    # Forces that come of dividing by rounding errors.
    nearly = LcpProblem.of([[1.0, -1.0 + 1e-15], [-1.0 + 1e-15, 1.0]], [-1.0, 0.9])
    assert nearly.solution_of(np.array([0, 1]), 1) is None


def test_an_imperfect_certificate_is_reported():
    slot = LcpProblem.of([[1.0, -1.0], [-1.0, 1.0]], [-1.0, 0.9])
    error = slot.infeasibility(np.array([2.0, 2.0]))
    assert error.certificate.tolist() == [0.5, 0.5] and error.rate == pytest.approx(-0.05)
    assert slot.infeasibility(np.array([1.0, 0.9])) is None
    assert LcpProblem.of([[1.0, -1.0], [-1.0, 1.0]], [-0.9, 1.0]).infeasibility(np.ones(2)) is None
    assert LcpProblem.of([[1.0, -1.0], [-1.0, 1.0]], [-1.0, 1.0]).infeasibility(np.ones(2)) is None
    again = pickle.loads(pickle.dumps(error))
    assert again.rate == error.rate and str(again) == str(error)
    assert np.array_equal(again.certificate, error.certificate)


def test_certificates_are_in_units_of_forces():
    """Unequal inertias: the forces that balance each other are equal all the same."""
    T, d = np.array([[3.0, -1.0]]), np.array([-2.0, 0.1])
    problem = LcpProblem.of(T.T @ T, d)
    error = problem.infeasibility(np.array([1.0, 1.0]))
    assert_allclose(error.certificate, [0.25, 0.75])
    assert error.rate == pytest.approx(0.25 * -2.0 + 0.75 * 0.1)


def test_relaxed_problems_have_slightly_larger_accelerations():
    problem = LcpProblem.of(np.eye(2), [-1.0, 0.5])
    assert_allclose(problem.relaxed().d - problem.d, 2e-9, rtol=1e-6)
    assert problem.relaxed().M is problem.M
