# SPDX-License-Identifier: Apache-2.0
"""The plant of a scenario without another one: a simulation of its robot."""

from __future__ import annotations

from typing import Callable, Optional

from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.hil.plants.plant import Actuators, PlantState
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator

INTEGRATOR = 'semi_implicit'


class SimulatedRobot:
    """Simulation of a robot, which may have all faults.

    :param robot: the robot, with the payloads that it carries
    :param timestep: length of a step [s]
    """

    def __init__(self, robot: Robot, timestep: float):
        self._simulator = Simulator(robot, timestep, INTEGRATOR)
        physics = self._simulator.physics
        self.step: Callable[[FloatArray], object] = physics.step
        self.allow_friction = physics.allow_friction

    @property
    def model(self) -> Actuators:
        """Object that has limits."""
        return self._simulator.physics.model

    @property
    def state(self) -> PlantState:
        """Object that has positions, velocities and torques."""
        return self._simulator.physics.state

    def reset(self, q: FloatArray, v: Optional[FloatArray] = None, time: float = 0.0) -> None:
        """Begin again."""
        self._simulator.reset(q, v, time)
