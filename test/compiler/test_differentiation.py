# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of graphs: forward mode, reverse mode and vertex elimination, by complex steps."""

import math

import numpy as np
import pytest
from support.derivatives import (
    assert_close,
    at,
    complex_step,
    every_way,
    is_regular,
    random_program,
    root,
    run,
    trace,
    units,
    WAYS,
)
from support.programs import values_of

from rbd_ros.compiler import Graph, Symbol
from rbd_ros.compiler.passes import (
    along,
    directional_derivatives,
    forward_mode,
    jacobian,
    reverse_mode,
    vertex_elimination,
)
from rbd_ros.compiler.passes.partials import partials
from rbd_ros.compiler.symbol_graph import CONSTANT
from rbd_ros.spatial.scalar import cos, sin, where_positive


def derivatives(way, function, x):
    """Return the derivatives of a function of a list of scalars at x by one of the ways."""
    graph, symbols, outputs = trace(function, len(x))
    return at(graph, way(graph, outputs, symbols), x=x)


# -- random programs


@every_way
@pytest.mark.parametrize('seed', range(60))
def test_derivatives_of_random_programs_are_those_of_complex_steps(way, seed):
    state = np.random.default_rng(1000 + seed).uniform(-2.0, 2.0, 5)
    program = random_program(seed, state)
    expected = complex_step(lambda x: run(program, x), state)
    assert_close(derivatives(way, lambda x: run(program, x), state), expected)


@pytest.mark.parametrize('seed', range(20))
def test_branches_taken_elsewhere_are_differentiated_as_well(seed):
    """One graph, many states: whichever way its conditions go."""
    rng = np.random.default_rng(seed)
    program = random_program(seed, rng.uniform(-2.0, 2.0, 5))
    states = rng.uniform(-2.0, 2.0, (5, 50))
    graph, x, outputs = trace(lambda x: run(program, x), 5)
    for way in WAYS.values():
        rows = way(graph, outputs, x)
        flat = values_of(graph, [value for row in rows for value in row], {'x': states})
        found = np.array([np.broadcast_to(value, 50) for value in flat]).reshape(-1, 5, 50)
        for k, state in enumerate(states.T):
            expected = complex_step(lambda x: run(program, x), state)
            regular = is_regular(expected)
            assert_close(found[regular, :, k], expected[regular], 1e-9)


@pytest.mark.parametrize('seed', range(15))
def test_second_derivatives_by_differentiating_twice(seed):
    state = np.random.default_rng(2000 + seed).uniform(-2.0, 2.0, 4)
    program = random_program(seed, state, length=15)
    graph, x, outputs = trace(lambda x: run(program, x, 1)[:1], 4)
    first = forward_mode(graph, outputs, units(x))[0]
    expected = np.empty((4, 4))
    for k in range(4):  # complex steps through the interpreter, which its own tests hold
        stepped = state + 1e-30j * np.eye(4)[k]
        expected[:, k] = np.imag(values_of(graph, first, {'x': stepped})) / 1e-30
    for way in WAYS.values():
        assert_close(at(graph, way(graph, first, x), x=state), expected)
    assert_close(expected, expected.T)


# -- one operation at a time

ELEMENTARY = {
    'sum': (lambda x: x[0] + x[1], [1.0, 1.0]),
    'difference': (lambda x: x[0] - x[1], [1.0, -1.0]),
    'negative difference': (lambda x: x[1] - x[0], [-1.0, 1.0]),
    'double': (lambda x: x[0] + x[0], [2.0, 0.0]),
    'product': (lambda x: x[0] * x[1], [3.0, 2.0]),
    'square': (lambda x: x[0] * x[0], [4.0, 0.0]),
    'multiple': (lambda x: -2.5 * x[0], [-2.5, 0.0]),
    'quotient': (lambda x: x[0] / x[1], [1 / 3, -2 / 9]),
    'reciprocal': (lambda x: -1.0 / x[1], [0.0, 1 / 9]),
    'root': (lambda x: root(x[0]), [0.5 / math.sqrt(2), 0.0]),
    'sine': (lambda x: sin(x[0]), [math.cos(2), 0.0]),
    'cosine': (lambda x: cos(-x[0]), [-math.sin(2), 0.0]),
    'constant': (lambda x: 7.0, [0.0, 0.0]),
    'input': (lambda x: x[1], [0.0, 1.0]),
    'negative input': (lambda x: -x[1], [0.0, -1.0]),
}


