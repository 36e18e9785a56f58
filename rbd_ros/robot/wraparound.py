# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Differences of positions without whole turns of continuous joints.

Encoders, drivers and planners give the angle of a continuous joint within +-pi, within 0 to 2 pi,
or as the sum of all turns. Comparisons must treat equivalent positions as equal, like the
wraparound of ros2_control's joint_trajectory_controller.
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

    :param difference: difference of two positions [rad or m]
    :param period: period of the joint [rad]; 0: not periodic, and the result is 0
    :param rate: 1 / period [1/rad]; 0 without one
    """
    count: float = np.floor(difference * rate + 0.5)
    return period * count


# For arrays: the same function, and so the same bits.
_whole_periods = cast(Callable[[Any, Floats, Floats], Floats], whole_periods)


class Wraparound:
    """Differences of the positions of joints, some of which are periodic.

    :param periods: period of each joint, (n,) [rad], infinite: not periodic, as in
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
        #: Period of each joint, 0: not periodic, and 1 / period, likewise; each (n,)
        self.periods: Floats = np.where(repeats, given, 0.0)
        self.rates: Floats = np.divide(1.0, given, out=np.zeros(given.shape), where=repeats)
        #: Whether any joint is periodic
        self.any = bool(repeats.any())

    def of(self, joints: Any) -> Wraparound:
        """Return the differences of some of the joints, by their indices."""
        return Wraparound(np.where(self.periods > 0.0, self.periods, np.inf)[joints])

    def __call__(self, difference: Floats) -> Floats:
        """Return the smallest equivalent difference, (..., n) [rad or m].

        :param difference: of positions, (..., n)
        """
        if not self.any:
            return difference
        return difference - _whole_periods(difference, self.periods, self.rates)

    def nearest(self, q: Floats, to: Floats) -> Floats:
        """Return the positions equivalent to `q` that are nearest to others, (..., n).

        :param q: positions, (..., n) [rad or m]
        :param to: other positions, (..., n)
        """
        if not self.any:
            return q
        return q - _whole_periods(q - to, self.periods, self.rates)

    def unwrapped(self, q: Any) -> Floats:
        """Return a sequence of positions without jumps by whole periods, (N, n).

        :param q: positions, (N, n), each less than half a period from the previous one
        """
        result = np.array(q, dtype=float)
        for j in np.flatnonzero(self.periods):
            # Counted, not summed: positions without jumps keep their bits.
            leaps = np.diff(result[:, j])
            counts = np.cumsum(np.floor(leaps * self.rates[j] + 0.5))
            result[1:, j] -= self.periods[j] * counts
        return result
