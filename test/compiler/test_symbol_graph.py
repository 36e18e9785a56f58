# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Symbol graph: constant folding, sharing, and dead code."""

import math

import pytest

from rbd_ros.compiler import Graph, OperationCount, Symbol
from rbd_ros.compiler.symbol_graph import INPUT


@pytest.fixture
def graph():
    """Return the empty graph."""
    return Graph()


@pytest.fixture
def xyz(graph):
    """Return three symbols."""
    return graph.inputs('x', 3)


def same(a, b):
    return (a.number, a.negative) == (b.number, b.negative)


def count(graph, *outputs):
    return graph.count(outputs)


def test_adding_zero_changes_nothing(xyz):
    x = xyz[0]
    assert all(same(value, x) for value in (x + 0, 0 + x, x + 0.0, x - 0, x + -0.0))


def test_subtracting_from_zero_is_the_negative(xyz):
    assert same(0 - xyz[0], -xyz[0])


@pytest.mark.parametrize('zero', [0, 0.0, -0.0])
def test_a_product_with_zero_is_the_float_zero(xyz, zero):
    assert xyz[0] * zero == 0.0 and not isinstance(zero * xyz[0], Symbol)


def test_a_product_with_one_changes_nothing(xyz):
    assert same(xyz[0] * 1, xyz[0]) and same(1.0 * xyz[0], xyz[0])


def test_a_product_with_minus_one_is_a_sign(graph, xyz):
    assert same(-1 * xyz[0], -xyz[0])
    assert count(graph, -1 * xyz[0]) == OperationCount(0, 0)


def test_a_difference_with_itself_is_the_float_zero(xyz):
    assert xyz[0] - xyz[0] == 0.0 and not isinstance(-xyz[0] + xyz[0], Symbol)


def test_a_quotient_with_itself_is_one(xyz):
    assert xyz[0] / xyz[0] == 1.0 and xyz[0] / -xyz[0] == -1.0


def test_zero_divided_by_anything_is_zero(xyz):
    assert 0.0 / xyz[0] == 0.0


def test_dividing_by_a_constant_is_multiplying_by_its_reciprocal(graph, xyz):
    assert same(xyz[0] / 4.0, xyz[0] * 0.25)
    assert count(graph, xyz[0] / 3.0).divisions == 0


@pytest.mark.parametrize('tiny', [1e-310, 5e-324])
def test_a_divisor_without_a_finite_reciprocal_stays_a_division(graph, xyz, tiny):
    assert count(graph, xyz[0] / tiny).divisions == 1


def test_division_by_the_constant_zero_is_an_error(xyz):
    with pytest.raises(ZeroDivisionError):
        xyz[0] / 0.0


def test_constant_factors_multiply_into_one(graph, xyz):
    assert same(2.0 * (3.0 * xyz[0]), 6.0 * xyz[0])
    assert same(0.5 * (2.0 * xyz[0]), xyz[0])
    assert same(-2.0 * (3.0 * xyz[0]), -(6.0 * xyz[0]))


def test_equal_operations_are_one_node(graph, xyz):
    x, y, _ = xyz
    before = len(graph.nodes)
    assert same(x * y + 1.0, x * y + 1.0)
    assert len(graph.nodes) == before + 3  # product, constant, sum


def test_sums_and_products_commute(xyz):
    x, y, _ = xyz
    assert same(x + y, y + x) and same(x * y, y * x) and same(x * 2.0, 2.0 * x)


def test_a_difference_and_its_negative_share_a_node(xyz):
    x, y, _ = xyz
    assert (x - y).number == (y - x).number and same(x - y, -(y - x))


def test_signs_move_out_of_products_and_quotients(xyz):
    x, y, _ = xyz
    assert same(-x * y, -(x * y)) and same(-x * -y, x * y) and same(x / -y, -(x / y))


def test_signs_move_out_of_the_sine_and_vanish_in_the_cosine(xyz):
    assert same((-xyz[0]).sin(), -(xyz[0].sin())) and same((-xyz[0]).cos(), xyz[0].cos())


def test_a_sum_of_negatives_shares_the_node_of_the_sum(xyz):
    x, y, _ = xyz
    assert same(-x - y, -(x + y))


def test_unused_operations_are_not_compiled(graph, xyz):
    x, y, z = xyz
    unused = (x * y).sin() / z
    assert isinstance(unused, Symbol)
    assert count(graph, x + y) == OperationCount(multiplications=0, additions=1)
    assert all(graph.nodes[n][0] == INPUT for n in graph.live([x, y]))


def test_live_nodes_come_after_their_operands(graph, xyz):
    x, y, z = xyz
    value = (x * y - z).sin() / (x + 1.0).sqrt()
    order = graph.live([value])
    for place, number in enumerate(order):
        node = graph.nodes[number]
        operands = () if node[0] < 2 else node[1:]
        assert all(operand in order[:place] for operand in operands)


def test_an_angle_counts_once_for_sine_and_cosine(graph, xyz):
    x = xyz[0]
    assert count(graph, x.sin(), x.cos(), (-x).sin()).angles == 1


def test_a_shared_subexpression_counts_once(graph, xyz):
    x, y, z = xyz
    assert count(graph, x * y + z, x * y - z) == OperationCount(1, 2)


def test_equal_alternatives_are_no_choice(graph, xyz):
    x, y, _ = xyz
    assert count(graph, x.where_positive(y, y)).selections == 0
    assert x.where_positive(2.0, 2.0) == 2.0


def test_a_symbol_has_no_truth_and_no_value(xyz):
    with pytest.raises(TypeError, match='where_positive'):
        bool(xyz[0])
    with pytest.raises(TypeError):
        float(xyz[0])
    with pytest.raises(TypeError):
        math.sin(xyz[0])


def test_a_symbol_compares_with_nothing(xyz):
    for compare in (lambda x: x == 0, lambda x: x != 1.0, lambda x: x < 1, lambda x: x >= 1):
        with pytest.raises(TypeError):
            compare(xyz[0])
