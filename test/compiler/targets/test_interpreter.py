# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Interpreted graphs: floats, arrays, complex numbers."""

import math

import numpy as np
import pytest
from support.derivatives import random_program, run, trace
from support.programs import values_of

from rbd_ros.compiler import Graph
from rbd_ros.spatial.scalar import sqrt, where_positive


@pytest.mark.parametrize('seed', range(20))
def test_the_graph_agrees_with_the_program(seed):
    state = np.random.default_rng(seed).uniform(-2.0, 2.0, 5)
    program = random_program(seed, state)
    graph, _, outputs = trace(lambda x: run(program, x), 5)
    found = values_of(graph, outputs, {'x': state})
    np.testing.assert_allclose(found, run(program, state.tolist()), rtol=1e-13, atol=1e-13)


def test_many_states_at_once_are_the_same_as_one_by_one():
    rng = np.random.default_rng(1)
    program = random_program(1, rng.uniform(-2.0, 2.0, 5))
    graph, _, outputs = trace(lambda x: run(program, x), 5)
    states = rng.uniform(-2.0, 2.0, (5, 30))
    together = values_of(graph, outputs, {'x': states})
    for k in range(30):
        one = values_of(graph, outputs, {'x': states[:, k]})
        for value, values in zip(one, together):
            np.testing.assert_allclose(np.broadcast_to(values, 30)[k], value, rtol=1e-14)


def test_every_operation():
    graph, (a, b), _ = trace(lambda x: [], 2)
    outputs = [a + b, a - b, b - a, a * b, a / b, a.sqrt(), a.sin(), a.cos(), -a, 2.5]
    outputs += [a.where_positive(a, b), (-a).where_positive(a, b)]
    found = values_of(graph, outputs, {'x': [2.0, 5.0]})
    expected = [7.0, -3.0, 3.0, 10.0, 0.4, 2**0.5, math.sin(2.0), math.cos(2.0), -2.0, 2.5]
    np.testing.assert_allclose(found, [*expected, 2.0, 5.0], rtol=1e-15)


def test_a_condition_of_zero_or_no_number_chooses_no():
    graph, (a, b), _ = trace(lambda x: [], 2)
    (value,) = values_of(
        graph, [a.where_positive(b, -b)], {'x': [np.array([0.0, math.nan, 1e-300]), 3.0]}
    )
    assert value.tolist() == [-3.0, -3.0, 3.0]


def test_division_by_zero_raises_nothing():
    graph, (a, b), outputs = trace(
        lambda x: [x[0] / x[1], sqrt(-x[0]), where_positive(x[1], x[0] / x[1], 7.0)], 2
    )
    with np.errstate(all='raise'):
        infinite, none, chosen = values_of(graph, outputs, {'x': [1, 0]})
    assert infinite == math.inf and math.isnan(none) and chosen == 7.0


def test_complex_numbers_take_the_branch_of_their_real_part():
    graph, _, outputs = trace(lambda x: [where_positive(x[0], x[0] * x[0], -x[0])], 1)
    assert values_of(graph, outputs, {'x': [3.0 - 1e-30j]})[0].imag == pytest.approx(-6e-30)
    assert values_of(graph, outputs, {'x': [-3.0 + 1e-30j]})[0].imag == -1e-30


def test_inputs_are_distinguished_by_name():
    graph = Graph()
    (q,), (v,) = graph.inputs('q', 1), graph.inputs('v', 1)
    assert values_of(graph, [q - 2.0 * v], {'v': [1.0], 'q': [10.0]}) == [8.0]


def test_a_missing_input_is_named_unless_nothing_needs_it():
    graph = Graph()
    (q,), v = graph.inputs('q', 1), graph.inputs('v', 2)
    assert values_of(graph, [q + 1.0], {'q': [1.0]}) == [2.0]
    with pytest.raises(ValueError, match=r'v\[1\]'):
        values_of(graph, [v[1] + q], {'q': [1.0], 'v': [1.0]})
    with pytest.raises(ValueError, match=r'q\[0\]'):
        values_of(graph, [q], {'v': [1.0, 2.0]})


def test_integers_count_as_floats():
    graph, (a, b), _ = trace(lambda x: [], 2)
    assert values_of(graph, [a / b], {'x': [7, np.int8(2)]}) == [3.5]
    assert values_of(graph, [a * b], {'x': np.array([100, 100], dtype=np.int8)}) == [10000.0]


def test_constants_divide_like_any_number():
    graph = Graph()
    (x,) = graph.inputs('x', 1)
    infinite = 1.0 / graph.constant(0.0)
    found = values_of(graph, [infinite, -infinite, x], {'x': [1.0]})
    assert found == [math.inf, -math.inf, 1.0]
