# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Straight-line function of a graph: one function, or several in sequence for a long one.

LLVM's time for a function grows faster than its length, so a long graph is divided into parts,
each a separate function; an array keeps the values for later parts. For one state, sines and
cosines (angles.py) and operations of isomorphic branches (slp_vectorization.py) are in vectors,
the latter unless optimization is off (`native.optimization`). For many states, each vector is one
value of several states.
"""

from __future__ import annotations

from typing import AbstractSet, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.program_parts import cut, keep, Part, START
from rbd_ros.compiler.runtime import native
from rbd_ros.compiler.symbol_graph import CONSTANT, INPUT, Symbol
from rbd_ros.compiler.targets.llvm.angles import (
    angle_groups,
    AngleGroup,
    angles_first,
    angles_together,
    emit_angle_groups,
    interleaved_groups,
)
from rbd_ros.compiler.targets.llvm.emit import emit_node, Emitter, NOTHING
from rbd_ros.compiler.targets.llvm.fusion import fused
from rbd_ros.compiler.targets.llvm.instruction_scheduling import schedule
from rbd_ros.compiler.targets.llvm.isomorphic_subgraphs import counterparts
from rbd_ros.compiler.targets.llvm.lane_signs import negative_lanes, still_settled
from rbd_ros.compiler.targets.llvm.nan_check import emit_nan_check, nan_function
from rbd_ros.compiler.targets.llvm.slp_emission import PackEmitter
from rbd_ros.compiler.targets.llvm.slp_vectorization import find_packs, in_order, Pack
from rbd_ros.compiler.targets.llvm.table_interpreter import table_interpreter

# Thresholds of long functions; below, a single function runs faster, at least in batches.
_MANY_OUTPUTS = 256
_MANY_NODES = 15000
_MANY_MORE_NODES = 100000  # outputs included
# From here on parts are not optimized: half the compile time, a third more run time.
_HURRIED_NODES = 50000
# Both thresholds if compile time does not matter: 12 s for each function of this length.
_SLOW_COMPILE_NODES = 150000
_NODES_PER_PART = 400  # longer parts cost more, by LLVM's scheduler
# Code that exceeds the cache of decoded instructions is bound by its length in bytes. A third of
# the instructions access the stack; a frame pointer encodes this in one byte less than the stack
# pointer, but requires a stack that is not aligned to vectors. With many vectors on the stack, as
# in the inertia matrix of a Talos, that is much slower.
_FRAME = ' "frame-pointer"="all" "no-realign-stack"'


def straight_line(
    name: str, lanes: int, attributes: str, program: Program
) -> Tuple[str, List[str]]:
    """Return the text and declarations of a function with one pointer per input and output.

    The arrays are arrays of vectors if there is more than one lane. NaN or infinity in any input
    makes every output NaN (nan_check.py).

    :param name: name of the function
    :param attributes: LLVM's attributes of it
    """
    widest = angles_together()
    many_more, many = _MANY_MORE_NODES, _HURRIED_NODES
    if program.slow_compile:
        many_more, many = max(many_more, _SLOW_COMPILE_NODES), max(many, _SLOW_COMPILE_NODES)
    if len(program.live) + program.different > many_more:
        return table_interpreter(name, lanes, attributes, program, widest)
    # Only the table interpreter has scalar products.
    program = program.expanded()
    size, hurried = _nodes_per_part(program), len(program.live) > many
    states = bool(program.graph.simd_hints)
    program, settled = fused(program, with_hints=not _is_long(program))
    graph, inputs, live = program.graph, program.inputs, program.live
    # With several states, lanes hold states: isomorphic operations of one state get none.
    packed = lanes == 1 and not hurried and native.optimization() > 0
    partners = counterparts(program) if packed else {}
    groups = angle_groups(graph, live, widest, partners)
    order = angles_first(graph, live, groups)
    angles = [[k for group in some for k in group.nodes] for some in interleaved_groups(groups)]
    together = list(angles)
    packs = find_packs(program, partners, together)
    if lanes == 1 and states:
        attributes += _FRAME
    if packs:
        order = in_order(graph, order, packs, together)
    if states:
        pairs_of_packs = [(pack.first, pack.second) for pack in packs.values()]
        # Last, as it depends on the groups of operations.
        order = schedule(graph, order, [*together, *pairs_of_packs], angles)
    negative = negative_lanes(graph, packs)
    opposite = {packs[first].second for first, turned in negative.items() if turned}
    pairs = {pack.first: pack.second for pack in packs.values()}
    parts = cut(program, order, size, set(pairs.values()))
    if lanes > 1:
        groups = []
    # sines and cosines of groups have their own slots in the array of kept values
    taken = {number: slot for group in groups for number, slot in group.slots(graph).items()}
    length = sum(2 * group.lanes for group in groups)
    slots, length = keep(graph, parts, taken, length, pairs)
    plan = _Plan(
        program,
        slots,
        groups,
        grouped={number for group in groups for number in group.nodes},
        settled=still_settled(settled, opposite),
        packs=packs,
        pack_of={k: pack for pack in packs.values() for k in (pack.first, pack.second)},
        negative=negative,
    )
    pointers = [f'ptr %in{k}' for k in range(len(inputs))]
    pointers += [f'ptr %out{k}' for k in range(len(program.outputs))]
    arguments = [
        pointer.replace('ptr', 'ptr noalias readonly' if '%in' in pointer else 'ptr noalias')
        for pointer in pointers
    ]
    # `optnone` needs `noinline`: parts stay separate functions.
    of_parts = f'{attributes} noinline optnone' if hurried else attributes
    code, texts = Emitter(lanes), []
    if length or len(parts) > 1:
        align = 8 * max([lanes, *(group.lanes for group in groups)])
        code.line(f'%kept = alloca {code.type}, i64 {length}, align {align}')
    for k, part in enumerate(parts):
        own = code if len(parts) == 1 else Emitter(lanes)
        _emit_part(own, plan, part)
        if own is not code:
            head = f'@{name}_{k}({", ".join([*arguments, "ptr noalias %kept"])}) {of_parts}'
            texts += [f'define void {head} {{', *own.lines, '  ret void', '}']
            code.line(f'call void @{name}_{k}({", ".join([*pointers, "ptr %kept"])})')
    emit_nan_check(
        code, inputs, [output.size for output in program.outputs], f'{name}_nan', widest
    )
    head = f'@{name}({", ".join(arguments)}) {attributes}'
    texts += [f'define void {head} {{', *code.lines, '  ret void', '}']
    texts.append(nan_function(f'{name}_nan', lanes, attributes))
    declarations = [
        line
        for width in sorted({lanes, *([2] if packs else [])} | {group.lanes for group in groups})
        for line in Emitter(width).declarations()
    ]
    return '\n'.join(texts), [*declarations, NOTHING]


def _nodes_per_part(program: Program) -> int:
    if _is_long(program):
        return _NODES_PER_PART
    return max(len(program.live) + len(program.flat), 1)


def _is_long(program: Program) -> bool:
    return program.different > _MANY_OUTPUTS or len(program.live) > _MANY_NODES


class _Plan(NamedTuple):
    """Plan of the text to be written.

    :param program: program of fused operations
    :param slots: slots in the array of kept values
    :param groups: angles whose sines and cosines are evaluated together
    :param grouped: numbers of these sines and cosines
    :param settled: numbers of the nodes whose values are never -0.0
    :param packs: packs by their first nodes
    :param pack_of: packs by both nodes
    :param negative: whether the second lane of a pack holds the negated value, by the first node
    """

    program: Program
    slots: Mapping[int, int]
    groups: Sequence[AngleGroup]
    grouped: AbstractSet[int]
    settled: AbstractSet[int]
    packs: Mapping[int, Pack]
    pack_of: Mapping[int, Pack]
    negative: Mapping[int, bool]


class _Values(dict):
    """Names of values by number of their node; missing ones are loaded from memory.

    :param here: numbers of the nodes that this function evaluates
    """

    def __init__(self, code: Emitter, plan: _Plan, here: AbstractSet[int]):
        super().__init__()
        program = plan.program

        def is_kept(number: int) -> bool:
            return number in plan.slots and (number in plan.grouped or number not in here)

        self._code, self._nodes, self._slots, self._here = (
            code,
            program.graph.nodes,
            plan.slots,
            here,
        )
        self._arrays = {name: f'%in{k}' for k, (name, _) in enumerate(program.inputs)}
        #: Writer of packs, and source of their nodes
        self.packs = PackEmitter(
            code, program.graph, plan.pack_of, plan.negative, plan.slots, is_kept, self
        )

    def __missing__(self, number: int) -> str:
        node = self._nodes[number]
        if node[0] == CONSTANT:
            value = self._code.constant(node[1])
        elif node[0] == INPUT:
            value = self._lasting(self._arrays[node[1]], node[2])
        elif number in self.packs:
            value = self.packs.scalar(number)
        elif number in self._here:  # the sine or cosine of a group
            value = self._code.load('%kept', self._slots[number])
        else:
            value = self._lasting('%kept', self._slots[number])
        self[number] = value
        return value

    def _lasting(self, array: str, index: int) -> str:
        """Load a value that this function does not change, marked as invariant.

        LLVM's code generation sees one function at a time. Finding out by itself that none of the
        stores before a load conflicts with it would take most of its time.
        """
        value = self._code.load(array, index)
        self._code.mark_invariant()
        return value


def _emit_part(code: Emitter, plan: _Plan, part: Part) -> None:
    """Emit a part; outputs are stored as soon as they are known, and never as -0.0."""
    program, packs, slots = plan.program, plan.packs, plan.slots
    values = _Values(code, plan, set(part.nodes))
    destinations = program.destinations

    def store(place: int) -> None:
        value, (array, index) = program.flat[place], destinations[place]
        if isinstance(value, Symbol):
            number, settled = value.number, value.number in plan.settled
            if number in values.packs:
                result = values.packs.result(number, value.negative, settled)
            elif value.negative:
                result = code.fsub(code.constant(0.0), values[number])
            elif settled:
                result = values[number]
            else:
                result = code.fadd(code.constant(0.0), values[number])
        else:
            result = code.constant(float(value) + 0.0)
        code.store(result, f'%out{array}', index)

    for place in part.places.get(START, ()):
        store(place)
    groups_at = {some[0].nodes[0]: some for some in interleaved_groups(plan.groups)}
    sine_cosine: Dict[int, Tuple[str, str]] = {}
    for number in part.nodes:
        if number in groups_at:
            emit_angle_groups(code, program.graph, groups_at[number], values)
        if number in packs:
            values.packs.emit(number)
        elif number not in plan.grouped and number not in values.packs:
            values[number] = emit_node(code, program.graph.nodes[number], values, sine_cosine)
            if number in slots:
                code.store(values[number], '%kept', slots[number])
        for place in part.places[number]:
            store(place)
