# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A subscriber that one thread polls, without an executor."""

from __future__ import annotations

import time
from time import time_ns
from typing import Callable

from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node

from rbd_ros.nodes.common.communication import subscription
from rbd_ros.nodes.common.guarded_node import polled
from rbd_ros.nodes.common.node_interface import Topic
from rbd_ros.nodes.common.node_process import BREATH, Failures

MAX_WAIT = 50_000_000  # longest wait for a message before `close` is checked [ns]


class BlockingSubscriber:
    """A subscription without an executor: `serve` blocks the calling thread.

    It waits on a wait set of rclpy, as `rclpy.wait_for_message` does. No queue and no lookup lies
    between the middleware and the callback.

    :param node: subscribing node
    :param topic: declaration of the topic
    """

    def __init__(self, node: Node, topic: Topic):
        self._node = node
        #: The subscription
        self.subscription = subscription(node, topic, polled, raw=True)
        self._closed = False
        #: Messages that arrived while the previous one was processed
        self.overruns = 0

    def close(self) -> None:
        """End `serve` after at most one more message; callable from any thread."""
        self._closed = True

    def serve(self, use: Callable[[bytes], None]) -> None:
        """Call `use` with each serialized message as it arrives; return after `close`.

        An exception of `use` is reported, and the next message is served.
        """
        failures = Failures(self._node)
        while not self._ended():
            try:
                self._serve(use)
            except Exception as error:
                # Without a context, the loop ends.
                if not self._ended():
                    failures.report(error)
                    time.sleep(BREATH)

    def _ended(self) -> bool:
        return self._closed or not self._node.context.ok()

    def _serve(self, use: Callable[[bytes], None]) -> None:
        source, kind = self.subscription.handle, self.subscription.msg_type
        wait_set = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, self._node.context.handle)
        renew, add, wait = wait_set.clear_entities, wait_set.add_subscription, wait_set.wait
        take = source.take_message
        ended = 0  # when the previous message was processed, in system time [ns]
        while not self._closed:
            # A wait removes the entities that were not ready.
            renew()
            add(source)
            wait(MAX_WAIT)
            taken = take(kind, True)
            if taken is not None:
                # zero: the middleware does not report the time
                if 0 < taken[1]['received_timestamp'] < ended:
                    self.overruns += 1
                use(taken[0])
                ended = time_ns()
            elif self._ended():
                return
