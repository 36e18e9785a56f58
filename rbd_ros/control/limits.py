"""Limits of torque: of its rate of change, and saturation at the effort limits."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np


class TorqueLimiter:
    """Cuts torques at effort limits, and their change per time if a rate is given.

    No torque beyond the effort limits ever comes out, whatever the rate.

    :param effort_limits: greatest torques, (nv,) [N m or N], inf where none
    :param rate: greatest change of torque, one number or (nv,) [N m/s or N/s]; None: any
    :raises ValueError: for a wrong shape, NaN or a negative limit
    """

    def __init__(self, effort_limits: Any, rate: Any = None):
        self.effort_limits = np.array(effort_limits, dtype=float)
        if self.effort_limits.ndim != 1 or not (self.effort_limits >= 0.0).all():
            raise ValueError('effort limits must be one number a joint and not negative')
        self._negative_limits = -self.effort_limits
        self.rate: Optional[np.ndarray] = None
        if rate is not None:
            self.rate = np.broadcast_to(np.asarray(rate, dtype=float), self.effort_limits.shape)
            if not (self.rate > 0.0).all():
                raise ValueError('the rate of torque must be positive')
        self.saturated = np.zeros(self.effort_limits.shape, dtype=bool)
        self._last: Optional[np.ndarray] = None

    def __call__(self, torque: np.ndarray, dt: Optional[float] = None) -> np.ndarray:
        """Torque within the limits, (nv,).

        :param torque: torque wanted, (nv,)
        :param dt: time since the last call [s]; None, or no call before: no rate limit
        """
        self.saturated = np.abs(torque) > self.effort_limits
        if self.rate is not None and dt is not None and self._last is not None:
            step = self.rate * max(dt, 0.0)
            torque = np.minimum(np.maximum(torque, self._last - step), self._last + step)
        # Saturation has the last word, also when the limits have just been lowered.
        result = np.minimum(np.maximum(torque, self._negative_limits), self.effort_limits)
        self._last = result
        return result

    def reset(self) -> None:
        """Forget the last torque, so that the next one may be any."""
        self._last = None

    def continue_from(self, other: TorqueLimiter) -> None:
        """Take over the last torque of a limiter that this one replaces."""
        self._last = other._last
