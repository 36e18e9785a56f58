# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Operations put off until their results are needed, so that fewer values wait at a time.

What waits for longer than registers last goes to the stack and comes back. A text says things
where a reader wants them: factors of a body's velocity on the way out, which are needed on the way
back.
"""

from __future__ import annotations

from typing import Dict, List, Sequence, Set, Tuple

from rbd_ros.compiler.symbol_graph import CONSTANT, Graph, INPUT, operands

# Place of a unit: index of the unit that stays, and of those before it the later the larger
_Place = Tuple[int, int]


def schedule(
    graph: Graph,
    order: Sequence[int],
    together: Sequence[Sequence[int]],
    fixed: Sequence[Sequence[int]],
) -> List[int]:
    """Return the order of evaluation in which few values wait.

    An operation is put off until its result is needed if that makes no more values wait: all but
    one of its operands, in whose place the result would wait, are needed by others as long.

    :param order: numbers of the nodes, operands before what needs them
    :param together: nodes that are evaluated at one place, neighbors in the order
    :param fixed: those of them that stay where they are
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
            # Before what has been put off until then already, all of which comes later.
            place[first] = (until[0], -moved)
    return [k for first in sorted(members, key=place.__getitem__) for k in members[first]]
