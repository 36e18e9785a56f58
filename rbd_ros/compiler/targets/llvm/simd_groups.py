# SPDX-License-Identifier: Apache-2.0
"""SIMD groups: operations of one state that an algorithm states to be isomorphic, in vectors.

Columns of the solution of linear equations, say, are found by the same operations from different
right-hand sides. The text says so (`rbd_ros.spatial.scalar.simd_hint`); from what it states on,
operands that are found alike as well are followed back. A group is as many nodes as a vector has
lanes, or fewer. Each lane computes what it would compute alone, so that no bit depends on it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Dict, List, Mapping, NamedTuple, Sequence, Set, Tuple

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.symbol_graph import CONSTANT, Graph, Node, operands, WHERE
from rbd_ros.compiler.targets.llvm.isomorphic_subgraphs import kind
from rbd_ros.compiler.targets.llvm.slp_vectorization import (
    aligned,
    are_isomorphic,
    break_circles,
    NO_ADDEND,
    Pack,
)

# Operations that a lane costs that is brought into a vector, or taken out of it; the first is free
_MOVE = 1.0

Lanes = Tuple[int, ...]


class SimdGroup(NamedTuple):
    """Nodes of the same operation.

    :param nodes: their numbers, one for each lane
    :param terms: for each operand, the nodes in the lanes
    :param swapped: whether the first two operands of a lane have changed places
    """

    nodes: Lanes
    terms: Tuple[Lanes, ...]
    swapped: Tuple[bool, ...]


def pairs_of(groups: Mapping[int, SimdGroup], lane: int) -> Dict[int, Pack]:
    """Return a lane of each group, as far as it has so many, and the first.

    As if these were packs.
    """
    return {
        first: Pack(
            first,
            group.nodes[lane],
            tuple((term[0], term[lane]) for term in group.terms),
            group.swapped[lane],
        )
        for first, group in groups.items()
        if lane < len(group.nodes)
    }


def find_simd_groups(
    program: Program, widest: int, together: Sequence[Sequence[int]]
) -> Dict[int, SimdGroup]:
    """Return the groups that are worth it, by their first nodes.

    :param program: program of nothing but the nodes that are needed
    :param widest: how many lanes a group may have
    :param together: nodes that are evaluated at one place anyway
    """
    graph, live = program.graph, program.live
    groups = _grouped(graph, set(live), widest)
    if groups:
        # Before the choice: what cannot be evaluated must not count as a gain of its neighbors.
        break_circles(graph, live, groups, together)
        _Choice(graph, live, groups).drop_what_costs_more()
    return groups


def _grouped(graph: Graph, live: Set[int], widest: int) -> Dict[int, SimdGroup]:
    """Return the groups of what is stated, and of operands of groups that could be one."""
    nodes = graph.nodes
    groups: Dict[int, SimdGroup] = {}
    beside: List[Dict[int, int]] = [{} for _ in range(widest)]  # by lane, nodes of the first
    used: Set[int] = set()
    found: List[Lanes] = []
    for stated in graph.simd_hints:
        kinds: Dict[int, List[int]] = defaultdict(list)
        # A statement may name a node twice, and nodes that simplification has removed since.
        for k in dict.fromkeys(stated):
            if k in live:
                kinds[kind(nodes[k][0])].append(k)
        found += [
            tuple(some[start : start + widest])
            for some in kinds.values()
            for start in range(0, len(some), widest)
        ]
    # Taken from the end: in the order of the statements, so that machine code is reproducible.
    found.reverse()
    while found:
        lanes = found.pop()
        first = lanes[0]
        if (
            # A node is in one group only, and choices of conditions have no common operation.
            len(lanes) < 2
            or NO_ADDEND in lanes
            or len(set(lanes)) < len(lanes)
            or nodes[first][0] == WHERE
            or not used.isdisjoint(lanes)
            or not all(are_isomorphic(graph, first, k) for k in lanes[1:])
        ):
            continue
        # Lanes are aligned pair by pair with the first one: sums and products may be written in
        # any order.
        groups[first] = _aligned(graph, beside, lanes)
        used.update(lanes)
        for lane, k in enumerate(lanes[1:], start=1):
            beside[lane][k] = first
        found += reversed(groups[first].terms)
    return groups


def _aligned(graph: Graph, beside: Sequence[Dict[int, int]], lanes: Lanes) -> SimdGroup:
    """Return the group whose operands are in the order in which they belong together."""
    packs = [aligned(graph, partners, lanes[0], k) for partners, k in zip(beside[1:], lanes[1:])]
    length = max(len(pack.terms) for pack in packs)
    columns = [[x for x, _ in max(packs, key=lambda pack: len(pack.terms)).terms]]
    for pack in packs:
        own = [y for _, y in pack.terms]
        # A product beside fused operations adds -0.0, which changes no bit.
        columns.append(own + [NO_ADDEND] * (length - len(own)))
    swapped = (False, *(pack.swapped for pack in packs))
    return SimdGroup(lanes, tuple(zip(*columns)), swapped)


def is_constant(nodes: Sequence[Node], number: int) -> bool:
    """Return whether a lane of a term is a constant; an addend that is none is one."""
    return number == NO_ADDEND or nodes[number][0] == CONSTANT


class _Choice:
    """Choice of the groups that pay off.

    :param groups: groups by their first nodes; those that are not worth it are removed
    """

    def __init__(self, graph: Graph, live: Sequence[int], groups: Dict[int, SimdGroup]):
        self._nodes, self._groups = graph.nodes, groups
        self._group_of = {k: group for group in groups.values() for k in group.nodes}
        self._users: Dict[int, List[int]] = defaultdict(list)
        for number in live:
            for k in operands(self._nodes[number]):
                self._users[k].append(number)
        self._needed_by: Dict[Lanes, Set[int]] = defaultdict(set)
        for first, group in groups.items():
            for term in group.terms:
                self._needed_by[term].add(first)

    def drop_what_costs_more(self) -> None:
        """Remove groups as long as one costs more than it saves."""
        groups = self._groups
        order = dict.fromkeys(sorted(groups))
        while order:
            first, _ = order.popitem()
            if first not in groups or self._gain(groups[first]) > 0.0:
                continue
            group = groups.pop(first)
            for k in group.nodes:
                del self._group_of[k]
            for term in group.terms:
                self._needed_by[term].discard(first)
            beside = [k for term in group.terms for k in term]
            beside += [user for k in group.nodes for user in self._users[k]]
            near = {self._group_of[k].nodes[0] for k in beside if k in self._group_of}
            near.update(k for term in group.terms for k in self._needed_by[term])
            order.update(dict.fromkeys(sorted(near)))

    def _gain(self, group: SimdGroup) -> float:
        """Return the operations that a group saves, as long as the others stay."""
        # n operations become one; what its operands and users cost to move is subtracted.
        gain = len(group.nodes) - 1.0
        # Bringing together is paid once and shared by all groups that need the same term.
        for term in set(group.terms):
            if not self._is_group(term) and not self._is_at_hand(term):
                gain -= _MOVE * (len(term) - 1) / max(len(self._needed_by[term]), 1)
        gain -= _MOVE * sum(self._is_taken_out(k) for k in group.nodes[1:])
        return gain + _MOVE * (len(group.nodes) - 1) * bool(self._needed_by.get(group.nodes))

    def _is_group(self, term: Lanes) -> bool:
        return term[0] in self._groups and self._groups[term[0]].nodes == term

    def _is_at_hand(self, term: Lanes) -> bool:
        return len(set(term)) == 1 or all(is_constant(self._nodes, k) for k in term)

    def _is_taken_out(self, number: int) -> bool:
        """Return whether a node of a group is needed by itself; to store it costs nothing."""
        for user in self._users[number]:
            group = self._group_of.get(user)
            # A user outside of groups, or one in which the node is not in its own lane.
            if group is None or any(
                number in term and not self._is_group(term) for term in group.terms
            ):
                return True
        return False
