# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Equations of a recording, linear in the unknown inertial parameters and joint friction.

Measured effort = known effort + columns times parameters. Both sides are filtered.
"""

from __future__ import annotations

from typing import Callable, List, NamedTuple, Sequence, Tuple

import numpy as np

from rbd_ros.identification.preparation import LowPass, Motion, moving
from rbd_ros.identification.recording import Floats
from rbd_ros.identification.regression import Equations
from rbd_ros.robot import Robot

#: Number of states per batch of regressors: those of a humanoid take a kilobyte each.
_STATES = 2048

Regressor = Callable[[Floats, Floats, Floats], Floats]


class FrictionColumns(NamedTuple):
    """Columns of the joints in addition to those of inertial parameters.

    :param viscous: whether to estimate viscous and Coulomb friction
    :param offset: whether to estimate a constant, the bias of a sensor
    :param joints: indices of these joints
    """

    viscous: bool
    offset: bool
    joints: Tuple[int, ...]

    def names(self, robot: Robot) -> List[str]:
        """Return the names of the columns."""
        named = [robot.joint_names[j] for j in self.joints]
        words = ['viscous', 'Coulomb'] * self.viscous + ['offset'] * self.offset
        return [f'{name}: {word}' for word in words for name in named]

    def of(self, motion: Motion) -> List[Tuple[int, Floats]]:
        """Return the joint of each column, and its values over time, (N,)."""
        found = []
        if self.viscous:
            found += [(j, motion.v[:, j]) for j in self.joints]
            found += [(j, np.sign(motion.v[:, j])) for j in self.joints]
        if self.offset:
            found += [(j, np.ones(len(motion.v))) for j in self.joints]
        return found


def measured_joints(motions: Sequence[Motion]) -> Tuple[int, ...]:
    """Return the indices of the joints with measured efforts."""
    return tuple(int(j) for j in np.flatnonzero(~np.isnan(motions[0].tau).any(axis=0)))


def friction_of(robot: Robot, v: Floats) -> Floats:
    """Return the friction effort from the robot description, (N, n) [N m or N]."""
    effort: Floats = robot.damping * v + robot.friction * np.sign(v)
    return effort


def has_friction(robot: Robot, friction: FrictionColumns) -> bool:
    """Return whether dry friction makes the effort at rest undetermined."""
    return friction.viscous or bool(robot.friction.any())


def equations(
    robot: Robot,
    motions: Sequence[Motion],
    low_pass: LowPass,
    regressor: Regressor,
    count: int,
    known: Regressor,
    friction: FrictionColumns,
) -> List[Equations]:
    """Return the equations of the parts of a recording.

    :param motions: the parts
    :param low_pass: the filter
    :param regressor: columns of the inertial parameters at N states, (N, n, count)
    :param count: number of these columns
    :param known: known effort at N states, (N, n) [N m or N]
    :param friction: further columns
    """
    fastest = np.max([np.abs(motion.v).max(axis=0) for motion in motions], axis=0)
    dry = has_friction(robot, friction)
    joints = measured_joints(motions)
    found = []
    for motion in motions:
        extra = friction.of(motion)
        shape = (len(motion.q), robot.nv)
        right = np.nan_to_num(motion.tau)
        columns = np.empty((*shape, count))
        for begin in range(0, len(motion.q), _STATES):
            here = slice(begin, begin + _STATES)
            state = motion.q[here], motion.v[here], motion.a[here]
            columns[here] = regressor(*state)
            right[here] -= known(*state)
        filtered = low_pass.thinned(columns.reshape(len(columns), -1))
        A: Floats = np.zeros((len(filtered), robot.nv, count + len(extra)))
        A[..., :count] = filtered.reshape(len(filtered), robot.nv, count)
        if extra:
            values = low_pass.thinned(np.stack([values for _, values in extra], axis=1))
            for k, (joint, _) in enumerate(extra):
                A[:, joint, count + k] = values[:, k]
        used = np.zeros((len(A), robot.nv))
        free = moving(motion, fastest, low_pass) if dry else np.ones_like(used)
        used[:, joints] = free[:, joints]
        tau = low_pass.thinned(np.nan_to_num(motion.tau))
        found.append(Equations(A, low_pass.thinned(right), used, tau))
    return found
