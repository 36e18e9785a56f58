# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Checks of a ROS graph: publishers and subscribers, their quality of service, their joints.

It evaluates a snapshot (`Graph`) from graph_reading.py, without ROS.
"""

from __future__ import annotations

from collections import Counter
from typing import Dict, List, Optional, Sequence, Set, Tuple

from rbd_ros.doctor.findings import ERROR, Finding, OK, WARN
from rbd_ros.doctor.graph_snapshot import (
    CLOCK,
    DESCRIPTION,
    Graph,
    JOINT_STATES,
    ReceivedStates,
    some,
    Topic,
)
from rbd_ros.doctor.graph_time import clock_findings, sim_time_findings

ACTIVE = 'active'

#: Commands for the transition to active, by the present state.
_CURES = {
    'unconfigured': 'ros2 lifecycle set {0} configure, then ros2 lifecycle set {0} activate',
    'inactive': 'ros2 lifecycle set {0} activate, unless another node replaces it',
    'finalized': 'end its process and start it again',
}
_UNDER_WAY = 'wait; the log of the node gives the reason'


def lifecycle_findings(states: Sequence[Tuple[str, str]]) -> List[Finding]:
    """Return managed nodes that are not active, and thus idle.

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
    """Return nodes with different DDS middleware, between which services do not work.

    :param graph: the snapshot
    """
    nodes_by_kind: Dict[str, Set[str]] = {}
    for topic in graph.topics:
        for end in (*topic.publishers, *topic.subscribers):
            if end.middleware:
                nodes_by_kind.setdefault(end.middleware, set()).add(end.node)
    if len(nodes_by_kind) < 2:
        return []
    each = '; '.join(
        f'{kind}: {some(sorted(nodes))}' for kind, nodes in sorted(nodes_by_kind.items())
    )
    what = f'nodes have different middleware ({each}): services and actions fail between them'
    cure = 'start all of them with one RMW_IMPLEMENTATION'
    return [Finding(WARN, 'RMW', what, cure)]


#: Minimum rate of joint states for control [Hz].
SLOW = 50.0
#: Minimum gap between two messages that is reported, relative to the mean.
GAP = 10.0
#: Shorter gaps may come from the listener [s].
SHORT_GAP = 0.05
#: Last parts of the names of command topics for joints.
COMMANDS = ('joint_commands', 'effort_commands', 'commands')
ARRAY = 'std_msgs/msg/Float64MultiArray'


def check_graph(graph: Graph, joints: Optional[Sequence[str]] = None) -> List[Finding]:
    """Return the findings of all checks of a snapshot.

    :param graph: the snapshot
    :param joints: joints of the robot; None: those of the description in the graph

    >>> from rbd_ros.doctor.graph import check_graph
    >>> from rbd_ros.doctor.graph_snapshot import Graph
    >>> check_graph(Graph())[0].message
    'no nodes are found'
    """
    if not graph.nodes:
        return [
            Finding(
                WARN,
                'graph',
                'no nodes are found',
                'start them; check that ROS_DOMAIN_ID, RMW_IMPLEMENTATION and the discovery range '
                'are those of the nodes',
            )
        ]
    found = [*node_findings(graph.nodes), *middleware_findings(graph)]
    found += [*lifecycle_findings(graph.states), *sim_time_findings(graph)]
    for clock in graph.clocks:
        found += clock_findings(clock)
    for topic in graph.topics:
        found += [*quality_findings(topic), *publisher_findings(topic)]
    for received in graph.received:
        found += [
            *rate_findings(received),
            *joint_findings(received, _joints_of(graph, received, joints)),
        ]
    if all(finding.level == OK for finding in found):
        count = f'{len(graph.nodes)} nodes, {len(graph.topics)} topics'
        found.insert(0, Finding(OK, 'graph', f'{count}: no problem found'))
    return found


