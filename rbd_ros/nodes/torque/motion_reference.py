# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""References: the desired motion of a torque node's robot."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Tuple

import numpy as np

from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.robot import Robot

Motion = Tuple[np.ndarray, np.ndarray, np.ndarray]

#: Whether the next states will be answered with the same motion: not, as it moves or somebody
#: looks on; with that of the last state; or with rest wherever the robot is.
MOVING, HELD, MEASURED = range(3)


class Reference:
    """Base of references, which are created as `reference(node, robot)`; it remembers nothing.

    `check`, `configure` and `every_second` are called on the executor, `values` by the thread that
    publishes diagnostics, and the others by the control loop.
    """

    def check(self, values: Mapping[str, Any]) -> None:
        """Reject parameters by raising ValueError; changes nothing."""

    def configure(self, values: Mapping[str, Any]) -> None:
        """Take checked parameters into use."""

    def begin(self, state: MeasuredState) -> None:
        """Begin with the first usable state of all."""

    def resume_after_gap(self, state: MeasuredState, gap: float) -> None:
        """Continue after usable states had been absent for `gap` [s]."""

    def restart_time(self, state: MeasuredState) -> None:
        """Continue although the time of the states began again."""

    def desired(self, state: MeasuredState) -> Motion:
        """Return desired position, velocity and acceleration at a measured state, each (n,)."""
        raise NotImplementedError

    def done(self, state: MeasuredState, motion: Motion, torque: np.ndarray) -> None:
        """Note that `torque`, (n,), was sent for `motion`."""

    def on_change(self, close: Callable[[], None]) -> None:
        """Set the callback before and after changes of the motion or its subscribers."""

    def rest_of(self) -> int:
        """Return whether the motion rests: MOVING, HELD or MEASURED."""
        return MOVING

    def advance_at_rest(self, time: int, elapsed: float, dt: float, states: int) -> None:
        """Note states that were answered while the motion rested.

        :param time: time of the last of them [ns]
        :param elapsed: time from the state before to the last of them [s]
        :param dt: time between the last two of them [s]
        :param states: how many there were
        """

    def every_second(self) -> None:
        """Run non-urgent work, once a second."""

    def values(self) -> Dict[str, Any]:
        """Return the key-value pairs for the diagnostics of the torque."""
        return {}

    def deactivate(self) -> None:
        """End what others wait for, as the node is no longer active."""

    def stop(self) -> None:
        """End what others wait for, as the node ends."""


class MeasuredPosition(Reference):
    """Reference of gravity compensation: the desired position is the measured one, at rest."""

    def __init__(self, node: Any, robot: Robot):
        self._rest = np.zeros(robot.nv)

    def desired(self, state: MeasuredState) -> Motion:
        """Return rest at the measured position."""
        return state.q, self._rest, self._rest

    def rest_of(self) -> int:
        """Return rest at the present position."""
        return MEASURED
