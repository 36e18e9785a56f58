# SPDX-License-Identifier: Apache-2.0
"""Checks of measured states before a torque is computed from them: their numbers and their time.

The time is an argument everywhere, so any clock will do: steady, simulated, or that of a test.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.control.control_arrays import FloatArray
from rbd_ros.control.names import shown

MAXIMUM_MEASURABLE = 1e9  # a position or velocity beyond this is garbage, not a measurement


@dataclass(frozen=True)
class StateProblem:
    """Reason why a state cannot be used.

    :param kind: 'length', 'not_finite', 'implausible', 'beyond_limits', 'time_backwards' or
        'time_repeated'
    :param joint: name of the joint concerned, if one is
    :param message: what is wrong, and what to look at

    >>> problem = StateGuard(['elbow']).check(0.0, np.array([np.nan]), np.zeros(1))
    >>> problem.kind, problem.joint
    ('not_finite', 'elbow')
    """

    kind: str
    joint: Optional[str]
    message: str


class StateGuard:
    """Distinguishes usable states from others.

    A clock that was set back (a simulation that began again) differs from a stray old state by
    repetition: `recover_after` older states, in order among themselves, make a new time line.

    :param joint_names: names for the messages, (n,)
    :param max_position: maximum plausible position [rad or m]
    :param max_velocity: maximum plausible speed [rad/s or m/s]
    :param backward_tolerance: by how much time may run back unnoticed, in the unit of the stamps
    :param recover_after: how many older states in a row are a new time line
    :param lower: lower limits of the positions, (n,), -inf where none; None: no limits
    :param upper: upper limits, likewise
    :param limit_margin: how far beyond its limits a joint may be, one number or (n,) [rad or m]

    >>> guard = StateGuard(arm, lower=limits[0], upper=limits[1])
    >>> guard.check(0.0, q, v) is None
    True
    >>> guard.check(0.0, q, v).kind
    'time_repeated'
    >>> guard.check(0.1, np.degrees(q), v).message
    "position of joint 'shoulder_lift_joint' is -28.6479, ... check whether the driver sends ..."
    >>> guard.reset()
    >>> guard.check(0.0, q, v) is None
    True
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        max_position: float = 1e6,
        max_velocity: float = 1e4,
        backward_tolerance: float = 0.0,
        recover_after: int = 3,
        *,
        lower: Any = None,
        upper: Any = None,
        limit_margin: Any = 1.0,
    ):
        self.joint_names = tuple(joint_names)
        n = len(self.joint_names)
        self._most = {'position': max_position, 'velocity': max_velocity}
        self._lower, self._upper = _limits(lower, -math.inf, n), _limits(upper, math.inf, n)
        # One pair of comparisons for both: positions beyond the limits, and implausible ones.
        margin = np.broadcast_to(np.asarray(limit_margin, dtype=float), (n,))
        if not (margin >= 0.0).all():
            raise ValueError(f'limit_margin must not be negative, got {limit_margin}')
        # Lists, because for the few numbers of a robot they are quicker than arrays.
        self._bounds = {
            'position': (
                np.maximum(self._lower - margin, -max_position).tolist(),
                np.minimum(self._upper + margin, max_position).tolist(),
            ),
            'velocity': ([-max_velocity] * n, [max_velocity] * n),
        }
        self._tolerance = backward_tolerance
        self._recover_after = recover_after
        self.reset()

    @property
    def bounds(self) -> Tuple[FloatArray, FloatArray, float]:
        """Minimum and maximum plausible position, each (n,), and the maximum plausible speed."""
        low, high = self._bounds['position']
        return np.array(low), np.array(high), self._most['velocity']

    def reset(self) -> None:
        """Forget the time of earlier states, so that the next one may have any time."""
        self._last: Optional[float] = None
        self._older: Optional[float] = None
        self._older_count = 0
        self.time_jumped = False

    def passed(self, stamp: float) -> None:
        """Note a good state, later than all before, that was checked elsewhere."""
        self._last, self._older, self._older_count = stamp, None, 0

    def check(self, stamp: float, q: FloatArray, v: FloatArray) -> Optional[StateProblem]:
        """Return the problem of a state, or None if it is usable.

        Only a usable state advances the time.

        :param stamp: time of the state
        :param q: positions, (n,)
        :param v: velocities, (n,)
        """
        self.time_jumped = False
        problem = self._check_values(q, v) or self._check_time(stamp)
        if problem is None:
            self.passed(stamp)
        return problem

    def _check_values(self, q: FloatArray, v: FloatArray) -> Optional[StateProblem]:
        n = len(self.joint_names)
        for (what, (low, high)), values in zip(self._bounds.items(), (q, v)):
            if len(values) != n:
                return StateProblem('length', None, f'{len(values)} {what}s for {n} joints')
            for j, value in enumerate(values.tolist()):
                if not low[j] <= value <= high[j]:  # NaN compares false
                    return self._problem(what, j, values)
        return None

    def _problem(self, what: str, j: int, values: FloatArray) -> StateProblem:
        """Describe what is wrong with a value, and its most likely cause."""
        name, value, most = self.joint_names[j], float(values[j]), self._most[what]
        text = f'{what} of joint {shown(name)} is {value:g}'
        if not math.isfinite(value):
            return StateProblem('not_finite', name, f'{text}, not a number; check the publisher')
        if abs(value) > MAXIMUM_MEASURABLE:
            return StateProblem(
                'implausible',
                name,
                f'{text}, which is implausible for any joint; check the publisher',
            )
        if abs(value) > most:
            return StateProblem(
                'implausible',
                name,
                f'{text}, beyond {most:g}; check its unit (rad, m, rad/s, m/s)',
            )
        low, high = float(self._lower[j]), float(self._upper[j])
        advice = 'check the zero of its encoder and the limits of the robot description'
        if abs(value) > 10.0 and low <= math.radians(value) <= high:
            advice = 'check whether the driver sends degrees: joint_states must be in rad'
        elif abs(value) > 10.0 and low <= value / 1000.0 <= high:
            advice = 'check whether the driver sends millimeters: joint_states must be in m'
        side = 'below its lower limit' if value < low else 'above its upper limit'
        limit = low if value < low else high
        return StateProblem('beyond_limits', name, f'{text}, far {side} {limit:g}; {advice}')

    def _check_time(self, stamp: float) -> Optional[StateProblem]:
        if isinstance(stamp, float) and not math.isfinite(stamp):
            return StateProblem('not_finite', None, f'the time of the state is {stamp}')
        last = self._last
        if last is None or stamp > last:
            return None
        if stamp == last:
            return StateProblem('time_repeated', None, f'two states have the same time {stamp}')
        if last - stamp <= self._tolerance:
            return None
        in_order = self._older is None or stamp > self._older
        self._older_count = self._older_count + 1 if in_order else 1
        self._older = stamp
        if self._older_count >= self._recover_after:
            self.time_jumped = True
            return None
        return StateProblem(
            'time_backwards', None, f'the time of the states goes back from {last} to {stamp}'
        )


def _limits(values: Any, none: float, n: int) -> FloatArray:
    result = np.full(n, none) if values is None else np.array(values, dtype=float)
    if result.shape != (n,) or np.isnan(result).any():
        raise ValueError(f'limits must be {n} numbers, one for each joint')
    return result
