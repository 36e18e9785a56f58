# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward mode: derivatives along directions, propagated from the inputs to the outputs.

Griewank and Walther, Evaluating Derivatives, 2nd ed., section 3.1. The cost grows with the number
of directions; a node costs nothing in directions that do not change it.
"""

from __future__ import annotations

from typing import Dict, List, Mapping, Sequence

from rbd_ros.compiler.passes.partials import (
    accumulate,
    choose,
    Direction,
    is_zero,
    negative_if,
    partials,
    transmitting,
)
from rbd_ros.compiler.symbol_graph import Graph, Symbol, Value, WHERE

Tangents = Dict[int, Value]  # derivatives by number of the direction; missing ones are zero


def forward_mode(
    graph: Graph, outputs: Sequence[Value], directions: Sequence[Direction]
) -> List[List[Value]]:
    """Return derivatives of `outputs` along `directions`, (outputs, directions), by forward mode.

    :param directions: rates of the independent nodes by number, for each direction; a node named
        by any direction is independent in all of them, whether an input or not
    :return: rows by output, columns by direction; 0.0 where nothing changes
    """
    tangents: Dict[int, Tangents] = {m: {} for direction in directions for m in direction}
    for j, direction in enumerate(directions):
        for number, rate in direction.items():
            accumulate(tangents[number], j, rate)
    for number in transmitting(graph, outputs, tangents):
        if number in tangents:
            continue  # independent, even if it is computed
        node = graph.nodes[number]
        if node[0] == WHERE:
            yes, no = (tangents.get(m, {}) for m in node[2:])
            tangents[number] = chosen_tangents(graph, node[1], yes, no)
        else:
            tangents[number] = weighted_sum(tangents, dict(partials(graph, number)))
    return [tangent_row(output, tangents, len(directions)) for output in outputs]


def weighted_sum(tangents: Mapping[int, Tangents], coefficients: Mapping[int, Value]) -> Tangents:
    """Return the tangents of other nodes, each times its coefficient, added up."""
    total: Tangents = {}
    for number, coefficient in coefficients.items():
        for j, tangent in tangents.get(number, {}).items():
            accumulate(total, j, tangent * coefficient)
    return total


def chosen_tangents(graph: Graph, condition: int, yes: Tangents, no: Tangents) -> Tangents:
    """Return the tangents of a choice: those of the branch taken, independent of the other."""
    # If only one branch changes along a direction, the other's tangent is zero.
    chosen = {j: choose(graph, condition, yes.get(j, 0.0), no.get(j, 0.0)) for j in {**yes, **no}}
    return {j: tangent for j, tangent in chosen.items() if not is_zero(tangent)}


def tangent_row(output: Value, tangents: Mapping[int, Tangents], count: int) -> List[Value]:
    """Return the derivatives of an output along all directions."""
    if not isinstance(output, Symbol):
        return [0.0] * count
    found = tangents.get(output.number, {})
    return [negative_if(output.negative, found.get(j, 0.0)) for j in range(count)]
