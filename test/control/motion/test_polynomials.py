# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Polynomials between points: splines solved in slices, and extrema between points."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.interpolate import CubicSpline

from rbd_ros.control.motion import polynomials

COEFFICIENTS = st.floats(-10, 10)


@pytest.mark.parametrize('points', [2, 3, 4, 5, 33, 64, 65, 66, 130, 1000, 9000])
@pytest.mark.parametrize('moving', [False, True])
def test_the_spline_is_that_of_scipy(rng, points, moving):
    """Segments of very different durations, and slices whose ends are in the middle."""
    times = np.cumsum(10.0 ** rng.uniform(-2, 1, points))
    q = rng.normal(size=(points, 2))
    start = rng.normal(size=2) if moving else np.zeros(2)
    spline = CubicSpline(times, q, bc_type=((1, start), (1, np.zeros(2))))
    found = polynomials.spline_velocities(times, q, start if moving else None)
    scale = np.abs(q).max() / np.diff(times).min()
    assert_allclose(found, spline(times, 1), rtol=0, atol=1e-12 * scale)
    c = polynomials.clamped_spline(times, q, start)
    assert c.shape == (points - 1, 4, 2)
    assert_allclose(c[:, 3], spline.c[0], rtol=0, atol=1e-8 * np.abs(spline.c[0]).max())


def test_slices_of_a_spline_join_without_a_seam(rng, monkeypatch):
    """The same to the last digits, however long the slices are."""
    times, q = np.cumsum(rng.uniform(0.5, 2.0, 3000)), rng.normal(size=(3000, 1))
    whole = polynomials.spline_velocities(times, q)
    monkeypatch.setattr(polynomials, 'NUMBERS', 4 * 100)
    assert_allclose(polynomials.spline_velocities(times, q), whole, rtol=0, atol=1e-14)


@pytest.mark.parametrize('powers', [3, 4, 6])
def test_control_values_are_values_at_the_ends_and_enclose_the_rest(rng, powers):
    c = rng.normal(size=(powers, 5, 3))
    control = polynomials.control_values(c)
    assert_allclose(control[0], c[0], rtol=0, atol=1e-14)
    assert_allclose(control[-1], c.sum(axis=0), rtol=0, atol=1e-13)
    values = np.polynomial.polynomial.polyval(np.linspace(0, 1, 100), c)
    assert (values <= control.max(axis=0)[..., None] + 1e-12).all()
    assert (values >= control.min(axis=0)[..., None] - 1e-12).all()


@pytest.mark.parametrize('powers', [4, 6])
def test_control_values_of_the_derivative(rng, powers):
    c = rng.normal(size=(powers, 5, 3))
    slope = c[1:] * np.arange(1.0, powers)[:, None, None]
    found = polynomials.slope_control_values(polynomials.control_values(c))
    assert_allclose(found, polynomials.control_values(slope), rtol=0, atol=1e-12)


def test_coefficients_in_durations_say_the_same(rng):
    segments, durations = rng.normal(size=(4, 6, 3)), rng.uniform(0.1, 2.0, 4)
    c = polynomials.in_durations(segments, durations)
    for k, h in enumerate(durations):
        expected = np.polynomial.polynomial.polyval(0.3 * h, segments[k])
        assert_allclose(np.polynomial.polynomial.polyval(0.3, c[:, k]), expected)


@settings(deadline=None)
@given(st.lists(COEFFICIENTS, min_size=6, max_size=6), st.sampled_from([3, 4, 6]))
def test_extremes_are_those_of_dense_samples(coefficients, powers):
    c = np.array(coefficients[:powers])
    low, high = polynomials.extrema(c)
    values = np.polynomial.polynomial.polyval(np.linspace(0.0, 1.0, 1001), c)
    assert low <= values.min() + 1e-12
    assert high >= values.max() - 1e-12
    assert_allclose([low, high], [values.min(), values.max()], rtol=0, atol=1e-3)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(COEFFICIENTS, min_size=6, max_size=6), min_size=1, max_size=6),
    st.sampled_from([3, 4, 6]),
    st.sampled_from([1e-8, 1e-5, 0.1, 1.0]),
)
def test_each_extremum_beyond_a_limit_is_found(rows, powers, margin):
    """Limits closer to the extrema than any bound: none of them beyond, then each one alone."""
    c = np.array(rows)[:, :powers].T[:, None]
    control = polynomials.control_values(c)
    low, high = np.transpose([polynomials.extrema(column) for column in c[:, 0].T])
    assert not polynomials.beyond(control, low - margin, high + margin).any()
    assert polynomials.beyond(control, low + margin, np.full_like(high, np.inf)).all()
    assert polynomials.beyond(control, np.full_like(low, -np.inf), high - margin).all()
    for j in range(len(rows)):
        upper = high + margin
        upper[j] = high[j] - margin
        found = polynomials.beyond(control, low - margin, upper)
        assert_array_equal(np.flatnonzero(found[0]), [j])


@pytest.mark.parametrize('powers, most', [(3, 1), (4, 6), (6, 6)])
def test_a_few_cuts_decide_even_at_the_limit(rng, monkeypatch, powers, most):
    """On average, for each that is doubtful; halves would take about ten to be as sure."""
    c = rng.normal(size=(powers, 1, 50))
    low, high = np.transpose([polynomials.extrema(column) for column in c[:, 0].T])
    cuts, cut = [], polynomials.cut
    monkeypatch.setattr(polynomials, 'cut', lambda *given: cuts.append(given) or cut(*given))
    control, none = polynomials.control_values(c), np.full(50, np.inf)
    for lower, upper in ((-none, high + 1e-7), (low - 1e-7, none)):
        cuts.clear()
        doubtful = np.sum((control.max(axis=0) > upper) | (control.min(axis=0) < lower))
        assert not polynomials.beyond(control, lower, upper).any()
        assert sum(control.shape[1] for control, _ in cuts) <= most * doubtful


def test_a_constant_at_its_limit_is_not_beyond():
    c = np.zeros((6, 1, 2))
    c[0] = 1.0
    control = polynomials.control_values(c)
    assert not polynomials.beyond(control, np.full(2, 1.0), np.full(2, 1.0)).any()


@pytest.mark.parametrize('rows, columns', [(0, 3), (1, 1), (100_000, 7), (5, 10**6), (16384, 1)])
def test_slices_cover_all_rows_once_in_order(rows, columns):
    covered = [i for here in polynomials.time_sliced(rows, columns) for i in range(rows)[here]]
    assert covered == list(range(rows))


def test_slices_hold_a_limited_count_of_numbers():
    sizes = [here.stop - here.start for here in polynomials.time_sliced(100_000, 7)]
    assert max(sizes) * 7 <= polynomials.NUMBERS


def test_long_work_makes_pauses(monkeypatch):
    """One pause for each turn that lasted too long, none for short ones."""
    clock, pauses = [0.0], []
    monkeypatch.setattr(polynomials.time, 'perf_counter', lambda: clock[0])
    monkeypatch.setattr(polynomials.time, 'sleep', pauses.append)
    for turn, _ in enumerate(polynomials.time_sliced(10 * polynomials.NUMBERS)):
        clock[0] += 1.0 if turn in (2, 5) else 0.0
    assert pauses == [polynomials.PAUSE] * 2
