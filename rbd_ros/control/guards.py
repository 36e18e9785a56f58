# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Checks of measured states before a torque is computed from them: values and time.

Time is always an argument, so any clock can be used: steady, simulated, or that of a test.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
import math
from math import isfinite, isnan, nan
from typing import Any, Callable, NamedTuple, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import compiled, entry_point, NonCopyable, Record
from rbd_ros.control.robot_joints import shown

MAXIMUM_MEASURABLE = 1e9  # a larger position or velocity is no measurement


@dataclass(frozen=True)
class StateProblem:
    """Reason why a state cannot be used.

    :param kind: 'length', 'not_finite', 'implausible', 'beyond_limits', 'time_backwards' or
        'time_repeated'
    :param joint: name of the joint, if any
    :param message: the problem, and what to check

    >>> problem = StateGuard(['elbow']).check(0.0, np.array([np.nan]), np.zeros(1))
    >>> problem.kind, problem.joint
    ('not_finite', 'elbow')
    """

    kind: str
    joint: Optional[str]
    message: str


#: Problems of a state: none, a position, a velocity, the time (not finite, repeated, backwards).
USABLE, POSITION, VELOCITY, TIME_NOT_FINITE, REPEATED, BACKWARDS = range(6)


class GuardMemory(NamedTuple):
    """Memory of a `StateGuard`, for compiled code that checks states.

    :param lower: minimum plausible positions, (n,) [rad or m]
    :param upper: maximum plausible positions, likewise
    :param max_velocity: maximum plausible speed [rad/s or m/s]
    :param tolerance: tolerated backward step of time
    :param recover_after: number of older states in a row that make a new time line
    :param times: time of the last state, and of the last rejected older one; NaN: none
    :param older: number of older states in order, (1,)
    :param found: index of the joint with the wrong value; 1 if time restarted, otherwise 0; (2,)
    """

    lower: FloatArray
    upper: FloatArray
    max_velocity: float
    tolerance: float
    recover_after: int
    times: FloatArray
    older: NDArray[np.int64]
    found: NDArray[np.int64]


@compiled
def check_values(guard: GuardMemory, q: FloatArray, v: FloatArray) -> int:
    """Return the problem of the values of a state, or `USABLE`; see `StateGuard.check`."""
    guard.found[1] = 0
    for j in range(len(guard.lower)):
        if not guard.lower[j] <= q[j] <= guard.upper[j]:  # NaN compares false
            guard.found[0] = j
            return POSITION
    for j in range(len(guard.lower)):
        if not abs(v[j]) <= guard.max_velocity:
            guard.found[0] = j
            return VELOCITY
    return USABLE


@compiled
def check_time(guard: GuardMemory, stamp: float) -> int:
    """Return the problem of the time of a state with valid values, or `USABLE`."""
    if not isfinite(stamp):
        return TIME_NOT_FINITE
    last, older = guard.times[0], guard.times[1]
    if stamp == last:
        return REPEATED
    if last - stamp > guard.tolerance:
        in_order = isnan(older) or stamp > older
        guard.older[0] = guard.older[0] + 1 if in_order else 1
        guard.times[1] = stamp
        if guard.older[0] < guard.recover_after:
            return BACKWARDS
        guard.found[1] = 1
    guard.times[0], guard.times[1], guard.older[0] = stamp, nan, 0
    return USABLE


@entry_point
def check_state(guard: GuardMemory, stamp: float, q: FloatArray, v: FloatArray) -> int:
    """Return the problem of a state, or `USABLE`."""
    wrong: int = check_values(guard, q, v)
    return wrong if wrong != USABLE else int(check_time(guard, stamp))


