# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Responses of services of `simulation_interfaces`: a code of the standard, and a text."""

from __future__ import annotations

from typing import Any, Callable

from rbd_ros.nodes.messages.text import readable

# Constants of the standard.
OK, NOT_FOUND, FAILED = 1, 2, 4

Callback = Callable[[Any, Any], Any]


class RequestError(Exception):
    """A request that is answered with an error code and a text."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = code


def answering(work: Callable[[Any, Any], None]) -> Callback:
    """Return the callback of a service, which answers even if its work fails.

    :param work: fills in the response to a request; raises `RequestError` for an error code
    """

    def answer(request: Any, response: Any) -> Any:
        code, text = OK, ''
        try:
            work(request, response)
        except RequestError as error:
            code, text = error.code, str(error)
        except Exception as error:  # a service must answer
            code, text = FAILED, str(error) or type(error).__name__
        response.result.result, response.result.error_message = code, readable(text)
        return response

    return answer
