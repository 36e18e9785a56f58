# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Checks of the time in a ROS graph: which nodes follow simulated time, and how it runs."""

from __future__ import annotations

from typing import List, Set

from rbd_ros.doctor.findings import ERROR, Finding, OK, WARN
from rbd_ros.doctor.graph_snapshot import Graph, ReceivedClock, some

#: Message type of simulated time, on /clock or a remapped topic.
CLOCK_TYPE = 'rosgraph_msgs/msg/Clock'
#: Tolerance of the real-time factor to one.
FACTOR_TOLERANCE = 0.1
#: At a lower rate, timers of nodes are late [Hz of real time].
SLOW_CLOCK = 10.0
_SUBJECT = 'use_sim_time'


def sim_time_findings(graph: Graph) -> List[Finding]:
    """Return nodes with another time source than the rest, or one without a publisher.

    Publishers of simulated time have their own time and are not checked. A node that follows
    simulated time subscribes to it, which shows a remapped topic.

    :param graph: the snapshot
    """
    sources: Set[str] = set()
    topics: Set[str] = set()
    served: Set[str] = set()
    for topic in graph.topics:
        out = {end.node for end in topic.publishers if end.type == CLOCK_TYPE}
        if out:
            sources |= out
            topics.add(topic.name)
            served |= {end.node for end in topic.subscribers}
    followers = sorted({name for name, follows in graph.sim_time if follows} - sources)
    others = sorted({name for name, follows in graph.sim_time if not follows} - sources)
    found = []
    lost = [name for name in followers if name not in served]
    if lost:
        one = len(lost) == 1
        what = (
            f'{some(lost)} follow{"s" if one else ""} simulated time, but no node publishes it: '
            f'{"its" if one else "their"} time stands at 0'
        )
        cure = 'start the simulator, remap /clock to its topic, or set use_sim_time false'
        found.append(Finding(ERROR, _SUBJECT, what, cure))
    if sources and others:
        one = len(others) == 1
        ours = f'{some(others)} use{"s" if one else ""} the system time, although '
        theirs = f'{some(sorted(sources))} publishes simulated time ({some(sorted(topics))})'
        rest = f', which {some(followers)} follow' if followers else ', which no node follows'
        what = f'{ours}{theirs}{rest}{"s" if len(followers) == 1 else ""}'
        cure = (
            f'ros2 param set {others[0]} use_sim_time true, and so in launch files; nodes that '
            'use only the stamps of messages do not need it'
        )
        found.append(Finding(WARN, _SUBJECT, what, cure))
    return found


def clock_findings(received: ReceivedClock) -> List[Finding]:
    """Return findings about the progress, speed and rate of simulated time.

    :param received: received messages
    """
    subject, factor = f'topic {received.topic}', received.factor
    if factor is None:
        what = f'{len(received.times)} messages came in {received.duration:.2g} s'
        cure = 'check whether the simulator is paused, or busy with one long step'
        return [Finding(WARN, subject, what, cure)]
    if any(later < before for before, later in zip(received.times, received.times[1:])):
        what = 'simulated time went back during the measurement'
        cure = (
            'let one simulator or bag publish it; after a reset, restart the nodes that store '
            'times'
        )
        return [Finding(WARN, subject, what, cure)]
    found = []
    if factor == 0.0:
        what = 'simulated time stands still'
        found.append(Finding(WARN, subject, what, 'resume the simulation, if it is paused'))
    elif abs(factor - 1.0) > FACTOR_TOLERANCE:
        what = f'simulated time runs at {factor:.3g} times real time'
        cure = (
            'if this is not intended: use a faster machine, a longer timestep, or fewer contacts'
            if factor < 1.0
            else 'if this is not intended: set the real-time factor of the simulator to 1'
        )
        found.append(Finding(WARN, subject, what, cure))
    else:
        what = f'simulated time runs at {factor:.3g} times real time'
        found.append(Finding(OK, subject, what))
    rate = (len(received.arrivals) - 1) / (received.arrivals[-1] - received.arrivals[0])
    if rate < SLOW_CLOCK and factor:
        what = f'messages come at {rate:.3g} Hz: timers of nodes fire only when one arrives'
        cure = f'raise its rate to {SLOW_CLOCK:g} Hz or more (clock_publish_rate of the simulator)'
        found.append(Finding(WARN, subject, what, cure))
    return found
