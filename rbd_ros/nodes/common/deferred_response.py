# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Responses of a service, and results of an action, that another thread sends later.

Not all executors of rclpy can wait in a callback. All of them pass its result to
`Service.send_response`, which is replaced to recognize a `DeferredResponse`.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, List

from rclpy.action import ActionServer
from rclpy.service import Service


class LongRunningActionServer(ActionServer):
    """Action server whose goals run until `finish`; no callback waits."""

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """Keep a goal that is executed; call nothing."""

    def finish(self, goal_handle: Any, end: Callable[[Any], Any]) -> None:
        """Make the executor call `end`, which sets a state and returns the result."""
        super().notify_execute(goal_handle, end)


class DeferredResponse:
    """A result that another thread sets: a future that calls back without an executor."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._result: List[Any] = []  # empty until set
        self._uses: List[Callable[[Any], None]] = []

    def set_result(self, outcome: Any) -> None:
        """Set the result; only the first call counts."""
        with self._lock:
            if self._result:
                return
            self._result.append(outcome)
            uses = self._uses[:]
        # Outside of the lock: a callback may use this response.
        for use in uses:
            use(outcome)

    def then(self, use: Callable[[Any], None]) -> None:
        """Call `use` with the result: in the thread that sets it, or at once if it is set."""
        with self._lock:
            if not self._result:
                self._uses.append(use)
                return
        use(self._result[0])

    def map(self, change: Callable[[Any], Any]) -> DeferredResponse:
        """Return a deferred response whose result is `change(result)` of this one."""
        result = DeferredResponse()
        self.then(lambda outcome: result.set_result(change(outcome)))
        return result


def allow_deferred_responses(service: Service) -> None:
    """Let the callback of a service return a `DeferredResponse` in place of its response."""
    # Bound before the replacement: the wrapper sends through the original method.
    send = service.send_response

    def send_response(response: Any, header: Any) -> None:
        if isinstance(response, DeferredResponse):
            response.then(lambda outcome: send(outcome, header))
        else:
            send(response, header)

    service.send_response = send_response
