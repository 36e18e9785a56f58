# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The period of a controller_manager in time steps of a simulation, for bench and node.

This module does not import ROS, since declarations and scenarios use it.
"""

from __future__ import annotations

from typing import Optional

MAX_UPDATE_RATE = 100_000  # [Hz]

#: Real time between two periods without commands [s]; a manager needs cycles to start.
PACE = 0.1
#: Real time after which no cycle of an earlier period is running [s]. The late answer of a slow
#: manager would count for the next period, and for all later ones.
SETTLING_TIME = 1.0
#: Real time without an answer after which the manager may have missed its wake-up [s].
NUDGE_AFTER = 1.0


def steps_of_period(update_rate: int, timestep: int) -> int:
    """Return the number of time steps in a period of a controller_manager.

    On simulated time, ros2_control_node sleeps until `1'000'000'000 / update_rate` nanoseconds
    have passed since its last cycle (ros2_control_node.cpp, sleeping_policies.cpp). /clock comes
    once in this many steps, so that each message wakes it exactly once.

    :param update_rate: parameter of the controller_manager [Hz]
    :param timestep: timestep of the simulation [ns]
    :raises ValueError: if the period is not a whole number of steps

    >>> steps_of_period(100, 1_000_000), steps_of_period(600, 1_666_667)
    (10, 1)
    """
    count = _steps(update_rate, timestep)
    if count is None:
        slower = (r for r in range(update_rate - 1, 0, -1) if _steps(r, timestep))
        rate = next(slower, None)
        cure = '' if rate is None else f'use an update_rate of {rate} Hz or '
        raise ValueError(
            f'the period of update_rate {update_rate} Hz, {1e3 / update_rate:.6g} ms, is not a '
            f'multiple of the timestep of {timestep * 1e-6:g} ms; {cure}another timestep'
        )
    return count


def nudged(time: int, count: int) -> int:
    """Return the /clock time that wakes a controller_manager which missed its time.

    `Clock::sleep_until` of rclcpp compares the time and then waits for a change of it, without a
    lock for the time in between; the same time again is no change. So it goes back by one
    nanosecond, and forward again.

    :param time: simulated time [ns]
    :param count: number of such messages so far, from 1

    >>> [nudged(2_000, k) for k in (1, 2, 3)]
    [1999, 2000, 1999]
    """
    return time - count % 2


def _steps(update_rate: int, timestep: int) -> Optional[int]:
    period = 1_000_000_000 // update_rate
    count = max(round(period / timestep), 1)
    # Never before the manager wakes up; later by rounding to nanoseconds.
    return count if 0 <= count * timestep - period <= count else None