class StateGuard(NonCopyable):
    """Accepts usable states, and rejects others.

    A clock that was reset (a restarted simulation) differs from a stray old state by repetition:
    `recover_after` older states in order make a new time line.

    :param joint_names: names for the messages, (n,)
    :param max_position: maximum plausible position [rad or m]
    :param max_velocity: maximum plausible speed [rad/s or m/s]
    :param backward_tolerance: tolerated backward step of time, in the unit of the stamps
    :param recover_after: number of older states in a row that make a new time line
    :param lower: lower position limits, (n,), -inf: no limit; None: no limits
    :param upper: upper limits, likewise
    :param limit_margin: tolerated excess of the limits, one number or (n,) [rad or m]

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
        # One pair of comparisons for position limits and implausible positions.
        margin = np.broadcast_to(np.asarray(limit_margin, dtype=float), (n,))
        if not (margin >= 0.0).all():
            raise ValueError(f'limit_margin must not be negative, got {limit_margin}')
        #: For compiled code that checks states; only for the calling thread
        self.memory = GuardMemory(
            np.maximum(self._lower - margin, -max_position),
            np.minimum(self._upper + margin, max_position),
            float(max_velocity),
            float(backward_tolerance),
            int(recover_after),
            times=np.zeros(2),
            older=np.zeros(1, dtype=np.int64),
            found=np.zeros(2, dtype=np.int64),
        )
        self.reset()

    @cached_property
    def _check(self) -> Callable[..., int]:
        return check_state.bind(Record(self.memory), release_gil=False)

    def reset(self) -> None:
        """Forget the time of earlier states, so that the next one may have any time."""
        self.memory.times[:], self.memory.found[1] = math.nan, 0
        # Integers count from the first one: a float does not represent nanoseconds.
        self._origin: Optional[int] = None

    @property
    def time_jumped(self) -> bool:
        """Whether the last state is the first of a new time line."""
        return bool(self.memory.found[1])

    def check(self, stamp: float, q: FloatArray, v: FloatArray) -> Optional[StateProblem]:
        """Return the problem of a state, or None if it is usable.

        Only a usable state advances the time.

        :param stamp: time of the state
        :param q: positions, (n,)
        :param v: velocities, (n,)
        """
        n = len(self.joint_names)
        for what, values in (('position', q), ('velocity', v)):
            if len(values) != n:
                return StateProblem('length', None, f'{len(values)} {what}s for {n} joints')
        if self._origin is None:
            self._origin = stamp if isinstance(stamp, (int, np.integer)) else 0
        q, v = np.ascontiguousarray(q, dtype=float), np.ascontiguousarray(v, dtype=float)
        status = self._check(float(stamp - self._origin), q, v)
        return self.problem(status, stamp, q, v)

    def problem(
        self, status: int, stamp: float, q: FloatArray, v: FloatArray
    ) -> Optional[StateProblem]:
        """Return the problem of the state that compiled code has checked last.

        :param status: result of `check_values` or `check_time`
        :param stamp: time of the state
        :param q: positions, (n,)
        :param v: velocities, (n,)
        """
        if status == USABLE:
            return None
        if status in (POSITION, VELOCITY):
            what, values = (('position', q), ('velocity', v))[status - POSITION]
            return self._problem(what, int(self.memory.found[0]), values)
        if status == TIME_NOT_FINITE:
            return StateProblem('not_finite', None, f'the time of the state is {stamp}')
        if status == REPEATED:
            return StateProblem('time_repeated', None, f'two states have the same time {stamp}')
        last = self.memory.times.item(0) + (self._origin or 0)
        return StateProblem(
            'time_backwards', None, f'the time of the states goes back from {last} to {stamp}'
        )

    def _problem(self, what: str, j: int, values: FloatArray) -> StateProblem:
        """Return the problem of a value, with its most likely cause."""
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


def _limits(values: Any, none: float, n: int) -> FloatArray:
    result = np.full(n, none) if values is None else np.array(values, dtype=float)
    if result.shape != (n,) or np.isnan(result).any():
        raise ValueError(f'limits must be {n} numbers, one for each joint')
    return result
