# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Jets against finite differences along a curve."""

import math

import numpy as np
import pytest
from support.all_joints import slope
from support.programs import values_of

from rbd_ros.algorithms.closed_loops.jets import Jet, jet
from rbd_ros.compiler.symbol_graph import Graph
from rbd_ros.spatial.scalar import (
    arctan2,
    cos,
    four_quadrant_angle,
    sin,
    sqrt,
    tanh,
    where_positive,
)

FUNCTIONS = {
    'sum': lambda x: 2.0 + x + x - 0.5,
    'difference': lambda x: 3.0 - x,
    'product': lambda x: x * x * 1.5,
    'quotient': lambda x: (x + 1.0) / (x * x + 2.0),
    'reciprocal': lambda x: 1.0 / x,
    'negative': lambda x: -(x * x),
    'sine': lambda x: sin(x * x),
    'cosine': lambda x: cos(x * x),
    'root': lambda x: sqrt(x * x + x),
    'tanh': lambda x: tanh(x * x),
    'angle': lambda x: arctan2(x * x, 1.0 + x),
    'choice': lambda x: where_positive(x - 1.0, x * x, sin(x)),
    'other choice': lambda x: where_positive(1.0 - x, x * x, 3.0),
    'all': lambda x: sqrt(1.0 + sin(x) / (2.0 + cos(x * x))) * (x - x * x),
}
D, DD = 0.7, -0.4


@pytest.mark.parametrize('name', FUNCTIONS)
@pytest.mark.parametrize('x', [0.6, 1.7])
def test_derivatives_are_slopes(name, x):
    """Along x + D t + DD t^2 / 2, by Richardson's scheme, the second of the first's."""
    function = FUNCTIONS[name]

    def along(t):
        return Jet(x + D * t + 0.5 * DD * t * t, D + DD * t, DD)

    found = jet(function(along(0.0)))
    assert found.x == pytest.approx(float(function(x)), rel=1e-14)
    first = slope(lambda t: float(jet(function(along(t))).x))
    assert found.d == pytest.approx(first, rel=1e-10, abs=1e-11)
    second = slope(lambda t: float(jet(function(along(t))).d))
    assert found.dd == pytest.approx(second, rel=1e-10, abs=1e-11)


@pytest.mark.parametrize('name', FUNCTIONS)
def test_parts_may_be_symbols(name):
    graph = Graph()
    symbols = graph.inputs('x', 3)
    found = jet(FUNCTIONS[name](Jet(*symbols)))
    parts = [found.x, found.d, found.dd]
    numbers = [1.2, 0.3, -0.8]
    expected = jet(FUNCTIONS[name](Jet(*numbers)))
    values = values_of(graph, parts, {'x': numbers})
    assert values == pytest.approx([expected.x, expected.d, expected.dd], rel=1e-13)


def test_numpy_numbers_leave_the_operation_to_the_jet():
    found = np.float64(2.0) * Jet(3.0, 1.0) - np.float64(1.0)
    assert isinstance(found, Jet) and (found.x, found.d, found.dd) == (5.0, 2.0, 0.0)
    assert math.isclose((np.float64(1.0) / Jet(2.0, 1.0)).d, -0.25)


@pytest.mark.parametrize('angle', [0.0, 0.5, np.pi / 2, 2.0, -0.5, -2.5, -np.pi / 2, -np.pi])
def test_angles_of_four_quadrants_turn_at_the_rate_of_their_point(angle):
    """On the axes as well, where a quadrant ends: a point that goes round at a rate of 0.7."""
    x = Jet(np.cos(angle), -0.7 * np.sin(angle), -0.49 * np.cos(angle))
    y = Jet(np.sin(angle), 0.7 * np.cos(angle), -0.49 * np.sin(angle))
    if angle in (0.0, -np.pi):
        y = Jet(0.0, y.d, y.dd)
    if abs(angle) == np.pi / 2:
        x = Jet(0.0, x.d, x.dd)
    found = four_quadrant_angle(y, x)
    assert found.x == pytest.approx(angle, abs=1e-15)
    assert found.d == pytest.approx(0.7)
    assert found.dd == pytest.approx(0.0, abs=1e-15)
