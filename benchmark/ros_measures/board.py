# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Numbers that a process of ros_processes.py publishes in a file mapped by others."""

from __future__ import annotations

import mmap
from pathlib import Path
import time
from typing import List

RING = 1 << 14  # number of stored latencies
CYCLES, FIRST, LATENCIES, RUNNING, HEAD = 0, 1, 2, 3, 8  # indices in the file


class Board:
    """Shared numbers of one process.

    :param path: the file, made by `create`
    """

    def __init__(self, path: Path):
        with open(path, 'r+b') as file:
            self._words = memoryview(mmap.mmap(file.fileno(), 8 * (HEAD + RING))).cast('q')

    @classmethod
    def create(cls, path: Path) -> Board:
        """Make the file, with zeros."""
        path.write_bytes(bytes(8 * (HEAD + RING)))
        return cls(path)

    @property
    def cycles(self) -> int:
        """Cycles so far of the measured process."""
        return self._words[CYCLES]

    @cycles.setter
    def cycles(self, value: int) -> None:
        if not self._words[CYCLES] and value:
            self._words[FIRST] = time.monotonic_ns()
        self._words[CYCLES] = value

    @property
    def first(self) -> int:
        """Monotonic time of the first cycle [ns]; 0: none yet."""
        return self._words[FIRST]

    @property
    def running(self) -> bool:
        """Whether the writing process has started."""
        return bool(self._words[RUNNING])

    def begin(self) -> None:
        """Record that the process has started."""
        self._words[RUNNING] = 1

    @property
    def latencies(self) -> int:
        """Number of latencies recorded so far."""
        return self._words[LATENCIES]

    def note(self, latency: int) -> None:
        """Record a latency [ns]."""
        count = self._words[LATENCIES]
        self._words[HEAD + count % RING] = latency
        self._words[LATENCIES] = count + 1

    def since(self, count: int) -> List[int]:
        """Return the latencies after the first `count` [ns], of too many the newest."""
        newest = self.latencies
        return [self._words[HEAD + k % RING] for k in range(max(count, newest - RING), newest)]
