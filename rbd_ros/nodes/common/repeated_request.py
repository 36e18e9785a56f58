# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A request that is sent again until it is answered.

A client that has discovered a server may not be discovered by it yet. On a busy machine
rmw_fastrtps then drops the response after 0.1 s ("client will not receive response"), and the
client would wait forever. Discovery is in order: if a node answers a newer client of a process, it
has discovered the older ones.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, List

PERIOD = 0.5  # time after which a request is sent again [s]


class RepeatedRequest:
    """A request that may be sent twice; the caller spins its client.

    :param client: client of rclpy
    :param request: sent once the server is discovered, and again until it answers
    """

    def __init__(self, client: Any, request: Any):
        self._client, self._request = client, request
        self._futures: List[Any] = []
        self._due = monotonic()

    def answered(self) -> bool:
        """Return whether there is a response; repeat the request when it is due."""
        if self.response() is not None:
            return True
        if monotonic() >= self._due and self._client.service_is_ready():
            self._futures.append(self._client.call_async(self._request))
            self._due = monotonic() + PERIOD
        return False

    def response(self) -> Any:
        """Return the response; None if there is none yet."""
        return next(
            (each.result() for each in self._futures if each.done() and not each.exception()), None
        )
