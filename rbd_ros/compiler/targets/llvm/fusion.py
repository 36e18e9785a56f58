# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sums in the order in which their terms are ready, and fused products.

A kernel for one state is bound by latency: each operation takes four cycles, in which the
processor could start eight. So the terms of a sum are added as they become ready, which shortens
the critical path by a tenth to a quarter. A product and the sum that uses it become one operation
with one rounding. This module, not LLVM, decides which product goes into which sum: LLVM fuses a
product only if nothing else uses it, though x y + c and x y - c are two operations, not three. The
decision is the same for one state and for many, so that scalars and vectors have the same bits.
"""

from __future__ import annotations

from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.symbol_graph import (
    ADD,
    CONSTANT,
    COS,
    DIV,
    Graph,
    INPUT,
    MUL,
    Node,
    operands,
    SIN,
    SQRT,
    SUB,
    Symbol,
    Value,
    WHERE,
)

#: Operations of three operands: a b + c, a b - c, c - a b
MUL_ADD, MUL_SUB, SUB_MUL = range(11, 14)


# Latency of operations in clock cycles; similar on all present processors
_LATENCY = {DIV: 14, SQRT: 18, SIN: 70, COS: 70, INPUT: 5, CONSTANT: 0}
_ARITHMETIC = 4
# Maximum wait of a product for a value to be added to, which saves an operation [cycles]
_MAX_WAIT = 8
_ZERO = 0  # number of the constant 0.0 in the new graph
_DEPTH = 20  # maximum depth of nested sums that are searched for a product


class Fused(NamedTuple):
    """Program to be evaluated.

    :param program: program of the required nodes only
    :param settled: nodes that are never -0.0 (unless a product underflows), and for each those
        that imply this; these come first
    """

    program: Program
    settled: Dict[int, Tuple[int, ...]]


def fused(program: Program, with_hints: bool = True) -> Fused:
    """Return the program for the processor: sums in the best order, with fused products.

    :param with_hints: whether values with a `simd_hint` stay separate values
    """
    result, number_of = _Sums(program, with_hints).rebuilt()
    numbers = [
        Symbol(result, number_of[x.number], x.negative) if isinstance(x, Symbol) else x
        for x in program.flat
    ]
    needed = {operand for node in result.nodes for operand in operands(node)}
    turned = _turned_outputs(result, needed, numbers)
    settled = _without_negative_zeros(result, turned)
    remaining = iter(turned)
    values = tuple(tuple(islice(remaining, len(array))) for array in program.values)
    return Fused(replace(program, graph=result, values=values), settled)


# Term of a sum, a value or a fused product: when the value, or both factors, are ready [cycles];
# the number of the node; whether it is subtracted
_Term = Tuple[int, int, bool]


class _Sums:
    """Sums of a program, flattened: a sum used by one sum only is part of it."""

    def __init__(self, program: Program, with_hints: bool):
        self._nodes, self._live = program.graph.nodes, program.live
        self._hints = program.graph.simd_hints if with_hints else []
        self._hinted_with: Dict[int, Set[int]] = {}
        for hinted in self._hints:
            for k in hinted:
                self._hinted_with.setdefault(k, set()).update(hinted)
        # Outputs and hinted nodes must exist as values: no sum may absorb them.
        kept = {value.number for value in program.flat if isinstance(value, Symbol)}
        kept.update(number for hinted in self._hints for number in hinted)
        uses: Dict[int, int] = {}
        elsewhere = kept  # nodes with other uses than sums
        for number in self._live:
            kind, *needed = self._nodes[number]
            if kind in (INPUT, CONSTANT):
                continue
            for operand in needed:
                uses[operand] = uses.get(operand, 0) + 1
            if kind not in (ADD, SUB) or needed[0] == needed[1]:  # x + x is no sum of two
                elsewhere.update(needed)
        self._products, self._inner = set(), set()
        for number in self._live:
            if number not in elsewhere:
                kind = self._nodes[number][0]
                if kind == MUL:
                    self._products.add(number)
                elif kind in (ADD, SUB) and uses[number] == 1:
                    # A sum used by one other sum only is part of it: its terms are added in any
                    # order there.
                    self._inner.add(number)
        self._place = {number: place for place, number in enumerate(self._live)}
        self._ready: Dict[int, int] = {}
        self._evaluated: Dict[int, Tuple[int, Node]] = {}  # place and node, by number
        self._next = len(self._nodes)

    def rebuilt(self) -> Tuple[Graph, Dict[int, int]]:
        """Return the graph with the new nodes, and their numbers by those of the old."""
        for place, number in enumerate(self._live):
            if number in self._inner or number in self._products:
                continue
            node = self._nodes[number]
            if node[0] in (ADD, SUB):
                self._add_up(number)
            else:
                self._evaluate(number, node, place)
        order = sorted(self._evaluated.items(), key=lambda item: item[1][0])  # stable
        graph = Graph()
        # Number 0, for sums with 0.0 that `_without_negative_zeros` makes.
        graph.nodes.append((CONSTANT, 0.0))
        number_of: Dict[int, int] = {}
        for number, (_, node) in order:
            if node[0] not in (INPUT, CONSTANT):
                node = (node[0], *[number_of[k] for k in node[1:]])
            number_of[number] = len(graph.nodes)
            graph.nodes.append(node)
        graph.simd_hints = [
            tuple(number_of[k] for k in hinted if k in number_of) for hinted in self._hints
        ]
        return graph, number_of

    def _evaluate(self, number: int, node: Node, place: int) -> None:
        ready = max([self._ready[k] for k in operands(node)], default=0)
        ready += _LATENCY.get(node[0], _ARITHMETIC)
        # Counterparts count as ready together, or their sums would have different orders.
        hinted = [k for k in self._hinted_with.get(number, ()) if k in self._ready]
        ready = max([ready, *(self._ready[k] for k in hinted)])
        self._ready.update(dict.fromkeys((number, *hinted), ready))
        self._evaluated[number] = (place, node)

    def _terms(self, number: int) -> Tuple[List[_Term], List[_Term]]:
        """Return the values and products of a sum as heaps, the earliest first."""
        values: List[_Term] = []
        products: List[_Term] = []
        stack = [(number, False)]
        while stack:
            inner, negative = stack.pop()
            kind, first, second = self._nodes[inner]
            for operand, turned in ((first, negative), (second, negative != (kind == SUB))):
                if operand in self._inner:
                    stack.append((operand, turned))
                elif operand in self._products:
                    _, a, b = self._nodes[operand]
                    products.append((max(self._ready[a], self._ready[b]), operand, turned))
                else:
                    values.append((self._ready[operand], operand, turned))
        heapify(values)
        heapify(products)
        return values, products

    def _add_up(self, root: int) -> None:
        """Add the terms in the order in which they are ready: values, or fused products.

        Of two products one must be evaluated separately, so it is better to add one to the next
        value if that is ready soon.
        """
        values, products = self._terms(root)
        while len(values) + len(products) > 1:
            if len(values) > 1 and not (products and products[0][0] < _second(values)[0]):
                value, term, is_product = heappop(values), heappop(values), False
            else:
                term, is_product = heappop(products), True
                # Later, the product would wait longer than a separate multiplication takes.
                late = not values or values[0][0] > term[0] + _MAX_WAIT
                if late and products and not (values and values[0][0] < products[0][0]):
                    value, term = self._multiplied(term), heappop(products)
                else:
                    value = heappop(values)
            kind, negative = _operation(value, term, is_product)
            a, b = value[1], term[1]
            if is_product:
                node = (kind, *self._nodes[b][1:], a)
            else:
                node = (kind, b, a) if kind == SUB and value[2] else (kind, a, b)
            number = self._next if values or products else root
            self._next += 1
            self._evaluate(number, node, max([self._evaluated[k][0] for k in node[1:]]))
            heappush(values, (self._ready[number], number, negative))

    def _multiplied(self, term: _Term) -> _Term:
        """Make a product a value."""
        _, number, negative = term
        if number not in self._evaluated:
            self._evaluate(number, self._nodes[number], self._place[number])
        return self._ready[number], number, negative


def _second(heap: List[_Term]) -> _Term:
    """Return the second of a heap of at least two."""
    return heap[1] if len(heap) == 2 else min(heap[1], heap[2])


def _operation(value: _Term, term: _Term, is_product: bool) -> Tuple[int, bool]:
    """Return the operation that adds a term to a value, and whether its result is negative.

    At least one term of a sum is positive, and so is the sum.
    """
    if value[2] == term[2]:
        return (MUL_ADD if is_product else ADD), value[2]
    if is_product:
        return (MUL_SUB if value[2] else SUB_MUL), False
    return SUB, False


def _turned_outputs(graph: Graph, needed: Set[int], outputs: Sequence[Value]) -> List[Value]:
    """Return the outputs with their signs moved into operations that only they use."""
    positive = {x.number for x in outputs if isinstance(x, Symbol) and not x.negative}
    turned: Dict[int, bool] = {}
    results: List[Value] = []
    for value in outputs:
        if isinstance(value, Symbol) and value.negative:
            number = value.number
            if number not in turned:
                node = graph.nodes[number]
                turned[number] = (
                    number not in needed
                    and number not in positive
                    and node[0] in (SUB, MUL, MUL_SUB, SUB_MUL)
                )
                if turned[number]:
                    graph.nodes[number] = _opposite(node)
            value = Symbol(graph, number, not turned[number])
        results.append(value)
    return results


def _opposite(node: Node) -> Node:
    if node[0] == SUB:
        return (SUB, node[2], node[1])
    if node[0] == MUL:
        return (SUB_MUL, *node[1:], _ZERO)
    return (SUB_MUL if node[0] == MUL_SUB else MUL_SUB, *node[1:])


def _without_negative_zeros(graph: Graph, outputs: Sequence[Value]) -> Dict[int, Tuple[int, ...]]:
    """Make outputs that could be -0.0 differ from it, if that costs no operation.

    A sum is -0.0 only if both terms are, so it is enough to add 0.0 to a product in it, which is
    the same operation.

    :return: nodes that are never -0.0, and for each those that imply this
    """
    reasons: Dict[int, Optional[Tuple[int, ...]]] = {}

    def settle(number: int, depth: int = _DEPTH) -> bool:
        if number in reasons or not depth:
            return reasons.get(number) is not None
        node = graph.nodes[number]
        kind = node[0]
        if kind == MUL and node[1] != node[2]:
            graph.nodes[number] = (MUL_ADD, *node[1:], _ZERO)
        found: Optional[Tuple[int, ...]] = None
        if kind in (CONSTANT, COS, MUL):
            found = ()
        elif kind == WHERE:
            if settle(node[2], depth - 1) and settle(node[3], depth - 1):
                found = node[2:]
        else:
            terms = {ADD: node[1:], SUB: node[1:2], MUL_ADD: node[3:], SUB_MUL: node[3:]}
            found = next(((k,) for k in terms.get(kind, ()) if settle(k, depth - 1)), None)
        reasons[number] = found
        return found is not None

    for value in outputs:
        if isinstance(value, Symbol) and not value.negative:
            settle(value.number)
    return {number: found for number, found in reasons.items() if found is not None}
