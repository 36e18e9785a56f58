# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reverse mode: adjoints of the outputs, propagated back to the inputs.

Griewank and Walther, Evaluating Derivatives, 2nd ed., section 3.2. The cost grows with the number
of outputs: a gradient costs a small multiple of its function, for any number of inputs.
"""

from __future__ import annotations

from typing import Dict, List, Sequence

from rbd_ros.compiler.passes.choice_guards import ALWAYS, Guards, may_be_singular
from rbd_ros.compiler.passes.partials import accumulate, negative_if, partials, transmitting
from rbd_ros.compiler.symbol_graph import Graph, Symbol, Value, WHERE

Adjoints = Dict[int, Dict[int, Value]]  # of one node: by number of the output, then by guard


def reverse_mode(
    graph: Graph, outputs: Sequence[Value], inputs: Sequence[Value]
) -> List[List[Value]]:
    """Return the derivatives of `outputs` by `inputs`, (outputs, inputs), by reverse mode.

    :param inputs: symbols to differentiate by, inputs of the graph or not, taken as
        independent; derivatives by a constant are zero
    :return: rows by output, columns by input; 0.0 where nothing changes
    """
    independent = {x.number for x in inputs if isinstance(x, Symbol)}
    order = transmitting(graph, outputs, independent)
    # Only nodes between the inputs and the outputs need adjoints.
    known, singular, guards = set(order), may_be_singular(graph, outputs), Guards(graph)
    adjoints: Dict[int, Adjoints] = {number: {} for number in order}
    gradients: Dict[int, Dict[int, Value]] = {number: {} for number in independent}

    def add(number: int, row: int, guard: int, adjoint: Value) -> None:
        if number in known:
            accumulate(adjoints[number].setdefault(row, {}), guard, adjoint)

    for row, output in enumerate(outputs):
        if isinstance(output, Symbol):
            add(output.number, row, ALWAYS, -1.0 if output.negative else 1.0)
    for number in reversed(order):
        node, by_row = graph.nodes[number], adjoints.pop(number)
        is_choice = node[0] == WHERE
        terms = [] if is_choice or number in independent else partials(graph, number)
        for row, guarded in by_row.items():
            if not guarded:
                continue  # the paths to this node cancel
            guard = ALWAYS
            if number not in independent:
                # A looser guard saves choices, where nothing can become infinite.
                guard = guards.union(guarded, exact=number in singular)
            adjoint = guards.join(guarded, guard)
            if number in independent:
                gradients[number][row] = adjoint
            elif is_choice:
                add(node[2], row, guards.within(guard, node[1], True), adjoint)
                add(node[3], row, guards.within(guard, node[1], False), adjoint)
            else:
                for operand, derivative in terms:
                    add(operand, row, guard, adjoint * derivative)
    return [
        [
            negative_if(x.negative, gradients[x.number].get(row, 0.0))
            if isinstance(x, Symbol)
            else 0.0
            for x in inputs
        ]
        for row in range(len(outputs))
    ]
