"""A long program cut into parts, each of which a target writes as a function of its own.

Compilers take a time that grows faster than the length of a function. What a part computes for
later ones is kept in an array meanwhile, in places that are used again.
"""

from __future__ import annotations

from typing import Dict, List, Mapping, Sequence, Tuple

from rbd_ros.compiler.graph import CONSTANT, Graph, INPUT, operands, Symbol
from rbd_ros.compiler.program import Program

START = -1  # stands for the start among the numbers of nodes


class Part:
    """What one function evaluates and stores.

    :ivar nodes: numbers of the nodes, in order of evaluation; no inputs and no constants
    :ivar places: places, among the values of all outputs, of those that are ready with a node;
        with `START` of those that are ready from the start, constants and copies of inputs
    """

    def __init__(self) -> None:
        self.nodes: List[int] = []
        self.places: Dict[int, List[int]] = {}


def cut(program: Program, order: Sequence[int], size: int) -> List[Part]:
    """Parts of a program, one after another; at least one.

    :param order: numbers of the program's nodes in an order of evaluation
    :param size: how many nodes and outputs that are ready from the start a part may have
    """
    graph = program.graph
    places: Dict[int, List[int]] = {}
    ready = []
    for place, value in enumerate(program.flat):
        if isinstance(value, Symbol) and not at_hand(graph, value.number):
            places.setdefault(value.number, []).append(place)
        else:
            ready.append(place)
    nodes = [number for number in order if not at_hand(graph, number)]
    # What is ready from the start counts as well: stores alone make a function long, too.
    parts = [Part() for _ in range(0, max(len(nodes) + len(ready), 1), size)]
    for k, place in enumerate(ready):
        parts[k // size].places.setdefault(START, []).append(place)
    for k, number in enumerate(nodes, start=len(ready)):
        parts[k // size].nodes.append(number)
        parts[k // size].places[number] = places.get(number, [])
    return parts


def at_hand(graph: Graph, number: int) -> bool:
    """Whether a node's value can be had anywhere: an input or a constant."""
    return graph.nodes[number][0] in (INPUT, CONSTANT)


def keep(
    graph: Graph, parts: Sequence[Part], taken: Mapping[int, int], length: int = 0
) -> Tuple[Dict[int, int], int]:
    """Places in the array of what parts keep for later ones, by node, and the array's length.

    A place is taken again when what it held is not needed any more.

    :param taken: nodes that have places already, which stay theirs
    :param length: how long the array is with these alone
    """
    last_use: Dict[int, int] = {}
    for k, part in enumerate(parts):
        for number in part.nodes:
            # Parts come in order, so the last to enter itself is the last that needs it.
            last_use.update(dict.fromkeys(operands(graph.nodes[number]), k))
    slots = dict(taken)
    free: List[int] = []
    released: List[List[int]] = [[] for _ in parts]
    for k, part in enumerate(parts):
        for number in part.nodes:
            # What only its own part needs stays in that function's registers.
            if last_use.get(number, k) > k and number not in slots:
                if not free:
                    free.append(length)
                    length += 1
                slots[number] = free.pop()
                released[last_use[number]].append(slots[number])
        free += released[k]  # what this part reads may be overwritten by the next
    return slots, length
