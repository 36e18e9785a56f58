# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Poses of a robot with loops, and the actuator torques that hold it there.

The independent joints define a pose; the loops determine all others. Gravity is projected on the
motions that the loops allow, and the result is distributed among the actuators.
"""

from __future__ import annotations

from typing import Any, Callable, List

import numpy as np

from rbd_ros.algorithms.closed_loops.actuation import actuator_forces
from rbd_ros.algorithms.closed_loops.loop_assembly import LoopClosureError
from rbd_ros.array_types import FloatArray
from rbd_ros.control.closed_loop_state import LoopClosing
from rbd_ros.control.robot_joints import listed
from rbd_ros.robot import Robot


class ClosedPoses:
    """Poses of a robot with loops, each joint of which has one degree of freedom.

    :raises ValueError: if no actuator can hold a degree of freedom of the closed mechanism
    :raises LoopClosureError: if the loops cannot be closed
    """

    def __init__(self, robot: Robot):
        self._robot = robot
        wide = [body.joint_name for body in robot.model.bodies if body.joint.nv != 1]
        if wide:
            raise ValueError(
                f'joint {listed(wide)} of {robot.name!r} has more than one degree of freedom; '
                'this command supports robots with loops only if each joint has one degree of '
                'freedom'
            )
        self._closing = LoopClosing(robot)
        if self._closing.is_underactuated:
            names = [robot.joint_names[k] for k in self._closing.independent]
            free = [name for name in names if name not in robot.model.actuated_joints]
            raise ValueError(
                f'no actuator of {robot.name!r} can hold joint {listed(free)}: name the joints '
                'with motors under "actuated" of the extension, or give them effort limits'
            )

    def closed(self, poses: FloatArray) -> FloatArray:
        """Return the poses with closed loops, (N, nv).

        :param poses: poses, whose independent joints count, (N, nv)
        :raises ValueError: with the number of a pose that cannot be closed
        """
        found = []
        for k, pose in enumerate(poses):
            try:
                found.append(self._close(pose))
            except LoopClosureError as error:
                raise ValueError(f'pose {k + 1} of {len(poses)}: {error}') from None
        return np.array(found)

    def possible(self, poses: FloatArray) -> FloatArray:
        """Return the poses that close the loops within all limits, (M, nv).

        :raises ValueError: if there is none
        """
        lower, upper = self._robot.lower_limits, self._robot.upper_limits
        found: List[FloatArray] = []
        for pose in poses:
            try:
                q = self._close(pose)
            except LoopClosureError:
                continue
            if (q >= lower - 1e-9).all() and (q <= upper + 1e-9).all():
                found.append(q)
        if not found:
            raise ValueError(
                f'none of {len(poses)} random poses of {self._robot.name!r} closes its loops '
                'within the limits of its joints; give poses'
            )
        return np.array(found)

    def _close(self, pose: FloatArray) -> FloatArray:
        closing = self._closing
        closing.q = closing.home  # independent of the previous pose
        q: FloatArray = closing.complete(pose, np.zeros(len(pose))).q
        return q

    def held_by(self, torque: Callable[[FloatArray], FloatArray]) -> Callable[[Any], FloatArray]:
        """Return the function of actuator torques at closed poses, (N, nv) -> (N, nv).

        Torques of passive joints are zero.

        :param torque: the torques of all joints without loops, likewise
        """
        closing = self._closing

        def held(poses: FloatArray) -> FloatArray:
            rows = zip(poses, torque(poses))
            return np.array(
                [
                    actuator_forces(closing.velocities(q), tau, closing.actuated).tau
                    for q, tau in rows
                ]
            )

        return held
