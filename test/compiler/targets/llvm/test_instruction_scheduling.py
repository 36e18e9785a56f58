# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Operations are delayed if no more values are live then; nothing else changes."""

from dataclasses import replace
import uuid

import numpy as np
import pytest
from support import example_robots
from support.definitions import definition_of
from support.programs import program as program_of

from rbd_ros import Robot
from rbd_ros.compiler import Graph, make_kernel
from rbd_ros.compiler.symbol_graph import ADD, CONSTANT, INPUT, operands
from rbd_ros.compiler.targets.llvm import straight_line
from rbd_ros.compiler.targets.llvm.fusion import fused
from rbd_ros.compiler.targets.llvm.instruction_scheduling import schedule

NAMES = ['inverse_dynamics_derivatives', 'forward_dynamics_derivatives']


def waiting(graph, order):
    """Return how many values wait after each operation: computed, and needed later."""
    last = {x: place for place, k in enumerate(order) for x in operands(graph.nodes[k])}
    waits = np.zeros(len(order) + 1, dtype=int)
    for place, k in enumerate(order):
        if graph.nodes[k][0] not in (CONSTANT, INPUT) and k in last:
            waits[place] += 1
            waits[last[k]] -= 1
    return np.cumsum(waits)


def assert_operands_come_first(graph, order):
    place = {k: i for i, k in enumerate(order)}
    assert all(place[x] < place[k] for k in order for x in operands(graph.nodes[k]) if x in place)


def sums(count):
    """Return the program of a sum whose terms are all there before it begins."""
    graph = Graph()
    x = graph.inputs('x', count)
    terms = [each * each for each in x]
    total = terms[0]
    for term in terms[1:]:
        total = (total + term) * 1.5
    return program_of(graph, [total])


def test_terms_are_computed_where_they_are_added():
    program = sums(9)
    order = schedule(program.graph, program.live, [], [])
    assert sorted(order) == sorted(program.live)
    assert_operands_come_first(program.graph, order)
    assert waiting(program.graph, program.live).max() == 9
    assert waiting(program.graph, order).max() == 2


def test_an_operation_that_would_keep_two_values_live_is_not_moved():
    graph = Graph()
    x = graph.inputs('x', 6)
    a, b = x[0] * x[1], x[2] * x[3]
    early = a * b
    chain = [x[4] * x[5]]
    for _ in range(3):
        chain.append(chain[-1] * x[0] + x[1])
    total = chain[-1] + early
    stay = [(each.number,) for each in chain]
    order = schedule(graph, program_of(graph, [total]).live, stay, stay)
    # Its operands nothing else needs: to put it off would be to keep both of them.
    assert order.index(early.number) < order.index(chain[0].number)
    # With one of them needed at the end anyway, it waits for nothing.
    order = schedule(graph, program_of(graph, [total * a]).live, stay, stay)
    assert order.index(early.number) == order.index(total.number) - 1


def test_a_pack_moves_together_or_not_at_all():
    program = sums(9)
    graph, live = program.graph, program.live
    squares = [k for k in live if len(set(operands(graph.nodes[k]))) == 1]
    first_sum = next(k for k in live if graph.nodes[k][0] == ADD)
    pair = (squares[-2], squares[-1])
    order = schedule(graph, live, [pair], [])
    assert order.index(pair[1]) == order.index(pair[0]) + 1 > order.index(first_sum)
    assert_operands_come_first(graph, order)
    order = schedule(graph, live, [pair], [pair])
    assert order.index(pair[1]) == order.index(pair[0]) + 1 < order.index(first_sum)
    assert_operands_come_first(graph, order)


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.skipif('panda' not in example_robots.paths(), reason='no example-robot-data')
def test_derivatives_of_an_arm_have_fewer_values_waiting(name):
    model = Robot.from_urdf(str(example_robots.paths()['panda'])).model
    program = fused(definition_of(model, name).program(inner_products=True)).program
    graph, live = program.graph, program.live
    order = schedule(graph, live, [], [])
    assert sorted(order) == sorted(live)
    assert_operands_come_first(graph, order)
    before, after = waiting(graph, live), waiting(graph, order)
    assert after.mean() < 0.95 * before.mean() and after.max() < before.max()


@pytest.mark.parametrize('name', NAMES)
def test_order_decides_no_bit(two_links, name, monkeypatch, rng):
    model = Robot.from_urdf(two_links).model
    q, v, u = rng.normal(size=(3, 20, 2))
    found = []
    for put_off in (True, False):
        if not put_off:
            monkeypatch.setattr(straight_line, 'schedule', lambda graph, order, *_: list(order))
        definition = replace(definition_of(model, name), key={'small': uuid.uuid4().hex})
        function = make_kernel(definition).function
        found.append([*function(q, v, u), *function(q[0], v[0], u[0])])
    for ours, theirs in zip(*found):
        np.testing.assert_array_equal(ours.view(np.uint64), theirs.view(np.uint64))
