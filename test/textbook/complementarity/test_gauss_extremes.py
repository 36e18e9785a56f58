# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Program of Gauss' principle with extreme ratios of scales."""

import numpy as np
import pytest

from rbd_ros.textbook.complementarity import InfeasibleContactError, NotSolvedError, solve_gauss


def test_forces_that_are_rounding_errors_are_no_solution():
    T = np.array([[7.2e3, 3.1e3, -1.98e4], [3.9e-4, 1.13e-3, 1.58e-3]])
    d = np.array([-9.0, -7.0, -6.0])
    with pytest.raises(NotSolvedError, match='rounding'):
        solve_gauss(np.eye(2), np.zeros(2), T, d)


def test_solutions_at_any_scale_do_not_penetrate(rng):
    solved = 0
    for _ in range(300):
        n, r = rng.integers(1, 4), rng.integers(1, 6)
        T = rng.normal(size=(n, r)) * 10.0 ** rng.uniform(-5, 5, (n, 1))
        d = rng.integers(-9, 10, r).astype(float)
        try:
            found = solve_gauss(np.eye(n), np.zeros(n), T, d)
        except (InfeasibleContactError, NotSolvedError):
            continue
        solved += 1
        assert (T.T @ found.a + d).min() >= -0.05 * np.abs(d).max()
    assert solved > 100
