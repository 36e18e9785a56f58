# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Controlled degrees of freedom of a torque node: independent, actuated joints."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from rbd_ros.control.closed_loop_state import LoopClosing
from rbd_ros.control.law.closed_loop_law import IndependentJoints
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.robot import Robot


class ControlledDofs:
    """Controlled degrees of freedom of a torque node, and joints with and without actuators.

    :param optional: joints that may be absent from states
    :raises ValueError: for a robot without movable joints or actuators, with a joint of several
        degrees of freedom or loops that cannot be closed; or for an unknown joint in `optional`
    """

    def __init__(self, robot: Robot, optional: Sequence[str] = ()):
        _check(robot, optional)
        self.robot = robot
        actuated = robot.model.actuated_joints
        if not actuated:
            raise ValueError(
                'it has no actuated joint; name the joints with motors under "actuated" of the '
                'extension, or, if it has loops, give them effort limits'
            )
        #: Names of actuated and of passive joints
        self.actuated: Sequence[str] = actuated
        self.passive = [name for name in robot.joint_names if name not in actuated]
        #: Whether each joint has an actuator, (nv,) bool
        self.commanded = np.isin(robot.joint_names, actuated)
        #: Solver of the loops; None: no loops
        self.closing: Optional[LoopClosing] = None
        #: Robot for settings and motions: the robot, or its independent joints
        self.moved: Any = robot
        #: Indices of these joints in the robot
        self.chosen: Any = slice(None)
        if robot.model.loops:
            self.closing = LoopClosing(robot)
            self.moved, self.chosen = IndependentJoints(self.closing), self.closing.independent

    def joints(self, requested: Sequence[str]) -> Sequence[str]:
        """Return the commanded joints; all actuated ones if `requested` is empty.

        :raises ValueError: for a joint without an actuator
        """
        passive = [name for name in requested if name in self.passive]
        if passive:
            raise ValueError(f'parameter joints: {shorten(passive)} has no actuator')
        return requested or self.actuated


def _check(robot: Robot, optional: Sequence[str]) -> None:
    if robot.nv == 0:
        raise ValueError('it has no movable joint')
    if not robot.nq == robot.nv == len(robot.joint_names):
        names = [b.joint_name for b in robot.model.bodies if b.joint.nv != 1]
        raise ValueError(
            f'joint {shorten(names)} has more than one degree of freedom, which joint_states '
            'cannot contain'
        )
    unknown = [name for name in optional if name not in robot.joint_names]
    if unknown:
        raise ValueError(f'parameter optional_joints: the robot has no joint {shorten(unknown)}')
