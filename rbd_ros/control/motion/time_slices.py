# SPDX-License-Identifier: Apache-2.0
"""Time slicing of long work, so that a control loop in another thread never waits for it.

Python runs one thread at a time. A call into NumPy that holds the interpreter's lock delays the
torque for as long as it lasts, and a thread that computes without a break is interrupted only
every few milliseconds. So long arrays are processed slice by slice, with pauses in between.
"""

from __future__ import annotations

import time
from typing import Iterable, Iterator

NUMBERS = 16384  # of an array that are worked on at once, a fraction of a millisecond
MAX_TURN = 0.5e-3  # time without a pause [s]
PAUSE = 100e-6  # long enough for a waiting thread to wake up and take its turn [s]


def time_sliced(rows: int, columns: int = 1) -> Iterable[slice]:
    """Return the successive slices of the rows of an array, with pauses if the work takes long.

    :param rows: number of rows
    :param columns: numbers in each row
    """
    size = max(NUMBERS // max(columns, 1), 1)
    return (slice(0, rows),) if 0 < rows <= size else _slices(rows, size)


def _slices(rows: int, size: int) -> Iterator[slice]:
    turn = time.perf_counter()
    for begin in range(0, rows, size):
        if time.perf_counter() - turn > MAX_TURN:
            time.sleep(PAUSE)
            turn = time.perf_counter()
        yield slice(begin, min(begin + size, rows))
