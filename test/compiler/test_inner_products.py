# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scalar products as single operations equal sums of products, in all passes and targets."""

from dataclasses import replace

import numpy as np
import pytest
from support.derivatives import at, complex_step
from support.programs import values_of
from support.small_kernels import kernel

from rbd_ros.compiler import Definition, Graph, Output, Tangent
from rbd_ros.compiler.passes import expand
from rbd_ros.compiler.runtime import native
from rbd_ros.compiler.symbol_graph import INNER
from rbd_ros.compiler.targets.llvm import straight_line
from rbd_ros.spatial.scalar import inner

STATE = (0.7, -1.3, 0.4, 2.1, -0.6, 1.9)


def plain(a, b):
    return sum((x * y for x, y in zip(a, b)), 0.0)


def everything(x, product):
    """Return the scalar products with signs, zeros and constants; every operation on one.

    One in another.
    """
    u, v = [x[0], -x[1], 0.0, x[2], 2.0], [-x[3], x[4], x[5], -x[1], x[0]]
    first = product(u, v)
    second = product([first, -first, *x[:2]], [x[2], x[3], -1.0, 0.5])
    return [
        first,
        -first,
        second,
        first + second,
        second - x[1],
        first * 3.0,
        x[0] / (second * second + 1.0),
        1.0 / (first + 9.0),
        (first * first).sqrt(),
        first.sin() + first.cos(),
        first.where_positive(second, x[0]) - (-first).where_positive(1.0, first),
        product(x[:2], x[2:4]),
        product([0.0, 0.0, 0.0], x[:3]),
    ]


def numbers(x, product):
    """Return the same values by NumPy."""

    class Number(float):
        """A float with the methods of a symbol."""

        def sqrt(self):
            return np.sqrt(self)

        def sin(self):
            return np.sin(self)

        def cos(self):
            return np.cos(self)

        def where_positive(self, yes, no):
            return yes if self > 0 else no

        __neg__, __add__, __mul__ = (
            lambda self, *others, f=f: Number(f(self, *others))
            for f in (float.__neg__, float.__add__, float.__mul__)
        )

    return [float(y) for y in everything(x, lambda a, b: Number(product(a, b)))]


def test_floats_are_summed_up():
    assert inner([1.0, 2.0, 3.0], [4.0, -5.0, 6.0]) == 12.0
    assert inner([], []) == 0


def test_a_long_product_is_one_node_and_a_short_one_is_not():
    graph = Graph()
    x = graph.inputs('x', 6)
    long = inner([0.0, *x[:3]], [x[0], *x[3:]])
    assert graph.nodes[long.number] == (INNER, 0, 3, 1, 4, 2, 5)
    assert inner([0.0, *x[:3]], [x[0], *x[3:]]).number == long.number
    short = inner([*x[:3]], [x[3], x[4], 0.0])
    assert short.number == plain(x[:2], x[3:5]).number
    assert inner([0.0, x[0]], [x[1], 0.0]) == 0.0


def test_written_out_it_is_the_sum_of_products_to_the_node():
    """Signs and constants as they would be, so that nothing is lost by asking for it."""
    graph = Graph()
    x = graph.inputs('x', 6)
    expected = everything(x, plain)[0]
    (found,) = expand(graph, everything(x, inner)[:1])
    assert (found.number, found.negative) == (expected.number, expected.negative)


def test_every_operation_takes_one_and_it_is_counted_as_its_products():
    graph = Graph()
    x = graph.inputs('x', 6)
    outputs = everything(x, inner)
    written_out = expand(graph, outputs)
    assert any(graph.nodes[n][0] == INNER for n in graph.live(outputs))
    assert not any(graph.nodes[n][0] == INNER for n in graph.live(written_out))
    found = values_of(graph, written_out, {'x': STATE})
    assert found == pytest.approx(numbers(STATE, plain), rel=1e-14)
    product = inner(x[:3], x[3:])
    assert graph.count([product]) == graph.count(expand(graph, [product]))


@pytest.mark.parametrize('loops', [False, True])
def test_kernels_have_the_numbers_of_the_interpreter(loops, monkeypatch):
    if loops:
        monkeypatch.setattr(straight_line, '_MANY_MORE_NODES', -1)
    compiled = kernel(lambda x: everything(x, inner), [('x', 6)], (13,))
    expected = numbers(STATE, plain)
    np.testing.assert_allclose(compiled(np.array(STATE)), expected, rtol=1e-14)
    many = compiled(np.tile(STATE, (11, 1)))
    np.testing.assert_array_equal(many, np.tile(compiled(np.array(STATE)), (11, 1)))


def definition():
    key = {'inner products': native.versions()}
    return Definition.of_one_output(
        'small', [('x', 6)], (13,), lambda x: everything(x, inner), key
    )


def test_products_are_computed_on_request_only():
    program = definition().program()
    assert not any(program.graph.nodes[n][0] == INNER for n in program.live)
    asked = definition().program(inner_products=True)
    assert any(asked.graph.nodes[n][0] == INNER for n in asked.live)
    assert asked.expanded().count == program.count


def test_derivatives_go_through_products():
    size = len(STATE)
    outputs = (Output('y', (13,)), Output('dy', (13, size)))
    differentiated = replace(
        definition(), outputs=outputs, tangents=(Tangent('x', size),), result=tuple
    )
    program = differentiated.program(inner_products=True)
    rows = np.reshape(np.array(program.values[1], dtype=object), (13, size))
    found = at(program.graph, rows.tolist(), x=np.array(STATE))
    expected = complex_step(lambda x: everything(x, plain), np.array(STATE))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
