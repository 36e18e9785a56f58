# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A subscriber whose messages one thread takes, without an executor."""

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

MAX_WAIT = 50_000_000  # for a message, before `close` is looked for again [ns]


class BlockingSubscriber:
    """A subscription of a node that no executor serves: `serve` blocks the thread that calls it.

    It waits with a wait set of rclpy, as `rclpy.wait_for_message` does: nothing is queued or
    looked up between the middleware and the callback.

    :param node: node that subscribes
    :param topic: declaration of the topic
    """

    def __init__(self, node: Node, topic: Topic):
        self._node = node
        #: The subscription
        self.subscription = subscription(node, topic, polled, raw=True)
        self._closed = False
        #: Messages that came while the one before was still in use
        self.overruns = 0

    def close(self) -> None:
        """End `serve`, which may be at one more message; callable from any thread."""
        self._closed = True

    def serve(self, use: Callable[[bytes], None]) -> None:
        """Call `use` with each serialized message as it comes, and return after `close`.

        An exception of `use` is reported and costs this one message.
        """
        failures = Failures(self._node)
        while not self._ended():
            try:
                self._serve(use)
            except Exception as error:
                # Without a context nothing can be waited for, and that is all there is to it.
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
        ended = 0  # when the message before had been used, in system time [ns]
        while not self._closed:
            # Waiting takes out of the set what was not ready.
            renew()
            add(source)
            wait(MAX_WAIT)
            taken = take(kind, True)
            if taken is not None:
                # zero: the middleware does not report it
                if 0 < taken[1]['received_timestamp'] < ended:
                    self.overruns += 1
                use(taken[0])
                ended = time_ns()
            elif self._ended():
                return
