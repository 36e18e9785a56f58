# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Cut-off for excessive joint speed: the torque ends until the node is activated again."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from rbd_ros.compiler.loops import compiled
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK
from rbd_ros.robot import Robot

SUBJECT = 'speed'


@compiled
def fastest_excess(max_speeds: np.ndarray, v: np.ndarray) -> int:
    """Return the index of the joint with the largest excess of its limit, or -1.

    :param max_speeds: maximum speeds, (nv,) [rad/s or m/s]
    :param v: measured velocities, (nv,) [rad/s or m/s]
    """
    fastest, worst = -1, 1.0
    for j in range(len(max_speeds)):
        ratio = abs(v[j]) / max_speeds[j]
        if ratio > worst:
            fastest, worst = j, ratio
    return fastest


class Overspeed:
    """Ends the torque at the first state with a joint beyond a multiple of its velocity limit.

    :param factor: the multiple
    :param end: sends the last torque
    :param diagnostics: diagnostics of the node
    """

    def __init__(
        self, robot: Robot, factor: float, end: Callable[[], Any], diagnostics: Diagnostics
    ):
        limits = np.asarray(robot.velocity_limits)
        #: Maximum speeds, (nv,) [rad/s or m/s]; a velocity limit of 0 counts as unknown
        self.max_speeds = np.where(limits > 0.0, factor * limits, np.inf)
        self._names, self._end, self._diagnostics = robot.joint_names, end, diagnostics
        #: Whether the torque is off
        self.tripped = False

    def reset(self) -> None:
        """Reset at the activation of the node."""
        self.tripped = False
        self._diagnostics.condition(SUBJECT, OK, 'no joint exceeds its limit', code='good')

    def __call__(self, v: np.ndarray) -> bool:
        """Return whether torques are off, given measured velocities (nv,)."""
        if self.tripped:
            return True
        beyond = fastest_excess(self.max_speeds, v)
        if beyond < 0:
            return False
        self.tripped = True  # first: no torque may follow the last one
        self._diagnostics.condition(
            SUBJECT,
            ERROR,
            f'joint {self._names[beyond]!r} moves at {v[beyond]:.4g}, above '
            f'{self.max_speeds[beyond]:.4g} (rad/s or m/s): the torque is off; deactivate and '
            'activate the node to continue',
            code=f'too fast {self._names[beyond]}',
        )
        self._end()
        return True


def overspeed(
    robot: Robot, factor: float, end: Callable[[], Any], diagnostics: Diagnostics
) -> Optional[Overspeed]:
    """Return the cut-off at a multiple of the velocity limits, or None for the multiple 0."""
    return Overspeed(robot, factor, end, diagnostics) if factor > 0.0 else None
