# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Vertex elimination: partial derivatives of nodes multiplied out in the order that costs little.

Griewank and Walther, Evaluating Derivatives, 2nd ed., chapters 9 and 10. The graph's edges carry
the partial derivatives. A vertex is eliminated by edges past it, from each vertex before to each
after it. In order of evaluation that is forward mode, backwards it is reverse mode. Taking out
first what leaves the fewest edges behind is often cheaper than both, though not always: the best
order is not known, and this one looks no further than one vertex.
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

    Choices stay, and what they choose between, and are passed by forward mode in the end, so that
    a branch not taken spoils nothing.

    :param directions: as for `forward_mode`
    :return: rows by output, columns by direction; 0.0 where nothing changes
    """
    independent = {number for direction in directions for number in direction}
    order = transmitting(graph, outputs, independent)
    choices = {n for n in order if graph.nodes[n][0] == WHERE and n not in independent}
    # A product past a choice would hold the derivative of the branch not taken, times zero where
    # it is not: and zero times infinity is not zero.
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
    # Outputs are vertices of their own: two may be the same node, or one another's operand.
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
            else:  # two ways that cancel
                self.after[start].discard(end)

    def eliminate(self, vertices: Set[int]) -> None:
        """Eliminate vertices, the cheapest of those that are left first."""
        costs = {vertex: self._cost(vertex) for vertex in vertices}
        # A queue does not learn that a cost has changed: the vertex is queued once more, and what
        # is out of date is passed over. Ties go to the lower number, so that results repeat.
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
        """Return the new edges that eliminating a vertex makes, less those that it saves.

        Of the edges that vanish only those on the side with more of them count. That is a rule of
        thumb: of those tried on inverse dynamics by q and v it took the fewest operations for
        Talos, and 2.5 % more than the best for a UR5.
        """
        before, after = self.before[vertex], self.after[vertex]
        there = sum(len(after & self.after[start]) for start in before)
        return len(before) * len(after) - there - max(len(before), len(after))

    def _take_out(self, vertex: int) -> Tuple[int, ...]:
        """Replace the edges of a vertex by edges past it; return its neighbors."""
        # Sorted: the order of additions decides the last bit, and a set's order is chance.
        before, after = self.before.pop(vertex), sorted(self.after.pop(vertex))
        for start in before:
            self.after[start].remove(vertex)
        for end in after:
            factor = self.before[end].pop(vertex)
            for start, derivative in before.items():
                self.add(start, end, derivative * factor)
        return (*before, *after)
