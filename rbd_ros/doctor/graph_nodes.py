# SPDX-License-Identifier: Apache-2.0
"""Judgment of the nodes in a ROS graph: states of managed ones, and the middleware they speak."""

from __future__ import annotations

from typing import Dict, List, Sequence, Set, Tuple

from rbd_ros.doctor.findings import Finding, WARN
from rbd_ros.doctor.graph_snapshot import Graph, some

ACTIVE = 'active'

#: What leads to the state active, by the state before.
_CURES = {
    'unconfigured': 'ros2 lifecycle set {0} configure, then ros2 lifecycle set {0} activate',
    'inactive': 'ros2 lifecycle set {0} activate, unless another node replaces it',
    'finalized': 'end its process and start it again',
}
_UNDER_WAY = 'wait; the log of the node gives the reason'


def lifecycle_findings(states: Sequence[Tuple[str, str]]) -> List[Finding]:
    """Return the managed nodes that are not active, and so do not act.

    :param states: states of managed nodes, by their full names
    """
    return [
        Finding(
            WARN,
            f'node {name}',
            f'it is {state} and does not publish commands',
            _CURES.get(state, _UNDER_WAY).format(name),
        )
        for name, state in sorted(states)
        if state != ACTIVE
    ]


def middleware_findings(graph: Graph) -> List[Finding]:
    """Return the nodes that speak DDS by different middleware, between which services do not work.

    :param graph: the snapshot
    """
    speakers: Dict[str, Set[str]] = {}
    for topic in graph.topics:
        for end in (*topic.publishers, *topic.subscribers):
            if end.middleware:
                speakers.setdefault(end.middleware, set()).add(end.node)
    if len(speakers) < 2:
        return []
    each = '; '.join(f'{kind}: {some(sorted(nodes))}' for kind, nodes in sorted(speakers.items()))
    what = f'nodes have different middleware ({each}): services and actions fail between them'
    cure = 'start all of them with one RMW_IMPLEMENTATION'
    return [Finding(WARN, 'RMW', what, cure)]
