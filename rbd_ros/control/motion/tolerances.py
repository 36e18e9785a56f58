# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tolerances of a robot's deviation from its desired motion, on the path and at the goal.

The terms are those of ROS: a path tolerance holds during the motion, a goal tolerance at its end,
and the goal time is the additional time for reaching the goal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from typing import Any, Iterable, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control.robot_joints import listed, shown

#: One joint's tolerances of a goal: name, position and velocity.
GivenTolerance = Tuple[str, float, float]


class ToleranceError(ValueError):
    """An invalid tolerance; the message names the joint and the cure.

    :param message: description
    :param unknown_joint: whether its joint is not in the trajectory
    """

    def __init__(self, message: str, unknown_joint: bool = False):
        super().__init__(message)
        self.unknown_joint = unknown_joint


@dataclass(frozen=True, eq=False)
class Tolerances:
    """Tolerances of a motion's joints; infinite: none.

    :param joint_names: names of the n joints
    :param path: position on the path, (n,) [rad or m]
    :param path_velocity: velocity on the path, (n,) [rad/s or m/s]
    :param goal: position at the goal, (n,) [rad or m]
    :param goal_velocity: velocity at the goal, (n,) [rad/s or m/s]
    :param goal_time: time after the end of the desired motion for reaching the goal [s]
    """

    joint_names: Tuple[str, ...]
    path: FloatArray
    path_velocity: FloatArray
    goal: FloatArray
    goal_velocity: FloatArray
    goal_time: float

    @classmethod
    def of(
        cls,
        joint_names: Sequence[str],
        path: Any = 0.0,
        goal: Any = 0.0,
        stopped_velocity: float = 0.0,
        goal_time: float = 0.0,
    ) -> Tolerances:
        """Return position tolerances, one for all joints or one for each; 0: none.

        >>> Tolerances.of(['a', 'b'], path=0.1, goal=[0.01, 0.0]).goal
        array([0.01,  inf])
        """
        n = len(joint_names)
        return cls(
            tuple(joint_names),
            _or_none(path, n),
            np.full(n, math.inf),
            _or_none(goal, n),
            _or_none(stopped_velocity, n),
            goal_time or math.inf,
        )

    def of_joints(self, names: Iterable[str]) -> Tolerances:
        """Return the tolerances of some joints; other names are ignored.

        >>> Tolerances.of(['a', 'b'], goal=[0.1, 0.2]).of_joints(['b', 'c']).goal
        array([0.2])
        """
        chosen = [j for j, name in enumerate(self.joint_names) if name in set(names)]
        return Tolerances(
            tuple(self.joint_names[j] for j in chosen),
            self.path[chosen],
            self.path_velocity[chosen],
            self.goal[chosen],
            self.goal_velocity[chosen],
            self.goal_time,
        )

    @property
    def bounded(self) -> bool:
        """True if any tolerance is finite, except velocity at the goal."""
        return any(
            np.isfinite(values).any() for values in (self.path, self.path_velocity, self.goal)
        )

    def overridden(
        self,
        path: Iterable[GivenTolerance] = (),
        goal: Iterable[GivenTolerance] = (),
        goal_time: float = 0.0,
    ) -> Tolerances:
        """Return the tolerances with some replaced by those of a goal; 0: unchanged, -1: none.

        :raises ToleranceError: for an unknown joint or another number that is not positive

        >>> Tolerances.of(['a', 'b'], goal=0.1).overridden(goal=[('b', -1.0, 0.0)]).goal
        array([0.1, inf])
        """
        values = {
            name: getattr(self, name).copy()
            for name in ('path', 'path_velocity', 'goal', 'goal_velocity')
        }
        for what, given in (('path', path), ('goal', goal)):
            for name, position, velocity in given:
                if name not in self.joint_names:
                    raise ToleranceError(
                        f'{what}_tolerance names joint {shown(name)}, which is not in the '
                        f'trajectory; there are {listed(self.joint_names)}',
                        unknown_joint=True,
                    )
                j = self.joint_names.index(name)
                for key, number in ((what, position), (f'{what}_velocity', velocity)):
                    text = f'{what}_tolerance of joint {shown(name)}'
                    values[key][j] = _chosen(float(values[key][j]), number, text)
        time = _chosen(self.goal_time, goal_time, 'goal_time_tolerance')
        return replace(self, goal_time=time, **values)

    def off_path(self, error: FloatArray, velocity_error: FloatArray) -> str:
        """Return the violated path tolerances as text; empty if none is.

        :param error: desired minus measured position, (n,) [rad or m]
        :param velocity_error: desired minus measured velocity, (n,) [rad/s or m/s]
        """
        return self._beyond(error, self.path, 'from its path', 'constraints.trajectory') or (
            self._beyond(velocity_error, self.path_velocity, '/s from its velocity', '')
        )

    def off_goal(self, error: FloatArray, velocity: FloatArray) -> str:
        """Return the violated goal tolerances as text; empty if none is.

        :param error: goal minus measured position, (n,) [rad or m]
        :param velocity: measured velocity, (n,) [rad/s or m/s]
        """
        return self._beyond(error, self.goal, 'from its goal', 'constraints.goal') or (
            self._beyond(
                velocity, self.goal_velocity, '/s from rest', 'stopped_velocity_tolerance'
            )
        )

    def _beyond(self, error: FloatArray, most: FloatArray, where: str, name: str) -> str:
        over = np.abs(error) > most
        if not over.any():
            return ''
        with np.errstate(divide='ignore', invalid='ignore'):
            j = int(np.argmax(np.where(over, np.abs(error) / most, 0.0)))
        unit = 'rad or m' + (where if where.startswith('/') else f' {where}')
        return (
            f'joint {shown(self.joint_names[j])} is {abs(error[j]):.4g} {unit}, '
            f'tolerance {most[j]:.4g}' + (f' ({name})' if name else '')
        )


def _or_none(values: Any, size: int) -> FloatArray:
    """Return the numbers of all joints, with infinity for zero, (size,)."""
    result = np.broadcast_to(np.asarray(values, dtype=float), (size,)).copy()
    result[result == 0.0] = math.inf
    return result


def _chosen(default: float, given: float, what: str) -> float:
    if given == 0.0:
        return default
    if given == -1.0:
        return math.inf
    if not 0.0 < given < math.inf:
        raise ToleranceError(
            f'{what} is {given:g}; give a positive number, 0 for the default or -1 for none'
        )
    return float(given)
