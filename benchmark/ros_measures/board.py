# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Numbers that a process of ros_processes.py shows while it runs, in a file that others map."""

from __future__ import annotations

import mmap
from pathlib import Path
import time
from typing import List

RING = 1 << 14  # latencies that are kept
CYCLES, FIRST, LATENCIES, RUNNING, HEAD = 0, 1, 2, 3, 8  # places in the file


class Board:
    """Shared numbers of one process.

    :param path: the file, which `create` has made
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
        """Cycles so far of the process that is measured."""
        return self._words[CYCLES]

    @cycles.setter
    def cycles(self, value: int) -> None:
        if not self._words[CYCLES] and value:
            self._words[FIRST] = time.monotonic_ns()
        self._words[CYCLES] = value

    @property
    def first(self) -> int:
        """Time of a monotonic clock at which the first cycle was seen [ns]; 0: not yet."""
        return self._words[FIRST]

    @property
    def running(self) -> bool:
        """True if the process that writes here has begun."""
        return bool(self._words[RUNNING])

    def begin(self) -> None:
        """Tell that the process has begun."""
        self._words[RUNNING] = 1

    @property
    def latencies(self) -> int:
        """Number of latencies noted so far."""
        return self._words[LATENCIES]

    def note(self, latency: int) -> None:
        """Note a latency [ns]."""
        count = self._words[LATENCIES]
        self._words[HEAD + count % RING] = latency
        self._words[LATENCIES] = count + 1

    def since(self, count: int) -> List[int]:
        """Return the latencies noted after the first `count` [ns], of many the newest."""
        newest = self.latencies
        return [self._words[HEAD + k % RING] for k in range(max(count, newest - RING), newest)]
