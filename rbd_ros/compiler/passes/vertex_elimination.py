# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Vertex elimination: partial derivatives of nodes, multiplied in a cheap order.

Griewank and Walther, Evaluating Derivatives, 2nd ed., chapters 9 and 10. The graph's edges carry
the partial derivatives. Elimination of a vertex adds edges from each of its predecessors to each
of its successors. In order of evaluation that is forward mode, backwards reverse mode. Eliminating
the vertex that leaves the fewest edges (a greedy choice) is often, though not always, cheaper than
both; the optimal order is unknown.
"""

from __future__ import annotations

import heapq
from typing import Dict, Iterable, List, Sequence, Set, Tuple

from rbd_ros.compiler.passes.forward_mode import chosen_tangents, Tangents, weighted_sum
from rbd_ros.compiler.passes.partials import (
    accumulate,
    Direction,
    partials,
    transmitting,
)
from rbd_ros.compiler.symbol_graph import Graph, Symbol, Value, WHERE


def vertex_elimination(
    graph: Graph, outputs: Sequence[Value], directions: Sequence[Direction]
) -> List[List[Value]]:
    """Return derivatives of `outputs` along `directions` by vertex elimination.

    Their shape is (outputs, directions).

    Choices and their operands stay, and forward mode passes them in the end, so that a branch not
    taken has no effect.

    :param directions: as for `forward_mode`
    :return: rows by output, columns by direction; 0.0 where nothing changes
    """
    independent = {number for direction in directions for number in direction}
    order = transmitting(graph, outputs, independent)
    choices = {n for n in order if graph.nodes[n][0] == WHERE and n not in independent}
    # A product across a choice would contain the derivative of the branch not taken times zero,
    # and zero times infinity is not zero.
    kept = choices | {m for n in choices for m in graph.nodes[n][2:]}.intersection(order)
    # vertices, in order of evaluation: directions (-1, -2 ...), nodes, outputs
    first_output = len(graph.nodes)
    last_output = first_output + len(outputs)
    edges = _Edges([*range(-len(directions), 0), *order, *range(first_output, last_output)])
    for j, direction in enumerate(directions):
        for number, rate in direction.items():
            edges.add(-1 - j, number, rate)
    for number in order:
        if number not in choices and number not in independent:
            for operand, derivative in partials(graph, number):
                edges.add(operand, number, derivative)
    # Outputs are separate vertices: two may be the same node, or one another's operand.
    for vertex, output in enumerate(outputs, start=first_output):
        if isinstance(output, Symbol):
            edges.add(output.number, vertex, -1.0 if output.negative else 1.0)
    edges.eliminate(set(order) - kept)

    tangents: Dict[int, Tangents] = {-1 - j: {j: 1.0} for j in range(len(directions))}
    for number in sorted(kept):
        if number in choices:
            condition, yes, no = graph.nodes[number][1:]
            branches = (tangents.get(m, {}) for m in (yes, no))
            tangents[number] = chosen_tangents(graph, condition, *branches)
        else:
            tangents[number] = weighted_sum(tangents, edges.before[number])
    rows = (
        weighted_sum(tangents, edges.before[first_output + row]) for row in range(len(outputs))
    )
    return [[row.get(j, 0.0) for j in range(len(directions))] for row in rows]


class _Edges:
    """Edges between vertices and the derivatives that they carry.

    :ivar before: for each vertex its derivatives by the vertices that it depends on
    :ivar after: for each vertex those that depend on it
    """

    def __init__(self, vertices: Iterable[int]):
        self.before: Dict[int, Dict[int, Value]] = {vertex: {} for vertex in vertices}
        self.after: Dict[int, Set[int]] = {vertex: set() for vertex in self.before}

    def add(self, start: int, end: int, derivative: Value) -> None:
        """Add a derivative to that of an edge; without effect if there is no such vertex."""
        if start in self.before and end in self.before:
            accumulate(self.before[end], start, derivative)
            if start in self.before[end]:
                self.after[start].add(end)
            else:  # two paths that cancel
                self.after[start].discard(end)

    def eliminate(self, vertices: Set[int]) -> None:
        """Eliminate vertices, the cheapest of the remaining ones first."""
        costs = {vertex: self._cost(vertex) for vertex in vertices}
        # Costs in a queue cannot change: the vertex is queued again, and outdated entries are
        # skipped. Ties go to the lower number, for reproducible results.
        queue = [(cost, vertex) for vertex, cost in costs.items()]
        heapq.heapify(queue)
        while queue:
            cost, vertex = heapq.heappop(queue)
            if costs.get(vertex) != cost:
                continue  # eliminated, or queued again since
            del costs[vertex]
            for neighbor in self._take_out(vertex):
                if neighbor in costs:
                    cost = self._cost(neighbor)
                    if cost != costs[neighbor]:
                        costs[neighbor] = cost
                        heapq.heappush(queue, (cost, neighbor))

    def _cost(self, vertex: int) -> int:
        """Return the number of edges added by eliminating a vertex, less those that it saves.

        Of the removed edges only those on the larger side count. That is a rule of thumb: of those
        tried on inverse dynamics by q and v it took the fewest operations for Talos, and 2.5 %
        more than the best for a UR5.
        """
        before, after = self.before[vertex], self.after[vertex]
        there = sum(len(after & self.after[start]) for start in before)
        return len(before) * len(after) - there - max(len(before), len(after))

    def _take_out(self, vertex: int) -> Tuple[int, ...]:
        """Replace the edges of a vertex by edges past it; return its neighbors."""
        # Sorted: the order of additions decides the last bit, and sets have no fixed order.
        before, after = self.before.pop(vertex), sorted(self.after.pop(vertex))
        for start in before:
            self.after[start].remove(vertex)
        for end in after:
            factor = self.before[end].pop(vertex)
            for start, derivative in before.items():
                self.add(start, end, derivative * factor)
        return (*before, *after)
