# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Log of the progress of a slow start: the first compilation of a robot's machine code."""

from __future__ import annotations

import threading
import time
from typing import Any

FIRST_WORD = 1.0  # time until a stage is logged first [s]
PERIOD = 5.0  # time between two messages of one stage [s]


class Progress:
    """Context manager that logs the present stage every few seconds.

    :param logger: logger of the node
    """

    def __init__(self, logger: Any):
        self._logger = logger
        self._stage = ''
        self._begin = self._next = time.monotonic()
        self._done = threading.Event()
        self._shown = False

    def __enter__(self) -> Progress:
        self._begin = self._next = time.monotonic()
        threading.Thread(target=self._run, name='progress', daemon=True).start()
        return self

    def stage(self, what: str) -> None:
        """Begin a stage.

        :param what: description of the stage, such as 'compiling the torque law'
        """
        self._stage = what
        self._next = time.monotonic() + FIRST_WORD

    def _run(self) -> None:
        while not self._done.wait(0.1):
            now = time.monotonic()
            if self._stage and now >= self._next:
                self._next = now + PERIOD
                self._shown = True
                self._logger.info(
                    f'{self._stage} ({now - self._begin:.0f} s so far; machine code is cached on '
                    'disk, so the next start is fast)'
                )

    def __exit__(self, failure: object, *_: object) -> None:
        self._done.set()
        if self._shown and failure is None:
            self._logger.info(f'ready after {time.monotonic() - self._begin:.1f} s')
