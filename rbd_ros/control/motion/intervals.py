# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Advance of a motion with one state of the robot.

States are usually a millisecond apart. Other intervals come from the clock or the network, not
from the robot.
"""

from __future__ import annotations

from collections import deque
from typing import Deque

MAX_MEAN_INTERVALS = 5.0  # maximum step of a state, in mean intervals
SHORTEST_BOUND = 0.01  # a state may always advance the motion by this time [s]
MAX_BACKWARD_TIME = 1.0  # maximum difference between the clocks of several publishers [s]
REMEMBERED = 16  # number of intervals in the mean


class StateIntervals:
    """Bounded steps from intervals that may be negative, huge or NaN.

    Clocks of several publishers differ slightly, and their states alternate, so that time goes
    back and forth. A backward step is compensated before the motion continues; otherwise it would
    be too fast.
    """

    def __init__(self) -> None:
        self._recent: Deque[float] = deque(maxlen=REMEMBERED)
        self._backward_time = 0.0

    def step(self, dt: float, max_step: float) -> float:
        """Return the time by which the motion advances [s].

        :param dt: time since the previous state [s]
        :param max_step: maximum step for any usual interval [s]
        """
        if not dt > 0.0:  # also for NaN
            # A larger backward step is another time line.
            backward = self._backward_time - dt
            self._backward_time = backward if backward <= MAX_BACKWARD_TIME else 0.0
            return 0.0
        if self._backward_time:
            dt, self._backward_time = dt - self._backward_time, max(self._backward_time - dt, 0.0)
            if dt <= 0.0:
                return 0.0
        step = dt
        if dt > SHORTEST_BOUND or dt > max_step:
            step = min(dt, self.longest(max_step))
        self._recent.append(dt if dt < max_step else max_step)
        return step

    def longest(self, max_step: float) -> float:
        """Return the maximum step of the next state [s]."""
        # The mean, since states may come in bursts, but one extraordinary interval must not count.
        recent = self._recent
        mean = (sum(recent) - max(recent)) / (len(recent) - 1) if len(recent) > 1 else 0.0
        return min(max(MAX_MEAN_INTERVALS * mean, SHORTEST_BOUND), max_step)

    @property
    def has_backward_time(self) -> bool:
        """True if time went back and has not caught up yet."""
        return self._backward_time > 0.0

    def add(self, dt: float, states: int) -> None:
        """Add intervals between states, within `SHORTEST_BOUND`.

        :param dt: the interval [s]
        :param states: number of states
        """
        self._recent.extend([dt] * min(states, REMEMBERED))

    def discard_backward_time(self) -> None:
        """Begin another time line, without backward steps so far."""
        self._backward_time = 0.0
