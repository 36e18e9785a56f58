# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Snapshot of a ROS graph: nodes, topics with their endpoints, messages and responses.

graph_reading.py takes it, and graph.py evaluates it. This module does not use ROS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence, Tuple

JOINT_STATES, DESCRIPTION, CLOCK = 'joint_states', 'robot_description', 'clock'
_NAMED = 8  # names in one finding


@dataclass(frozen=True)
class Endpoint:
    """A publisher or subscription.

    :param node: full name of its node
    :param type: type of its messages
    :param reliable: reliable or best effort
    :param durable: transient local or volatile
    :param deadline: offered or requested time between messages [s]; 0: none
    :param middleware: DDS middleware of its node; '' if unknown
    """

    node: str
    type: str
    reliable: bool = True
    durable: bool = False
    deadline: float = 0.0
    middleware: str = ''


@dataclass(frozen=True)
class Topic:
    """A topic with all its endpoints.

    :param name: full name
    :param subscribers: its subscriptions
    """

    name: str
    publishers: Tuple[Endpoint, ...] = ()
    subscribers: Tuple[Endpoint, ...] = ()

    @property
    def last(self) -> str:
        """Last part of the name."""
        return self.name.rpartition('/')[2]


@dataclass(frozen=True)
class ReceivedStates:
    """Messages received on a topic of joint states.

    :param topic: full name of the topic
    :param duration: time of listening [s]
    :param arrivals: times of arrival, (N,) [s]
    :param orders: the different lists of names
    :param odd_lengths: number of messages with a nonempty field of another length than the names
    :param not_finite: number of messages with a position that is not finite
    :param stamped: whether the time stamps differ
    """

    topic: str
    duration: float
    arrivals: Tuple[float, ...] = ()
    orders: Tuple[Tuple[str, ...], ...] = ()
    odd_lengths: int = 0
    not_finite: int = 0
    stamped: bool = True


@dataclass(frozen=True)
class ReceivedClock:
    """Messages received on a topic of simulated time.

    :param topic: full name of the topic, /clock by default
    :param duration: time of listening [s]
    :param arrivals: times of arrival, (N,) [s]
    :param times: times in the messages, (N,) [s]
    """

    topic: str
    duration: float
    arrivals: Tuple[float, ...] = ()
    times: Tuple[float, ...] = ()

    @property
    def factor(self) -> Optional[float]:
        """Real-time factor: simulated time / real time; None if that was too short to measure."""
        if len(self.arrivals) < 2 or not self.arrivals[-1] > self.arrivals[0]:
            return None
        return (self.times[-1] - self.times[0]) / (self.arrivals[-1] - self.arrivals[0])


@dataclass(frozen=True)
class Graph:
    """Snapshot of a ROS graph, without the node that took it.

    :param nodes: full names of the nodes, with duplicates
    :param received: received joint states
    :param joints: joints of the robot in the order of its description, by the topic of the
        description
    :param clocks: messages on topics of simulated time with a publisher
    :param sim_time: whether nodes use simulated time (`use_sim_time`), of nodes that responded
    :param states: states of the managed nodes that responded

    >>> from rbd_ros.doctor.graph_snapshot import Graph, Topic
    >>> Graph(('/driver',), (Topic('/joint_states'),)).topics[0].publishers
    ()
    """

    nodes: Tuple[str, ...] = ()
    topics: Tuple[Topic, ...] = ()
    received: Tuple[ReceivedStates, ...] = ()
    joints: Tuple[Tuple[str, Tuple[str, ...]], ...] = ()
    clocks: Tuple[ReceivedClock, ...] = ()
    sim_time: Tuple[Tuple[str, bool], ...] = ()
    states: Tuple[Tuple[str, str], ...] = ()


def some(names: Sequence[str]) -> str:
    """Return the first few names for a finding."""
    more = f' and {len(names) - _NAMED} more' if len(names) > _NAMED else ''
    return ', '.join(names[:_NAMED]) + more
