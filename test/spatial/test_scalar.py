# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Functions of a generic scalar: of floats, of exact fractions and of arrays of values."""

from fractions import Fraction
import math

import numpy as np
import pytest

from rbd_ros.spatial.scalar import (
    absolute,
    arctan2,
    clip,
    cos,
    derivatives,
    four_quadrant_angle,
    inner,
    is_zero,
    maximum,
    sin,
    sqrt,
    tanh,
    where_positive,
)

F = Fraction


@pytest.mark.parametrize('function', [sin, cos, sqrt, tanh])
def test_floats_and_arrays_have_the_functions_of_math(function):
    values = [0.25, 1.0, 2.75]
    expected = [getattr(math, function.__name__)(x) for x in values]
    assert [function(x) for x in values] == expected
    assert function(np.array(values)) == pytest.approx(expected, rel=1e-15)


def test_outside_of_a_function_there_is_no_number():
    assert math.isnan(sin(math.inf)) and math.isnan(cos(-math.inf)) and math.isnan(sqrt(-1.0))


def test_a_choice_is_of_the_first_only_above_zero():
    assert where_positive(0.5, 'yes', 'no') == 'yes'
    assert where_positive(0.0, 'yes', 'no') == 'no'
    assert where_positive(-0.5, 'yes', 'no') == 'no'
    assert where_positive(math.nan, 'yes', 'no') == 'no'
    chosen = where_positive(np.array([2.0, 0.0, -2.0]), np.array([1.0, 2.0, 3.0]), 7.0)
    assert chosen.tolist() == [1.0, 7.0, 7.0]


def test_inner_product_is_exact_over_fractions():
    assert inner((F(1, 2), F(-2), F(3)), (F(4), F(5, 3), F(1, 6))) == F(-5, 6)
    assert inner((1.5, -2.0), (2.0, 0.25)) == 2.5
    assert inner((), ()) == 0


def test_magnitude_has_no_sign():
    assert [absolute(x) for x in (2.5, -2.5, F(-1, 3), 0.0)] == [2.5, 2.5, F(1, 3), 0.0]
    assert absolute(np.array([-3.0, 0.0, 4.0])).tolist() == [3.0, 0.0, 4.0]


@pytest.mark.parametrize(
    'values, largest',
    [([3.0], 3.0), ([1.0, 5.0, 2.0], 5.0), ([5.0, 1.0], 5.0), ([-4.0, -9.0, -2.0, -3.0], -2.0)],
)
def test_maximum_wherever_it_stands(values, largest):
    assert maximum(values) == largest
    assert maximum(iter(map(F, values))) == largest


def test_limited_to_a_range():
    assert [clip(x, 2.0) for x in (-7.0, -2.0, -1.5, 0.0, 1.5, 2.0, 7.0)] == [
        -2.0, -2.0, -1.5, 0.0, 1.5, 2.0, 2.0
    ]  # fmt: skip
    assert clip(F(-1, 2), F(1, 3)) == F(-1, 3)
    assert clip(np.array([-3.0, 0.5, 3.0]), 1.0).tolist() == [-1.0, 0.5, 1.0]
    assert math.isnan(clip(math.nan, 1.0))


@pytest.mark.parametrize('angle', np.linspace(-3.0, 3.0, 13).tolist() + [math.pi])
def test_angles_of_all_quadrants(angle):
    y, x = 2.5 * math.sin(angle), 2.5 * math.cos(angle)
    assert four_quadrant_angle(y, x) == pytest.approx(angle, abs=1e-15)
    if 0.0 <= angle <= 0.5 * math.pi:
        assert arctan2(y, x) == pytest.approx(angle, abs=1e-15)


def test_only_numbers_are_known_to_be_zero():
    assert is_zero(0) and is_zero(0.0) and is_zero(-0.0)
    assert not is_zero(1e-300) and not is_zero(np.zeros(1)) and not is_zero('0')


def test_numbers_have_no_derivatives():
    with pytest.raises(TypeError, match='derivatives'):
        derivatives(lambda x: x, [1.0], [[1.0]])
