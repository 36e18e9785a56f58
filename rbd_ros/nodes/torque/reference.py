"""References: the motion that a torque node wants its robot to make."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Protocol, Tuple

import numpy as np

from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.robot import Robot

Motion = Tuple[np.ndarray, np.ndarray, np.ndarray]


class Reference(Protocol):
    """What a torque node asks its reference; all but `check` and `configure` in the control loop.

    It is made with the node and the robot: `reference(node, robot)`.
    """

    def check(self, values: Mapping[str, Any]) -> None:
        """Refuse parameters by raising ValueError; changes nothing."""

    def configure(self, values: Mapping[str, Any]) -> None:
        """Take checked parameters into use."""

    def begin(self, state: MeasuredState) -> None:
        """Begin with the first usable state of all."""

    def interrupted(self, state: MeasuredState, gap: float) -> None:
        """Go on after usable states had been absent for `gap` seconds."""

    def time_restarted(self, state: MeasuredState) -> None:
        """Go on although the robot's time began anew."""

    def desired(self, state: MeasuredState) -> Motion:
        """Position, velocity and acceleration that are wanted now, each (n,)."""

    def done(self, state: MeasuredState, motion: Motion, torque: np.ndarray) -> None:
        """Note that `torque`, (n,), was sent for `motion`."""

    def every_second(self) -> None:
        """Look after what needs no hurry, on the executor."""

    def values(self) -> Dict[str, Any]:
        """Key-value pairs for the diagnostics of the torque."""


class MeasuredPosition:
    """The robot may be where it is: desired position is the measured one, at rest."""

    def __init__(self, node: Any, robot: Robot):
        self._rest = np.zeros(robot.nv)

    def check(self, values: Mapping[str, Any]) -> None:
        """Accept everything."""

    def configure(self, values: Mapping[str, Any]) -> None:
        """Have nothing to configure."""

    def begin(self, state: MeasuredState) -> None:
        """Remember nothing."""

    def interrupted(self, state: MeasuredState, gap: float) -> None:
        """Remember nothing."""

    def time_restarted(self, state: MeasuredState) -> None:
        """Remember nothing."""

    def desired(self, state: MeasuredState) -> Motion:
        """Rest at the measured position."""
        return state.q, self._rest, self._rest

    def done(self, state: MeasuredState, motion: Motion, torque: np.ndarray) -> None:
        """Show nothing."""

    def every_second(self) -> None:
        """Have nothing to look after."""

    def values(self) -> Dict[str, Any]:
        """Tell nothing."""
        return {}
