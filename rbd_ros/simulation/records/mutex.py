# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mutex of a simulation: one thread at a time uses its memory.

Machine code runs for long without the GIL, in memory of a simulation. A thread that reads or
changes that memory holds the mutex of the simulation; other threads wait.
"""

from __future__ import annotations

from functools import wraps
import threading
from typing import Any, Callable, TypeVar

import numpy as np

from rbd_ros.array_types import AnyArray
from rbd_ros.compiler.loops import excludes_threads

Method = TypeVar('Method', bound=Callable[..., Any])
Array = TypeVar('Array', bound=AnyArray)


class Mutex:
    """Mutual exclusion of threads; the owner may acquire it again.

    >>> from rbd_ros.simulation.records.mutex import Mutex
    >>> mutex = Mutex()
    >>> with mutex:
    ...     held = int(mutex.held[0])
    >>> held, int(mutex.held[0])
    (1, 0)
    """

    def __init__(self) -> None:
        # A thread that waits for the lock holds the queue, so a thread that acquires the lock
        # again and again cannot starve it.
        self._lock, self._queue = threading.Lock(), threading.Lock()
        self._owner = 0
        #: How often its owner holds it, for machine code that holds the GIL, (1,).
        self.held = np.zeros(1, dtype=np.int64)
        # Number of acquisitions and releases: odd while it is held.
        self._changes = 0
        self._excludes_threads = excludes_threads()

    def __enter__(self) -> None:
        thread = threading.get_ident()
        if self._owner != thread:
            with self._queue:
                self._lock.acquire()
            self._owner = thread
            self._changes += 1
        self.held[0] += 1

    def __exit__(self, *_: object) -> None:
        self.held[0] -= 1
        if not self.held[0]:
            self._owner = 0
            self._changes += 1
            self._lock.release()

    def copy(self, array: Array) -> Array:
        """Copy an array while no other thread changes it.

        :param array: part of the memory

        >>> from rbd_ros.simulation.records.mutex import Mutex
        >>> Mutex().copy(np.ones(2))
        array([1., 1.])
        """
        # Faster than acquiring it: the GIL makes a copy atomic, so it is enough that no thread
        # held the mutex before or acquired it since.
        changes = self._changes
        found = array.copy()
        if changes & 1 or changes != self._changes or not self._excludes_threads:
            with self:
                found = array.copy()
        return found


def exclusive(method: Method) -> Method:
    """Hold the mutex of a simulation during a method (decorator)."""

    @wraps(method)
    def run(self: Any, *arguments: Any, **named: Any) -> Any:
        with self._physics.mutex:
            return method(self, *arguments, **named)

    return run  # type: ignore[return-value]
