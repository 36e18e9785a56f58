# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rate and execution time of a loop, accumulated by Welford's method in machine code.

The loop adds each of its cycles; a report takes the statistics since the last report.
"""

from __future__ import annotations

import math
from typing import Callable, NamedTuple

import numpy as np

from rbd_ros.compiler.loops import allocate, compiled, entry_point, floats, Record

COUNT, MEAN, SQUARES, MINIMUM, MAXIMUM = range(5)
SUMS = 5  # numbers in a table of sums
NEVER = -1.0  # begin of the previous cycle if there was none; a monotonic clock is not negative


class CycleMemory(NamedTuple):
    """Statistics of the cycles since the last report.

    :param execution: count, mean [s], sum of squared deviations [s^2], minimum and maximum [s] of
        the execution time, (5,)
    :param period: likewise for the time between the begins of two cycles, (5,)
    :param taken: output of `take`, both, (10,)
    :param begin: begin of the previous cycle [s], (1,)
    :param longest: execution time beyond which a cycle is an over-run [s], (1,); 0: no check
    :param overruns: over-runs so far, (1,)
    """

    execution: np.ndarray = floats(SUMS)
    period: np.ndarray = floats(SUMS)
    taken: np.ndarray = floats(2 * SUMS)
    begin: np.ndarray = floats(1)
    longest: np.ndarray = floats(1)
    overruns: np.ndarray = floats(1)


class Statistics(NamedTuple):
    """Statistics of durations.

    :param count: number of durations
    :param mean: their mean [s]
    :param deviation: their standard deviation [s]
    :param minimum: shortest duration [s]
    :param maximum: longest duration [s]
    """

    count: int
    mean: float
    deviation: float
    minimum: float
    maximum: float


@compiled
def add(sums: np.ndarray, value: float) -> None:
    """Add a number to sums by Welford's method, which subtracts no large numbers.

    :param sums: count, mean, sum of squared deviations, minimum and maximum, (5,)
    :param value: the number, not negative
    """
    sums[COUNT] += 1.0
    before = value - sums[MEAN]
    sums[MEAN] += before / sums[COUNT]
    sums[SQUARES] += before * (value - sums[MEAN])
    if sums[COUNT] == 1.0 or value < sums[MINIMUM]:
        sums[MINIMUM] = value
    if value > sums[MAXIMUM]:
        sums[MAXIMUM] = value


@compiled
def add_cycle(memory: CycleMemory, begin: float, end: float) -> None:
    """Add a cycle.

    :param memory: statistics so far
    :param begin: time of a monotonic clock at which it began [s]
    :param end: the time at which it ended [s]
    """
    duration = end - begin
    add(memory.execution, duration)
    if memory.longest[0] > 0.0 and duration > memory.longest[0]:
        memory.overruns[0] += 1.0
    if memory.begin[0] >= 0.0:
        add(memory.period, begin - memory.begin[0])
    memory.begin[0] = begin


@entry_point
def note(memory: CycleMemory, begin: float, end: float) -> int:
    """Record a cycle, as `add_cycle` does, and return 0."""
    add_cycle(memory, begin, end)
    return 0


@entry_point
def take(memory: CycleMemory) -> int:
    """Move the sums to `taken` and restart them.

    :param memory: statistics so far
    :return: 0
    """
    for k in range(SUMS):
        memory.taken[k] = memory.execution[k]
        memory.taken[SUMS + k] = memory.period[k]
        memory.execution[k] = memory.period[k] = 0.0
    return 0


class CycleTimer:
    """Rate and execution time of the cycles of one loop.

    `note` and `interrupt` are for the thread of the loop, all else for the reporting thread.
    Machine code holds the GIL, so each thread sees complete data.
    """

    def __init__(self) -> None:
        self._memory = allocate(CycleMemory)
        #: Record of the sums, for machine code that adds cycles itself
        self.record = record = Record(self._memory)
        #: Add a cycle by its begin and end [s]
        self.note: Callable[[float, float], int] = note.bind(record, release_gil=False)
        self._take: Callable[[], int] = take.bind(record, release_gil=False)
        self.interrupt()

    def interrupt(self) -> None:
        """Exclude the time until the next cycle from the periods."""
        self._memory.begin[0] = NEVER

    def expect(self, period: float) -> None:
        """Count cycles that take longer than `period` [s] as over-runs; 0: none."""
        self._memory.longest[0] = period

    @property
    def overruns(self) -> int:
        """Cycles that took longer than expected."""
        return int(self._memory.overruns[0])

    def take(self) -> tuple[Statistics, Statistics]:
        """Return the execution times and periods of the cycles since the last call."""
        self._take()
        taken = self._memory.taken.tolist()
        return _statistics(taken[:SUMS]), _statistics(taken[SUMS:])


def _statistics(sums: list[float]) -> Statistics:
    count, mean, squares, minimum, maximum = sums
    deviation = math.sqrt(max(squares, 0.0) / count) if count else 0.0
    return Statistics(int(count), mean, deviation, minimum, maximum)
