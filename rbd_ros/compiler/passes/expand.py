# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Substitution of nodes: scalar products become sums of products, for targets without these."""

from __future__ import annotations

import operator
from typing import Any, Callable, Dict, List, Mapping, Sequence

from rbd_ros.compiler.symbol_graph import (
    ADD,
    CONSTANT,
    COS,
    DIV,
    Graph,
    INNER,
    MUL,
    operands,
    SIN,
    SQRT,
    SUB,
    Symbol,
    Value,
    WHERE,
)

_OPERATIONS: Dict[int, Callable[..., Value]] = {
    ADD: operator.add,
    SUB: operator.sub,
    MUL: operator.mul,
    DIV: operator.truediv,
    SQRT: Symbol.sqrt,
    SIN: Symbol.sin,
    COS: Symbol.cos,
    WHERE: Symbol.where_positive,
}


def expand(graph: Graph, outputs: Sequence[Value]) -> List[Value]:
    """Return outputs of the same values without scalar products, in the same graph.

    :param outputs: symbols of the graph, or floats
    """
    return replace(graph, outputs, {}) if graph.has_inner_products else list(outputs)


def replace(graph: Graph, outputs: Sequence[Value], instead: Mapping[int, Value]) -> List[Value]:
    """Return the outputs with some nodes replaced, in the same graph.

    Scalar products are expanded as well.

    :param outputs: symbols of the graph, or floats
    :param instead: replacement of a node, by its number
    """
    found: Dict[int, Value] = dict(instead)

    def value(number: int) -> Any:
        node = graph.nodes[number]
        if node[0] == CONSTANT:  # as a float, so that it folds
            return node[1]
        if node[0] == SUB and graph.nodes[node[1]] == (CONSTANT, 0.0):  # a negation
            return -value(node[2])
        return found[number] if number in found else Symbol(graph, number, False)

    # In topological order: operands are replaced before their uses.
    for number in graph.live(outputs):
        node = graph.nodes[number]
        if node[0] == INNER:
            pairs = zip(node[1::2], node[2::2])
            found[number] = sum((value(a) * value(b) for a, b in pairs), 0.0)
        elif any(m in found for m in operands(node)):
            found[number] = _operation(graph, node[0], [value(m) for m in node[1:]])
    return [_expanded(x, found) for x in outputs]


def _operation(graph: Graph, kind: int, values: Sequence[Value]) -> Value:
    # the first operand's operator is called, so it must not be a constant
    first = values[0] if isinstance(values[0], Symbol) else graph.constant(float(values[0]))
    return _OPERATIONS[kind](first, *values[1:])


def _expanded(output: Value, found: Dict[int, Value]) -> Value:
    if not isinstance(output, Symbol) or output.number not in found:
        return output
    value = found[output.number]
    return -value if output.negative else value
