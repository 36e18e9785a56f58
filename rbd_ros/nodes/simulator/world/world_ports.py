# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Topics of the world of the simulated robot."""

from __future__ import annotations

from typing import Any, Callable, List

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2
from visualization_msgs.msg import Marker, MarkerArray

from rbd_ros.nodes.common.communication import publisher, raw
from rbd_ros.nodes.simulator.cycle.ros_ports import send_nothing
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE

WRENCHES, CONTACTS = '~/contact_wrenches', '~/contacts'
CONTACT_MARKERS, OBJECT_MARKERS = '~/contact_markers', '~/object_markers'


class RosWorldPorts:
    """The ports of a `WorldInterface` as topics of a node.

    :param tf: whether /tf is published
    """

    def __init__(self, node: Node, tf: bool):
        def make(name: str) -> Any:
            return publisher(node, INTERFACE.topic(name))

        self._objects = make('~/object_states')
        self.send_objects: Callable[[bytes], None] = raw(self._objects)
        self.send_frames: Callable[[bytes], None] = send_nothing
        self._tf = None
        if tf:
            try:
                self._tf = make('/tf')
                self.send_frames = raw(self._tf)
            except ImportError:
                node.get_logger().info('tf2_msgs is not installed: /tf is not published')
        self._standing = make('~/world_markers')
        self._for_some = {
            name: make(name) for name in (WRENCHES, CONTACTS, CONTACT_MARKERS, OBJECT_MARKERS)
        }

    def has_subscribers(self, topic: str) -> bool:
        """Return whether a topic has subscribers."""
        return self._for_some[topic].get_subscription_count() > 0

    def send_wrench(self, message: WrenchStamped) -> None:
        """Send a wrench."""
        self._for_some[WRENCHES].publish(message)

    def send_contacts(self, message: PointCloud2) -> None:
        """Send the contacts."""
        self._for_some[CONTACTS].publish(message)

    def send_markers(self, topic: str, markers: List[Marker]) -> None:
        """Send markers on a topic that has subscribers."""
        self._for_some[topic].publish(MarkerArray(markers=markers))

    def send_standing(self, markers: List[Marker]) -> None:
        """Send the markers of static objects."""
        self._standing.publish(MarkerArray(markers=markers))
