# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lemke's method alone, without another solver as a fallback."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.complementarity import enumerated, random_problem

from rbd_ros.constraints.friction import NotSolvedError
from rbd_ros.textbook.complementarity import lemke as module
from rbd_ros.textbook.complementarity.lcp_problem import LcpProblem
from rbd_ros.textbook.complementarity.lemke import lemke


@pytest.mark.seed('CN06', kind='full')
@pytest.mark.parametrize('kind', ['any', 'feasible', 'tied'])
def test_it_ends_with_a_basis_that_solves_or_a_ray_that_proves(kind):
    rng = np.random.default_rng(3)
    ends, most = {True: 0, False: 0}, 0.0
    for _ in range(300):
        contacts, rank = rng.integers(1, 8, 2)
        M, _, _, d = random_problem(rng, contacts, rank, kind)
        problem = LcpProblem.of(M, d)
        end = lemke(problem.M, problem.d)
        expected = enumerated(M, d)
        assert end.solved == (expected is not None)
        ends[end.solved] += 1
        most = max(most, end.pivots / contacts)
        if end.solved:
            found = problem.solution_of(end.active, end.pivots)
            assert_allclose(found.acceleration, expected[1], atol=1e-7 * (1.0 + np.abs(d).max()))
            assert found.iterations == end.pivots
            assert not end.direction.any()
        else:
            assert end.direction.min() >= 0.0 and len(end.active) == 0
            mu = end.direction / end.direction.sum()
            assert np.abs(problem.M @ mu).max() < 1e-9 and problem.d @ mu < 0.0
    assert most <= 4.0  # pivots a contact
    assert ends[True] > 200 and (ends[False] > 5) == (kind == 'any')


@pytest.mark.seed('CN06', kind='full')
@pytest.mark.parametrize('seed', range(4))
def test_ties_do_not_make_it_go_round_in_circles(seed):
    """Thirty copies of contacts with small integers: nearly all ratios are equal."""
    rng = np.random.default_rng(seed)
    T = rng.integers(-1, 2, (4, 6)).astype(float)
    T = np.hstack([T[:, rng.permutation(6)] for _ in range(5)])
    M, d = T.T @ T, T.T @ rng.integers(-2, 3, 4).astype(float)
    problem = LcpProblem.of(M, d)
    end = lemke(problem.M, problem.d)
    assert end.solved and end.pivots <= 60
    found = problem.solution_of(end.active, end.pivots)
    assert found is not None and np.linalg.matrix_rank(T[:, found.active]) == found.active.sum()


def test_no_pivot_where_nothing_pushes():
    end = lemke(np.eye(3), np.array([0.0, 1.0, 0.5]))
    assert end.solved and end.pivots == 0 and len(end.active) == 0
    assert lemke(np.eye(1), np.array([-1.0])).pivots == 2


def test_a_ray_of_one_contact_that_nothing_moves():
    end = lemke(np.zeros((1, 1)), np.array([-1.0]))
    assert not end.solved and end.direction.tolist() == [1.0]


def test_it_stops_at_its_limit_of_pivots(monkeypatch):
    monkeypatch.setattr(module, 'PIVOTS', 1)
    assert lemke(np.eye(1), np.array([-1.0])).pivots == 2
    M, d = np.eye(3) + 0.1, np.array([-1.0, -0.9, -0.8])
    assert lemke(M, d).pivots == 4
    monkeypatch.setattr(module, 'PIVOTS', 0)
    with pytest.raises(NotSolvedError, match='not converge within 0 pivots'):
        lemke(M, d)


def test_ties_are_decided_by_the_inverse_basis_and_rounding_does_not_break_them():
    """Against tuples of Python; the artificial variable leaves as soon as it may."""
    rng = np.random.default_rng(9)
    decided = 0
    for _ in range(200):
        r = int(rng.integers(2, 6))
        divisors = rng.choice([0.5, 1.0, 2.0], r)
        inverse = rng.permutation(np.eye(r) + rng.integers(0, 2, (r, r))) * divisors[:, None]
        values = rng.integers(0, 2, r) * divisors
        table = np.hstack([inverse, rng.normal(size=(r, r + 1)), values[:, None]])
        table[:, -1] += 1e-14 * rng.normal(size=r)
        order = [(values[k], *inverse[k]) / divisors[k] for k in range(r)]
        if len(set(map(tuple, order))) < r:
            continue
        expected = min(range(r), key=lambda k, order=order: tuple(order[k]))
        rows = np.arange(r)
        found = module._lexicographic_minimum(table, rows, divisors, list(range(r)), -1)
        assert found == expected
        ties = np.flatnonzero(values / divisors == (values / divisors).min())
        basis = list(range(r))
        basis[ties[-1]] = 99
        assert module._lexicographic_minimum(table, rows, divisors, basis, 99) == ties[-1]
        decided += len(ties) > 1
    assert decided > 50


@pytest.mark.parametrize('value', [0.0, 10.0, -10.0])
def test_ratios_that_are_equal_but_for_rounding_are_decided_by_the_inverse_basis(value):
    tie = module.TIE * (1.0 + abs(value))
    for apart, expected in ((0.9, 1), (-0.9, 1), (1.1, 0), (-1.1, 1)):
        table = np.array([[3.0, 0.0, value], [2.0, 0.0, value + apart * tie]])
        rows, divisors = np.array([0, 1]), np.ones(2)
        found = module._lexicographic_minimum(table, rows, divisors, [0, 1], 4)
        assert found == expected
