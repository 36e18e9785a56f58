# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Operations of one state in pairs, in a vector of two lanes (packs).

The processor does two operations of one kind in the time of one, with half of the code.
Corresponding operations of isomorphic branches (isomorphic_subgraphs.py) are paired, unless
packing the operands and extracting the results costs more than the gain (superword-level
parallelism, Larsen and Amarasinghe 2000). Each lane computes what the scalar code would, bitwise.
"""

from __future__ import annotations

from collections import defaultdict
from typing import (
    Any,
    Dict,
    List,
    Mapping,
    MutableMapping,
    NamedTuple,
    Protocol,
    Sequence,
    Set,
    Tuple,
)

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.symbol_graph import ADD, CONSTANT, COS, Graph, INPUT, MUL, operands, SIN
from rbd_ros.compiler.targets.llvm.fusion import MUL_ADD
from rbd_ros.compiler.targets.llvm.isomorphic_subgraphs import kind

#: Number of the constant -0.0 in place of a node: x y is x y + (-0.0), bitwise.
NO_ADDEND = -1
# Cost, in operations, of packing two values, or of extracting the second lane; extracting the
# first is free.
_MOVE = 0.7
# A smaller fraction of packed operations is coincidence.
_WORTHWHILE = 0.15

Term = Tuple[int, int]


class Pack(NamedTuple):
    """Two operations of the same kind.

    :param first: node in the first lane
    :param second: node in the second lane
    :param terms: for each operand, the nodes in the two lanes
    :param swapped: whether the first two operands of the second node are exchanged
    """

    first: int
    second: int
    terms: Tuple[Term, ...]
    swapped: bool

    @property
    def nodes(self) -> Term:
        """Both nodes, one for each lane."""
        return self.first, self.second


class _SideBySide(Protocol):
    """Nodes that are evaluated together, like those of a pack."""

    @property
    def nodes(self) -> Tuple[int, ...]:
        """Nodes, one for each lane."""


def find_packs(
    program: Program, partners: Mapping[int, int], together: Sequence[Sequence[int]]
) -> Dict[int, Pack]:
    """Return the profitable packs by their first nodes.

    A program without isomorphic branches has none.

    :param program: program of the required nodes only
    :param partners: nodes of second branches, and their counterparts
    :param together: nodes that are evaluated at one place anyway
    """
    if not partners:
        return {}
    graph, live = program.graph, program.live
    packs = _paired(graph, dict(partners))
    break_cycles(graph, live, packs, together)
    _Choice(graph, live, packs, partners).drop_unprofitable()
    operations = sum(graph.nodes[k][0] not in (INPUT, CONSTANT) for k in live)
    return packs if len(packs) > _WORTHWHILE * operations else {}


def in_order(
    graph: Graph,
    order: Sequence[int],
    packs: Mapping[int, Pack],
    together: Sequence[Sequence[int]],
) -> List[int]:
    """Return an order of evaluation in which nodes of a pack are neighbors.

    It is the given one as far as possible.

    :param order: numbers of nodes in an order of evaluation
    :param together: nodes that are evaluated at one place, in this order
    """
    units = _units(packs, together)
    result: Dict[int, None] = {}
    # Depth-first: a unit follows all operands of all its nodes.
    for start in order:
        stack = [start]
        while stack:
            if stack[-1] in result:
                stack.pop()
                continue
            unit = units.get(stack[-1], (stack[-1],))
            # Nodes of a unit depend on each other only within `together`, whose order is kept.
            missing = {
                k for each in unit for k in operands(graph.nodes[each]) if k not in result
            }.difference(unit)
            if missing:
                stack.extend(sorted(missing, reverse=True))
            else:
                result.update(dict.fromkeys(unit))
    return list(result)


def _units(
    found: Mapping[int, _SideBySide], together: Sequence[Sequence[int]]
) -> Dict[int, Sequence[int]]:
    """Return the groups of nodes that are evaluated together, by node."""
    units = {k: some for some in together for k in some}
    units.update((k, one.nodes) for one in found.values() for k in one.nodes)
    return units


def are_isomorphic(graph: Graph, a: int, b: int) -> bool:
    """Return whether two nodes could be a pack."""
    nodes = graph.nodes
    kinds = nodes[a][0], nodes[b][0]
    # Sines and cosines have separate vectors (angles.py).
    if kind(kinds[0]) != kind(kinds[1]) or kinds[0] in (INPUT, CONSTANT, SIN, COS):
        return False
    if kinds[0] == kinds[1] or MUL not in kinds:
        return True
    # A product pairs with x y + c if c is a constant: its own addend is then the constant -0.0.
    return nodes[nodes[a if kinds[1] == MUL else b][3]][0] == CONSTANT


def _paired(graph: Graph, partners: Dict[int, int]) -> Dict[int, Pack]:
    """Return packs of counterparts, and of operands of packs without counterparts."""
    packs: Dict[int, Pack] = {}
    used: Set[int] = set()

    def add(first: int, second: int) -> Pack:
        packs[first] = aligned(graph, partners, first, second)
        used.update((first, second))
        return packs[first]

    for second, first in partners.items():
        if are_isomorphic(graph, first, second):
            add(first, second)
    terms = [term for pack in packs.values() for term in pack.terms]
    # Operands of packs are followed back while they could be packs as well: packs from packs need
    # no packing.
    while terms:
        first, second = terms.pop()
        if first == second or NO_ADDEND in (first, second) or used & {first, second}:
            continue
        if are_isomorphic(graph, first, second):
            partners[second] = first
            terms += add(first, second).terms
    return packs


def aligned(graph: Graph, partners: Dict[int, int], first: int, second: int) -> Pack:
    """Return the pack with its operands in matching order."""
    nodes = graph.nodes
    a, b = nodes[first][1:], nodes[second][1:]
    if len(a) != len(b):
        a, b = (*a, NO_ADDEND)[:3], (*b, NO_ADDEND)[:3]
    straight = tuple(zip(a, b))
    if kind(nodes[first][0]) not in (ADD, MUL_ADD):  # the order of operands matters
        return Pack(first, second, straight, False)
    turned = ((a[0], b[1]), (a[1], b[0]), *straight[2:])

    def agreement(terms: Sequence[Term]) -> int:
        total = 0
        for x, y in terms:
            constants = (nodes[x][0] == CONSTANT) + (nodes[y][0] == CONSTANT)
            # An equal operand or an existing pack is worth most; a constant beside a variable must
            # be inserted each time.
            total += 3 * (x == y or partners.get(y) == x or constants == 2) - 2 * (constants == 1)
            total += are_isomorphic(graph, x, y)
        return total

    swapped = agreement(turned[:2]) > agreement(straight[:2])
    return Pack(first, second, turned if swapped else straight, swapped)


def break_cycles(
    graph: Graph,
    live: Sequence[int],
    found: MutableMapping[int, Any],
    together: Sequence[Sequence[int]],
) -> None:
    """Remove packs that wait for each other or for themselves.

    :param found: packs by their first node
    :param together: nodes that are evaluated at one place anyway
    """
    units = _units(found, together)
    # Topological sort (Kahn 1962) with units as nodes: the rest waits for itself through a unit.
    users: Dict[int, List[int]] = defaultdict(list)
    missing: Dict[int, int] = {}
    for number in live:
        needed = operands(graph.nodes[number])
        missing[number] = len(needed)
        for k in needed:
            users[k].append(number)
    ready = [number for number in live if not missing[number]]
    waiting: Dict[int, int] = {}  # number of ready nodes of a unit, by its first node
    while ready or waiting:
        if not ready:  # a waiting unit is a pack, as `together` has no cycles
            # The first one in order is dropped, so that the result is reproducible.
            nodes = found.pop(min(k for k in waiting if k in found)).nodes
            del waiting[nodes[0]]
            for k in nodes:
                del units[k]
            ready += [k for k in nodes if not missing[k]]
        number = ready.pop()
        unit = units.get(number, (number,))
        count = waiting.pop(unit[0], 0) + 1
        if count < len(unit):
            waiting[unit[0]] = count
            continue
        for k in unit:
            for user in users[k]:
                missing[user] -= 1
                if not missing[user]:
                    ready.append(user)


class _Choice:
    """Selection of the profitable packs.

    :param packs: packs by their first nodes; others are removed
    :param partners: nodes of second branches, and their counterparts
    """

    def __init__(
        self,
        graph: Graph,
        live: Sequence[int],
        packs: Dict[int, Pack],
        partners: Mapping[int, int],
    ):
        self._nodes, self._packs, self._partners = graph.nodes, packs, partners
        self._pack_of = {
            k: pack.first for pack in packs.values() for k in (pack.first, pack.second)
        }
        self._users: Dict[int, List[int]] = defaultdict(list)
        for number in live:
            for k in operands(self._nodes[number]):
                self._users[k].append(number)
        self._needed_by: Dict[Term, Set[int]] = defaultdict(set)
        for pack in packs.values():
            for term in pack.terms:
                self._needed_by[term].add(pack.first)

    def drop_unprofitable(self) -> None:
        """Remove packs while one costs more than it saves."""
        packs = self._packs
        # Greedy: removing a pack changes the gain of its neighbors, which are tested again.
        order = dict.fromkeys(sorted(packs))
        while order:
            first, _ = order.popitem()
            if first not in packs or self._gain(packs[first]) > 0.0:
                continue
            pack = packs.pop(first)
            del self._pack_of[pack.first], self._pack_of[pack.second]
            for term in pack.terms:
                self._needed_by[term].discard(first)
            partners = [k for term in pack.terms for k in term]
            partners += self._users[pack.first] + self._users[pack.second]
            near = {self._pack_of[k] for k in partners if k in self._pack_of}
            near.update(k for term in pack.terms for k in self._needed_by[term])
            order.update(dict.fromkeys(sorted(near)))

    def _gain(self, pack: Pack) -> float:
        """Return the number of operations that a pack saves while the others stay."""
        gain = 1.0
        for term in set(pack.terms):
            if self._is_pack(term):
                # An operand that stays in its vector saves a move; a shared one is packed once.
                gain += _MOVE * (not self._is_extracted(term[1]))
            elif not self._is_available(term):
                gain -= _MOVE * (len(self._needed_by[term]) == 1)
        gain -= _MOVE * self._is_extracted(pack.second)
        return gain + _MOVE * bool(self._needed_by.get((pack.first, pack.second)))

    def _is_pack(self, term: Term) -> bool:
        return term[0] in self._packs and self._packs[term[0]].second == term[1]

    def _is_available(self, term: Term) -> bool:
        first, second = term
        if NO_ADDEND in term or first == second:
            return True
        if self._nodes[first][0] == CONSTANT == self._nodes[second][0]:
            return True
        # sines and cosines are side by side in memory
        return self._nodes[first][0] in (SIN, COS) and self._partners.get(second) == first

    def _is_extracted(self, number: int) -> bool:
        """Return whether a node of a pack is needed as a scalar; storing it is free."""
        for user in self._users[number]:
            pack = self._packs.get(self._pack_of.get(user, NO_ADDEND))
            if pack is None or any(
                number in term and not self._is_pack(term) for term in pack.terms
            ):
                return True
        return False
