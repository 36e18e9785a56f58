# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time scaling of a motion: the intervals against the limits, sampled densely."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros.control.motion.time_scaling import excluded_speeds, feasible_speeds


def inside(x, low, high):
    """Return whether speeds lie in one of the intervals."""
    return ((low[:, None] < x) & (x < high[:, None])).any(axis=0)


@pytest.mark.parametrize('zero', ['none', 'static', 'viscous', 'inertial', 'viscous and inertial'])
def test_the_excluded_speeds_are_those_beyond_the_limit(rng, zero):
    x = np.concatenate([np.linspace(0.0, 4.0, 4001)[1:], np.geomspace(4.0, 1e4, 200)])
    for _ in range(200):
        c, b, a = rng.normal(size=3)
        c, b, a = (0.0 if name in zero else k for name, k in zip(
            ('static', 'viscous', 'inertial'), (c, b, a)))  # fmt: skip
        limit = rng.uniform(0.1, 2.0)
        beyond = np.abs(c + b * x + a * x * x) - limit
        sure = np.abs(beyond) > 1e-9
        found = inside(x, *excluded_speeds(c, b, a, limit))
        assert (found == (beyond > 0.0))[sure].all()


def test_intervals_end_where_the_effort_is_at_the_limit(rng):
    c, b, a = rng.normal(size=(3, 500))
    for k in range(500):
        for end in np.concatenate(excluded_speeds(c[k], b[k], a[k], 1.0)):
            if 0.0 < end < np.inf:
                e = c[k] + b[k] * end + a[k] * end**2
                scale = abs(c[k]) + abs(b[k]) * end + abs(a[k]) * end**2 + 1.0
                assert_allclose(abs(e), 1.0, rtol=0, atol=1e-12 * scale)


def test_small_coefficients_lose_no_digits():
    """The textbook formula cancels: 1e-12 x^2 + x - 1."""
    low, high = excluded_speeds(0.0, 1.0, 1e-12, 1.0)
    assert_allclose(low[0], 1.0 / (0.5 + np.sqrt(0.25 + 1e-12)), rtol=1e-15)
    assert high[0] == np.inf


def test_no_limit_excludes_nothing():
    assert excluded_speeds(1.0, 1.0, 1.0, np.inf)[0].size == 0
    speeds = feasible_speeds(np.zeros(0), np.zeros(0))
    assert speeds.fastest == speeds.safe == np.inf
    assert feasible_speeds(np.zeros(0), np.zeros(0), 2.0) == (2.0, 2.0)


def test_the_fastest_speed_is_the_greatest_that_no_interval_covers(rng):
    for _ in range(300):
        low = rng.uniform(0.0, 5.0, rng.integers(1, 8))
        high = low + rng.exponential(1.0, low.size)
        maximum = rng.uniform(0.5, 6.0)
        found = feasible_speeds(low, high, maximum)
        x = np.linspace(0.0, maximum, 20001)[1:]
        free = x[~inside(x, low, high)]
        assert (found is None) == (free.size == 0) or low.min() < 1e-3
        if free.size:
            assert_allclose(found.fastest, free.max(), rtol=0, atol=4e-4)
            assert not inside(np.array([found.fastest]), low, high).any()
            assert found.safe == min(low.min(), maximum)


def test_a_load_too_heavy_at_rest_may_be_possible_in_motion():
    """A load is too heavy to be held, but may be let down fast enough, and not too fast."""
    speeds = feasible_speeds(*excluded_speeds(3.0, 0.0, -1.0, 2.0))
    assert speeds.safe == 0.0
    assert_allclose(speeds.fastest, np.sqrt(5.0))


def test_a_load_too_heavy_at_all_speeds_has_no_speed():
    assert feasible_speeds(*excluded_speeds([3.0, 0.0], 0.0, [0.0, 1.0], 2.0)) is None
    low, high = excluded_speeds([3.0, 0.0], 0.0, [-1.0, 9.0], 2.0)  # at least 1, at most 0.47
    assert feasible_speeds(low, high) is None
