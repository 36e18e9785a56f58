# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Fusion of products into sums: which products, and values equal to rounding."""

import math

import numpy as np
import pytest
from support.programs import program as program_of
from support.small_kernels import kernel

from rbd_ros.compiler import Graph
from rbd_ros.compiler.symbol_graph import ADD, INPUT, MUL, operands, SIN, SUB
from rbd_ros.compiler.targets.llvm.fusion import fused, MUL_ADD, MUL_SUB, SUB_MUL


def kinds(outputs, graph):
    """Return the kinds of the operations that are left, sorted."""
    result = fused(program_of(graph, outputs)).program
    nodes = [result.graph.nodes[k] for k in result.live]
    return sorted(node[0] for node in nodes if operands(node))


@pytest.fixture
def graph():
    return Graph()


def test_a_product_that_one_sum_needs_is_taken_into_it(graph):
    a, b, c = graph.inputs('x', 3)
    assert kinds([a * b + c], graph) == [MUL_ADD]
    assert kinds([a * b - c], graph) == [MUL_SUB]
    assert kinds([c - a * b], graph) == [SUB_MUL]


def test_a_product_that_several_sums_need_is_taken_into_all_or_none(graph):
    a, b, c, d = graph.inputs('x', 4)
    xy = a * b
    assert kinds([xy + c, xy - c, d - xy], graph) == [MUL_ADD, MUL_SUB, SUB_MUL]
    # here the product itself is needed; 0.0 is added to what is put out
    assert kinds([xy, xy + c], graph) == [ADD, MUL_ADD]
    assert kinds([xy * d, xy + c], graph) == [ADD, MUL_ADD, MUL_ADD]


def test_the_later_of_two_products_is_fused(graph):
    a, b, c, d = graph.inputs('x', 4)
    early, late = a * b, (c * d) * d
    result = fused(program_of(graph, [early + late])).program
    last = result.graph.nodes[result.live[-1]]
    assert last[0] == MUL_ADD
    assert [result.graph.nodes[k][0] for k in last[1:]] == [INPUT, MUL, MUL_ADD]


def test_terms_are_added_as_they_become_ready(graph):
    a, b, c, d = graph.inputs('x', 4)
    late = (a.sin() * b).sin()
    for total in ((late + a * b) + (c + d), a * b + (c + (d + late)), c - (late - d) + a * b):
        result = fused(program_of(graph, [total])).program
        last = result.graph.nodes[result.live[-1]]
        assert last[0] in (ADD, SUB) and SIN in [result.graph.nodes[k][0] for k in last[1:]]


def test_sums_that_others_need_are_shared(graph):
    a, b, c, d = graph.inputs('x', 4)
    shared = a + b
    assert kinds([shared + c, shared + d, shared * c], graph).count(ADD) == 3


def test_the_sign_of_a_result_is_taken_into_its_operation(graph):
    a, b, c = graph.inputs('x', 3)
    assert kinds([-(a - b)], graph) == [SUB]
    assert kinds([-(a * b - c)], graph) == [SUB_MUL]
    assert kinds([-(a * b)], graph) == [SUB_MUL]
    both = a * b - c
    result = fused(program_of(graph, [both, -both])).program
    assert {value.negative for value in result.flat} == {False, True}  # it cannot be both


def test_fusion_changes_results_by_rounding_alone():
    def evaluate(x):
        rng, values = np.random.default_rng(5), list(x)
        for _ in range(200):
            a, b, c = (values[k] for k in rng.integers(0, len(values), 3))
            choices = (a * b + c, a * b - c, c - a * b, a * 0.5 - b, a * a, a * b)
            values.append(choices[rng.integers(6)] * 0.3)
        return [value if k % 2 else -value for k, value in enumerate(values)]

    x = np.random.default_rng(6).uniform(-1, 1, 6)
    compiled = kernel(evaluate, [('x', 6)], (206,))(x)
    np.testing.assert_allclose(compiled, evaluate(x.tolist()), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize('rows', [1, 9])
def test_results_are_never_negative_zeros(rows):
    def evaluate(x):
        a, b, c, d = x
        return [a, -a, a * b, -(a * b), a + b, a - b, -(a - b), a * b + c, a * b - c, c - a * b,
                a * b + c * d, -(a * b + c * d), a * b - c * d, (a + b) * c + d, a.sin(), a.cos(),
                -(a.sin()), a.where_positive(b, c), a / 2.0, a / (b + 1.0)]  # fmt: skip

    compiled = kernel(evaluate, [('x', 4)], (20,))
    for signs in np.ndindex(2, 2, 2, 2):
        x = np.where(signs, -0.0, 0.0)
        results = compiled(x) if rows == 1 else compiled(np.repeat([x], rows, axis=0))
        assert not np.signbit(results).any()


def test_very_long_sums_are_looked_through_without_end():
    terms = 5000
    compiled = kernel(lambda x: [sum((x[0] + k for k in range(terms)), x[1])], [('x', 2)])
    expected = terms * 0.5 + terms * (terms - 1) / 2 + 0.25
    assert math.isclose(compiled(np.array([0.5, 0.25])).item(), expected, rel_tol=1e-12)
