# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Interleaved timing of two calls: short blocks of one and the other in turn, medians, spread.

Other processes disturb measurements. Alternating blocks of a few milliseconds are disturbed
equally on both sides, the median over many rounds is robust, and ratios are taken in each round,
so changes of the clock rate between rounds cancel. On one core the clock is the processor time of
the process, which does not run while another process has the core.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import math
import sys
import time
import timeit
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import numpy as np

BLOCK = 0.004  # duration of a timed block [s]
WARM_UP = 0.002  # untimed calls before a block: the other side has filled the caches [s]
_FEWEST_ROUNDS = 5


@dataclass(frozen=True)
class Call:
    """A call to be measured.

    :param function: the called function
    :param arguments: its arguments; with `rows`, those before the row's
    :param rows: argument tuples, for a loop over them; None for a single call
    :param states: number of states per measured call
    :param keywords: arguments by name, for a single call
    """

    function: Callable[..., Any]
    arguments: Sequence[Any] = ()
    rows: Optional[Sequence[Sequence[Any]]] = None
    states: int = 1
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def timer(self, clock: Callable[[], float]) -> timeit.Timer:
        """Return a timer of the call in a bare loop, with garbage collection off."""
        names = [f'x{k}' for k in range(len(self.arguments))]
        scope = {'f': self.function, **dict(zip(names, self.arguments))}
        if self.rows is None:
            named = [f'{name}=z_{name}' for name in self.keywords]
            scope.update({f'z_{name}': value for name, value in self.keywords.items()})
            statement = f'f({", ".join(names + named)})'
        else:
            row = [f'y{k}' for k in range(len(self.rows[0]))]
            scope['rows'] = self.rows
            statement = f'for {", ".join(row)}, in rows:\n    f({", ".join(names + row)})'
        return timeit.Timer(statement, timer=clock, globals=scope)


@dataclass(frozen=True)
class Comparison:
    """Medians of a comparison; times per state in nanoseconds.

    :param ours: our time
    :param ours_low: lower quartile of our times
    :param ours_high: upper quartile of our times
    :param theirs: the peer's time, None without a peer
    :param ratio: theirs / ours, the median over the rounds
    :param ratio_low: lower quartile of the rounds' ratios
    :param ratio_high: upper quartile of the rounds' ratios
    :param rounds: number of rounds
    """

    ours: float
    ours_low: float
    ours_high: float
    theirs: Optional[float]
    ratio: Optional[float]
    ratio_low: Optional[float]
    ratio_high: Optional[float]
    rounds: int

    def as_dict(self) -> Dict[str, Any]:
        """Return the fields in the types of JSON, by name."""
        return {
            'ours_ns': self.ours,
            'ours_quartiles_ns': [self.ours_low, self.ours_high],
            'theirs_ns': self.theirs,
            'ratio': self.ratio,
            'ratio_quartiles': None if self.ratio is None else [self.ratio_low, self.ratio_high],
            'rounds': self.rounds,
        }


def compare(
    ours: Call,
    theirs: Optional[Call] = None,
    seconds: float = 0.5,
    clock: Callable[[], float] = time.process_time,
) -> Comparison:
    """Measure two calls in turn.

    :param ours: our call
    :param theirs: the peer's call, None to measure ours alone
    :param seconds: approximate duration [s]; at least five rounds are made
    :param clock: returns the time [s]
    """
    calls = [call for call in (ours, theirs) if call is not None]
    blocks = [_Block(call, clock) for call in calls]
    times: List[List[float]] = []
    end = time.monotonic() + seconds
    while len(times) < _FEWEST_ROUNDS or time.monotonic() < end:
        times.append([block.run() for block in blocks])
    return summary(np.array(times))


def summary(times: np.ndarray) -> Comparison:
    """Return the comparison of the times of all rounds, (rounds, 1 or 2) [ns]."""
    low, median, high = np.percentile(times[:, 0], (25, 50, 75))
    if times.shape[1] == 1:
        return Comparison(median, low, high, None, None, None, None, len(times))
    ratios = np.percentile(times[:, 1] / times[:, 0], (25, 50, 75))
    return Comparison(
        median,
        low,
        high,
        float(np.median(times[:, 1])),
        ratios[1],
        ratios[0],
        ratios[2],
        len(times),
    )


class _Block:
    """A call repeated until its block is long enough to be timed."""

    def __init__(self, call: Call, clock: Callable[[], float]):
        self._timer, self._states, self._number = call.timer(clock), call.states, 1
        self._timer.timeit(1)  # initialization: caches, page faults
        while (duration := self._timer.timeit(self._number)) < BLOCK / 4 and self._number < 10**7:
            self._number *= 4
        calls_per_second = self._number / max(duration, 1e-9)
        self._number = max(1, round(BLOCK * calls_per_second))
        self._before = max(1, math.ceil(WARM_UP * calls_per_second))

    def run(self) -> float:
        """Return the time per state [ns].

        Untimed calls come first, as the other side has just filled the caches.
        """
        self._timer.timeit(self._before)
        return 1e9 * self._timer.timeit(self._number) / (self._number * self._states)


class Progress:
    """One line on standard error that shows the progress.

    :param shown: whether to show it; None: only on a terminal
    :param steps: number of steps
    """

    def __init__(self, shown: Optional[bool], steps: int):
        self._terminal = sys.stderr.isatty()
        self._shown = self._terminal if shown is None else shown
        self._steps, self._done = steps, 0

    def step(self, what: str) -> None:
        """Show the next step."""
        self._done += 1
        if self._shown:
            text = f'[{self._done}/{max(self._steps, self._done)}] {what}'
            print(
                f'\r\033[K{text}' if self._terminal else text,
                end='' if self._terminal else '\n',
                file=sys.stderr,
                flush=True,
            )

    def finish(self) -> None:
        """Clear the line."""
        if self._shown and self._terminal:
            print('\r\033[K', end='', file=sys.stderr, flush=True)
