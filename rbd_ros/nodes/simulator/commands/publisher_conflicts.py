# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Conflicts of publishers: a second simulator, or two controllers of the same joints."""

from __future__ import annotations

from collections import Counter
from typing import Any, Dict, List, Sequence, Tuple

from rclpy.node import Node

from rbd_ros.nodes.common.diagnostics import Diagnostics, WARN
from rbd_ros.nodes.messages.text import shorten

SUBJECT = 'publisher_conflict'

# Name in rmw for a node that is not discovered yet
_NOT_KNOWN_YET = '_NODE_NAME_UNKNOWN_'
_NAMELESS = 'a node without a name'
_MAX_CHECKS_WITHOUT_NAMES = 5  # checks during which a name may be missing; usually one
_SILENCE = 5  # checks during which a controller may be silent on a busy machine


class ConflictMonitor:
    """Monitor of the ROS graph, which it checks once a second.

    :param diagnostics: diagnostics of the node
    """

    def __init__(self, node: Node, diagnostics: Diagnostics):
        self._node, self._diagnostics = node, diagnostics
        self._own = _full_name(node.get_namespace(), node.get_name())
        self._checks_without_names: Dict[str, int] = {}
        self._silent: Dict[str, Dict[Tuple[str, ...], int]] = {}  # checks since a list arrived
        #: Names of publishers by topic, and checks since they changed
        self._last_publishers: Dict[str, Tuple[List[str], int]] = {}

    def report_simulators(self, topics: Sequence[str]) -> None:
        """Report other publishers of the simulator's topics."""
        for topic in topics:
            publishers = self._publishers(topic)
            if len(publishers) > 1:
                others = sorted(set(publishers) - {self._own}) or [f'another {self._own}']
                self._diagnostics.event(
                    SUBJECT,
                    WARN,
                    f'{shorten(others)} publishes {topic} as well: there are two simulators, or '
                    'a simulator and a robot; give one of them a namespace, and its own clock '
                    '(-r /clock:=clock) or none (clock_publish_rate 0)',
                    code=f'others publish {topic}',
                )

    def report_controllers(
        self, by_name: str, by_order: str, recent: Sequence[Sequence[str]]
    ) -> None:
        """Report controllers that command the same joints; several for different joints are fine.

        :param by_name: topic with commands by name
        :param by_order: topic with commands for all joints
        :param recent: distinct lists of joints in recent messages by name
        """
        named, ordered = self._publishers(by_name), self._publishers(by_order)
        together = Counter(joint for joints in recent for joint in joints)
        twice = sorted(joint for joint, lists in together.items() if lists > 1)
        # As many lists as publishers without common joints: each controls its own joints.
        disjoint = len(self._lists(by_name, recent)) >= len(named) and not twice
        publishers = sorted(named + ordered)
        before, checks = self._last_publishers.get(by_name, ([], 0))
        checks = checks + 1 if before == publishers else 0
        self._last_publishers[by_name] = (publishers, checks)
        crowd = len(set(named) | set(ordered)) > 1 or max(len(named), len(ordered)) > 1
        if not crowd or (disjoint and set(ordered) <= set(named) and len(ordered) < 2):
            return
        # Hardware interfaces create their publisher long before the first message.
        if not twice and checks < _SILENCE and not ordered:
            return
        which = shorten(twice) or 'the same joints'
        self._diagnostics.event(
            SUBJECT,
            WARN,
            f'several controllers may command {which}, and each joint follows the newest '
            f'message: {shorten(sorted(set(publishers)))}; stop all but one',
            code='several controllers',
        )

    def _lists(self, topic: str, recent: Sequence[Sequence[str]]) -> Dict[Tuple[str, ...], int]:
        """Return the lists of joints received in the last checks."""
        before = self._silent.get(topic, {})
        lists = {joints: checks + 1 for joints, checks in before.items() if checks < _SILENCE}
        lists.update((tuple(joints), 0) for joints in recent)
        self._silent[topic] = lists
        return lists

    def _publishers(self, topic: str) -> List[str]:
        """Return the full names of the nodes that publish a topic, one for each publisher.

        The middleware reports publishers before the names of their nodes; without names, the
        conflict is checked again later.
        """
        infos: List[Any] = self._node.get_publishers_info_by_topic(topic)
        known = [info for info in infos if info.node_name != _NOT_KNOWN_YET]
        names = [_full_name(info.node_namespace, info.node_name) for info in known]
        checks = self._checks_without_names.get(topic, 0) + 1 if len(known) < len(infos) else 0
        self._checks_without_names[topic] = checks
        if checks > _MAX_CHECKS_WITHOUT_NAMES:
            names += [_NAMELESS] * (len(infos) - len(known))
        return names


def _full_name(namespace: str, name: str) -> str:
    return f'{namespace.rstrip("/")}/{name}'
