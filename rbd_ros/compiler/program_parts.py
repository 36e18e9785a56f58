# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Division of a long program into parts, each a separate function of a target.

Compile time grows faster than the length of a function. Values that later parts need are kept in
an array, whose slots are reused.
"""

from __future__ import annotations

from typing import AbstractSet, Dict, List, Mapping, Optional, Sequence, Tuple

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.symbol_graph import CONSTANT, Graph, INPUT, operands, Symbol

START = -1  # number of the start among the numbers of nodes


class Part:
    """Part of a program that one function evaluates and stores.

    :ivar nodes: numbers of the nodes, in order of evaluation; no inputs and no constants
    :ivar places: indices, among the values of all outputs, of those that are ready with a node;
        for `START` those that are ready initially, constants and copies of inputs
    """

    def __init__(self) -> None:
        self.nodes: List[int] = []
        self.places: Dict[int, List[int]] = {}


def cut(
    program: Program, order: Sequence[int], size: int, followers: AbstractSet[int] = frozenset()
) -> List[Part]:
    """Return the parts of a program, in order; at least one.

    :param order: numbers of the program's nodes in an order of evaluation
    :param size: maximum number of nodes and initially ready outputs of a part
    :param followers: nodes that stay in one part with the node before, even beyond that
    """
    graph = program.graph
    places: Dict[int, List[int]] = {}
    ready = []
    for place, value in enumerate(program.flat):
        if isinstance(value, Symbol) and not is_available(graph, value.number):
            places.setdefault(value.number, []).append(place)
        else:
            ready.append(place)
    nodes = [number for number in order if not is_available(graph, number)]
    # Initially ready outputs count as well: stores alone make a function long, too.
    parts = [Part() for _ in range(0, max(len(nodes) + len(ready), 1), size)]
    for k, place in enumerate(ready):
        parts[k // size].places.setdefault(START, []).append(place)
    for k, number in enumerate(nodes, start=len(ready)):
        part = parts[(k - (number in followers)) // size]
        part.nodes.append(number)
        part.places[number] = places.get(number, [])
    return parts


def is_available(graph: Graph, number: int) -> bool:
    """Return whether a node's value is available everywhere: an input or a constant."""
    return graph.nodes[number][0] in (INPUT, CONSTANT)


def keep(
    graph: Graph,
    parts: Sequence[Part],
    taken: Mapping[int, int],
    length: int = 0,
    pairs: Optional[Mapping[int, int]] = None,
) -> Tuple[Dict[int, int], int]:
    """Return the slots of values shared between parts, by node, and the array's length.

    A slot is reused when its value is no longer needed.

    :param taken: nodes with fixed slots
    :param length: length of the array with these alone
    :param pairs: nodes, and those whose slots follow theirs
    """
    last_use: Dict[int, int] = {}
    for k, part in enumerate(parts):
        for number in part.nodes:
            # Parts come in order: the last to set itself is the last use.
            last_use.update(dict.fromkeys(operands(graph.nodes[number]), k))
    pairs = pairs or {}
    units = {first: (first, second) for first, second in pairs.items()}
    units.update((second, ()) for second in pairs.values())
    slots = dict(taken)
    free: Dict[int, List[int]] = {1: [], 2: []}  # free slots, by size
    released: List[List[Tuple[int, int]]] = [[] for _ in parts]
    for k, part in enumerate(parts):
        for number in part.nodes:
            if number in units:
                unit = units[number]
                last = max((last_use.get(each, k) for each in unit), default=k)
            else:
                unit, last = (number,), last_use.get(number, k)
            # A value used in its own part only stays in registers.
            if last > k and number not in slots:
                if not free[len(unit)]:
                    free[len(unit)].append(length)
                    length += len(unit)
                place = free[len(unit)].pop()
                slots.update((each, place + i) for i, each in enumerate(unit))
                released[last].append((len(unit), place))
        for size, place in released[k]:  # the next part may overwrite what this one reads
            free[size].append(place)
    return slots, length
