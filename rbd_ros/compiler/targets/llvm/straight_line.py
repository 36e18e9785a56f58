"""The straight-line function of a graph: one function, or several in turn if there is much of it.

LLVM's time for a function grows faster than its length. A long graph is therefore cut into parts,
each a function of its own; what a later part needs is kept in an array meanwhile.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Set, Tuple

from rbd_ros.compiler.graph import CONSTANT, Graph, INPUT, operands, Symbol, Value
from rbd_ros.compiler.targets.llvm.angles import (
    angle_groups,
    AngleGroup,
    angles_first,
    angles_together,
    emit_angle_groups,
    in_turn,
)
from rbd_ros.compiler.targets.llvm.emit import emit_node, Emitter
from rbd_ros.compiler.targets.llvm.fusion import fused
from rbd_ros.compiler.targets.llvm.poison import emit_poisoning, Inputs, spoil_function
from rbd_ros.compiler.targets.llvm.rolled import rolled

Outputs = Sequence[Sequence[Value]]

# What counts as much; below, a single function runs faster, at least in batches.
_MANY_OUTPUTS = 256
_MANY_NODES = 20000
_MANY_MORE_NODES = 100000
_NODES_PER_PART = 400  # longer parts cost more, by LLVM's scheduler
_START = -1  # stands for the start among the numbers of nodes


def straight_line(
    name: str,
    lanes: int,
    attributes: str,
    graph: Graph,
    inputs: Inputs,
    arrays: Outputs,
    slots: Optional[Sequence[int]] = None,
) -> Tuple[str, List[str]]:
    """Text and declarations of a function with a pointer for each input and each output array.

    The arrays are arrays of vectors if there is more than one lane. A not-a-number (or infinity)
    in any input makes every output not-a-number (poison.py).

    :param name: name of the function
    :param attributes: LLVM's attributes of it
    :param arrays: values of each output array
    :param slots: where each output goes if all go to one array; equal ones may share a place.
        Places are numbered as they first come
    """
    outputs = [value for values in arrays for value in values]
    if slots is not None:
        arrays = [list(dict(zip(slots, outputs)).values())]
    wanted = [(f'%out{k}', i) for k, values in enumerate(arrays) for i in range(len(values))]
    destinations = _destinations(wanted, slots if slots is not None else range(len(outputs)))
    live = graph.live(outputs)
    widest = angles_together()
    if len(live) > _MANY_MORE_NODES:
        return rolled(name, lanes, attributes, graph, live, inputs, arrays, widest)
    graph, live, outputs, settled = fused(graph, live, outputs)
    groups = angle_groups(graph, live, widest)
    parts = _parts(graph, outputs, angles_first(graph, live, groups))
    if lanes > 1:
        groups = []
    slots, length = _slots(graph, parts, groups)
    pointers = [f'ptr %in{k}' for k in range(len(inputs))]
    pointers += [f'ptr %out{k}' for k in range(len(arrays))]
    arguments = [
        pointer.replace('ptr', 'ptr noalias readonly' if '%in' in pointer else 'ptr noalias')
        for pointer in pointers
    ]
    code, texts = Emitter(lanes), []
    if length or len(parts) > 1:
        align = 8 * max([lanes, *(group.lanes for group in groups)])
        code.line(f'%kept = alloca {code.type}, i64 {length}, align {align}')
    for k, part in enumerate(parts):
        own = code if len(parts) == 1 else Emitter(lanes)
        values = _Values(own, graph, inputs, slots)
        _emit_part(own, graph, outputs, destinations, part, slots, groups, values, settled)
        if own is not code:
            head = f'@{name}_{k}({", ".join([*arguments, "ptr noalias %kept"])}) {attributes}'
            texts += [f'define void {head} {{', *own.lines, '  ret void', '}']
            code.line(f'call void @{name}_{k}({", ".join([*pointers, "ptr %kept"])})')
    emit_poisoning(code, inputs, [len(values) for values in arrays], f'{name}_spoil', widest)
    head = f'@{name}({", ".join(arguments)}) {attributes}'
    texts += [f'define void {head} {{', *code.lines, '  ret void', '}']
    texts.append(spoil_function(f'{name}_spoil', lanes, attributes))
    declarations = [
        line
        for width in sorted({lanes, *(group.lanes for group in groups)})
        for line in Emitter(width).declarations()
    ]
    return '\n'.join(texts), declarations


def _destinations(
    places: Sequence[Tuple[str, int]], slots: Sequence[int]
) -> List[Optional[Tuple[str, int]]]:
    """Where each output is stored, None if another one that comes first is stored there."""
    found: List[Optional[Tuple[str, int]]] = []
    taken = 0
    for slot in slots:
        found.append(places[slot] if slot == taken else None)
        taken += slot == taken
    return found


class _Part:
    """What one function evaluates and stores.

    :param nodes: numbers of the nodes, in order of evaluation
    :param places: places of the outputs that are ready with a node; with `_START` those that are
        ready from the start, constants and copies of inputs
    """

    def __init__(self) -> None:
        self.nodes: List[int] = []
        self.places: Dict[int, List[int]] = {}


def _at_hand(graph: Graph, number: int) -> bool:
    """Whether a node's value can be had anywhere: an input or a constant."""
    return graph.nodes[number][0] in (INPUT, CONSTANT)


