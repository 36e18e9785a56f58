# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torques of `rbd_ros simulate`: none, gravity torques, or those that hold the start."""

from __future__ import annotations

from typing import Optional

import numpy as np

from rbd_ros import Simulator
from rbd_ros.array_types import FloatArray
from rbd_ros.control.law.law_settings import LawSettings
from rbd_ros.control.law.torque_law import TorqueLaw
from rbd_ros.model.joints import Floating
from rbd_ros.viewer.joint_commands import hold_joints, Torque


def chosen_torque(simulator: Simulator, hold_start: bool, compensation: bool) -> Optional[Torque]:
    """Return the chosen torque; None for none, and for a floating base, whose joints get servos.

    :param simulator: the simulation, at its start
    :param hold_start: whether the torque holds the start
    :param compensation: whether it compensates gravity
    :raises ValueError: if this robot does not support it, with the option
    """
    model, robot = simulator.robot.model, simulator.robot
    if not (hold_start or compensation):
        return None
    if model.loops:
        option = '--hold-start' if hold_start else '--gravity-compensation'
        raise ValueError(f'{option} does not apply to robots with kinematic loops; leave it out')
    floating = any(isinstance(body.joint, Floating) for body in model.bodies)
    if hold_start and floating:
        hold_joints(simulator)
        return None
    if hold_start:
        return Hold(simulator)
    if floating:
        raise ValueError(
            '--gravity-compensation needs a fixed base, because no joint holds a floating one; '
            'leave it out, or use --hold-start'
        )
    return lambda now: robot.gravity_torque(now.q)


class Hold:
    """The default law of the torque nodes, with the start as the desired configuration."""

    def __init__(self, simulator: Simulator):
        self.robot, self.q, self.period = simulator.robot, simulator.q, simulator.timestep
        self.rest = np.zeros(self.robot.nv)
        self.settings = LawSettings.for_robot(self.robot)
        self.restart()

    def restart(self) -> None:
        """Reset the integral."""
        self.law = TorqueLaw(self.robot, self.settings)

    def __call__(self, simulator: Simulator) -> FloatArray:
        """Return the torque of the next step, (nv,) [N m, N]."""
        return self.law(simulator.q, simulator.v, self.q, self.rest, self.rest, self.period)
