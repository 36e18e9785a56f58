# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scheduling of operations as late as possible, to reduce the number of live values.

Values that exceed the registers are spilled to the stack. The source has an order for readers:
factors of a body's velocity in the outward pass, which are used in the inward pass.
"""

from __future__ import annotations

from typing import Dict, List, Sequence, Set, Tuple

from rbd_ros.compiler.symbol_graph import CONSTANT, Graph, INPUT, operands

# Place of a unit: index of the unit that stays; of units before it, later ones are larger
_Place = Tuple[int, int]


def schedule(
    graph: Graph,
    order: Sequence[int],
    together: Sequence[Sequence[int]],
    fixed: Sequence[Sequence[int]],
) -> List[int]:
    """Return an order of evaluation with few live values.

    An operation moves to the first use of its result if that adds no live values: all but one of
    its operands, which the result would replace, are live until then.

    :param order: numbers of the nodes, operands before their uses
    :param together: nodes that are evaluated at one place, neighbors in the order
    :param fixed: those of them that stay in place
    """
    nodes = graph.nodes
    unit = {k: k for k in order}  # by node, the first of those that it is evaluated with
    for some in together:
        unit.update(dict.fromkeys(some, some[0]))
    members: Dict[int, List[int]] = {}
    needs: Dict[int, Set[int]] = {}
    for k in order:
        first = unit[k]
        members.setdefault(first, []).append(k)
        waiting = {unit[x] for x in operands(nodes[k]) if nodes[x][0] not in (CONSTANT, INPUT)}
        needs.setdefault(first, set()).update(waiting - {first})
    users: Dict[int, List[int]] = {first: [] for first in members}
    for first, operands_of in needs.items():
        for x in operands_of:
            users[x].append(first)

    place: Dict[int, _Place] = {first: (i, 1) for i, first in enumerate(members)}
    stay = {unit[some[0]] for some in fixed}
    for moved, first in enumerate(reversed(list(members))):
        if first in stay or not users[first] or nodes[first][0] in (CONSTANT, INPUT):
            continue
        until = min(place[user] for user in users[first])
        longer = sum(
            all(place[user] < until for user in users[x] if user != first) for x in needs[first]
        )
        if longer <= 1:
            # Before the operations that have moved there already, which come later.
            place[first] = (until[0], -moved)
    return [k for first in sorted(members, key=place.__getitem__) for k in members[first]]
