# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sines and cosines in vectors: grouping, order, and bits equal to scalar ones."""

import numpy as np
import pytest
from support.small_kernels import kernel

from rbd_ros.compiler import Graph
from rbd_ros.compiler.symbol_graph import COS, operands, SIN
from rbd_ros.compiler.targets.llvm import straight_line
from rbd_ros.compiler.targets.llvm.angles import angle_groups, angles_first, interleaved_groups

COUNTS = [1, 2, 3, 4, 5, 8, 9, 17]


def waves(x):
    """Return the waves of inputs, of sums of them, and of other waves; four for each input."""
    results = []
    for k, angle in enumerate(x):
        wave = (2.0 * angle - x[0] + 0.25).sin() * angle
        results += [angle.cos(), angle.sin() if k % 3 else x[0], wave, (wave * 3.0 + angle).cos()]
    return results


def graph_of_waves(count):
    graph = Graph()
    outputs = waves(graph.inputs('x', count))
    return graph, outputs, graph.live(outputs)


def states(count):
    """Return the states with everyday, huge, tiny and odd angles."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, count)) * 10.0 ** rng.integers(-3, 7, (40, 1))
    odd = [0.0, -0.0, 5e-324, -2e-310, 2.0**49, -(2.0**50), 1e300, 1.7e308, np.pi / 2, 1.0]
    x[:10, -1] = x[10:20, 0] = odd
    return x


def bits(x):
    return np.where(np.isnan(x), np.nan, x).view(np.uint64)


@pytest.mark.parametrize('nodes_per_part', [3, 1000])
@pytest.mark.parametrize('lanes', [2, 4, 8])
@pytest.mark.parametrize('count', [2, 5, 9])
def test_angles_side_by_side_have_the_bits_of_one_alone(count, lanes, nodes_per_part, monkeypatch):
    monkeypatch.setattr(straight_line, 'angles_together', lambda: lanes)
    monkeypatch.setattr(straight_line, '_MANY_NODES', 0)
    monkeypatch.setattr(straight_line, '_NODES_PER_PART', nodes_per_part)
    compiled = kernel(waves, [('x', count)], (4 * count,))
    rows = states(count)
    batch = compiled(rows)  # of many states, where each angle has a vector of its own
    for row, expected in zip(rows, batch):
        np.testing.assert_array_equal(bits(compiled(row)), bits(expected))


@pytest.mark.parametrize('lanes', [2, 4, 8])
@pytest.mark.parametrize('count', COUNTS)
def test_every_angle_is_in_one_group(count, lanes):
    graph, _, live = graph_of_waves(count)
    groups = angle_groups(graph, live, lanes)
    grouped = [angle for group in groups for angle in group.angles]
    every = {graph.nodes[k][1] for k in live if graph.nodes[k][0] in (SIN, COS)}
    assert len(grouped) == len(set(grouped)) and set(grouped) == every
    for group in groups:
        assert len(group.angles) <= group.lanes <= lanes
        assert group.lanes < 2 * len(group.angles) or (len(group.angles), group.lanes) == (1, 2)


def test_angles_of_inputs_come_in_as_few_groups_as_can_be():
    graph = Graph()
    outputs = [angle.sin() for angle in graph.inputs('x', 19)]
    groups = angle_groups(graph, graph.live(outputs), 8)
    assert [len(group.angles) for group in groups] == [8, 8, 3]
    assert [group.lanes for group in groups] == [8, 8, 4]


@pytest.mark.parametrize('lanes', [1, 2, 4, 8])
@pytest.mark.parametrize('count', COUNTS)
def test_operands_of_a_node_come_before_it(count, lanes):
    graph, _, live = graph_of_waves(count)
    groups = angle_groups(graph, live, lanes) if lanes > 1 else []
    order = angles_first(graph, live, groups)
    assert sorted(order) == live
    at = {number: place for place, number in enumerate(order)}
    for number in order:
        assert all(at[k] < at[number] for k in operands(graph.nodes[number]))
    for some in interleaved_groups(groups):  # evaluated at their first node
        angles = [at[angle] for group in some for angle in group.angles]
        assert max(angles) < min(at[k] for group in some for k in group.nodes)


@pytest.mark.parametrize('count', COUNTS)
def test_waves_of_a_group_have_separate_slots(count):
    graph, _, live = graph_of_waves(count)
    groups = angle_groups(graph, live, 4)
    slots = {number: slot for group in groups for number, slot in group.slots(graph).items()}
    length = sum(2 * group.lanes for group in groups)
    places = [slots[number] for group in groups for number in group.nodes]
    assert len(set(places)) == len(places)
    for group in groups:
        assert group.slot + 2 * group.lanes <= length
        assert all(group.slot <= slots[k] < group.slot + 2 * group.lanes for k in group.nodes)
