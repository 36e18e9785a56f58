# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sines and cosines of one state, several angles side by side in a vector.

Each evaluation is a dependency chain of some thirty operations, and those of different joints are
independent: in lanes, eight joints take as long as one, and each lane has the same bits as the
scalar code. If one vector does not hold all angles, the operations of several vectors are
interleaved, so that the processor finds independent ones nearby. Results are stored in memory, as
operands of later arithmetic, except those of the first group, for which all of it waits: they are
extracted from the register, some cycles earlier.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from rbd_ros.compiler.runtime.native import processor
from rbd_ros.compiler.symbol_graph import COS, Graph, operands, SIN
from rbd_ros.compiler.targets.llvm.emit import Emitter
from rbd_ros.compiler.targets.llvm.trigonometry import emit_sine_cosine

# Some processors lower their clock for vectors of eight doubles, and for a while after, which
# slows down long kernels with mostly narrower vectors. Four lanes are best: on a Cascade Lake,
# kernels of a UR5, a Talos and a Go1 take 1 to 19 % longer with two, and up to 19 % longer with
# eight. Later processors hardly lower it.
_SLOWED_BY_EIGHT = ('skylake-avx512', 'cascadelake', 'cooperlake')


def angles_together() -> int:
    """Return the maximum number of angles in a group, a power of two."""
    widest = processor().lanes
    return min(widest, 4) if processor().name in _SLOWED_BY_EIGHT else widest


# Number of groups whose operations are interleaved
_IN_TURN = 4


@dataclass(frozen=True)
class AngleGroup:
    """Angles whose sines and cosines are evaluated together.

    :param angles: numbers of the nodes whose sine or cosine is taken
    :param nodes: numbers of the sines and cosines
    :param lanes: doubles in the vector; those beyond the angles are idle
    :param slot: slot of the sines in the array of kept values; the cosines follow
    :param level: length of the chain of sines and cosines that the angles depend on
    """

    angles: Tuple[int, ...]
    nodes: Tuple[int, ...]
    lanes: int
    slot: int
    level: int = 0

    def slots(self, graph: Graph) -> Dict[int, int]:
        """Return the slots of the sines and cosines."""
        places = {}
        for number in self.nodes:
            operation, angle = graph.nodes[number]
            first = self.slot if operation == SIN else self.slot + self.lanes
            places[number] = first + self.angles.index(angle)
        return places


def angle_groups(
    graph: Graph, live: Sequence[int], lanes: int, partners: Optional[Mapping[int, int]] = None
) -> List[AngleGroup]:
    """Return groups of at most `lanes` angles, such that no group depends on a later one.

    The angles of a group are ready at the same time: they depend on chains of equally many sines
    and cosines, zero for the angles of joints. A single remaining angle takes a vector of two
    lanes.

    :param live: numbers of the nodes to be evaluated, in order
    :param partners: nodes, and their preferred neighbors
    """
    depth: Dict[int, int] = {}  # maximum sines and cosines on a path to a node, itself included
    nodes: Dict[int, List[int]] = {}  # sines and cosines by angle
    for number in live:
        node = graph.nodes[number]
        depth[number] = max([depth[k] for k in operands(node)], default=0)
        if node[0] in (SIN, COS):
            depth[number] += 1
            nodes.setdefault(node[1], []).append(number)
    first = {angle: angle for angle in nodes}
    for second, partner in (partners or {}).items():
        if second in first and partner in first:
            first[second] = first[partner] = partner
    pairs = Counter(first.values())
    groups: List[AngleGroup] = []
    slot = 0
    for level in sorted({depth[angle] for angle in nodes}):
        angles = [angle for angle in nodes if depth[angle] == level]
        angles.sort(key=lambda k: (pairs[first[k]] < 2, first[k], k))
        for start in range(0, len(angles), lanes):
            some = tuple(angles[start : start + lanes])
            width = max(2, 1 << (len(some) - 1).bit_length())
            members = tuple(number for angle in some for number in nodes[angle])
            groups.append(AngleGroup(some, members, width, slot, level))
            slot += 2 * width
    return groups


def interleaved_groups(groups: Iterable[AngleGroup]) -> List[List[AngleGroup]]:
    """Return the groups with their operations interleaved, for evaluation at one place."""
    sets: List[List[AngleGroup]] = []
    for group in groups:
        if not sets or len(sets[-1]) == _IN_TURN or sets[-1][0].level != group.level:
            sets.append([])
        sets[-1].append(group)
    return sets


def angles_first(graph: Graph, live: Sequence[int], groups: Iterable[AngleGroup]) -> List[int]:
    """Return an order of evaluation with the groups and their operands as early as possible."""
    order: Dict[int, None] = {}
    for some in interleaved_groups(groups):
        needed = set()
        stack = [angle for group in some for angle in group.angles]
        while stack:
            number = stack.pop()
            if number not in needed and number not in order:
                needed.add(number)
                stack.extend(operands(graph.nodes[number]))
        order.update(dict.fromkeys(sorted(needed)))
        order.update(dict.fromkeys(number for group in some for number in group.nodes))
    order.update(dict.fromkeys(live))
    return list(order)


def emit_angle_groups(
    code: Emitter, graph: Graph, groups: Sequence[AngleGroup], values: Dict[int, str]
) -> None:
    """Emit the sines and cosines of interleaved groups, and store them in the array `%kept`.

    :param values: names of the values of the angles; those of the first group's sines and
        cosines are added
    """
    texts, results = [], []
    for group in groups:
        vector = code.with_lanes(group.lanes)
        angles = vector.joined([values[angle] for angle in group.angles])
        vector.lines = []
        sines, cosines = emit_sine_cosine(vector, angles)
        vector.store_packed(sines, '%kept', group.slot)
        vector.store_packed(cosines, '%kept', group.slot + group.lanes)
        texts.append(vector.lines)
        results.append({SIN: sines, COS: cosines})
    code.lines += [line for lines in zip(*texts) for line in lines]
    first = code.with_lanes(groups[0].lanes)
    for number in groups[0].nodes:
        operation, angle = graph.nodes[number]
        lane = groups[0].angles.index(angle)
        values[number] = first.lane(results[0][operation], lane)
