# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Controlled degrees of freedom of a torque node: independent joints, and those with actuators."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from rbd_ros.control.closed_loop_state import LoopClosing
from rbd_ros.control.law.closed_loop_law import IndependentJoints
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.robot import Robot


class ControlledDofs:
    """Degrees of freedom that a torque node controls, and joints with and without actuators.

    :param optional: joints that may be absent from its states
    :raises ValueError: if it has no joint that moves, one with several degrees of freedom, loops
        that cannot be closed, or no actuator; or if it lacks a joint of `optional`
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
        #: Names of the joints with actuators, and of those without
        self.actuated: Sequence[str] = actuated
        self.passive = [name for name in robot.joint_names if name not in actuated]
        #: Which of the robot's joints have actuators, (nv,) bool
        self.commanded = np.isin(robot.joint_names, actuated)
        #: How loops are closed; None: there are none
        self.closing: Optional[LoopClosing] = None
        #: What settings and motions are for: the robot, or its independent joints
        self.moved: Any = robot
        #: Which of the robot's joints these are
        self.chosen: Any = slice(None)
        if robot.model.loops:
            self.closing = LoopClosing(robot)
            self.moved, self.chosen = IndependentJoints(self.closing), self.closing.independent

    def joints(self, requested: Sequence[str]) -> Sequence[str]:
        """Return the joints to command; all that can be if `requested` is empty.

        :raises ValueError: for one without an actuator
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
