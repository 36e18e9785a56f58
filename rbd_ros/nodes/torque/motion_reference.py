# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""References: the desired motion of a torque node's robot."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Tuple

import numpy as np

from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.robot import Robot

Motion = Tuple[np.ndarray, np.ndarray, np.ndarray]

#: Motion for the next states: it changes or has subscribers; it is constant; or it is rest at the
#: measured position.
MOVING, HELD, MEASURED = range(3)


class Reference:
    """Base of references, which are created as `reference(node, robot)`; it has no state.

    `check`, `configure` and `every_second` are called on the executor, `values` in the thread of
    the diagnostics, and the others in the control loop.
    """

    def check(self, values: Mapping[str, Any]) -> None:
        """Reject invalid parameters by a ValueError; change nothing."""

    def configure(self, values: Mapping[str, Any]) -> None:
        """Use checked parameters."""

    def begin(self, state: MeasuredState) -> None:
        """Begin at the first usable state."""

    def resume_after_gap(self, state: MeasuredState, gap: float) -> None:
        """Continue after `gap` seconds without usable states."""

    def restart_time(self, state: MeasuredState) -> None:
        """Continue after a reset of the states' time."""

    def desired(self, state: MeasuredState) -> Motion:
        """Return desired position, velocity and acceleration at a measured state, each (n,)."""
        raise NotImplementedError

    def done(self, state: MeasuredState, motion: Motion, torque: np.ndarray) -> None:
        """Handle a sent `torque`, (n,), for `motion`."""

    def on_change(self, close: Callable[[], None]) -> None:
        """Set the callback before and after changes of the motion or its subscribers."""

    def rest_kind(self) -> int:
        """Return the kind of the motion: MOVING, HELD or MEASURED."""
        return MOVING

    def advance_at_rest(self, time: int, elapsed: float, dt: float, states: int) -> None:
        """Advance over states that were answered while the motion was at rest.

        :param time: time of the last state [ns]
        :param elapsed: time from before these states to the last one [s]
        :param dt: time between the last two states [s]
        :param states: number of states
        """

    def every_second(self) -> None:
        """Run non-urgent work, once a second."""

    def values(self) -> Dict[str, Any]:
        """Return the key-value pairs for the diagnostics of the torque."""
        return {}

    def deactivate(self) -> None:
        """End active goals when the node is deactivated."""

    def stop(self) -> None:
        """End active goals at the end of the node."""


class MeasuredPosition(Reference):
    """Reference of gravity compensation: the desired position is the measured one, at rest."""

    def __init__(self, node: Any, robot: Robot):
        self._rest = np.zeros(robot.nv)

    def desired(self, state: MeasuredState) -> Motion:
        """Return rest at the measured position."""
        return state.q, self._rest, self._rest

    def rest_kind(self) -> int:
        """Return rest at the present position."""
        return MEASURED
