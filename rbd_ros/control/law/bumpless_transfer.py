# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bumpless transfer: a change of the gravity model (payload, base) without a step of torque."""

from __future__ import annotations

from typing import Callable, Optional

import numpy as np

from rbd_ros.array_types import FloatArray

Holding = Callable[[FloatArray], FloatArray]

#: Maximum time by which one call advances [s], also after a pause.
MAX_STEP = 0.1


class BumplessTransfer:
    """Bumpless transfer to another model: a fading torque that removes the step.

    At a change, the difference of the torques before and after is computed at the measured
    position and added with a weight that falls smoothly from 1 to 0: w(s) = 1 - 3 s^2 + 2 s^3, s
    from 0 to 1. A change during a transfer restarts it from the present torque.

    :param holding: function of the gravity torque, (nv,), at a configuration
    """

    def __init__(self, holding: Holding):
        #: Function of the last call
        self.holding = holding
        self._jump: Optional[FloatArray] = None
        self._progress = 0.0

    @property
    def is_active(self) -> bool:
        """True if there is a torque to add."""
        return self._jump is not None

    def begin_from(self, torque: FloatArray) -> None:
        """Add `torque`, (nv,) [N m or N], to the fading torque, and restart the transfer."""
        self._jump, self._progress = torque + self._added(), 0.0

    def __call__(
        self, holding: Holding, q: FloatArray, dt: float, duration: float
    ) -> Optional[FloatArray]:
        """Return the torque to add, (nv,) [N m or N], or None after the transfer.

        :param holding: gravity torque of the present model; another function object is a change
        :param q: measured configuration, (nq,)
        :param dt: time since the previous call [s]; ignored unless positive
        :param duration: duration of the transfer [s]; 0: none
        """
        if holding is not self.holding:
            jump = self.holding(q) - holding(q)
            self.holding = holding
            # A model with NaN is reported by the law; the transfer must not keep it.
            self.begin_from(np.where(np.isfinite(jump), jump, 0.0))
        elif self._jump is not None and dt > 0.0:
            self._progress += min(dt, MAX_STEP) / duration if duration > 0.0 else 1.0
        if self._progress >= 1.0 or not duration > 0.0:
            self._jump, self._progress = None, 0.0
        return None if self._jump is None else self._added()

    def _added(self) -> FloatArray:
        if self._jump is None:
            return np.zeros(1)
        s = self._progress
        added: FloatArray = self._jump * (1.0 - 3.0 * s**2 + 2.0 * s**3)
        return added
