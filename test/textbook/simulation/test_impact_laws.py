# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Impulses of several contacts: closed forms, energy, complementarity, both laws."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros.textbook.simulation.impact_laws import impact, IMPACT_LAWS

every_law = pytest.mark.parametrize('law', IMPACT_LAWS)


@pytest.mark.seed('CN16')
@every_law
@pytest.mark.parametrize('e', [0.0, 0.3, 1.0])
def test_one_contact_is_the_books_formula(law, e):
    found = impact(np.array([[4.0]]), np.array([-2.0]), np.array([e]), law)
    assert found == pytest.approx([(1 + e) * 2.0 / 4.0])
    assert not impact(np.array([[4.0]]), np.array([2.0]), np.array([e]), law).any()


@every_law
@pytest.mark.parametrize('e', [0.0, 0.5, 1.0])
def test_nothing_approaches_afterwards_and_no_energy_is_gained(rng, law, e):
    """Energy of the normal motion: lambda . (zeta + zeta')/2 <= 0, the work of the impulses."""
    for _ in range(20):
        J = rng.normal(size=(4, 6))
        M, velocity = J @ J.T, rng.normal(size=4)
        velocity[3] = -1.0
        found = impact(M, velocity, np.full(4, e), law)
        after = velocity + M @ found
        assert found.min() >= 0.0
        assert after.min() > -1e-9
        assert found @ (velocity + after) / 2 < 1e-9
        if e == 1.0:
            assert found @ (velocity + after) == pytest.approx(0.0, abs=1e-7)
        else:
            assert found @ (velocity + after) < -1e-3


@pytest.mark.seed('CN16')
def test_all_at_once_is_moreaus_complementarity(rng):
    """Among contacts that approach or rest: one round."""
    for _ in range(20):
        J, e = rng.normal(size=(4, 6)), rng.uniform(0.0, 1.0, 4)
        M, velocity = J @ J.T, -rng.uniform(0.0, 1.0, 4)
        velocity[2] = 0.0
        found = impact(M, velocity, e)
        free = velocity + M @ found + e * velocity
        assert free.min() > -1e-9 and abs(free @ found) < 1e-8


def test_a_separating_ball_is_hit_by_a_faster_one():
    """Three balls in a row; the last goes away, slower than the second will."""
    for law in IMPACT_LAWS:
        velocity = np.array([-2.0, 0.5])  # of balls at 2, 0 and 0.5
        found = impact(row(2), velocity, np.ones(2), law)
        assert_allclose(found, [2.0, 1.5])
        assert_allclose(velocity + row(2) @ found, [0.5, 1.5])


def row(count):
    """Return M of contacts in a row of equal balls."""
    return 2.0 * np.eye(count) - np.eye(count, k=1) - np.eye(count, k=-1)


def test_the_laws_differ_for_a_row_of_balls():
    velocity = np.array([-1.0, 0.0, 0.0])
    one = impact(row(3), velocity, np.ones(3), 'sequential')
    assert_allclose(velocity + row(3) @ one, [0, 0, 1.0], atol=1e-12)
    assert_allclose(one, [1, 1, 1])
    # at once: the balls behind the first one leave together
    all_ = impact(row(3), velocity, np.ones(3))
    assert_allclose(velocity + row(3) @ all_, [1.0, 0, 0], atol=1e-12)


@every_law
def test_a_slow_approach_is_plastic(law):
    for speed, e in ((0.9e-3, 0.0), (1.1e-3, 0.5)):
        found = impact(np.array([[1.0]]), np.array([-speed]), np.array([0.5]), law, 1e-3)
        assert found == pytest.approx([speed * (1 + e)])


def test_an_endless_impact_is_reported_and_an_unknown_law_rejected(monkeypatch):
    monkeypatch.setattr('rbd_ros.textbook.simulation.impact_laws._MAXIMUM', 50)
    caught = np.array([[1.0, -0.9999], [-0.9999, 1.0]])
    assert impact(caught, np.array([-1.0, -1.0]), np.zeros(2)).min() > 1.0
    with pytest.raises(ArithmeticError, match='did not end after'):
        impact(caught, np.array([-1.0, -1.0]), np.zeros(2), 'sequential')
    with pytest.raises(ValueError, match='unknown impact law'):
        impact(np.eye(1), np.zeros(1), np.zeros(1), 'poisson')
