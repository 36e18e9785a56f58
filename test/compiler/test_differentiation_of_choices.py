# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives through choices: those of the branch taken, independent of the other."""

import numpy as np
import pytest
from support.derivatives import (
    assert_close,
    at,
    complex_step,
    every_way,
    is_regular,
    root,
    trace,
    WAYS,
)

from rbd_ros.compiler import Symbol
from rbd_ros.compiler.passes import along, forward_mode, reverse_mode
from rbd_ros.spatial.scalar import cos, maximum, sin, where_positive


def relu_root(x):
    return where_positive(x[0], root(x[0]), 0.0) * x[1]


def sinc(x):
    square = x[0] * x[0]
    return where_positive(square - 1e-8, sin(x[0]) / x[0], 1.0 - square / 6.0) * x[1]


def shared_by_choices(x):
    """Return one root, needed under two conditions neither of which implies the other."""
    half = root(x[0])
    return where_positive(x[1], x[1] * half, 2.0) + where_positive(x[1] - x[0], 3.0, half)


def shared_above_a_pole(x):
    """Return choices that share a sine; it has no pole, but its argument has one."""
    wave = sin(1.0 / x[0])
    return where_positive(x[1], wave * x[1], 2.0) + where_positive(x[1] - 0.75, wave, 3.0)


def shared_by_branches(x):
    half = root(1.0 + x[1] * x[1])
    return where_positive(x[0], half * x[1] / x[0], -half)


def nested(x):
    inner = where_positive(x[1], 1.0 / x[1], x[0] / x[1])
    return where_positive(x[0], inner * root(x[0]), where_positive(x[1], x[1] / x[0], -3.0 * x[1]))


def below_a_choice(x):
    """Return a choice within a branch of another choice, with singular operands."""
    angle = where_positive(x[0], 1.0 / x[0], x[1])
    return where_positive(x[1], sin(angle) / x[1], cos(angle) * root(-x[1]))


def also_without(x):
    """Return an output that needs an operand of a branch in any case."""
    half = root(2.0 + x[1])
    return where_positive(x[0], half / x[0], x[0]) + 2.0 * half


def from_a_branch_and_its_child(x):
    reciprocal = 1.0 / x[0]
    inner = where_positive(x[1], reciprocal * x[1], 5.0)
    return where_positive(x[0], inner + 3.0 * reciprocal, x[1])


def three_conditions(x):
    reciprocal = 1.0 / (x[0] * x[0] * x[1])
    return (
        where_positive(x[0], reciprocal, x[1])
        + where_positive(-x[1], 2.0 * reciprocal, x[0])
        + where_positive(x[0] + x[1], 4.0, where_positive(x[0], x[1], 3.0 * reciprocal))
    )


BRANCHES = [
    relu_root,
    sinc,
    shared_by_choices,
    shared_above_a_pole,
    shared_by_branches,
    nested,
    below_a_choice,
    also_without,
    from_a_branch_and_its_child,
    three_conditions,
]
STATES = [(a, b) for a in (-1.5, -0.5, 0.0, 0.5, 1.5) for b in (-1.0, 0.0, 1.0)]


@every_way
@pytest.mark.parametrize('function', BRANCHES)
def test_a_branch_not_taken_does_not_affect_the_derivative(way, function):
    """Roots of negative numbers, divisions by zero: not taken, they leave no trace."""
    graph, x, outputs = trace(lambda x: [function(x)], 2)
    rows = way(graph, outputs, x)
    compared = 0
    for state in STATES:
        expected = complex_step(lambda x: [function(x)], state)
        if is_regular(expected).all():
            compared += 1
            assert_close(at(graph, rows, x=state), expected)
    assert compared >= 7


@every_way
def test_the_derivative_of_a_choice_is_the_choice_of_derivatives(way):
    graph, (x, y), outputs = trace(lambda x: [where_positive(x[0], x[1] * x[1], -x[1])], 2)
    by_x, by_y = way(graph, outputs, [x, y])[0]
    assert by_x == 0.0
    assert_close(at(graph, [[by_y]], x=[1.0, 3.0]), [[6.0]])
    assert_close(at(graph, [[by_y]], x=[-1.0, 3.0]), [[-1.0]])
    assert_close(at(graph, [[by_y]], x=[0.0, 3.0]), [[-1.0]])


def test_a_sign_common_to_both_branches_stays_outside():
    graph, x, outputs = trace(lambda x: [where_positive(x[0], x[1] * x[2], 0.0)], 3)
    rows = forward_mode(graph, outputs, [along(x[1:2], [-1.0])])
    assert graph.count(rows[0]).additions == 0


def test_a_choice_between_equal_derivatives_is_none():
    graph, x, outputs = trace(lambda x: [where_positive(x[0], x[1] + 1.0, x[1] - x[0] * x[0])], 2)
    for way in WAYS.values():
        assert way(graph, outputs, x[1:]) == [[1.0]]


def test_adjoints_of_regular_values_are_joined_without_more_conditions():
    """One choice for each use of the sine, which is then differentiated once."""

    def function(x):
        wave = sin(x[0])
        return [where_positive(x[1], wave, 2.0) + where_positive(x[2], wave * x[1], 3.0)]

    graph, x, outputs = trace(function, 3)
    gradient = reverse_mode(graph, outputs, x[:1])[0]
    assert graph.count(gradient).selections == 2


def test_an_adjoint_within_a_branch_joins_that_of_the_branch():
    """The reciprocal is needed in a branch and in a branch of that: it has one outer choice."""

    def function(x):
        wave = sin(1.0 / x[0])
        inner = where_positive(x[1], wave * x[1], 5.0)
        return [where_positive(x[0], inner + 3.0 * wave, x[1])]

    graph, x, outputs = trace(function, 2)
    gradient = reverse_mode(graph, outputs, x[:1])[0]
    assert graph.count(gradient).selections == 2


def test_saturations_and_maxima():
    def function(x):
        greatest = maximum([x[0] * x[1], sin(x[0]), -x[1], x[2] / x[1], Symbol.tanh(3.0 * x[2])])
        return [greatest, Symbol.tanh(x[0] * greatest), Symbol.tanh(25.0 * x[0])]

    rng = np.random.default_rng(7)
    graph, x, outputs = trace(function, 3)
    ways = [way(graph, outputs, x) for way in WAYS.values()]
    for state in rng.uniform(-2.0, 2.0, (40, 3)):
        expected = complex_step(function, state)
        for rows in ways:
            assert_close(at(graph, rows, x=state), expected)


def test_guards_do_not_multiply():
    """Each level is needed under two conditions: separate adjoints would be 2^30 at the bottom."""

    def function(x):
        value = x[0]
        for k in range(30):
            half = root(value * value + 1e-3) / value
            value = where_positive(x[1] - 0.1 * k, half, x[0]) + where_positive(
                x[2] - 0.1 * k, 1.0 / value, x[1]
            )
        return [value]

    graph, x, outputs = trace(function, 3)
    before = len(graph.live(outputs))
    rows = reverse_mode(graph, outputs, x)
    assert len(graph.live(rows[0])) <= 8 * before
    state = [0.7, 1.35, 1.75]
    assert_close(at(graph, rows, x=state), complex_step(function, state), 1e-9)
