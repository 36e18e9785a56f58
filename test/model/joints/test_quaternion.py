# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quaternions as positions of joints: random ones, normalization, and rates."""

import cmath
import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation

from rbd_ros.model.joints.exponential import (
    quaternion_rate,
    uniform_quaternion,
    unit_quaternion,
)


def test_uniform_quaternions_are_as_printed(rng):
    """Shoemake's two circles: w + i z of radius sqrt(u), y + i x of radius sqrt(1 - u)."""
    for share, first, second in rng.random((10, 3)).tolist():
        w, x, y, z = uniform_quaternion((share, first, second))
        assert complex(w, z) == pytest.approx(cmath.rect(math.sqrt(share), math.tau * second))
        assert complex(y, x) == pytest.approx(cmath.rect(math.sqrt(1 - share), math.tau * first))


def test_uniform_rotations_prefer_no_direction(rng):
    """All second moments of the coordinates of points on a sphere in four dimensions are 1/4."""
    q = np.array([uniform_quaternion(u) for u in rng.random((20000, 3)).tolist()])
    assert_allclose(q.mean(axis=0), 0.0, atol=0.02)
    assert_allclose(q.T @ q / len(q), 0.25 * np.eye(4), atol=0.01)
    assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=1e-14)


def test_rate_of_a_quaternion_is_that_of_turning_in_its_own_axes(rng):
    q, w = rng.normal(size=4), rng.normal(size=3)
    q /= np.linalg.norm(q)
    step = 1e-6

    def after(t):
        turned = Rotation.from_quat(q[[1, 2, 3, 0]]) * Rotation.from_rotvec(t * w)
        found = turned.as_quat()[[3, 0, 1, 2]]
        return found * np.sign(found @ q)

    expected = (after(step) - after(-step)) / (2.0 * step)
    assert_allclose(quaternion_rate(q.tolist(), w.tolist()), expected, atol=1e-9)


def test_a_quaternion_of_unit_length_but_for_rounding_is_kept():
    nearly, longer = 1.0 + 2.0**-51, 1.0 + 7.0 * 2.0**-52  # 4e-16 and 1.6e-15 too long
    assert unit_quaternion((nearly, 0.0, 0.0, 0.0)) == (nearly, 0.0, 0.0, 0.0)
    assert unit_quaternion((0.0, -longer, 0.0, 0.0)) == (0.0, -1.0, 0.0, 0.0)
    assert unit_quaternion((0.0, 3.0, 0.0, -4.0)) == (0.0, 0.6, 0.0, -0.8)
    with pytest.raises(ValueError, match='zero'):
        unit_quaternion((0.0, 0.0, 0.0, 0.0))
