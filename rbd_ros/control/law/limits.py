# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Limits of torque, and of its rate of change in wall time."""

from __future__ import annotations

from dataclasses import dataclass
import math
from math import isnan
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.array_types import BoolArray, FloatArray
from rbd_ros.compiler.loops import compiled, entry_point, NonCopyable, Record

#: Replaces an infinite limit: no torque that is sent is infinite [N m or N].
UNLIMITED = 1e300

#: Result of `limit` for NaN.
NOT_A_NUMBER = -1


@dataclass(frozen=True, eq=False)
class TorqueLimits:
    """Limits of a `TorqueLimiter`; the arrays are copied and read-only.

    :param effort_limits: maximum torques, (nv,) [N m or N], inf: no limit
    :param rate: maximum rate of change, one number or (nv,) [N m/s or N/s]; None: no limit
    :raises ValueError: for a wrong shape, NaN or a negative limit

    >>> TorqueLimits(robot.effort_limits, rate=1000.0).rate
    array([1000., 1000., 1000., 1000., 1000., 1000.])
    >>> TorqueLimits([-1.0])
    Traceback (most recent call last):
        ...
    ValueError: effort limits must be one number for each joint, and not negative
    """

    effort_limits: FloatArray
    rate: Optional[FloatArray] = None

    def __post_init__(self) -> None:
        limits = np.array(self.effort_limits, dtype=float)
        if limits.ndim != 1 or not (limits >= 0.0).all():
            raise ValueError('effort limits must be one number for each joint, and not negative')
        rate = self.rate
        if rate is not None:
            try:
                rate = np.broadcast_to(np.asarray(rate, dtype=float), limits.shape).copy()
            except ValueError:
                raise ValueError(
                    f'the rate of torque must be one number or {limits.size}, got shape '
                    f'{np.shape(rate)}'
                ) from None
            if not (rate > 0.0).all():
                raise ValueError('the rate of torque must be positive')
            rate.flags.writeable = False
        limits.flags.writeable = False
        object.__setattr__(self, 'effort_limits', limits)
        object.__setattr__(self, 'rate', rate)


class LimiterMemory(NamedTuple):
    """Memory of a `TorqueLimiter`, for compiled code that limits torques.

    :param desired: requested torque, (nv,) [N m or N]
    :param last: limited torque, (nv,) [N m or N]
    :param limits: effort limits, (nv,) [N m or N], finite
    :param rate: maximum rate of change, (nv,) [N m/s or N/s]; negative: no limit
    :param last_state: time of the last torque [s]; 1.0 if there is one, otherwise 0.0; number of
        joints with a requested torque beyond the effort limits; (3,)
    """

    desired: FloatArray
    last: FloatArray
    limits: FloatArray
    rate: FloatArray
    last_state: FloatArray


@compiled
def limit(limiter: LimiterMemory, torque: FloatArray, now: float) -> int:
    """Limit a torque; the result is `limiter.last`.

    The rate limit is applied last, so it holds for any two torques. After a reduction of the
    effort limits, a torque beyond them decreases at that rate.

    :param limiter: memory of the limiter
    :param torque: requested torque, at least (nv,) [N m or N]
    :param now: time of a monotonic clock [s]
    :return: number of joints with a requested torque beyond the effort limits; `NOT_A_NUMBER` for
        NaN, and then nothing has changed
    """
    n = len(limiter.last)
    for j in range(n):
        if isnan(torque[j]):
            return NOT_A_NUMBER
    elapsed = now - limiter.last_state[0]
    if not elapsed > 0.0:  # also for NaN
        elapsed = 0.0
    beyond = 0
    for j in range(n):
        x, most = torque[j], limiter.limits[j]
        allowed = most if x > most else -most if x < -most else x
        if limiter.last_state[1] > 0.0 and limiter.rate[j] >= 0.0:
            change = limiter.rate[j] * elapsed
            high, low = limiter.last[j] + change, limiter.last[j] - change
            allowed = high if allowed > high else low if allowed < low else allowed
        # The requested torque, before the rate limit.
        if abs(x) > most:
            beyond += 1
        limiter.desired[j], limiter.last[j] = x, allowed
    limiter.last_state[1], limiter.last_state[2] = 1.0, float(beyond)
    limiter_sent(limiter, now)
    return beyond


@compiled
def limiter_sent(limiter: LimiterMemory, now: float) -> None:
    """Set the time at which the last torque was sent; the time never goes back.

    :param limiter: memory of the limiter
    :param now: time of a monotonic clock [s]
    """
    if now > limiter.last_state[0]:
        limiter.last_state[0] = now


#: `limit` for Python
limit_torque = entry_point(limit)


