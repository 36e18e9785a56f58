# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Topics of the simulator: ROS ports of the simulation cycle."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Dict, List, Optional, Tuple

from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy
from rclpy.subscription import Subscription

from rbd_ros.nodes.common.communication import publisher, raw, subscription
from rbd_ros.nodes.common.guarded_node import polled
from rbd_ros.nodes.messages.conversions import (
    NANOSECONDS,
    pose_from_floating_joint,
    set_stamp,
    twist_from_motion,
)
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE


class RosPorts:
    """The ports of a `SimulationCycle` as topics of a node.

    Messages stay serialized in polled subscriptions until the cycle takes them: no callback delays
    a step.

    :param clock: whether /clock is published
    :param base: name of the floating root link; '' if it is fixed
    :param accelerations: whether acceleration commands are enabled
    """

    def __init__(self, node: Node, clock: bool, base: str, accelerations: bool = False):
        self._node, self._base = node, base
        self._by_name = self._subscribe('joint_commands')
        self._by_order = self._subscribe('effort_commands')
        self._wrench = self._subscribe('external_wrench')
        self._subscribed = [self._by_name, self._by_order, self._wrench]
        self._commands = [self._by_name, self._by_order]
        self.take_accelerations: Callable[[], Any] = lambda: None
        if accelerations:
            self._commands.append(self._subscribe('acceleration_commands'))
            self._subscribed.append(self._commands[-1])
            self.take_accelerations = taker(self._commands[-1])
        self.take_by_name = taker(self._by_name)
        self.take_by_order = taker(self._by_order)
        self.take_wrench = taker(self._wrench)
        self._state_publisher = self._publish('joint_states')
        self.send_state: Callable[[bytes], None] = raw(self._state_publisher)
        self._clock_publisher = self._publish('/clock') if clock else None
        self.send_clock = raw(self._clock_publisher) if clock else send_nothing
        self.send_base = send_nothing
        self._wait_set: Any = None
        self._context = node.context.handle
        if base:
            self._pose_publisher = self._publish('base_pose')
            self._twist_publisher = self._publish('base_twist')
            self.send_base = self._send_base

    def _subscribe(self, topic: str) -> Subscription:
        return subscription(self._node, INTERFACE.topic(topic), polled, raw=True)

    def _publish(self, topic: str) -> Any:
        return publisher(self._node, INTERFACE.topic(topic))

    def _send_base(self, q: np.ndarray, v: np.ndarray, time: int) -> None:
        pose = PoseStamped(pose=pose_from_floating_joint(q))
        twist = TwistStamped(twist=twist_from_motion(v))
        for message, frame in ((pose, 'world'), (twist, self._base)):
            set_stamp(message.header.stamp, time)
            message.header.frame_id = frame
        self._pose_publisher.publish(pose)
        self._twist_publisher.publish(twist)

    def wait_for_command(self, seconds: float) -> None:
        """Wait for a command, at most `seconds`."""
        wait_set = self._wait_set
        if wait_set is None:
            wait_set = self._wait_set = _rclpy.WaitSet(
                len(self._commands), 0, 0, 0, 0, 0, self._context
            )
        # A wait removes the entities that were not ready.
        wait_set.clear_entities()
        for each in self._commands:
            wait_set.add_subscription(each.handle)
        wait_set.wait(int(seconds * NANOSECONDS))

    # -- graph ------------------------------------------------------------------------------------

    @property
    def command_topics(self) -> List[str]:
        """Full names of the command topics."""
        return [self._by_name.topic_name, self._by_order.topic_name]

    @property
    def output_topics(self) -> List[str]:
        """Full names of the topics that need to have no other publisher."""
        publishers = (self._state_publisher, self._clock_publisher)
        return [each.topic_name for each in publishers if each is not None]

    def clock_listeners(self) -> List[str]:
        """Return the names of the nodes that follow /clock."""
        if self._clock_publisher is None:
            return []
        topic = self._clock_publisher.topic_name
        return [info.node_name for info in self._node.get_subscriptions_info_by_topic(topic)]

    def unreliable_publishers(self) -> Dict[str, int]:
        """Return the numbers of incompatible, best-effort publishers by topic."""
        result = {}
        for each in self._subscribed:
            topic = each.topic_name
            count = sum(
                info.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
                for info in self._node.get_publishers_info_by_topic(topic)
            )
            if count:
                result[topic] = count
        return result


def taker(source: Subscription) -> Callable[[], Optional[Tuple[bytes, Any]]]:
    """Return the function that takes the oldest message of a subscription."""
    return partial(source.handle.take_message, source.msg_type, True)


def send_nothing(*_: Any) -> None:
    """Stand in for an unpublished topic."""
