# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Publishers, subscriptions, services and executors, made from a node's declared interface."""

from __future__ import annotations

import importlib
import time
from typing import Any, Callable

from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.service import Service as RosService
from rclpy.subscription import Subscription

from rbd_ros.nodes.common.node_interface import Service, Topic

STEADY_CLOCK = Clock(clock_type=ClockType.STEADY_TIME)


def create_executor() -> Executor:
    """Return the executor of this rclpy with the lowest cost per message."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def message_type(kind: str) -> type:
    """Return the class of a message or service type, such as 'sensor_msgs/msg/JointState'.

    :raises ImportError: if its package is not installed
    """
    package, folder, name = kind.split('/')
    return getattr(importlib.import_module(f'{package}.{folder}'), name)


def quality_of_service(topic: Topic) -> QoSProfile:
    """Return the quality of service of a declared topic."""
    reliability = ReliabilityPolicy.RELIABLE if topic.reliable else ReliabilityPolicy.BEST_EFFORT
    durability = (
        DurabilityPolicy.TRANSIENT_LOCAL if topic.transient_local else DurabilityPolicy.VOLATILE
    )
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=topic.depth,
        reliability=reliability,
        durability=durability,
    )


def _overriding() -> dict:
    """Return the arguments that let parameters override a topic's QoS, if rclpy has them."""
    try:
        from rclpy.qos_overriding_options import QoSOverridingOptions
    except ImportError:
        return {}
    return {'qos_overriding_options': QoSOverridingOptions.with_default_policies()}


def publisher(node: Node, topic: Topic) -> Publisher:
    """Return the publisher of a declared topic."""
    return node.create_publisher(
        message_type(topic.kind), topic.name, quality_of_service(topic), **_overriding()
    )


def raw(publisher: Publisher) -> Callable[[bytes], None]:
    """Return a function that publishes a serialized message.

    Unlike `Publisher.publish`, it does not check the type of its argument twice.
    """
    return getattr(publisher.handle, 'publish_raw', publisher.publish)


def subscription(
    node: Node, topic: Topic, callback: Callable[[Any], None], *, raw: bool = False
) -> Subscription:
    """Return the subscription to a declared topic.

    :param raw: whether the callback gets the serialized message as bytes
    """
    return node.create_subscription(
        message_type(topic.kind),
        topic.name,
        callback,
        quality_of_service(topic),
        raw=raw,
        **_overriding(),
    )


def service(node: Node, declaration: Service, callback: Callable[[Any, Any], Any]) -> RosService:
    """Return the service server of a declared service.

    :raises ImportError: if its package is not installed
    """
    return node.create_service(message_type(declaration.kind), declaration.name, callback)


def flush(target: Publisher, timeout: float = 1.0) -> None:
    """Wait until subscribers have received all messages, at most `timeout` [s]."""
    try:
        target.wait_for_all_acked(Duration(seconds=timeout))
    except Exception:  # not supported by all middlewares
        time.sleep(0.05)
