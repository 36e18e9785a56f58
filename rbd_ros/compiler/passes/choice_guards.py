# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Guards: which branches must be taken for an adjoint to count.

Reverse mode meets a choice from its result. A zero adjoint of the branch not taken would still be
multiplied by that branch's derivatives, and zero times infinity is not zero. So the adjoint enters
a branch unchanged, under a guard that records the required sign of the condition. The choice is
made where the branch joins nodes that are evaluated in any case.
"""

from __future__ import annotations

from typing import Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from rbd_ros.compiler.passes.partials import accumulate, choose
from rbd_ros.compiler.symbol_graph import (
    CONSTANT,
    DIV,
    Graph,
    operands,
    SQRT,
    Symbol,
    Value,
    WHERE,
)

ALWAYS = 0


class Guards:
    """Guards by number: a tree with `ALWAYS` as its root.

    Every other guard adds one condition to its parent: a node that must be positive, or must not
    be.
    """

    def __init__(self, graph: Graph):
        self._graph = graph
        # parent, depth, node of the condition, whether it must be positive
        self._guards: List[Tuple[int, int, int, bool]] = [(-1, 0, -1, True)]
        self._numbers: Dict[Tuple[int, int, bool], int] = {}
        self._indicators: Dict[int, Value] = {ALWAYS: 1.0}

    def within(self, parent: int, condition: int, positive: bool) -> int:
        """Return the guard that adds a condition to another guard."""
        key = (parent, condition, positive)
        if key not in self._numbers:
            self._numbers[key] = number = len(self._guards)
            self._guards.append((parent, self._guards[parent][1] + 1, condition, positive))
            branches = (self._indicators[parent], 0.0)
            self._indicators[number] = choose(
                self._graph, condition, *(branches if positive else branches[::-1])
            )
        return self._numbers[key]

    def union(self, guards: Iterable[int], exact: bool) -> int:
        """Return the guard that holds if any of these does, and only then if `exact`."""
        # A guard with a condition and one without it together are their parent.
        left = set(guards)
        while (both := self._both_ways(left)) is not None:
            yes, no, parent, _ = both
            left = left - {yes, no} | {parent}
        # A guard within another adds nothing.
        left = {guard for guard in left if left.isdisjoint(self._ancestors(guard))}
        if len(left) == 1:
            return left.pop()
        if not exact:
            return ALWAYS
        # Guards are a tree, and this union is no node of it: a new condition, the sum of their
        # indicators, which are 1 or 0.
        any_holds = sum(self._indicators[guard] for guard in sorted(left))
        return self.within(ALWAYS, any_holds.number, True)

    def join(self, guarded: Mapping[int, Value], at: int) -> Value:
        """Return the sum, under guard `at`, of the values whose own guards hold.

        :param guarded: values by guard
        :param at: guard that holds if one of theirs does
        :return: a value that counts only where `at` holds
        """
        values = dict(guarded)
        # Values of both branches of a choice are joined by one choice, deepest first.
        while (both := self._both_ways(values)) is not None:
            yes, no, parent, condition = both
            either = choose(self._graph, condition, values.pop(yes), values.pop(no))
            accumulate(values, parent, either)
        total: Dict[int, Value] = {}
        for guard, value in values.items():
            accumulate(total, at, value if guard == at else self._if_holds(guard, value, at))
        return total.get(at, 0.0)

    def _if_holds(self, guard: int, value: Value, at: int) -> Value:
        """Return a value where its guard holds, zero elsewhere."""
        parent, _, condition, positive = self._guards[guard]
        # One condition is enough if the rest of the guard is known to hold.
        if parent in (at, ALWAYS):
            branches = (value, 0.0) if positive else (0.0, value)
            return choose(self._graph, condition, *branches)
        return choose(self._graph, self._indicators[guard].number, value, 0.0)

    def _both_ways(self, guards: Iterable[int]) -> Optional[Tuple[int, int, int, int]]:
        """Return two guards that differ in the sign of a condition, the deepest such pair.

        :return: the guard with the condition positive, the other, their parent, the condition
        """
        for guard in sorted(guards, key=lambda number: self._guards[number][1], reverse=True):
            parent, _, condition, positive = self._guards[guard]
            other = self._numbers.get((parent, condition, False))
            if positive and other in guards and guard != ALWAYS:
                return guard, other, parent, condition
        return None

    def _ancestors(self, guard: int) -> List[int]:
        """Return the guards implied by this one, without itself."""
        found = []
        while guard != ALWAYS:
            guard = self._guards[guard][0]
            found.append(guard)
        return found


def may_be_singular(graph: Graph, outputs: Sequence[Value]) -> Set[int]:
    """Return the live nodes without a guaranteed finite value or derivative if all outputs have.

    These are divisions and roots in branches, which are evaluated whether taken or not, and their
    dependents. Other nodes would make the outputs singular too.
    """
    live = graph.live(outputs)
    needed = {value.number for value in outputs if isinstance(value, Symbol)}
    for number in reversed(live):
        if number in needed:
            node = graph.nodes[number]
            needed.update(node[1:2] if node[0] == WHERE else operands(node))
    found: Set[int] = set()
    for number in live:
        node = graph.nodes[number]
        singular = node[0] == SQRT or (node[0] == DIV and graph.nodes[node[2]][0] != CONSTANT)
        if (singular and number not in needed) or any(m in found for m in operands(node)):
            found.add(number)
    return found
