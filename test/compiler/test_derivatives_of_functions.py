# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Functions that request derivatives of their scalars, and alternatives of a program."""

from dataclasses import replace
import math

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros.compiler import Definition, Graph, make_kernel
from rbd_ros.compiler.passes.expand import replace as replaced
from rbd_ros.spatial.scalar import cos, derivatives, inner, sin

X = np.array([0.7, -1.3])


def text(x):
    """Return the derivatives of (a x0 cos x1, a^2) where a = sin x0 is held.

    Along x0 and x0 + 3 x1.
    """
    a = 0.5 * sin(x[0])

    def function(y):
        return [2.0 * y[2] * (y[0] * cos(y[1])), y[2] * y[2]]

    rows = derivatives(function, [*x, a], [[1.0, 0.0, 0.0], [1.0, 3.0, 0.0]])
    return [value for row in rows for value in row]


def expected(x):
    a = 0.5 * math.sin(x[0])
    by_0, by_1 = 2.0 * a * math.cos(x[1]), -2.0 * a * x[0] * math.sin(x[1])
    return [by_0, by_0 + 3.0 * by_1, 0.0, 0.0]


def definition(evaluate=text, differentiates=True, **others):
    made = Definition.of_one_output('text', [('x', 2)], (4,), evaluate, {'text': id(evaluate)})
    return replace(made, differentiates=differentiates, **others)


def test_a_value_is_constant_where_its_rates_are_zero():
    """Though a constant factor of it is a factor of what is made of it as well."""
    assert_allclose(definition().interpret(X.tolist())[0], expected(X), rtol=1e-14)
    assert_allclose(make_kernel(definition())(X), expected(X), rtol=1e-14)


def test_a_result_of_derivatives_can_be_differentiated_alone():
    def evaluate(x):
        a = x[0] * 2.0
        rows = derivatives(lambda y: [y[0] * y[1], -y[1]], [x[0], -a], [[0.0, 1.0], [x[1], 0.0]])
        return [value for row in rows for value in row]

    found = definition(evaluate).interpret(X.tolist())[0]
    assert_allclose(found, [X[0], -2.0 * X[0] * X[1], -1.0, 0.0], rtol=1e-15)


def test_derivatives_of_derivatives():
    def slope(y):
        return derivatives(lambda z: [z[0] * z[0] * sin(z[1])], y, [[1.0, 0.0]])[0]

    def evaluate(x):
        return [*derivatives(slope, x, [[1.0, 0.0], [0.0, 1.0]])[0], 0.0, 0.0]

    found = definition(evaluate).interpret(X.tolist())[0]
    assert_allclose(found[:2], [2 * math.sin(X[1]), 2 * X[0] * math.cos(X[1])], rtol=1e-14)


def test_scalar_products_are_differentiated_and_constants_do_not_move():
    def evaluate(x):
        four = [x[0], x[1], x[0], 2.0]
        units = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
        rows = derivatives(lambda y: [inner([*y, y[0]], four)], [*x, 3.0], units)
        return [*rows[0], 0.0, 0.0]

    found = definition(evaluate).interpret(X.tolist())[0]
    assert_allclose(found[:2], [X[0] + 2.0, 0.0], rtol=1e-15)


def test_a_direction_has_the_rates_of_all_arguments():
    with pytest.raises(ValueError, match='got 1 rates for 2 arguments'):
        definition(lambda x: derivatives(lambda y: y, x, [[1.0]])[0]).interpret(X.tolist())


def test_a_number_has_no_derivatives():
    with pytest.raises(TypeError, match='a plain number has no derivatives'):
        derivatives(lambda x: x, [1.0, 2.0], [[1.0, 0.0]])


def test_a_node_is_replaced_wherever_it_is_used():
    graph = Graph()
    a, b = graph.inputs('x', 2)
    values = [a * b + a, 2.0, -(b * b), a]
    found = replaced(graph, values, {a.number: b + 1.0})
    again = [(b + 1.0) * b + (b + 1.0), 2.0, -(b * b), b + 1.0]
    assert [repr(x) for x in found] == [repr(x) for x in again]


def long_way(x):
    return [x[0] * x[1] + x[0] * x[1] * 3.0, x[0] * x[0] * x[1] / x[0], 0.0, 0.0]


def short_way(x):
    return [4.0 * (x[0] * x[1]), x[0] * x[1], 0.0, 0.0]


def test_the_program_is_that_of_fewer_operations():
    short, long = (definition(f, False) for f in (short_way, long_way))
    fewer = short.program().count
    assert long.program().count.multiplications > fewer.multiplications
    for first, other in ((short, long), (long, short)):
        chosen = replace(first, alternative=other)
        assert chosen.program().count == fewer
        assert_allclose(make_kernel(chosen)(X)[:2], [4 * X[0] * X[1], X[0] * X[1]], rtol=1e-15)
