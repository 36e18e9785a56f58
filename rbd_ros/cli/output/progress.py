# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Progress of long computations, shown only on a terminal."""

from __future__ import annotations

import sys
import time
from typing import Any, Optional

PERIOD = 0.2  # time between two numbers [s]
FIRST_NUMBER_DELAY = 1.0  # time before the first number [s]


class TerminalProgress:
    """Context manager that shows the progress of a computation on a terminal.

    It writes nothing to a pipe or a file. The line disappears at the end.

    :param what: name of the computation
    :param stream: output; None: standard error

    >>> from rbd_ros.cli.output.progress import TerminalProgress
    >>> with TerminalProgress('recording') as progress:
    ...     progress(0.5)  # half of it is done
    """

    def __init__(self, what: str, stream: Optional[Any] = None):
        self._what, self._stream = what, sys.stderr if stream is None else stream
        self._shown = False
        self._next = time.monotonic() + FIRST_NUMBER_DELAY

    def __enter__(self) -> TerminalProgress:
        return self

    def __call__(self, share: float) -> None:
        """Show the finished fraction, at most every `PERIOD`."""
        now = time.monotonic()
        if now < self._next or not self._stream.isatty():
            return
        self._next = now + PERIOD
        self._shown = True
        self._stream.write(f'\r{self._what}: {100.0 * min(share, 1.0):3.0f} % ')
        self._stream.flush()

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._stream.write('\r' + ' ' * (len(self._what) + 8) + '\r')
            self._stream.flush()
