"""Products taken into sums, each pair one operation of the processor, with one rounding.

Which product goes into which sum is decided here and not left to LLVM, which takes a product only
if nothing else needs it: x y + c and x y - c are two operations, not three. And it is the same
decision for one state and for many, scalars and vectors, so that all of them have the same bits.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Dict, List, NamedTuple, Sequence, Set

from rbd_ros.compiler.graph import (
    ADD,
    CONSTANT,
    COS,
    Graph,
    MUL,
    Node,
    operands,
    SUB,
    Symbol,
    Value,
    WHERE,
)
from rbd_ros.compiler.program import Program

#: Operations of three operands: a b + c, a b - c, c - a b
MUL_ADD, MUL_SUB, SUB_MUL = range(10, 13)


_DEPTH = 20  # of sums within sums that are looked through for a product


class Fused(NamedTuple):
    """What is to be evaluated.

    :param program: program whose graph has products in sums; nodes have the numbers they had
    :param live: numbers of the nodes that the outputs depend on, in order of evaluation
    :param settled: numbers of nodes that are never -0.0 (unless a product underflows)
    """

    program: Program
    live: List[int]
    settled: Set[int]


def fused(program: Program) -> Fused:
    """Take the products of a program into sums."""
    graph, live, outputs = program.graph, program.live, program.flat
    result = Graph()
    result.nodes = list(graph.nodes)
    users: Dict[int, List[int]] = {number: [] for number in live}
    for number in live:
        for operand in operands(graph.nodes[number]):
            users[operand].append(number)
    kept = {value.number for value in outputs if isinstance(value, Symbol)}
    for number, product in _fusions(graph.nodes, live, users, kept).items():
        kind, first, second = graph.nodes[number]
        _, a, b = graph.nodes[product]
        if kind == ADD:
            result.nodes[number] = (MUL_ADD, a, b, second if product == first else first)
        elif product == first:
            result.nodes[number] = (MUL_SUB, a, b, second)
        else:
            result.nodes[number] = (SUB_MUL, a, b, first)
    turned = _turned_outputs(result, users, outputs)
    settled = _without_negative_zeros(result, turned)
    needed = {value.number for value in turned if isinstance(value, Symbol)}
    for number in reversed(live):
        if number in needed:
            needed.update(operands(result.nodes[number]))
    first = range(len(graph.nodes), len(result.nodes))  # zero, if it was no constant before
    remaining = iter(turned)
    values = tuple(tuple(islice(remaining, len(array))) for array in program.values)
    changed = replace(program, graph=result, values=values)
    return Fused(changed, [*first, *(k for k in live if k in needed)], settled)


def _fusions(
    nodes: Sequence[Node], live: Sequence[int], users: Dict[int, List[int]], kept: Set[int]
) -> Dict[int, int]:
    """Product that each sum takes in, by the sum's number.

    A product is taken in only if all that need it do so, which saves its operation; those that
    few need come first. Of two products in one sum the later one is taken in: the other is
    ready when it is needed.
    """
    depth: Dict[int, int] = {}
    for number in live:
        depth[number] = 1 + max((depth[k] for k in operands(nodes[number])), default=0)
    products = [
        number
        for number in live
        if nodes[number][0] == MUL
        and number not in kept
        and all(nodes[k][0] in (ADD, SUB) for k in users[number])
        and len(set(users[number])) == len(users[number])  # x y + x y takes two places
    ]
    taken: Dict[int, int] = {}
    for number in sorted(products, key=lambda k: (len(users[k]), -depth[k])):
        if not any(user in taken for user in users[number]):
            taken.update(dict.fromkeys(users[number], number))
    return taken


def _turned_outputs(
    graph: Graph, users: Dict[int, List[int]], outputs: Sequence[Value]
) -> List[Value]:
    """Outputs with the sign taken into the operation that nothing else needs, where it can be."""
    positive = {x.number for x in outputs if isinstance(x, Symbol) and not x.negative}
    turned: Dict[int, bool] = {}
    results: List[Value] = []
    for value in outputs:
        if isinstance(value, Symbol) and value.negative:
            number = value.number
            if number not in turned:
                node = graph.nodes[number]
                turned[number] = (
                    not users[number]
                    and number not in positive
                    and node[0] in (SUB, MUL, MUL_SUB, SUB_MUL)
                )
                if turned[number]:
                    graph.nodes[number] = _opposite(graph, node)
            value = Symbol(graph, number, not turned[number])
        results.append(value)
    return results


def _opposite(graph: Graph, node: Node) -> Node:
    if node[0] == SUB:
        return (SUB, node[2], node[1])
    if node[0] == MUL:
        return (SUB_MUL, *node[1:], _zero(graph))
    return (SUB_MUL if node[0] == MUL_SUB else MUL_SUB, *node[1:])


def _zero(graph: Graph) -> int:
    return graph.node((CONSTANT, 0.0))


def _without_negative_zeros(graph: Graph, outputs: Sequence[Value]) -> Set[int]:
    """Make outputs that could be -0.0 differ from it, if that costs no operation.

    A sum is -0.0 only if both terms are; so it is enough that a product in it has 0.0 added to it,
    which is the same operation.

    :return: numbers of the nodes that are never -0.0
    """
    never: Dict[int, bool] = {}

    def settle(number: int, depth: int = _DEPTH) -> bool:
        if number in never or not depth:
            return never.get(number, False)
        node = graph.nodes[number]
        kind = node[0]
        if kind == MUL and node[1] != node[2]:
            graph.nodes[number] = (MUL_ADD, *node[1:], _zero(graph))
        if kind in (CONSTANT, COS, MUL):
            never[number] = True
        elif kind == ADD:
            never[number] = settle(node[1], depth - 1) or settle(node[2], depth - 1)
        elif kind == SUB:
            never[number] = settle(node[1], depth - 1)
        elif kind in (MUL_ADD, SUB_MUL):
            never[number] = settle(node[3], depth - 1)
        elif kind == WHERE:
            never[number] = settle(node[2], depth - 1) and settle(node[3], depth - 1)
        else:
            never[number] = False
        return never[number]

    for value in outputs:
        if isinstance(value, Symbol) and not value.negative:
            settle(value.number)
    return {number for number, is_settled in never.items() if is_settled}
