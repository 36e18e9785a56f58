# SPDX-License-Identifier: Apache-2.0
"""Responses of a service that another thread gives later, while the executor goes on.

Not all executors of rclpy can wait in a callback. What they have in common is that they hand its
result to `Service.send_response`, so that is where a `Later` is recognized.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, List

from rclpy.service import Service


class Later:
    """A result that another thread will set: a future that calls back without an executor."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told: List[Any] = []
        self._uses: List[Callable[[Any], None]] = []

    def tell(self, outcome: Any) -> None:
        """Set the result; only the first one counts."""
        with self._lock:
            if self._told:
                return
            self._told.append(outcome)
            uses = self._uses[:]
        for use in uses:
            use(outcome)

    def then(self, use: Callable[[Any], None]) -> None:
        """Have `use` called with the result, in the thread that sets it, or at once."""
        with self._lock:
            if not self._told:
                self._uses.append(use)
                return
        use(self._told[0])

    def mapped(self, change: Callable[[Any], Any]) -> Later:
        """Return a later result, which is `change(result)` of this one."""
        result = Later()
        self.then(lambda outcome: result.tell(change(outcome)))
        return result


def answer_later(service: Service) -> None:
    """Let the callback of a service return a `Later` in place of its response."""
    send = service.send_response

    def send_response(response: Any, header: Any) -> None:
        if isinstance(response, Later):
            response.then(lambda outcome: send(outcome, header))
        else:
            send(response, header)

    service.send_response = send_response
