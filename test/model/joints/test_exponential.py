# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quotients of the exponential maps, in fifty digits and in doubles, near their limits."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation
from support import outside

from rbd_ros.model.joints.exponential import (
    half_angle,
    inverse_screw_quotient,
    rotation_vector,
    screw_quotients,
    sine_quotients,
)

MP = outside.load('mpmath').mp.clone()
MP.dps = 50


class Precise:
    """A scalar of fifty digits."""

    def __init__(self, value):
        self.value = MP.mpf(getattr(value, 'value', value))

    def _with(self, other, operation):
        return Precise(operation(self.value, Precise(other).value))

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b)

    def __neg__(self):
        return Precise(-self.value)

    __radd__, __rmul__ = __add__, __mul__

    def where_positive(self, yes, no):
        return yes if self.value > 0 else no

    def sin(self):
        return Precise(MP.sin(self.value))

    def cos(self):
        return Precise(MP.cos(self.value))

    def sqrt(self):
        return Precise(MP.sqrt(self.value))


def exact(function, square):
    """Return values of a function of the squared angle, by the formulas that its docstring has."""
    x = MP.sqrt(square)
    return {
        inverse_screw_quotient: lambda: [(1 - x / 2 * MP.cot(x / 2)) / x**2],
        sine_quotients: lambda: [MP.sin(x) / x, (1 - MP.cos(x)) / x],
        half_angle: lambda: [MP.sin(x / 2) / x, MP.cos(x / 2)],
        screw_quotients: lambda: [(1 - MP.cos(x)) / x**2, (x - MP.sin(x)) / x**3],
    }[function]()


def found(function, square):
    """Return the values of a function of a scalar that is a squared angle."""
    values = function(square.sqrt() if function is sine_quotients else square)
    return [Precise(x).value for x in (values if isinstance(values, tuple) else [values])]


# Functions, limits of their series, and how exact these are there; coefficients are doubles.
FUNCTIONS = [
    (inverse_screw_quotient, 1e-4, 2e-16),
    (sine_quotients, 1e-6, 1e-21),
    (half_angle, 1e-6, 1e-21),
    (screw_quotients, 1e-3, 2e-16),
]
every_function = pytest.mark.parametrize('function, limit, error', FUNCTIONS)


@every_function
def test_series_have_all_terms_that_they_need(function, limit, error):
    for share in (0.98, 0.5, 0.1):
        square = Precise(share * limit)
        for value, expected in zip(found(function, square), exact(function, square.value)):
            assert abs(value - expected) <= error * abs(expected)


@every_function
def test_above_the_limit_there_is_the_closed_form(function, limit, error):
    for square in (1.02 * limit, 1.9 * limit, 0.3, 8.0):
        values = found(function, Precise(square))
        for value, expected in zip(values, exact(function, MP.mpf(square))):
            assert abs(value - expected) <= 1e-35 * abs(expected)


@every_function
@pytest.mark.parametrize('share', [0.98, 1e-2, 1e-6, 1e-12])
def test_series_lose_no_digits(function, limit, error, share):
    square = share * limit
    values = function(np.sqrt(square).item() if function is sine_quotients else square)
    expected = [float(x) for x in exact(function, MP.mpf(square))]
    assert_allclose(values if isinstance(values, tuple) else [values], expected, rtol=1e-15)


def test_limits_at_zero():
    assert inverse_screw_quotient(0.0) == 1.0 / 12.0
    assert sine_quotients(0.0) == (1.0, 0.0)
    assert half_angle(0.0) == (0.5, 1.0)
    assert screw_quotients(0.0) == (0.5, 1.0 / 6.0)


def test_quotients_of_angles_know_their_signs():
    sine, versine = sine_quotients(2.0)
    assert sine_quotients(-2.0) == (sine, -versine)
    assert sine_quotients(-1e-4)[1] == -sine_quotients(1e-4)[1] != 0.0


@pytest.mark.parametrize('size', [1.0, 1e-3, 1e-9])
def test_rotation_vectors(rng, size):
    for w, x, y, z in rng.normal(size=(20, 4)) * (1.0, size, size, size):
        q = np.array([w, x, y, z]) / np.linalg.norm([w, x, y, z])
        expected = Rotation.from_quat(q[[1, 2, 3, 0]]).as_rotvec()
        assert_allclose(rotation_vector(q.tolist()), expected, rtol=1e-12, atol=1e-24)
        assert_allclose(rotation_vector((-q).tolist()), expected, rtol=1e-12, atol=1e-24)


def test_rotation_vectors_of_no_turn_half_a_turn_and_a_tiny_one():
    assert rotation_vector((1.0, 0.0, 0.0, 0.0)) == (0.0, 0.0, 0.0)
    assert rotation_vector((-1.0, 0.0, 0.0, 0.0)) == (0.0, 0.0, 0.0)
    for w in (0.0, 1e-17):
        assert_allclose(rotation_vector((w, 0.6, 0.0, -0.8)), [0.6 * np.pi, 0.0, -0.8 * np.pi])
    assert_allclose(rotation_vector((1.0, 0.0, 1e-200, 0.0)), [0.0, 2e-200, 0.0])  # no square
    assert_allclose(rotation_vector((-1.0, 0.0, 1e-200, 0.0)), [0.0, -2e-200, 0.0])
