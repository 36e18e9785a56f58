"""Guards between measured states and torque: staleness, numbers that are none, time running back.

The clock is an argument everywhere, so that steady time, simulated time and tests all do.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Optional, Sequence

import numpy as np


class StaleWatchdog:
    """Notices that nothing has come for too long.

    :param timeout: longest silence, in the unit of the clock; zero or less: any
    """

    def __init__(self, timeout: float):
        if math.isnan(timeout):
            raise ValueError('timeout must be a number, got NaN')
        self.timeout = timeout
        self._last: Optional[float] = None

    def feed(self, now: float) -> None:
        """Note that something came."""
        self._last = now

    def age(self, now: float) -> float:
        """Time since something came; infinite if nothing ever did."""
        return math.inf if self._last is None else now - self._last

    def expired(self, now: float) -> bool:
        """Tell whether it is too long ago, or nothing came yet; never if there is no timeout."""
        return self.timeout > 0.0 and self.age(now) > self.timeout

    def reset(self) -> None:
        """Forget that anything ever came."""
        self._last = None


@dataclass(frozen=True)
class StateProblem:
    """Why a state cannot be used.

    :param kind: 'length', 'not_finite', 'implausible', 'time_backwards' or 'time_repeated'
    :param joint: name of the joint concerned, if one is
    :param message: what is wrong
    """

    kind: str
    joint: Optional[str]
    message: str


class StateGuard:
    """Tells usable states from others.

    A clock that was set back (a simulation that began again) is told from a stray old state by
    repetition: `recover_after` older states, in order among themselves, make a new time line.

    :param joint_names: names for the messages, (n,)
    :param max_position: greatest believable position [rad or m]
    :param max_velocity: greatest believable speed [rad/s or m/s]
    :param backward_tolerance: by how much time may run back unnoticed, in the unit of the stamps
    :param recover_after: how many older states in a row are a new time line
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        max_position: float = 1e6,
        max_velocity: float = 1e4,
        backward_tolerance: float = 0.0,
        recover_after: int = 3,
    ):
        self.joint_names = tuple(joint_names)
        self._limits = (('position', max_position), ('velocity', max_velocity))
        self._tolerance = backward_tolerance
        self._recover_after = recover_after
        self.reset()

    def reset(self) -> None:
        """Forget the time of earlier states."""
        self._last: Optional[float] = None
        self._older: Optional[float] = None
        self._older_count = 0
        self.time_jumped = False

    def check(self, stamp: float, q: np.ndarray, v: np.ndarray) -> Optional[StateProblem]:
        """Tell what is wrong with a state, or return None; only a good one advances the time.

        :param stamp: time of the state
        :param q: positions, (n,)
        :param v: velocities, (n,)
        """
        self.time_jumped = False
        problem = self._check_values(q, v) or self._check_time(stamp)
        if problem is None:
            self._last, self._older, self._older_count = stamp, None, 0
        return problem

    def _check_values(self, q: np.ndarray, v: np.ndarray) -> Optional[StateProblem]:
        n = len(self.joint_names)
        for (what, limit), values in zip(self._limits, (q, v)):
            if len(values) != n:
                return StateProblem('length', None, f'{len(values)} {what}s for {n} joints')
            # One comparison says all is well: NaN compares false.
            if n == 0 or np.abs(values).max() <= limit:
                continue
            j = int(np.argmax(~(np.abs(values) <= limit)))
            name, value = self.joint_names[j], float(values[j])
            if not math.isfinite(value):
                return StateProblem('not_finite', name, f'{what} of joint {name!r} is {value}')
            return StateProblem(
                'implausible', name, f'{what} {value:g} of joint {name!r} is beyond {limit:g}'
            )
        return None

    def _check_time(self, stamp: float) -> Optional[StateProblem]:
        if isinstance(stamp, float) and not math.isfinite(stamp):
            return StateProblem('not_finite', None, f'the time of the state is {stamp}')
        last = self._last
        if last is None or stamp > last:
            return None
        if stamp == last:
            return StateProblem('time_repeated', None, f'two states of the same time {stamp}')
        if last - stamp <= self._tolerance:
            return None
        in_order = self._older is None or stamp > self._older
        self._older_count = self._older_count + 1 if in_order else 1
        self._older = stamp
        if self._older_count >= self._recover_after:
            self.time_jumped = True
            return None
        return StateProblem('time_backwards', None, f'time runs back from {last} to {stamp}')
