# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A node that survives and reports exceptions of its callbacks.

Callbacks of rclpy itself raise on some well-typed but invalid requests and times. An exception
that reaches an executor costs more than its callback: EventsExecutor writes a traceback each time,
and drops the messages that arrived with the bad request.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterator

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.service import Service
from rclpy.subscription import Subscription
from rosgraph_msgs.msg import Clock

from rbd_ros.nodes.common.node_process import destroy_at_the_end, Failures, StartupError
from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.messages.text import readable


def polled(message: Any) -> None:
    """Stand in for the callback of a polled subscription.

    The subscription belongs to its node, and tools list it there, but no executor serves it.
    """


class GuardedNode(Node):
    """A node whose services and subscriptions report exceptions and continue.

    Arguments are those of `rclpy.node.Node`.
    """

    def __init__(self, *arguments: Any, **options: Any):
        self._failures = Failures(self)  # first: rclpy creates its own services
        super().__init__(*arguments, **options)
        destroy_at_the_end(self)

    def create_subscription(
        self, msg_type: type, topic: str, callback: Callable[..., None], *rest: Any, **options: Any
    ) -> Subscription:
        """Create a subscription whose callback may raise, or is `polled`."""
        if callback is polled:
            return super().create_subscription(msg_type, topic, callback, *rest, **options)

        @functools.wraps(callback)  # rclpy inspects its signature
        def guarded(*arguments: Any) -> None:
            try:
                if msg_type is Clock:
                    _check_clock(arguments[0])
                callback(*arguments)
            # Ends the node on purpose.
            except StartupError:
                raise
            except Exception as error:
                self._failures.report(error)

        return super().create_subscription(msg_type, topic, guarded, *rest, **options)

    @property
    def subscriptions(self) -> Iterator[Subscription]:
        """Subscriptions that an executor serves."""
        # Executors would take the messages before a polling thread could.
        return (each for each in super().subscriptions if each.callback is not polled)

    def create_service(
        self, srv_type: type, srv_name: str, callback: Callable[..., Any], **options: Any
    ) -> Service:
        """Create a service whose callback may raise; it always answers."""
        return super().create_service(srv_type, srv_name, self.guarded(callback), **options)

    def guarded(self, callback: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return the callback of a service that also answers if `callback` raises."""

        @functools.wraps(callback)
        def guarded(request: Any, response: Any) -> Any:
            try:
                return callback(request, response)
            except StartupError:
                raise
            except Exception as error:
                self._failures.report(error)
                return _explained(request, response, error)

        return guarded


def _check_clock(message: Clock) -> None:
    """Reject an invalid time, with which every later message of the node would raise.

    :raises ValueError: if it is negative or not normalized
    """
    time = message.clock
    if time.sec < 0 or time.nanosec >= NANOSECONDS:
        raise ValueError(f'/clock has the invalid time {time.sec} s and {time.nanosec} ns')


def _explained(request: Any, response: Any, error: Exception) -> Any:
    """Return the answer that reports an error, if its type has a field for it."""
    rejection = SetParametersResult(successful=False, reason=readable(error))
    if hasattr(response, 'results') and hasattr(request, 'parameters'):
        # Parameters before the failed one are set; later ones are not processed.
        missing = len(request.parameters) - len(response.results)
        response.results.extend([rejection] * missing)
    elif isinstance(getattr(response, 'result', None), SetParametersResult):
        response.result = rejection
    return response
