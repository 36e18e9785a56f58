# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Hand guiding in a node: switched without a torque step, and reported in the diagnostics."""

from __future__ import annotations

from typing import Any, Dict, Optional

from rbd_ros.control import GuidingSettings, HandGuiding
from rbd_ros.control.law.hand_guiding import SHARE
from rbd_ros.nodes.common.diagnostics import Diagnostics, OK, WARN
from rbd_ros.robot import Robot

SUBJECT = 'hand_guiding'
FADING = 0.5  # time in which the torque fades out after switching off [s]


class GuidingMode:
    """Torque of hand guiding while it is on, and while it fades out.

    :param diagnostics: diagnostics of the node
    """

    def __init__(self, robot: Robot, diagnostics: Diagnostics):
        self._diagnostics = diagnostics
        #: Settings of the mode; None: off. Assignable from any thread
        self.requested: Optional[GuidingSettings] = None
        self._guiding = HandGuiding(robot)
        #: Memory of compiled code that adds the torque
        self.memory = self._guiding.memory

    def switch(self, settings: Optional[GuidingSettings]) -> None:
        """Switch on with settings, or off; callable from any thread."""
        was, self.requested = self.requested, settings
        if settings is not None:
            self._diagnostics.condition(SUBJECT, OK, 'guiding', code='on')
        elif was is not None:
            self._diagnostics.condition(SUBJECT, OK, 'off', code='off')

    @property
    def changing(self) -> bool:
        """True if `advance` has a change to make at the next state."""
        requested, guiding = self.requested, self._guiding
        if requested is None:
            return self._share > 0.0
        return self._share < 1.0 or guiding.settings is not requested

    def advance(self, dt: float) -> None:
        """Switch on or off, and fade the torque.

        :param dt: time since the previous state [s]
        """
        requested, guiding = self.requested, self._guiding
        share = self._share
        if requested is not None:
            guiding.settings = requested
            share = 1.0 if share <= 0.0 else self._changed(dt)
        elif share > 0.0:
            share = self._changed(-dt if dt > 0.0 else 0.0)
        if share <= 0.0:
            self.memory.state[:] = 0.0  # next time, the hold begins at the present position
        self.memory.state[SHARE] = share

    def report(self) -> None:
        """Report whether the last torque brakes."""
        guiding = self._guiding
        if guiding.braking > 0.0:
            self._diagnostics.event(SUBJECT, WARN, f'braking: {guiding.reason}', code='braking')

    @property
    def _share(self) -> float:
        return self.memory.state.item(SHARE)

    def _changed(self, dt: float) -> float:
        """Return the torque factor after it has risen, or fallen, for `dt` [s]."""
        return min(max(self._share + dt / FADING, 0.0), 1.0)

    def values(self) -> Dict[str, Any]:
        """Return the key-value pairs for diagnostics."""
        return {
            'kinetic_energy': self._guiding.energy,
            'brake_rate': self._guiding.braking,
        }