class TorqueLimiter(NonCopyable):
    """Limiter of torques to the effort limits, and of their rate of change in wall time.

    Any two torques that it returns differ by no more than the rate allows in the time between
    them, even if limits change. With constant effort limits no torque exceeds them; after a
    reduction, torques decrease at the rate. One thread calls it; others may assign `limits`.

    :param effort_limits: maximum torques, (nv,) [N m or N], inf: no limit
    :param rate: maximum rate of change, one number or (nv,) [N m/s or N/s]; None: no limit
    :raises ValueError: for a wrong shape, NaN or a negative limit

    >>> limiter = TorqueLimiter(np.full(6, 10.0), rate=1000.0)  # [N m], [N m/s]
    >>> limiter(np.full(6, 20.0), 0.0)  # the first one is limited in size alone
    array([10., 10., 10., 10., 10., 10.])
    >>> limiter.saturated.all(), limiter.is_saturated
    (True, True)
    >>> limiter(np.zeros(6), 0.002)  # 2 ms later: 2 N m less
    array([8., 8., 8., 8., 8., 8.])
    >>> limiter.step_towards(np.zeros(6), 1.0)
    array([0., 0., 0., 0., 0., 0.])
    >>> limiter.has_reached(np.zeros(6)), limiter.last
    (True, array([0., 0., 0., 0., 0., 0.]))
    >>> limiter.mark_sent(1.0005)  # it took so long: the rate counts from then on
    >>> limiter.limits = TorqueLimits(np.full(6, 5.0))  # lower, without a rate
    >>> limiter(np.full(6, -20.0), 1.001)
    array([-5., -5., -5., -5., -5., -5.])
    >>> limiter.reset()
    >>> limiter.last is None, limiter.last_with_time is None
    (True, True)
    """

    def __init__(self, effort_limits: Any, rate: Any = None):
        limits = TorqueLimits(effort_limits, rate)
        desired, last, finite, rate = np.zeros((4, limits.effort_limits.size))
        #: For compiled code that limits torques; only for the calling thread.
        self.memory = LimiterMemory(desired, last, finite, rate, np.zeros(3))
        self.record = Record(self.memory)
        self._limit = limit_torque.bind(self.record, release_gil=False)
        self._last, self._standing = last, self.memory.last_state
        self._take(limits)
        self.reset()

    @property
    def is_saturated(self) -> bool:
        """True if the last requested torque was beyond the effort limits."""
        return bool(self._standing[2] > 0.0)

    @property
    def saturated(self) -> BoolArray:
        """Whether the last requested torque was beyond the effort limits, (nv,) bool."""
        beyond: BoolArray = np.abs(self.memory.desired) > self._limits.effort_limits
        return beyond

    @property
    def limits(self) -> TorqueLimits:
        """Present limits; assignable at any time with the same number of joints.

        :raises ValueError: for another number of joints
        """
        return self._limits

    @limits.setter
    def limits(self, limits: TorqueLimits) -> None:
        if limits.effort_limits.shape != self._limits.effort_limits.shape:
            raise ValueError(
                f'limits must have {self._limits.effort_limits.size} numbers, got '
                f'{limits.effort_limits.size}'
            )
        self._take(limits)

    def _take(self, limits: TorqueLimits) -> None:
        self.memory.limits[:] = np.minimum(limits.effort_limits, UNLIMITED)
        self.memory.rate[:] = -1.0 if limits.rate is None else limits.rate
        self._limits = limits

    @property
    def last(self) -> Optional[FloatArray]:
        """Last torque returned, (nv,) [N m or N]; None after a reset."""
        return self._last.copy() if self._standing[1] else None

    def __call__(self, torque: FloatArray, now: float) -> FloatArray:
        """Return the torque within the limits, (nv,) [N m or N].

        The rate limits the change from the last returned torque; the first one is not limited by
        it. If no time has passed or `now` is earlier, the last torque is returned again.

        :param torque: requested torque, (nv,) [N m or N]
        :param now: time of a monotonic clock [s]
        :raises FloatingPointError: if the torque is NaN; nothing has changed
        """
        torque = np.ascontiguousarray(torque, dtype=float)
        if torque.shape != self._last.shape:
            raise ValueError(
                f'the torque must have {self._last.size} numbers, got shape {torque.shape}'
            )
        if self._limit(torque, now) == NOT_A_NUMBER:
            raise FloatingPointError('the torque is NaN and cannot be limited')
        return self._last.copy()

    def mark_sent(self, now: float) -> None:
        """Set the time at which the last torque was sent, from which the rate counts.

        Use it if a torque is sent some time after its computation. Otherwise the next message
        could change by the rate times that delay, too.

        :param now: time of a monotonic clock [s]
        """
        limiter_sent(self.memory, now)

    @property
    def last_with_time(self) -> Optional[Tuple[FloatArray, float]]:
        """Last torque, (nv,), and its time [s]; None after a reset."""
        return (self._last.copy(), float(self._standing[0])) if self._standing[1] else None

    def resume(self, torque: FloatArray, time: float) -> None:
        """Continue from a torque that a previous limiter returned.

        :param torque: the torque, (nv,) [N m or N]
        :param time: time at which it was sent, on the same clock [s]
        """
        self._last[:], self._standing[:2] = torque, (time, 1.0)

    def step_towards(self, target: FloatArray, now: float) -> FloatArray:
        """Return the next torque towards a final one, limited by the rate, (nv,) [N m or N].

        Call it repeatedly until it returns the target within the effort limits; without a rate,
        the first call does.

        :param target: final torque, (nv,)
        :param now: time of a monotonic clock [s]
        """
        return self(target, now)

    def has_reached(self, target: FloatArray) -> bool:
        """Return whether the last returned torque is `target` within the effort limits."""
        limits = self._limits.effort_limits
        return bool(self._standing[1]) and bool(
            (self._last == np.minimum(np.maximum(target, -limits), limits)).all()
        )

    def reset(self) -> None:
        """Forget the last torque, so that the rate does not limit the next one."""
        self._standing[:2] = -math.inf, 0.0
