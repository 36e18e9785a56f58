# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A node that survives exceptions of its callbacks: they are reported.

Not all callbacks are ours: rclpy's own raise on some requests and times that are well-typed but
make no sense. An exception that reaches an executor costs more than its callback: EventsExecutor
writes a traceback each time, and does not serve what came together with the bad request.
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
    """Stand in for the callback of a subscription whose messages are polled.

    Such a subscription belongs to its node, and tools list it there, but no executor serves it.
    """


class GuardedNode(Node):
    """A node whose services and subscriptions report what goes wrong, and go on.

    Arguments are those of `rclpy.node.Node`.
    """

    def __init__(self, *arguments: Any, **options: Any):
        self._failures = Failures(self)  # first: rclpy creates services of its own
        super().__init__(*arguments, **options)
        destroy_at_the_end(self)

    def create_subscription(
        self, msg_type: type, topic: str, callback: Callable[..., None], *rest: Any, **options: Any
    ) -> Subscription:
        """Create a subscription whose callback may raise, or is `polled`."""
        if callback is polled:
            return super().create_subscription(msg_type, topic, callback, *rest, **options)

        @functools.wraps(callback)  # rclpy looks at its signature
        def guarded(*arguments: Any) -> None:
            try:
                if msg_type is Clock:
                    _check_clock(arguments[0])
                callback(*arguments)
            # This one ends the node, on purpose.
            except StartupError:
                raise
            except Exception as error:
                self._failures.report(error)

        return super().create_subscription(msg_type, topic, guarded, *rest, **options)

    @property
    def subscriptions(self) -> Iterator[Subscription]:
        """Subscriptions whose messages an executor is to take."""
        # Executors take the messages of what is listed here, before a polling thread could.
        return (each for each in super().subscriptions if each.callback is not polled)

    def create_service(
        self, srv_type: type, srv_name: str, callback: Callable[..., Any], **options: Any
    ) -> Service:
        """Create a service whose callback may raise; there is an answer in any case."""
        return super().create_service(srv_type, srv_name, self.guarded(callback), **options)

    def guarded(self, callback: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return the callback of a service that answers whatever `callback` raises."""

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
    """Reject a time that fits into no stamp: every message of ours would raise from then on.

    :raises ValueError: if it is negative or not normalized
    """
    time = message.clock
    if time.sec < 0 or time.nanosec >= NANOSECONDS:
        raise ValueError(f'/clock has the invalid time {time.sec} s and {time.nanosec} ns')


def _explained(request: Any, response: Any, error: Exception) -> Any:
    """Return the answer that reports an error, where it has room for that."""
    rejection = SetParametersResult(successful=False, reason=readable(error))
    if hasattr(response, 'results') and hasattr(request, 'parameters'):
        # What came before is done; what follows is not looked at.
        missing = len(request.parameters) - len(response.results)
        response.results.extend([rejection] * missing)
    elif isinstance(getattr(response, 'result', None), SetParametersResult):
        response.result = rejection
    return response