@every_way
@pytest.mark.parametrize('function, expected', ELEMENTARY.values(), ids=ELEMENTARY)
def test_elementary_derivatives(way, function, expected):
    assert_close(derivatives(way, lambda x: [function(x)], [2.0, 3.0]), [expected], 1e-9)


@every_way
def test_the_derivative_of_an_independent_value_is_the_float_zero(way):
    graph, (x, y, z), outputs = trace(lambda x: [x[0] * x[1], 4.0, x[1] - x[1], x[2]], 3)
    rows = way(graph, outputs, [x, y, z])
    for row, column in ((0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (3, 0), (3, 1)):
        value = rows[row][column]
        assert type(value) is float and value == 0.0 and math.copysign(1.0, value) == 1.0


@every_way
def test_ways_that_cancel_leave_the_float_zero(way):
    graph, x, outputs = trace(lambda x: [(x[0] + x[1]) - (x[0] - x[1])], 2)
    assert way(graph, outputs, x)[0][0] == 0.0 and way(graph, outputs, x)[0][1] == 2.0


@every_way
def test_an_input_with_a_sign_is_differentiated_by_with_its_sign(way):
    graph, (x, y), outputs = trace(lambda x: [x[0] * x[0] * x[1]], 2)
    rows = way(graph, outputs, [-x, y])
    assert_close(at(graph, rows, x=[3.0, 5.0]), [[-30.0, 9.0]])


@every_way
def test_by_a_constant_derivatives_are_zero(way):
    graph, x, outputs = trace(lambda x: [2.0 * x[0]], 1)
    assert way(graph, outputs, [x[0], 2.0]) == [[2.0, 0.0]]


@every_way
def test_an_inner_node_may_be_taken_as_independent(way):
    """The adjoint stops there, and its operands do not count."""
    graph, (x, y), _ = trace(lambda x: [], 2)
    inner = sin(x) * y
    rows = way(graph, [inner * inner + x * inner], [x, inner])
    values = {'x': [0.3, 2.0]}
    u = math.sin(0.3) * 2.0
    assert_close(at(graph, rows, **values), [[u, 2.0 * u + 0.3]])


@every_way
def test_a_choice_may_be_taken_as_independent(way):
    graph, (x, y), _ = trace(lambda x: [], 2)
    chosen = where_positive(x, y, -y)
    rows = way(graph, [chosen * chosen, y * chosen], [chosen, y])
    assert_close(at(graph, rows, x=[-1.0, 2.0]), [[-4.0, 0.0], [2.0, -2.0]])


# -- directions


@pytest.mark.parametrize(
    'way', [forward_mode, vertex_elimination, directional_derivatives], ids=lambda f: f.__name__
)
@pytest.mark.parametrize('seed', range(10))
def test_derivatives_along_directions_whose_rates_are_symbols(way, seed):
    """The inputs move at rates that depend on them, as a quaternion does."""
    state = np.random.default_rng(3000 + seed).uniform(0.5, 2.0, 4)
    program = random_program(seed, state)
    graph, x, outputs = trace(lambda x: run(program, x), 4)
    rates = [[x[1], -x[0], 0.0, 2.0], [x[2] * x[3], 1.0, -x[1], 0.0]]
    rows = way(graph, outputs, [along(x, rate) for rate in rates])
    a, b, c, d = state
    numbers = np.array([[b, -a, 0.0, 2.0], [c * d, 1.0, -b, 0.0]]).T
    expected = complex_step(lambda x: run(program, x), state, numbers)
    assert_close(at(graph, rows, x=state), expected)


def test_many_outputs_and_one_direction_or_the_reverse_go_either_way():
    """A gradient along directions: by reverse mode, multiplied by the rates."""
    graph, x, outputs = trace(lambda x: [math.prod(sin(y) for y in x)], 12)
    rates = np.random.default_rng(5).uniform(-1.0, 1.0, (12, 6))
    rows = directional_derivatives(graph, outputs, [along(x, rate) for rate in rates.T.tolist()])
    state = np.linspace(0.3, 2.0, 12)
    expected = complex_step(lambda x: [math.prod((sin(y) for y in x), start=1.0)], state, rates)
    assert_close(at(graph, rows, x=state), expected)


def test_a_direction_takes_signs_of_inputs_and_leaves_constants_out():
    graph, (x, y), _ = trace(lambda x: [], 2)
    assert along([x, -y, 3.0], [2.0, 5.0, 1.0]) == {x.number: 2.0, y.number: -5.0}


# -- cost


def test_derivatives_reuse_the_sines_and_cosines():
    graph, x, outputs = trace(lambda x: [sin(x[0]) * x[1], cos(x[0] * x[1]), sin(2.0 * x[1])], 2)
    for way in WAYS.values():
        rows = way(graph, outputs, x)
        assert graph.count([*outputs, *(v for row in rows for v in row)]).angles == 3


def test_one_reciprocal_serves_everything_divided_by_the_same():
    graph, x, outputs = trace(lambda x: [x[0] / x[3], x[1] / x[3], sin(x[2]) / x[3]], 4)
    for way in WAYS.values():
        rows = way(graph, outputs, x)
        assert graph.count([*outputs, *(v for row in rows for v in row)]).divisions == 4


def test_the_derivative_of_a_reciprocal_is_its_square():
    graph, x, outputs = trace(lambda x: [1.0 / x[0]], 1)
    rows = forward_mode(graph, outputs, units(x))
    count = graph.count([*outputs, *rows[0]])
    assert (count.divisions, count.multiplications, count.additions) == (1, 1, 0)


def test_a_normalized_vector_takes_one_root_and_one_division():
    def normalized(x):
        scale = 1.0 / root(x[0] * x[0] + x[1] * x[1])
        return [scale * x[0], scale * x[1]]

    graph, x, outputs = trace(normalized, 2)
    for way in WAYS.values():
        rows = way(graph, outputs, x)
        count = graph.count([*outputs, *rows[0], *rows[1]])
        assert (count.square_roots, count.divisions) == (1, 1)


def test_a_gradient_costs_a_small_multiple_for_any_number_of_inputs():
    def function(x):
        total = 1.0
        for k in range(len(x)):
            total = total * (1.5 + sin(x[k]) * x[k - 1])
        return [total]

    for size in (10, 100, 1000):
        graph, x, outputs = trace(function, size)
        before = operations(graph, outputs)
        for way in (reverse_mode, jacobian):
            assert operations(graph, [*outputs, *way(graph, outputs, x)[0]]) <= 4 * before


def operations(graph, values):
    count = graph.count(values)
    return count.multiplications + count.additions + count.divisions


def test_a_curve_costs_a_small_multiple_for_any_number_of_outputs():
    graph, x, outputs = trace(lambda x: [sin(x[0]) * (x[0] + k) for k in range(1, 1000)], 1)
    for way in (WAYS['forward'], jacobian):
        rows = way(graph, outputs, x)
        after = operations(graph, [*outputs, *(row[0] for row in rows)])
        assert after <= 3 * operations(graph, outputs)


def test_a_direction_costs_only_where_it_matters():
    """Of many chains side by side each direction moves one: nothing is spent on the others."""

    def function(x):
        return [sin(value) * value * value for value in x]

    cost = []
    for size in (10, 20):
        graph, x, outputs = trace(function, size)
        before = len(graph.nodes)
        forward_mode(graph, outputs, units(x))
        cost.append(len(graph.nodes) - before)
    assert cost[1] <= 2 * cost[0] + 2


@every_way
def test_conditions_cost_nothing(way):
    """However long they are: nothing changes by them, so they are not differentiated."""

    def function(x):
        return [where_positive(sin(x[0]) * cos(x[0]) / x[0], x[1], 3.0)]

    graph, x, outputs = trace(function, 2)
    before = len(graph.nodes)
    assert way(graph, outputs, x[:1]) == [[0.0]]
    assert len(graph.nodes) == before


@every_way
def test_nodes_below_an_independent_node_cost_nothing(way):
    graph, (x, y), _ = trace(lambda x: [], 2)
    inner = sin(x) * cos(y) / x
    outputs = [inner + y]
    before = len(graph.nodes)
    assert way(graph, outputs, [inner, y]) == [[1.0, 1.0]]
    assert len(graph.nodes) == before


def test_elimination_finds_the_narrow_place():
    """Ten inputs, one number in between, ten outputs: a product of two vectors, for all ways."""

    def function(x):
        waist = math.prod((1.0 + value * value for value in x[1:]), start=x[0])
        return [sin(waist + k) * waist for k in range(10)]

    graph, x, outputs = trace(function, 10)
    spent = {}
    for name, way in WAYS.items():
        rows = way(graph, outputs, x)
        spent[name] = operations(graph, [*outputs, *(v for row in rows for v in row)])
    assert spent['elimination'] < 0.7 * min(spent['forward'], spent['reverse'])
    assert spent['jacobian'] == spent['elimination']


@pytest.mark.parametrize('inputs, outputs', [(30, 2), (2, 30), (8, 8)])
def test_the_jacobian_goes_the_cheapest_way(inputs, outputs):
    def function(x):
        product = math.prod((sin(value) for value in x), start=1.0)
        return [product * (x[0] + k) for k in range(outputs)]

    graph, x, values = trace(function, inputs)
    spent = {
        name: operations(graph, [*values, *(v for row in way(graph, values, x) for v in row)])
        for name, way in WAYS.items()
    }
    assert spent['jacobian'] == min(spent.values())


@pytest.mark.slow
def test_long_graphs_take_neither_recursion_nor_much_time():
    """A chain of 10^5 nodes: nodes are added in proportion, and numbers are right."""

    def function(x):
        a, b = x
        for _ in range(25000):
            a, b = a * 0.999 + sin(b), b - a * 1e-4
        return [a, b]

    graph, x, outputs = trace(function, 2)
    nodes = len(graph.nodes)
    assert nodes > 100_000
    state = [0.3, -0.2]
    found = []
    for way in (WAYS['forward'], reverse_mode):
        before = len(graph.nodes)
        rows = way(graph, outputs, x)
        assert len(graph.nodes) - before <= 5 * nodes
        found.append(at(graph, rows, x=state))
    expected = complex_step(function, state)
    assert_close(found[0], expected, 1e-9)
    assert_close(found[1], expected, 1e-9)


def test_a_choice_has_no_partial_derivatives():
    graph, x, outputs = trace(lambda x: [where_positive(x[0], x[1], x[2])], 3)
    with pytest.raises(ValueError, match='WHERE has no partial derivatives'):
        partials(graph, outputs[0].number)


def test_differentiation_does_not_change_the_function():
    graph, x, outputs = trace(lambda x: run(random_program(3, [0.4, 0.9, -1.1]), x), 3)
    before, marks = list(graph.nodes), [repr(value) for value in outputs]
    jacobian(graph, outputs, x)
    assert graph.nodes[: len(before)] == before
    assert [repr(value) for value in outputs] == marks


def test_derivatives_are_the_same_nodes_every_time():
    def numbers():
        graph, x, outputs = trace(lambda x: run(random_program(4, [0.4, 0.9, -1.1]), x), 3)
        rows = jacobian(graph, outputs, x)
        return graph.nodes, [[repr(value) for value in row] for row in rows]

    assert numbers() == numbers()


def test_constants_among_operands_are_omitted():
    graph = Graph()
    (x,) = graph.inputs('x', 1)
    product, quotient = 3.0 * x, 2.0 / x
    assert partials(graph, product.number) == [(x.number, 3.0)]
    assert [operand for operand, _ in partials(graph, quotient.number)] == [x.number]
    constant = Symbol(graph, graph.node((CONSTANT, 2.0)), False)
    assert partials(graph, constant.sin().number) == []
