# SPDX-License-Identifier: Apache-2.0
"""Hand guiding in a node: switched on and off without a step, and reported in the diagnostics."""

from __future__ import annotations

from typing import Any, Dict, Optional

import numpy as np

from rbd_ros.control import GuidingSettings, HandGuiding
from rbd_ros.nodes.common.diagnostics import Diagnostics, OK, WARN
from rbd_ros.robot import Robot

SUBJECT = 'hand_guiding'
FADING = 0.5  # seconds in which the torque fades away when it is switched off


class GuidingMode:
    """Torque of hand guiding while it is switched on, and fading away after that.

    :param robot: the robot
    :param diagnostics: where to report
    """

    def __init__(self, robot: Robot, diagnostics: Diagnostics):
        self._robot, self._diagnostics = robot, diagnostics
        #: Settings of the mode; None: it is off. Others may be assigned from any thread
        self.requested: Optional[GuidingSettings] = None
        self._guiding: Optional[HandGuiding] = None
        self._share = 0.0

    def switch(self, settings: Optional[GuidingSettings]) -> None:
        """Switch on with settings, or off; callable from any thread."""
        was, self.requested = self.requested, settings
        if settings is not None:
            self._diagnostics.condition(SUBJECT, OK, 'guiding', code='on')
        elif was is not None:
            self._diagnostics.condition(SUBJECT, OK, 'off', code='off')

    @property
    def acting(self) -> bool:
        """True if there is a torque, or will be at the next state."""
        return self.requested is not None or self._share > 0.0

    def __call__(self, q: np.ndarray, v: np.ndarray, dt: float) -> Optional[np.ndarray]:
        """Return torque to be added, (nv,) [N m or N], or None without one; in the control loop.

        :param q: measured position, (nv,)
        :param v: measured velocity, (nv,)
        :param dt: time since the state before [s]
        """
        requested = self.requested
        if requested is not None:
            if self._guiding is None:
                self._guiding = HandGuiding(self._robot, requested)
            self._guiding.settings = requested
            self._share = 1.0 if self._share <= 0.0 else self._changed(dt)
        elif self._share > 0.0:
            self._share = self._changed(-dt if dt > 0.0 else 0.0)
        guiding = self._guiding
        if guiding is None or self._share <= 0.0:
            self._guiding = None  # the next time, the hold begins where the arm is
            return None
        torque = guiding(q, v, dt, self._share)
        if guiding.braking > 0.0:
            self._diagnostics.event(SUBJECT, WARN, f'braking: {guiding.reason}', code='braking')
        return torque

    def _changed(self, dt: float) -> float:
        """Return the share of the torque after it has risen, or fallen, for `dt` [s]."""
        return min(max(self._share + dt / FADING, 0.0), 1.0)

    def values(self) -> Dict[str, Any]:
        """Return the key-value pairs for diagnostics."""
        guiding = self._guiding
        return {
            'kinetic_energy': 0.0 if guiding is None else guiding.energy,
            'brake_rate': 0.0 if guiding is None else guiding.braking,
        }
