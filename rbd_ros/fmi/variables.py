# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of an FMU: one variable for each joint and quantity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple

from rbd_ros.robot import Robot

#: Value references: 0 is the time, then efforts, positions, velocities, accelerations in order.
TIME = 0

# Components of a floating joint, in the order of its variables.
_AXES = ('x', 'y', 'z')
_POSE = (*(f'orientation.{a}' for a in ('w', *_AXES)), *(f'position.{a}' for a in _AXES))


@dataclass(frozen=True)
class Variable:
    """A variable of an FMU.

    :param name: its name, unique
    :param reference: its value reference
    :param causality: 'input' or 'output'
    :param unit: name of its unit, '' without one
    :param description: description
    :param start: initial value; None if it is computed
    """

    name: str
    reference: int
    causality: str
    unit: str
    description: str
    start: float | None = None


def variables(robot: Robot, q: List[float]) -> Tuple[Variable, ...]:
    """Return the variables of a robot.

    :param q: initial configuration, (nq,)
    """
    model, nq, nv = robot.model, robot.nq, robot.nv
    positions: List[Variable] = []
    effort, velocity, acceleration = [], [], []
    # Whether a variable rotates or slides is constant, though S may depend on q.
    neutral = model.tree_position(robot.neutral().tolist())
    for i, (at_q, at_v) in model.independent_slices.items():
        body = model.body(i)
        joint = body.joint_name
        columns = body.joint.motion_subspace(neutral[body.q]).columns
        turns = [any(column.angular) for column in columns]
        free = body.joint.pose_variables() is not None
        for k in range(at_v.stop - at_v.start):
            place, unit = at_v.start + k, 'rad' if turns[k] else 'm'
            of = f'of {joint}' + f', degree of freedom {k + 1}' * (len(turns) > 1)
            names = _names(free, len(turns), k, turns[k])
            limit = float(robot.effort_limits[place])
            cut = f', cut at {limit:g}' * (limit < float('inf'))
            effort.append(
                Variable(
                    f'{joint}.{names[0]}',
                    1 + place,
                    'input',
                    'N.m' if turns[k] else 'N',
                    f'{"torque" if turns[k] else "force"} {of}{cut}',
                    0.0,
                )
            )
            velocity.append(
                Variable(
                    f'{joint}.{names[1]}',
                    1 + nv + nq + place,
                    'output',
                    f'{unit}/s',
                    f'velocity {of}',
                    0.0,
                )
            )
            acceleration.append(
                Variable(
                    f'{joint}.{names[2]}',
                    1 + 2 * nv + nq + place,
                    'output',
                    f'{unit}/s2',
                    f'mean acceleration over the last step {of}',
                )
            )
        count = at_q.stop - at_q.start
        for k in range(count):
            place = at_q.start + k
            unit, name = '', f'position[{k + 1}]'
            if count == 1:
                unit, name = 'rad' if turns[0] else 'm', 'position'
            elif free:
                unit, name = 'm' if k >= 4 else '', _POSE[k]
            positions.append(
                Variable(
                    f'{joint}.{name}',
                    1 + nv + place,
                    'output',
                    unit,
                    f'position of {joint}' + f', variable {k + 1}' * (count > 1),
                    q[place],
                )
            )
    return (*effort, *positions, *velocity, *acceleration)


def _names(free: bool, count: int, k: int, turns: bool) -> Tuple[str, str, str]:
    """Return names of effort, velocity and acceleration of one degree of freedom of a joint."""
    if count == 1:
        return 'effort', 'velocity', 'acceleration'
    if not free:
        return f'effort[{k + 1}]', f'velocity[{k + 1}]', f'acceleration[{k + 1}]'
    axis = _AXES[k % 3]
    if turns:
        return f'moment.{axis}', f'angular_velocity.{axis}', f'angular_acceleration.{axis}'
    return f'force.{axis}', f'velocity.{axis}', f'acceleration.{axis}'
