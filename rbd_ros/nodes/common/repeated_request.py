# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A request that is sent again until it is answered.

A client knows that it has found a server, not that the server has found it: on a busy machine
rmw_fastrtps then gives up the first response after 0.1 s ("client will not receive response"), and
the client would wait forever. What is found is found in order: once any client of a process that
was created later is answered by a node, its earlier ones will be.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, List

PERIOD = 0.5  # after which a request is sent again [s]


class RepeatedRequest:
    """A request that may be sent twice, of a client that somebody spins.

    :param client: client of rclpy
    :param request: what is sent when the server is there, and again without an answer
    """

    def __init__(self, client: Any, request: Any):
        self._client, self._request = client, request
        self._futures: List[Any] = []
        self._due = monotonic()

    def answered(self) -> bool:
        """Return whether there is a response; send the request if it is time to."""
        if self.response() is not None:
            return True
        if monotonic() >= self._due and self._client.service_is_ready():
            self._futures.append(self._client.call_async(self._request))
            self._due = monotonic() + PERIOD
        return False

    def response(self) -> Any:
        """Return the response; None as long as there is none."""
        return next(
            (each.result() for each in self._futures if each.done() and not each.exception()), None
        )
