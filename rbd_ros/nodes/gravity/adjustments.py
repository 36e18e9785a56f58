# SPDX-License-Identifier: Apache-2.0
"""Adjustments of the law between two states: fading steps, gravity of an IMU, guiding by hand.

The control loop calls it before each answer that does not take the fast path. While there is
nothing to do, it changes nothing, and states take that path.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from rbd_ros.control import TorqueLaw
from rbd_ros.control.law.bumpless_transfer import BumplessTransfer
from rbd_ros.nodes.gravity.guiding import GuidingMode
from rbd_ros.nodes.gravity.imu import ImuGravity
from rbd_ros.nodes.torque.commander import Commander
from rbd_ros.nodes.torque.state_input import MeasuredState


class Adjustments:
    """Hook of the control loop, called as `adjustments(law, state)` in its thread.

    :param commander: sender of torques, into which it hooks itself
    :param law: the law in use
    :param imu: gravity of an IMU, if there is one
    :param ramp: time in which the torque goes over to another model of gravity [s]
    """

    def __init__(
        self, commander: Commander, law: TorqueLaw, imu: Optional[ImuGravity], ramp: float
    ):
        self._commander, self._imu = commander, imu
        #: Time that a change takes [s]; another one may be assigned at any time
        self.ramp = ramp
        self._law = law
        self._transfer = BumplessTransfer(law.gravity_function)
        self._zero = np.zeros(law.robot.nv)
        self._changing = False
        #: Guiding by hand; None for robots that cannot be guided
        self.guiding: Optional[GuidingMode] = None
        commander.adjust = self

    def begin_change(self) -> None:
        """Disable the fast path, before another law or other settings."""
        self._changing = True
        self._commander.fast_path_open[0] = 0

    def end_change(self, law: TorqueLaw) -> None:
        """Note that the change has been made; `law` is in use from the next state on."""
        self._law = law
        self._changing = False

    def __call__(self, law: TorqueLaw, state: MeasuredState) -> None:
        """Set what the law adds, and its gravity, for a state."""
        if not self.needed:
            return
        dt = state.dt
        if self._imu is not None:
            law.set_gravity(self._imu.advance(dt))
        added = self._transfer(law.gravity_function, state.q, dt, self.ramp)
        if self.guiding is not None:
            self.guiding.advance(dt)
        law.set_torque_offset(self._zero if added is None else added)

    def report(self) -> None:
        """Report what the last answer was about, beside its torque."""
        if self.guiding is not None:
            self.guiding.report()

    @property
    def needed(self) -> bool:
        """True if there is something to do at the next state."""
        guiding = self.guiding
        return (
            self._changing
            or self._imu is not None
            or self._transfer.is_active
            or self._law.gravity_function is not self._transfer.holding
            or (guiding is not None and guiding.changing)
        )