def node_findings(nodes: Sequence[str]) -> List[Finding]:
    """Return nodes that share a name, whose parameters and services are ambiguous.

    :param nodes: full names
    """
    return [
        Finding(
            WARN,
            f'node {name}',
            f'{count} nodes have this name: requests for parameters and services reach an '
            'arbitrary one',
            'end one, or start it with -r __node:=NAME or -r __ns:=/NAMESPACE',
        )
        for name, count in sorted(Counter(nodes).items())
        if count > 1
    ]


def quality_findings(topic: Topic) -> List[Finding]:
    """Return publishers and subscriptions that do not receive each other's messages.

    :param topic: the topic
    """
    found: Dict[str, str] = {}
    for out in topic.publishers:
        for into in topic.subscribers:
            ends = (
                f'{out.node} publishes {{}}, {into.node} subscribes to {{}}: it receives nothing'
            )
            if out.type != into.type:
                found[ends.format(out.type, into.type)] = (
                    'remap one of them: a topic has one type of messages'
                )
                continue
            if into.reliable and not out.reliable:
                found[ends.format('best effort', 'reliable')] = (
                    'publish reliable, or subscribe best effort, which receives both '
                    '(qos_overrides of the node)'
                )
            if into.durable and not out.durable:
                found[ends.format('volatile', 'transient local')] = (
                    'publish transient local, or subscribe volatile, which receives both '
                    '(qos_overrides of the node)'
                )
            if into.deadline and not 0.0 < out.deadline <= into.deadline:
                offered = f'a deadline of {out.deadline:g} s' if out.deadline else 'no deadline'
                found[ends.format(offered, f'one of {into.deadline:g} s')] = (
                    'publish with a deadline that is as short, or subscribe without one'
                )
    return [Finding(ERROR, f'topic {topic.name}', what, cure) for what, cure in found.items()]


def publisher_findings(topic: Topic) -> List[Finding]:
    """Return topics of a robot with several publishers, or with only one side.

    :param topic: the topic
    """
    commands = topic.last in COMMANDS
    if not commands and topic.last not in (JOINT_STATES, DESCRIPTION, CLOCK):
        return []
    subject, found = f'topic {topic.name}', []
    names = some(sorted(end.node for end in topic.publishers))
    count = len(topic.publishers)
    if count > 1:
        found.append(_publisher_conflict(topic, f'{count} publishers', names))
    if not topic.publishers and topic.subscribers:
        who = some(sorted(end.node for end in topic.subscribers))
        found.append(
            Finding(
                WARN,
                subject,
                f'{who} wait{"s" if len(topic.subscribers) == 1 else ""}, and no node publishes',
                'start the publisher, or remap its topic; compare namespaces with ros2 topic list',
            )
        )
    if topic.publishers and not topic.subscribers and commands:
        found.append(
            Finding(
                WARN,
                subject,
                f'{names} publish{"es" if count == 1 else ""}, and no node subscribes',
                'start the driver or simulator, or remap its topic',
            )
        )
    return found


def _publisher_conflict(topic: Topic, count: str, names: str) -> Finding:
    """Return the finding about several publishers of one topic."""
    subject, arrays = f'topic {topic.name}', all(end.type == ARRAY for end in topic.publishers)
    if topic.last in COMMANDS and arrays:
        what = f'{count} command the same joints ({names})'
        return Finding(ERROR, subject, what, 'deactivate or end all but one')
    if topic.last in COMMANDS or topic.last == JOINT_STATES:
        effect = 'states jump' if topic.last == JOINT_STATES else 'commands fight'
        cure = 'end all but one, unless each has its own joints'
        return Finding(WARN, subject, f'{count} ({names}): if they share joints, {effect}', cure)
    level = ERROR if topic.last == CLOCK else WARN
    cure = 'end all but one, or give each robot a namespace'
    return Finding(level, subject, f'{count} ({names}), but there should be one', cure)


