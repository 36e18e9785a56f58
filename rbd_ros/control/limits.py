"""Limits of torque: saturation at the effort limits, and of its rate of change in real time."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, Optional

import numpy as np


@dataclass(frozen=True, eq=False)
class TorqueLimits:
    """What a `TorqueLimiter` keeps to; the arrays are copied and read-only.

    :param effort_limits: greatest torques, (nv,) [N m or N], inf where there is none
    :param rate: greatest change of torque, one number or (nv,) [N m/s or N/s]; None: any
    :raises ValueError: for a wrong shape, NaN or a negative limit
    """

    effort_limits: np.ndarray
    rate: Optional[np.ndarray] = None

    def __post_init__(self):
        limits = np.array(self.effort_limits, dtype=float)
        if limits.ndim != 1 or not (limits >= 0.0).all():
            raise ValueError('effort limits must be one number a joint and not negative')
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


class TorqueLimiter:
    """Cuts torques at effort limits, and their change per real time if a rate is given.

    No torque beyond the effort limits ever comes out, whatever the rate. One thread calls; others
    may assign `limits` meanwhile.

    :param effort_limits: greatest torques, (nv,) [N m or N], inf where none
    :param rate: greatest change of torque, one number or (nv,) [N m/s or N/s]; None: any
    :raises ValueError: for a wrong shape, NaN or a negative limit
    """

    def __init__(self, effort_limits: Any, rate: Any = None):
        self._limits = TorqueLimits(effort_limits, rate)
        self.saturated = np.zeros(self._limits.effort_limits.shape, dtype=bool)
        self._last: Optional[np.ndarray] = None
        self._time = -math.inf

    @property
    def limits(self) -> TorqueLimits:
        """What it keeps to; assign others at any time, of the same number of joints.

        :raises ValueError: for another number of joints
        """
        return self._limits

    @limits.setter
    def limits(self, limits: TorqueLimits) -> None:
        if limits.effort_limits.shape != self._limits.effort_limits.shape:
            raise ValueError(
                f'limits must be of {self._limits.effort_limits.size} joints, got '
                f'{limits.effort_limits.size}'
            )
        self._limits = limits

    @property
    def last(self) -> Optional[np.ndarray]:
        """Last torque that came out, (nv,); None: none since the beginning or a reset."""
        return None if self._last is None else self._last.copy()

    def __call__(self, torque: np.ndarray, now: float) -> np.ndarray:
        """Torque within the limits, (nv,); it is also what the next one is compared with.

        Without a torque before, the rate limits nothing. Torques at the same time or an earlier
        one than the last are that last one: no real time has passed in which to change.

        :param torque: torque wanted, (nv,)
        :param now: time of a monotonic clock [s]
        :raises FloatingPointError: if the torque is not a number; nothing is changed
        """
        limits = self._limits
        saturated = np.abs(torque) > limits.effort_limits
        result = torque
        if limits.rate is not None and self._last is not None:
            elapsed = now - self._time
            step = limits.rate * elapsed if elapsed > 0.0 else 0.0
            result = np.minimum(np.maximum(result, self._last - step), self._last + step)
        # Saturation has the last word, also when the limits have just been lowered.
        result = np.minimum(np.maximum(result, -limits.effort_limits), limits.effort_limits)
        if not math.isfinite(result.dot(result)) and np.isnan(result).any():
            raise FloatingPointError('a torque that is not a number cannot be limited')
        self.saturated = saturated
        self._last = result
        if now > self._time:
            self._time = now
        return result

    def towards(self, target: np.ndarray, now: float) -> np.ndarray:
        """Next torque on the way to a last command, as fast as the rate allows.

        Call it again until it returns the target within the effort limits; without a rate that
        is at once.

        :param target: torque to end at, (nv,)
        :param now: time of a monotonic clock [s]
        """
        return self(target, now)

    def at(self, target: np.ndarray) -> bool:
        """Whether the last torque that came out is this one, within the effort limits."""
        limits = self._limits.effort_limits
        return self._last is not None and bool(
            (self._last == np.minimum(np.maximum(target, -limits), limits)).all()
        )

    def reset(self) -> None:
        """Forget the last torque, so that the next one may be any."""
        self._last = None
        self._time = -math.inf
