# SPDX-License-Identifier: Apache-2.0
"""Controllers under test that run in the process of the bench, and how they are found by name.

A controller is made by a factory, `make(robot, trajectory, timestep, **options)`, and is called
with time [s], positions, (n,), and velocities, (n,), as they were measured; it returns torques,
(n,). It may keep a memory, and must not use any clock or unseeded chance.
"""

from __future__ import annotations

from importlib import import_module
import importlib.util
from typing import Any, Callable, Optional

import numpy as np

from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.control import default_gains, JointTrajectory, LawSettings, TorqueLaw
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.robot import Robot

#: A controller: time, positions, velocities; torques.
Callback = Callable[[float, FloatArray, FloatArray], FloatArray]


def find_factory(name: str) -> Callable[..., Callback]:
    """Return the factory that a name means.

    :param name: 'module:name' or 'path.py:name'
    :raises ValueError: if there is none

    >>> from rbd_ros.hil.controllers import find_factory
    >>> find_factory('rbd_ros.hil.controllers:computed_torque').__name__
    'computed_torque'
    """
    module_name, _, attribute = name.rpartition(':')
    try:
        if module_name.endswith('.py'):
            spec = importlib.util.spec_from_file_location('controller_under_test', module_name)
            if spec is None or spec.loader is None:
                raise ImportError('it is not a Python file')
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            module = import_module(module_name)
        factory = getattr(module, attribute)
    except Exception as error:  # whatever somebody's module raises
        raise ValueError(
            f'controller {name}: {type(error).__name__}: {error}; give module:name or file.py:name'
        ) from None
    if not callable(factory):
        raise ValueError(f'controller {name} is not a function that creates a controller')
    return factory  # type: ignore[no-any-return]


def make_controller(scenario: Scenario) -> Callback:
    """Return the controller of a scenario, newly made, in this process.

    :raises ValueError: if there is none, or it cannot be made
    """
    if scenario.controller.kind == 'c':
        from rbd_ros.hil.controllers.c_controller import CController

        return CController(scenario)
    if scenario.controller.kind == 'fmu':
        from rbd_ros.hil.controllers.fmu_controller import FmuController

        return FmuController(scenario)
    if scenario.controller.kind != 'python':
        kind = scenario.controller.kind
        raise ValueError(f'a controller of the kind {kind} runs in its own process')
    name = scenario.controller.words[0]
    factory = find_factory(name)
    try:
        return factory(
            scenario.robot, scenario.trajectory, scenario.timestep, **scenario.controller.options
        )
    except Exception as error:  # whatever somebody's function raises
        raise ValueError(f'controller {name}: {type(error).__name__}: {error}') from None


def computed_torque(
    robot: Robot,
    trajectory: JointTrajectory,
    timestep: float,
    natural_frequency: float = 18.0,
    integral: bool = True,
) -> Callback:
    """Make the law of the node inverse_dynamics: computed torque with an integral.

    :param natural_frequency: of the closed loop [rad/s]
    :param integral: whether there is an integral of the error
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
        law.applied(torque)
        return torque

    return control