def rate_findings(received: ReceivedStates) -> List[Finding]:
    """Return findings about the rate, gaps and content of joint states.

    :param received: received messages
    """
    subject, found = f'topic {received.topic}', []
    if len(received.arrivals) < 2:
        what = f'{len(received.arrivals)} messages came in {received.duration:.2g} s'
        cure = 'check whether the driver is active, not paused, and on the same topic'
        return [Finding(WARN, subject, what, cure)]
    times = received.arrivals
    mean = (times[-1] - times[0]) / (len(times) - 1)
    gap = max(b - a for a, b in zip(times, times[1:]))
    rate = 1.0 / mean if mean > 0.0 else float('inf')
    what = (
        f'messages come at {rate:.0f} Hz' if rate >= 100.0 else f'messages come at {rate:.3g} Hz'
    )
    if rate < SLOW:
        cure = f'torque control needs 100 to 1000 Hz, at least {SLOW:g} Hz; raise the rate'
        found.append(Finding(WARN, subject, what, cure))
    else:
        found.append(Finding(OK, subject, what))
    if gap > max(GAP * mean, SHORT_GAP):
        what = (
            f'the longest gap between two messages is {gap:.3g} s, {gap / mean:.2g} times the mean'
        )
        cure = (
            'reduce the load of the machine and the network; use a wired network and real-time '
            'priority'
        )
        found.append(Finding(WARN, subject, what, cure))
    for count, what, cure in (
        (
            received.odd_lengths,
            'have fields of another length than name',
            'as many values as names',
        ),
        (received.not_finite, 'have positions that are not finite', 'numbers from the start'),
    ):
        if count:
            text = f'{count} of {len(times)} messages {what}'
            found.append(Finding(ERROR, subject, text, f'let the driver publish {cure}'))
    if not received.stamped:
        what = 'all messages have the same time stamp, so their age is unknown'
        found.append(Finding(WARN, subject, what, 'let the driver set header.stamp'))
    return found


def joint_findings(
    received: ReceivedStates, joints: Optional[Tuple[str, Sequence[str]]] = None
) -> List[Finding]:
    """Return findings about the joint names in joint states.

    :param received: received messages
    :param joints: source of the robot, and its joints in order; None: unknown
    """
    subject, found = f'topic {received.topic}', []
    for order in received.orders:
        twice = [name for name, count in Counter(order).items() if count > 1]
        if twice:
            what = f'a message names {some(twice)} twice'
            found.append(Finding(ERROR, subject, what, 'name each joint once'))
    if joints is None or not received.orders:
        return found
    source, names = joints
    states = list(dict.fromkeys(name for order in received.orders for name in order))
    missing = [name for name in names if name not in states]
    strangers = [name for name in states if name not in names]
    if missing:
        what = f'{some(missing)} of {source}: no states'
        cure = 'start their publisher; torque nodes wait for all their joints'
        found.append(Finding(WARN, subject, what, cure))
    if strangers:
        what = f'states of {some(strangers)}, which {source} does not have'
        cure = (
            'compare the names with the description: check the prefix, the spelling, and whether '
            'it is the same robot'
        )
        found.append(Finding(WARN, subject, what, cure))
    for order in received.orders:
        known = [name for name in order if name in names]
        if known != [name for name in names if name in known]:
            what = f'joints have another order than in {source}'
            cure = 'match them by name, not by index; nodes of rbd_ros do'
            found.append(Finding(OK, subject, what, cure))
            break
    return found


def _joints_of(
    graph: Graph, received: ReceivedStates, joints: Optional[Sequence[str]]
) -> Optional[Tuple[str, Sequence[str]]]:
    """Return the source and the joints of a topic's robot: given, or described beside it."""
    if joints is not None:
        return 'the robot given', joints
    description_topic = f'{received.topic.rpartition("/")[0]}/{DESCRIPTION}'
    return next((each for each in graph.joints if each[0] == description_topic), None)
