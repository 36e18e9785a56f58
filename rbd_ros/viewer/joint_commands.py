# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joints of a simulation that a page moves: goals of their servos, and efforts."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.simulation import Simulator

#: Torque for a simulation, found again for every step; a reset calls its `restart`, if it has one.
Torque = Callable[[Simulator], Optional[FloatArray]]

#: Of servos: error at which the effort reaches its limit [rad or m], and natural frequency of a
#: joint without a limit [rad/s].
_ERROR, _FREQUENCY = 0.01, 100.0


class JointCommands:
    """Position goals and efforts of single joints, in addition to a torque law.

    A goal is that of the law if it has a desired configuration `q`; otherwise that of servos,
    which hold all other joints where they are at the first goal.

    :param simulator: the simulation
    :param torque: its torque law, None for none

    >>> from rbd_ros.viewer.joint_commands import JointCommands
    >>> simulator = Simulator(robot)
    >>> commands = JointCommands(simulator, None)
    >>> commands.move(position=2, goal=0.5)
    >>> for _ in range(2000):
    ...     simulator.step(commands.torque(simulator))
    >>> bool(abs(simulator.q[2] - 0.5) < 0.02)
    True
    """

    def __init__(self, simulator: Simulator, torque: Optional[Torque]):
        self.simulator, self.law = simulator, torque
        self._efforts: FloatArray = np.zeros(simulator.robot.nv)
        self._goal: Optional[FloatArray] = None

    @property
    def is_idle(self) -> bool:
        """True if there is neither a torque law nor an effort."""
        return self.law is None and not self._efforts.any()

    def torque(self, simulator: Simulator) -> Optional[FloatArray]:
        """Return the torque of the next step, (nv,) [N m, N]; None for none."""
        torque = None if self.law is None else self.law(simulator)
        if not self._efforts.any():
            return torque
        return self._efforts if torque is None else torque + self._efforts

    def move(self, position: int, goal: float) -> None:
        """Move a joint to a position.

        :param position: index of its position in q
        :param goal: the position [rad or m]
        """
        desired = getattr(self.law, 'q', None)
        if desired is not None:
            desired[position] = goal
            return
        if self._goal is None:
            if not self.simulator.joint_pd_gains[0].any():
                hold_joints(self.simulator)
            self._goal = self.simulator.q
        self._goal[position] = goal
        self.simulator.set_joint_pd(self._goal)

    def push(self, velocity: int, effort: float) -> None:
        """Apply an effort until another one replaces it.

        :param velocity: index of the joint's velocity in v
        :param effort: the effort [N m or N]
        """
        self._efforts[velocity] = effort

    def clear(self) -> None:
        """Remove all efforts and goals; joints that are held stay where they are now."""
        self._efforts[:] = 0.0
        desired = getattr(self.law, 'q', None)
        if desired is not None:
            desired[:] = self.simulator.q
        restart: Any = getattr(self.law, 'restart', None)
        if restart is not None:
            restart()
        if self._goal is not None:
            self._goal = self.simulator.q
            self.simulator.set_joint_pd(self._goal)


def hold_joints(simulator: Simulator) -> None:
    """Hold all joints with motors, but not the base, by implicit springs and dampers.

    :param simulator: the simulation, at the configuration to hold
    """
    robot, q = simulator.robot, simulator.q
    # Effective inertia of each joint while all others are free.
    inertia = 1.0 / np.diag(np.linalg.inv(robot.mass_matrix(q)))
    limited = np.isfinite(robot.effort_limits)
    stiffness = np.where(limited, robot.effort_limits / _ERROR, inertia * _FREQUENCY**2)
    for i, (at_q, at_v) in robot.model.independent_slices.items():
        has_motor = robot.model.body(i).joint_name in robot.model.actuated_joints
        if at_q.stop - at_q.start != 1 or not has_motor:
            stiffness[at_v] = 0.0
    simulator.set_joint_pd(q, kp=stiffness, kd=2.0 * np.sqrt(stiffness * inertia))
