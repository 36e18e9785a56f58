# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Advance of a motion with one state of the robot.

States are usually a millisecond apart. When the time between two of them is anything else, the
clock or the network says so, not the robot.
"""

from __future__ import annotations

from collections import deque
from typing import Deque

USUAL_INTERVALS = 5.0  # how many usual intervals a state may count for
SHORTEST_BOUND = 0.01  # any state may advance the motion by this much, whatever is usual [s]
MAX_DEBT = 1.0  # by how much the clocks of several publishers may disagree [s]
REMEMBERED = 16  # last intervals whose mean is the usual one


class StateIntervals:
    """Bounded steps from intervals that may be negative, huge or NaN.

    Publishers of parts of a state disagree about the time by a little, and their states come in
    turns, so that time runs back and forth. Time that ran back is made up for before the motion
    goes on, or it would run too fast.
    """

    def __init__(self) -> None:
        self._recent: Deque[float] = deque(maxlen=REMEMBERED)
        self._debt = 0.0

    def step(self, dt: float, max_step: float) -> float:
        """Time by which the motion advances [s].

        :param dt: time since the state before [s]
        :param max_step: longest step, whatever is usual [s]
        """
        if not dt > 0.0:  # NaN also
            # Further back than publishers disagree is another time line.
            debt = self._debt - dt
            self._debt = debt if debt <= MAX_DEBT else 0.0
            return 0.0
        if self._debt:
            dt, self._debt = dt - self._debt, max(self._debt - dt, 0.0)
            if dt <= 0.0:
                return 0.0
        step = dt
        if dt > SHORTEST_BOUND or dt > max_step:
            step = min(dt, self.longest(max_step))
        self._recent.append(dt if dt < max_step else max_step)
        return step

    def longest(self, max_step: float) -> float:
        """Return the longest step that a state may now count for [s]."""
        # The mean, as states may come in bursts; but one interval out of the ordinary must not
        # make itself ordinary.
        recent = self._recent
        mean = (sum(recent) - max(recent)) / (len(recent) - 1) if len(recent) > 1 else 0.0
        return min(max(USUAL_INTERVALS * mean, SHORTEST_BOUND), max_step)

    @property
    def in_debt(self) -> bool:
        """True if time went back and has not caught up yet."""
        return self._debt > 0.0

    def usual(self, dt: float, states: int) -> None:
        """Note that some states were an interval apart that is within `SHORTEST_BOUND`.

        :param dt: the interval [s]
        :param states: how many there were
        """
        self._recent.extend([dt] * min(states, REMEMBERED))

    def forget_debt(self) -> None:
        """Begin another time line, on which no time has run back yet."""
        self._debt = 0.0