def _parts(graph: Graph, outputs: Sequence[Value], order: Sequence[int]) -> List[_Part]:
    places: Dict[int, List[int]] = {}
    ready = []
    for place, value in enumerate(outputs):
        if isinstance(value, Symbol) and not _at_hand(graph, value.number):
            places.setdefault(value.number, []).append(place)
        else:
            ready.append(place)
    nodes = [number for number in order if not _at_hand(graph, number)]
    count = len(nodes) + len(ready)
    much = len(outputs) > _MANY_OUTPUTS or len(nodes) > _MANY_NODES
    size = _NODES_PER_PART if much else max(count, 1)
    parts = [_Part() for _ in range(0, max(count, 1), size)]
    for k, place in enumerate(ready):
        parts[k // size].places.setdefault(_START, []).append(place)
    for k, number in enumerate(nodes, start=len(ready)):
        parts[k // size].nodes.append(number)
        parts[k // size].places[number] = places.get(number, [])
    return parts


def _slots(
    graph: Graph, parts: Sequence[_Part], groups: Sequence[AngleGroup]
) -> Tuple[Dict[int, int], int]:
    """Places in the array of what is kept, and its length.

    Sines and cosines of groups have places of their own; others those of what one part keeps for
    later ones, taken again when it is not needed any more.
    """
    last_use: Dict[int, int] = {}
    for k, part in enumerate(parts):
        for number in part.nodes:
            last_use.update(dict.fromkeys(operands(graph.nodes[number]), k))
    slots: Dict[int, int] = {}
    length = 0
    for group in groups:
        slots.update(group.slots(graph))
        length += 2 * group.lanes
    free: List[int] = []
    released: List[List[int]] = [[] for _ in parts]
    for k, part in enumerate(parts):
        for number in part.nodes:
            if last_use.get(number, k) > k and number not in slots:
                if not free:
                    free.append(length)
                    length += 1
                slots[number] = free.pop()
                released[last_use[number]].append(slots[number])
        free += released[k]  # what this part reads may be overwritten by the next
    return slots, length


class _Values(dict):
    """Names of values by number of their node; those that another part kept are loaded."""

    def __init__(self, code: Emitter, graph: Graph, inputs: Inputs, slots: Dict[int, int]):
        super().__init__()
        self._code, self._graph, self._inputs, self._slots = code, graph, inputs, slots
        self._arrays = {name: f'%in{k}' for k, (name, _) in enumerate(inputs)}

    def __missing__(self, number: int) -> str:
        node = self._graph.nodes[number]
        if node[0] == CONSTANT:
            value = self._code.constant(node[1])
        elif node[0] == INPUT:
            value = self._code.load(self._arrays[node[1]], node[2])
        else:
            value = self._code.load('%kept', self._slots[number])
        self[number] = value
        return value


def _emit_part(
    code: Emitter,
    graph: Graph,
    outputs: Sequence[Value],
    destinations: Sequence[Optional[Tuple[str, int]]],
    part: _Part,
    slots: Dict[int, int],
    groups: Sequence[AngleGroup],
    values: _Values,
    settled: Set[int],
) -> None:
    """Emit the evaluation of a part; outputs are stored as soon as they are known, never as -0.0.

    :param settled: numbers of the nodes that are never -0.0 themselves
    """

    def store(place: int) -> None:
        value, destination = outputs[place], destinations[place]
        if destination is None:
            return
        if isinstance(value, Symbol):
            result = values[value.number]
            if value.negative:
                result = code.fsub(code.constant(0.0), result)
            elif value.number not in settled:
                result = code.fadd(code.constant(0.0), result)
        else:
            result = code.constant(float(value) + 0.0)
        code.store(result, *destination)

    for place in part.places.get(_START, ()):
        store(place)
    groups_at = {some[0].nodes[0]: some for some in in_turn(groups)}
    grouped = {number for group in groups for number in group.nodes}
    sine_cosine: Dict[int, Tuple[str, str]] = {}
    for number in part.nodes:
        if number in groups_at:
            emit_angle_groups(code, groups_at[number], values)
        if number not in grouped:
            values[number] = emit_node(code, graph.nodes[number], values, sine_cosine)
            if number in slots:
                code.store(values[number], '%kept', slots[number])
        for place in part.places[number]:
            store(place)
