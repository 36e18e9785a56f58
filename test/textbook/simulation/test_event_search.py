# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The earliest event of a step, among known functions of time."""

import numpy as np
import pytest

from rbd_ros.textbook.simulation.event_search import (
    CLOSING,
    earliest,
    ENTERING,
    LEAVING,
    PULLING,
    SINKING,
    slope,
    Values,
    Watch,
)

E = 1e-10


class Step:
    h = 0.5


def values(gap=None, margin=None, force=None):
    """Return the values of one contact by functions of the part of the step."""

    def evaluate(x):
        f = gap or (lambda x: 1.0)
        rate = (f(x + 1e-7) - f(x - 1e-7)) / 2e-7
        arrays = [f(x), rate, (margin or (lambda x: 1.0))(x), (force or (lambda x: 1.0))(x)]
        return Values(*(np.array([value]) for value in arrays))

    return evaluate


def search(what, evaluate, tolerance=E):
    found = earliest([Watch(what, 0, tolerance)], evaluate, 4 * E)
    return None if found is None else found[1]


@pytest.mark.seed('CN09')
def test_a_gap_closes_where_it_is_zero():
    assert search(CLOSING, values(lambda x: 0.3 - x)) == pytest.approx(0.3, abs=1e-14)
    assert search(CLOSING, values(lambda x: 0.3 + x)) is None
    assert search(CLOSING, values(lambda x: 0.98 - x)) == pytest.approx(0.98, abs=1e-14)


@pytest.mark.seed('CN09')
@pytest.mark.parametrize('start', [0.0, 1e-13, -1e-13])
def test_a_gap_that_opens_from_zero_closes_later(start):
    """A bounce that ends in the first interval, as one that ends in a later one."""
    for flight in (0.03, 0.11, 0.7):
        found = search(CLOSING, values(lambda x, f=flight: start + x * (f - x)))
        assert found == pytest.approx(flight, abs=1e-11)


def test_a_gap_that_sinks_from_zero_is_found_where_it_is_clearly_negative():
    assert search(CLOSING, values(lambda x: -x * x), 1e-6) == pytest.approx(1e-3)
    assert search(CLOSING, values(lambda x: -0.1 - x)) is None  # beyond the face from the start
    # and one that comes out from behind the face and goes back
    found = search(CLOSING, values(lambda x: (x - 0.3) * (0.8 - x)))
    assert found == pytest.approx(0.8)


def test_a_face_is_met_only_within_its_bounds():
    assert search(CLOSING, values(lambda x: 0.3 - x, lambda x: 0.2 - x)) is None
    assert search(CLOSING, values(lambda x: 0.3 - x, lambda x: 0.4 - x)) == pytest.approx(0.3)


@pytest.mark.seed('CN12')
def test_a_face_is_left_and_entered_at_its_edge():
    assert search(LEAVING, values(margin=lambda x: 0.4 - x)) == pytest.approx(0.4)
    assert search(ENTERING, values(lambda x: 0.0, lambda x: x - 0.4)) == pytest.approx(0.4)
    assert search(ENTERING, values(lambda x: 1e-9, lambda x: x - 0.4)) is None
    assert search(ENTERING, values(lambda x: -1e-9, lambda x: x - 0.4)) is None


def test_a_force_pulls_and_a_gap_sinks_beyond_the_tolerance():
    assert search(PULLING, values(force=lambda x: 0.4 - x), 0.1) == pytest.approx(0.5)
    assert search(SINKING, values(lambda x: -x), 0.2) == pytest.approx(0.2)
    assert search(LEAVING, values(margin=lambda x: 0.4 - x), 0.1) == pytest.approx(0.5)
    assert search(ENTERING, values(lambda x: 0.0, lambda x: x - 0.4), 0.1) == pytest.approx(0.5)
    for what in (PULLING, SINKING, LEAVING):  # those that are beyond it at once
        evaluate = values(lambda x: -1.0, lambda x: -1.0, lambda x: -1.0)
        assert search(what, evaluate) == 0.0


def test_the_earliest_counts():
    def evaluate(x):
        return Values(np.array([0.33 - x, 0.31 - x, 0.9 - x]), -np.ones(3), np.ones(3), np.ones(3))

    watch, delta = earliest([Watch(CLOSING, i, E) for i in range(3)], evaluate, E)
    assert watch.contact == 1 and delta == pytest.approx(0.31)


def test_slopes_are_those_by_time():
    for delta in (0.0, 0.4, 1.0):
        found = slope(Watch(CLOSING, 0, E), values(lambda x: 0.3 - 2 * x), delta, Step())
        assert found == pytest.approx(-4.0)
    found = slope(Watch(ENTERING, 0, E), values(margin=lambda x: 3 * x), 0.5, Step())
    assert found == pytest.approx(-6.0)


def test_slopes_are_found_without_a_look_beyond_the_step():
    seen, evaluate = [], values(lambda x: 0.3 - 2 * x)

    def noted(delta):
        seen.append(delta)
        return evaluate(delta)

    for delta in (0.0, 0.5, 1.0):
        slope(Watch(CLOSING, 0, E), noted, delta, Step())
    assert min(seen) == 0.0 and max(seen) == 1.0
