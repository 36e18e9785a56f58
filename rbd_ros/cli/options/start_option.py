# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The option --start of `rbd_ros simulate`: a configuration by numbers, joints or name."""

from __future__ import annotations

from typing import Optional

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.cli.options.common_options import CONFIGURATION
from rbd_ros.cli.options.option_values import joint_values, numbers, place_joints
from rbd_ros.cli.output.text_table import plural
from rbd_ros.collision.scene.touchdown import base_height, moved_base
from rbd_ros.model.floating_model import floating_bases
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator

METAVAR = f'{CONFIGURATION}|NAME'
HELP = (
    'start configuration: a number for each position variable, such as --start=0,-1.5,0 (a '
    'floating base first has its quaternion w, x, y, z of norm 1 and its position x, y, z [m]); '
    'positions of some joints and the height of a floating base, such as '
    '--start=elbow=1.5,height=0.4; or the name of a group state of the SRDF (default: the '
    'neutral configuration, with a floating base at the height at which the robot stands)'
)

#: Name of the height of a floating base [m].
_HEIGHT = 'height'
#: Maximum absolute value in a configuration [rad, m].
_MAX_POSITION = 1e6


def begin(text: str, simulator: Simulator, robot: Optional[Robot]) -> None:
    """Start from the configuration of `--start`.

    :param text: its value
    :param simulator: the simulation, at its default start
    :param robot: the named robot; None: only those of a world
    :raises ValueError: if it is not a configuration of the robot
    """
    own = simulator.robot.nq if robot is None else robot.nq
    if '=' in text:
        simulator.reset(_of_joints(text, simulator, own))
        return
    try:
        given = _checked(text, np.array(numbers('--start', text)))
    except ValueError:
        if ',' in text or text[:1].isdigit():
            raise
        try:
            simulator.reset(text)
        except ValueError as error:
            raise ValueError(
                f'--start {text!r}: {error}; or give numbers or JOINT=VALUE, separated by commas'
            ) from None
    else:
        simulator.reset(_of_numbers(given, simulator, own))


def _of_joints(text: str, simulator: Simulator, own: int) -> FloatArray:
    """Return the configuration with the given joints and height; others are unchanged."""
    values, q = joint_values('--start', text), simulator.q
    _checked(text, np.array(list(values.values())))
    base = _base(simulator, own)
    height = None if base is None else values.pop(_HEIGHT, None)
    place_joints('--start', values, simulator.robot, q)
    if base is None or height is None:
        return simulator.standing_configuration(q)
    model = simulator.robot.model
    return moved_base(model, q, base, height - base_height(model, q, base))


def _of_numbers(given: FloatArray, simulator: Simulator, own: int) -> FloatArray:
    """Return the configuration from numbers, for the named robot or for all robots."""
    q, base = simulator.q, _base(simulator, own)
    if base is not None and len(given) == own - 7:
        rest = np.arange(own)
        q[np.delete(rest, rest[simulator.robot.model.independent_slices[base][0]])] = given
        return simulator.standing_configuration(q)
    if len(given) not in (own, len(q)):
        joints = ', '.join(simulator.robot.joint_names)
        all_of_them = '' if own == len(q) else f', all robots together have {len(q)} ({joints})'
        raise ValueError(
            f'--start has {plural(len(given), "number")}, this robot has '
            f'{plural(own, "position variable")}{all_of_them}'
        )
    # The named robot is first; the others start at their poses in the world file.
    q[: len(given)] = given
    return q


def _base(simulator: Simulator, own: int) -> Optional[int]:
    """Return the number of the robot's only free body; None without exactly one."""
    model = simulator.robot.model
    found = [i for i in floating_bases(model) if model.independent_slices[i][0].start < own]
    return found[0] if len(found) == 1 else None


def _checked(text: str, given: FloatArray) -> FloatArray:
    if (np.abs(given) > _MAX_POSITION).any():
        raise ValueError(f'--start {text!r}: no number may exceed {_MAX_POSITION:g}')
    return given
