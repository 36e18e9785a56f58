# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Differences of positions, in which whole turns of joints without limits do not count.

Encoders, drivers and planners give the angle of a joint that turns for ever within +-pi, or
within 0 to 2 pi, or as the sum of all turns. Wherever positions are compared, the same place is to
be the same position, as with the wraparound of ros2_control's joint_trajectory_controller.
"""

from __future__ import annotations

from typing import Any, Callable, cast

import numpy as np
from numpy.typing import NDArray

from rbd_ros.compiler.loops import compiled

Floats = NDArray[np.float64]


@compiled
def whole_periods(difference: float, period: float, rate: float) -> float:
    """Return the whole periods nearest to a difference [rad].

    :param difference: of two positions [rad or m]
    :param period: that of the joint [rad]; 0: it has none, and none are found
    :param rate: 1 / period [1/rad]; 0 without one
    """
    count: float = np.floor(difference * rate + 0.5)
    return period * count


# Of arrays: the same text, and so the same bits.
_whole_periods = cast(Callable[[Any, Floats, Floats], Floats], whole_periods)


class Wraparound:
    """Differences of the positions of joints, some of which repeat after a period.

    :param periods: period of each joint, (n,) [rad], infinite where there is none, as in
        `Robot.position_periods`

    >>> from rbd_ros.robot.wraparound import Wraparound
    >>> wraparound = Wraparound([2.0 * np.pi, np.inf])
    >>> wraparound(np.array([6.0, 6.0])).round(3)
    array([-0.283,  6.   ])
    >>> wraparound.nearest(np.array([3.0, 3.0]), to=np.array([-3.0, -3.0])).round(3)
    array([-3.283,  3.   ])
    >>> wraparound.unwrapped([[3.0, 3.0], [-3.0, -3.0]]).round(3)
    array([[ 3.   ,  3.   ],
           [ 3.283, -3.   ]])
    """

    def __init__(self, periods: Any):
        given = np.array(periods, dtype=float)
        repeats = np.isfinite(given)
        #: Period of each joint, 0 where there is none, and 1 / period, likewise; each (n,)
        self.periods: Floats = np.where(repeats, given, 0.0)
        self.rates: Floats = np.divide(1.0, given, out=np.zeros(given.shape), where=repeats)
        #: Whether any joint has a period
        self.any = bool(repeats.any())

    def of(self, joints: Any) -> Wraparound:
        """Return the differences of some of the joints, by their indices."""
        return Wraparound(np.where(self.periods > 0.0, self.periods, np.inf)[joints])

    def __call__(self, difference: Floats) -> Floats:
        """Return the smallest difference that means the same, (..., n) [rad or m].

        :param difference: of positions, (..., n)
        """
        if not self.any:
            return difference
        return difference - _whole_periods(difference, self.periods, self.rates)

    def nearest(self, q: Floats, to: Floats) -> Floats:
        """Return the positions that mean the same as `q` and are nearest to others, (..., n).

        :param q: positions, (..., n) [rad or m]
        :param to: others, (..., n)
        """
        if not self.any:
            return q
        return q - _whole_periods(q - to, self.periods, self.rates)

    def unwrapped(self, q: Any) -> Floats:
        """Return the positions one after another without leaps of whole periods, (N, n).

        :param q: positions, (N, n), each less than half a period from the one before
        """
        result = np.array(q, dtype=float)
        for j in np.flatnonzero(self.periods):
            # Counted, not summed up: what does not leap keeps its bits.
            leaps = np.diff(result[:, j])
            counts = np.cumsum(np.floor(leaps * self.rates[j] + 0.5))
            result[1:, j] -= self.periods[j] * counts
        return result
