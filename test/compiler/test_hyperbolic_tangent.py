# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Hyperbolic tangent of compiled code, from arithmetic alone."""

import numpy as np
import pytest

from rbd_ros.compiler import Definition, make_kernel
from rbd_ros.spatial.scalar import tanh


@pytest.fixture(scope='module')
def compiled():
    key = {'test': 'hyperbolic tangent'}
    kernel = make_kernel(
        Definition.of_one_output('tanh', (('x', 1),), (1,), lambda x: [tanh(x[0])], key)
    )
    return lambda x: kernel(np.reshape(x, (-1, 1)))[:, 0]


def test_it_is_right_to_a_few_units_in_the_last_place(compiled, rng):
    x = rng.normal(size=100_000) * 10.0 ** rng.uniform(-12.0, 3.0, 100_000)
    expected = np.tanh(x)
    error = np.abs(compiled(x) - expected) / np.spacing(np.abs(expected))
    assert error.max() <= 8.0


def test_it_is_odd_and_never_beyond_one(compiled, rng):
    x = rng.normal(size=10_000) * 10.0 ** rng.uniform(-3.0, 300.0, 10_000)
    np.testing.assert_array_equal(compiled(-x), -compiled(x))
    assert np.abs(compiled(x)).max() == 1.0
    np.testing.assert_array_equal(compiled([0.0, 25.0, -1e300]), [0.0, 1.0, -1.0])


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_tanh_of_nan_is_nan(compiled, bad):
    assert np.isnan(compiled([bad]))
