# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of single nodes, and relevant nodes, for all methods of differentiation."""

from __future__ import annotations

from typing import Dict, Iterable, List, Mapping, Sequence, Set, Tuple

from rbd_ros.compiler.symbol_graph import (
    ADD,
    CONSTANT,
    COS,
    DIV,
    Graph,
    MUL,
    operands,
    SIN,
    SQRT,
    SUB,
    Symbol,
    Value,
    WHERE,
)

# Rates of independent nodes, by number, along one direction.
Direction = Mapping[int, Value]


def along(inputs: Sequence[Value], rates: Sequence[Value]) -> Dict[int, Value]:
    """Return the direction in which `inputs` change at `rates`.

    :param inputs: symbols, each at most once; constants do not change and are omitted
    """
    return {
        x.number: -rate if x.negative else rate
        for x, rate in zip(inputs, rates)
        if isinstance(x, Symbol)
    }


def partials(graph: Graph, number: int) -> List[Tuple[int, Value]]:
    """Return the derivatives of a node by its operands.

    Pairs (operand, derivative), without constants.

    They reuse nodes of the graph: the sine and cosine of the same angle, the quotient and the
    root themselves, and one reciprocal for all divisions by the same node.

    :param number: number of a node other than WHERE, whose derivative is a WHERE of derivatives
    """
    node, this = graph.nodes[number], Symbol(graph, number, False)
    op = node[0]
    if op == WHERE:
        raise ValueError(
            'WHERE has no partial derivatives: apply it to the derivatives of both values'
        )
    if op in (ADD, SUB):
        a, b = node[1:]
        # An operand that occurs twice has one derivative, the sum of both.
        by_operand = [(a, 2.0)] if a == b else [(a, 1.0), (b, 1.0 if op == ADD else -1.0)]
    elif op == MUL:
        a, b = node[1:]
        by_operand = (
            [(a, 2.0 * _value(graph, a))]
            if a == b
            else [(a, _value(graph, b)), (b, _value(graph, a))]
        )
    elif op == DIV:
        a, b = node[1:]
        reciprocal = 1.0 / Symbol(graph, b, False)
        # -a / b^2 by the existing quotient: no square, and no second division.
        by_operand = [(a, reciprocal), (b, -(this * reciprocal))]
    elif op == SQRT:
        # not 0.5 / this: normalization multiplies by the reciprocal, which is then shared
        by_operand = [(node[1], 0.5 * (1.0 / this))]
    elif op == SIN:
        by_operand = [(node[1], Symbol(graph, node[1], False).cos())]
    elif op == COS:
        by_operand = [(node[1], -Symbol(graph, node[1], False).sin())]
    else:
        by_operand = []
    return [(m, derivative) for m, derivative in by_operand if graph.nodes[m][0] != CONSTANT]


def _value(graph: Graph, number: int) -> Value:
    """Return a node as a factor: constants as floats, so that they fold."""
    node = graph.nodes[number]
    return node[1] if node[0] == CONSTANT else Symbol(graph, number, False)


def transmitting(graph: Graph, outputs: Sequence[Value], independent: Iterable[int]) -> List[int]:
    """Return the numbers of the nodes on paths from `independent` to `outputs`, in order.

    The condition of a choice has no derivative, except where the choice jumps.
    """
    independent = set(independent)
    # A node is relevant if it depends on an independent node and an output depends on it.
    varying: Set[int] = set()
    reached = {value.number for value in outputs if isinstance(value, Symbol)}
    live = graph.live(outputs)
    # Forward for the dependence on inputs, then backward for that of outputs.
    for number in live:
        if number in independent or any(m in varying for m in changed_by(graph, number)):
            varying.add(number)
    for number in reversed(live):
        if number in reached and number not in independent:
            reached.update(changed_by(graph, number))
    return [number for number in live if number in varying and number in reached]


def changed_by(graph: Graph, number: int) -> Tuple[int, ...]:
    """Return the operands of a node that have derivatives, without a choice's condition."""
    node = graph.nodes[number]
    return node[2:] if node[0] == WHERE else operands(node)


def is_zero(value: Value) -> bool:
    """Return whether a derivative is known to be zero."""
    return not isinstance(value, Symbol) and value == 0


def negative_if(negative: bool, value: Value) -> Value:
    """Return -value or value; a zero has no sign."""
    return 0.0 if is_zero(value) else -value if negative else value


def accumulate(total: Dict[int, Value], key: int, term: Value) -> None:
    """Add a term to an entry; missing entries are zero."""
    result = total[key] + term if key in total else term
    if is_zero(result):
        total.pop(key, None)
    else:
        total[key] = result


def choose(graph: Graph, condition: int, yes: Value, no: Value) -> Value:
    """Return the value `yes` where the node `condition` is positive, `no` elsewhere.

    A common sign is pulled out, as it is free in front of a choice.
    """
    # where(c, -x, -y) is -where(c, x, y): the sign moves into uses, where it costs nothing.
    if all(
        value.negative if isinstance(value, Symbol) else value <= 0.0 for value in (yes, no)
    ) and (isinstance(yes, Symbol) or isinstance(no, Symbol)):
        return -Symbol(graph, condition, False).where_positive(
            negative_if(True, yes), negative_if(True, no)
        )
    return Symbol(graph, condition, False).where_positive(yes, no)
