"""Judgement of the time in a ROS graph: who follows /clock, and how /clock runs."""

from __future__ import annotations

from typing import List

from rbd_ros.doctor.findings import ERROR, Finding, OK, WARN
from rbd_ros.doctor.graph_snapshot import Graph, HeardClock, some

#: Full name of the topic, which no namespace changes.
CLOCK_TOPIC = '/clock'
#: How far the real-time factor may be from one.
FACTOR_TOLERANCE = 0.1
#: Messages that come more seldom make timers of nodes late [Hz of real time].
SLOW_CLOCK = 10.0

_SUBJECT = f'topic {CLOCK_TOPIC}'


def sim_time_findings(graph: Graph) -> List[Finding]:
    """Nodes that take another time than the rest, or a time that nobody tells.

    Whoever publishes /clock has a time of its own, and is not asked for another one.

    :param graph: the snapshot

    >>> from rbd_ros.doctor.graph_snapshot import Graph
    >>> from rbd_ros.doctor.graph_time import sim_time_findings
    >>> graph = Graph(('/arm', '/rviz'), sim_time=(('/arm', True), ('/rviz', False)))
    >>> sim_time_findings(graph)[0].what
    '/arm takes the time of /clock, which nobody publishes: its time stands at 0'
    """
    sources = {
        end.node for topic in graph.topics if topic.name == CLOCK_TOPIC for end in topic.publishers
    }
    followers = sorted({name for name, follows in graph.sim_time if follows} - sources)
    others = sorted({name for name, follows in graph.sim_time if not follows} - sources)
    if not sources:
        if not followers:
            return []
        what = (
            f'{some(followers)} take{"s" if len(followers) == 1 else ""} the time of /clock, '
            f'which nobody publishes: {"its" if len(followers) == 1 else "their"} time stands at 0'
        )
        cure = 'start the simulator, or start them with -p use_sim_time:=false'
        return [Finding(ERROR, 'use_sim_time', what, cure)]
    if not others:
        return []
    takes = f'{some(others)} take{"s" if len(others) == 1 else ""} the time of the machine'
    what = (
        f'{takes}, {some(followers)} that of /clock: stamps of the ones mean nothing to the others'
        if followers
        else f'{takes}, although {some(sorted(sources))} publishes /clock, which nobody follows'
    )
    cure = (
        f'ros2 param set {others[0]} use_sim_time true, and so in their launch files; or let '
        'nobody publish /clock'
    )
    return [Finding(WARN, 'use_sim_time', what, cure)]


def clock_findings(heard: HeardClock) -> List[Finding]:
    """Whether /clock runs, as fast as real time and often.

    :param heard: what was heard

    >>> from rbd_ros.doctor.graph_snapshot import HeardClock
    >>> from rbd_ros.doctor.graph_time import clock_findings
    >>> slow = HeardClock(1.0, tuple(0.01 * k for k in range(100)), tuple(range(100)))
    >>> clock_findings(slow)[0].what
    'simulated time runs at 100 times real time'
    """
    factor = heard.factor
    if factor is None:
        what = f'{len(heard.times)} messages came in {heard.duration:.2g} s'
        cure = 'look at the simulator: is it paused, or busy with one long step?'
        return [Finding(WARN, _SUBJECT, what, cure)]
    if any(later < before for before, later in zip(heard.times, heard.times[1:])):
        what = 'simulated time ran back while it was listened to'
        cure = (
            'let one simulator or bag publish it; after a reset, start nodes that keep times anew'
        )
        return [Finding(WARN, _SUBJECT, what, cure)]
    found = []
    if factor == 0.0:
        what = 'simulated time stands still'
        found.append(Finding(WARN, _SUBJECT, what, 'resume the simulation, if it is paused'))
    elif abs(factor - 1.0) > FACTOR_TOLERANCE:
        what = f'simulated time runs at {factor:.3g} times real time'
        cure = (
            'if that is not on purpose: a faster machine, a longer time step, or less contact'
            if factor < 1.0
            else 'if that is not on purpose: set the real-time factor of the simulator to 1'
        )
        found.append(Finding(WARN, _SUBJECT, what, cure))
    else:
        what = f'simulated time runs at {factor:.3g} times real time'
        found.append(Finding(OK, _SUBJECT, what))
    rate = (len(heard.arrivals) - 1) / (heard.arrivals[-1] - heard.arrivals[0])
    if rate < SLOW_CLOCK and factor:
        what = f'messages come at {rate:.3g} Hz: timers of nodes wait for the next one'
        cure = f'raise its rate to {SLOW_CLOCK:g} Hz or more (clock_publish_rate of the simulator)'
        found.append(Finding(WARN, _SUBJECT, what, cure))
    return found
