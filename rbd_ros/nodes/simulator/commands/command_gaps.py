# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Gaps between commands and before the first: whether a controller keeps up with simulation."""

from __future__ import annotations

import math

from rbd_ros.nodes.messages.conversions import NANOSECONDS

#: Dead time that controllers should tolerate, as those of config/ros2_control.yaml do [s].
DEAD_TIME = 0.02
#: Maximum ratio of the gaps of evenly spaced commands.
UNEVEN = 4.0
#: Checks without a command, one a second, before a controller manager counts as stopped.
MAX_MISSES = 5


class CommandGaps:
    """Longest and shortest gap between commands since the last report.

    >>> gaps = CommandGaps()
    >>> for time in (1, 3, 5, 35, 37):  # [ms]
    ...     gaps.note(time * 10**6)
    >>> gaps.taken()
    'the gap between two commands was 30 ms of simulated time instead of 2 ms'
    >>> gaps.taken()
    ''
    """

    def __init__(self) -> None:
        self._last = -1
        self._longest: float = 0
        self._shortest = math.inf

    def note(self, time: int) -> None:
        """Add a command.

        :param time: simulated time [ns]
        """
        if self._last >= 0:
            gap = time - self._last
            self._longest = max(self._longest, gap)
            self._shortest = min(self._shortest, gap)
        self._last = time

    def taken(self) -> str:
        """Return a text on irregular gaps since the last call; empty if there are none."""
        longest, shortest = self._longest / NANOSECONDS, self._shortest / NANOSECONDS
        self._longest, self._shortest = 0, math.inf
        if longest <= max(DEAD_TIME, UNEVEN * shortest):
            return ''
        return (
            f'the gap between two commands was {1e3 * longest:.3g} ms of simulated time instead '
            f'of {1e3 * shortest:.3g} ms'
        )


class FirstCommand:
    """Deadline of the first command of a controller manager that follows /clock.

    It sends commands in each cycle, and has no cycles before the last time that it received.

    >>> first = FirstCommand()
    >>> [first.is_overdue(received=False, expected=True) for _ in range(6)]
    [False, False, False, False, True, False]
    >>> [first.is_overdue(received=k == 0, expected=True) for k in range(6)]
    [False, False, False, False, False, False]
    """

    def __init__(self) -> None:
        self._misses = 0
        self._received = False

    def is_overdue(self, received: bool, expected: bool) -> bool:
        """Count a miss; return True when `MAX_MISSES` is reached.

        :param received: whether there was a command since the last check
        :param expected: whether a manager is present with working hardware
        """
        self._received = self._received or received
        self._misses = self._misses + 1 if expected and not self._received else 0
        return self._misses == MAX_MISSES
