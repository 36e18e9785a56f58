# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ideal brakes, which hold the whole simulated robot until its first command."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from rbd_ros.nodes.simulator.interface.simulator_interface import has_rigid_ground
from rbd_ros.nodes.simulator.start.closed_loop_start import holding_effort
from rbd_ros.simulation import Simulator


class Brakes:
    """Brakes of a simulated robot: while engaged, no physics step is taken.

    They would also stop the objects of a world, so a world uses servos instead.

    :param parameters: values of the simulator's parameters
    """

    def __init__(self, simulator: Simulator, parameters: Mapping[str, Any]):
        self._simulator, self._parameters = simulator, parameters
        #: Whether they are engaged.
        self.engaged = False
        #: Efforts that compensate gravity at the measured configuration, (nv,) [N m or N].
        self.effort: np.ndarray = np.zeros(simulator.robot.nv)

    def measure(self) -> None:
        """Compute the holding efforts at the present configuration."""
        self.effort = holding_effort(self._simulator.robot, self._simulator.q)

    def allowed(self) -> bool:
        """Return whether brakes may hold the robot, without physics steps."""
        if self._simulator.world is None:
            return True
        return has_rigid_ground(self._parameters) and not self._simulator.objects
