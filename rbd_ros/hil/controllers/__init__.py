# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Controllers under test, created from the `<kind>_controller.py` files of their kinds."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control import default_gains, JointTrajectory, LawSettings, TorqueLaw
from rbd_ros.hil.controllers.python_controller import FACTORIES
from rbd_ros.hil.scenario.controller_entry import Callback, CONTROLLERS
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.robot import Robot


def find_factory(name: str) -> Callable[..., Callback]:
    """Return the factory of a name.

    :param name: 'module:name', 'path.py:name', or an entry point of the group rbd_ros.controllers
    :raises ValueError: if it does not exist

    >>> from rbd_ros.hil.controllers import find_factory
    >>> find_factory('rbd_ros.hil.controllers:computed_torque').__name__
    'computed_torque'
    """
    return FACTORIES.find(name)


def make_controller(scenario: Scenario) -> Callback:
    """Create the controller of a scenario, in this process.

    :raises ValueError: if it does not exist or cannot be created
    """
    return CONTROLLERS[scenario.controller.kind].make(scenario)


def computed_torque(
    robot: Robot,
    trajectory: JointTrajectory,
    timestep: float,
    natural_frequency: float = 18.0,
    integral: bool = True,
) -> Callback:
    """Create the law of the node inverse_dynamics: computed torque with an integral.

    :param natural_frequency: natural frequency of the closed loop [rad/s]
    :param integral: whether to add an integral of the error
    """
    kp, kd, ki = default_gains(robot, natural_frequency=natural_frequency)
    if not integral:
        ki = np.zeros(robot.nv)
    law = TorqueLaw(robot, LawSettings.for_robot(robot, kp=kp, kd=kd, ki=ki))
    limits, before = np.array(robot.effort_limits), [None]

    def control(time: float, q: FloatArray, v: FloatArray) -> FloatArray:
        last: Optional[Any] = before[0]
        before[0] = time  # type: ignore[call-overload]
        passed = None if last is None else time - last
        torque = law(q, v, *trajectory.sample(time), dt=passed)
        torque = np.clip(torque, -limits, limits)
        law.set_applied_torque(torque)
        return torque

    return control
