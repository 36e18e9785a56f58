# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Topics of the sensors of the simulated robot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, Dict

from rclpy.node import Node

from rbd_ros.nodes.common.communication import publisher, raw
from rbd_ros.nodes.common.node_interface import Topic
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE


class RosMeasurementPorts:
    """The ports of `Measurements` as topics of a node."""

    def __init__(self, node: Node):
        self._node = node
        self._publishers: Dict[str, Any] = {}
        self._send: Dict[str, Callable[[bytes], None]] = {}

    def open(self, topic: str, declared: str, message_type: str = '') -> bool:
        """Open a topic; return whether the package of its messages is installed.

        :param topic: name of the topic
        :param declared: its name in the interface of the node
        :param message_type: type of a topic that is not in the interface
        """
        if any(each.name == declared for each in INTERFACE.topics):
            declaration = INTERFACE.topic(declared)
        else:
            declaration = Topic(declared, message_type, 'out', '', depth=10)
        try:
            made = publisher(self._node, replace(declaration, name=topic))
        except ImportError:
            package = declaration.kind.partition('/')[0]
            self._node.get_logger().info(f'{package} is not installed: {topic} is not published')
            return False
        self._publishers[topic], self._send[topic] = made, raw(made)
        return True

    def has_subscribers(self, topic: str) -> bool:
        """Return whether a topic has subscribers."""
        return bool(self._publishers[topic].get_subscription_count() > 0)

    def send(self, topic: str, data: bytes) -> None:
        """Send a message."""
        self._send[topic](data)
