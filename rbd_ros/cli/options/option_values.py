# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Values of options of several commands: one syntax and one message for each type."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Dict, List, Mapping, Optional, Sequence, Tuple, Union

from rbd_ros import Robot
from rbd_ros.array_types import FloatArray
from rbd_ros.cli.options.common_options import JOINT_VALUES, PAYLOAD
from rbd_ros.control import payload_parameters
from rbd_ros.model.errors import unknown_name


def numbers(option: str, text: str, count: Optional[int] = None) -> List[float]:
    """Parse numbers separated by commas.

    :param count: required count; None: any
    :raises ValueError: for another count, or a number that is not finite, with the option

    >>> from rbd_ros.cli.options.option_values import numbers
    >>> numbers('--gravity', '0,0,-9.81', 3)
    [0.0, 0.0, -9.81]
    """
    try:
        values = [float(word) for word in text.split(',')]
    except ValueError:
        values = []
    if len(values) != (count or len(values) or 1) or not all(map(math.isfinite, values)):
        many = f'{count} finite numbers' if count else 'finite numbers'
        what = 'a finite number' if count == 1 else f'{many}, separated by commas'
        raise ValueError(f'{option} must be {what}, got {text!r}')
    return values


def positive(option: str, value: Optional[float]) -> Optional[float]:
    """Return the value of an option that must be positive; None without a value.

    :raises ValueError: if it is not positive and finite, with the option
    """
    if value is not None and not 0.0 < value < math.inf:
        raise ValueError(f'{option} must be positive and finite, got {value:g}')
    return value


def joint_values(option: str, text: str) -> Dict[str, float]:
    """Parse positions of joints by name [rad, m].

    :raises ValueError: for a repeated joint, or a position that is not finite

    >>> from rbd_ros.cli.options.option_values import joint_values
    >>> joint_values('--pose', 'shoulder=0.5,elbow=-1')
    {'shoulder': 0.5, 'elbow': -1.0}
    """
    found: Dict[str, float] = {}
    for word in filter(None, (word.strip() for word in text.split(','))):
        name, _, value = word.rpartition('=')
        name = name.strip()
        if not name:
            raise ValueError(f'{option} must be {JOINT_VALUES}, such as elbow=1.5, got {word!r}')
        if name in found:
            raise ValueError(f'{option} names {name!r} twice; give one position')
        (found[name],) = numbers(f'{option} {name}', value, 1)
    return found


def single_positions(robot: Robot) -> Dict[str, int]:
    """Return the joints with one position variable, with their indices in q.

    >>> from rbd_ros.cli.options.option_values import single_positions
    >>> single_positions(robot)['elbow_joint']
    2
    """
    model = robot.model
    return {
        model.body(i).joint_name: at.start
        for i, (at, _) in model.independent_slices.items()
        if at.stop - at.start == 1
    }


def place_joints(option: str, values: Mapping[str, float], robot: Robot, q: FloatArray) -> None:
    """Write positions of joints into a configuration.

    :param values: positions by joint [rad, m]
    :param q: the configuration, (nq,), in which other joints are unchanged
    :raises ValueError: for an unknown joint, or one with several positions

    >>> from rbd_ros.cli.options.option_values import place_joints
    >>> pose = np.zeros(6)
    >>> place_joints('--pose', {'elbow_joint': 0.5}, robot, pose)
    >>> pose
    array([0. , 0. , 0.5, 0. , 0. , 0. ])
    """
    places = single_positions(robot)
    for name, value in values.items():
        if name not in places:
            raise ValueError(f'{option}: ' + unknown_name('joint', name[:80], places))
        q[places[name]] = value


def payload(robot: Robot, text: str) -> Tuple[str, FloatArray]:
    """Parse a payload: the carrying link, and its inertial parameters, (10,).

    :raises ValueError: for an invalid payload, or an unknown link

    >>> from rbd_ros.cli.options.option_values import payload
    >>> payload(robot, '2@tool0:0,0,0.1')
    ('tool0', array([2.  , 0.  , 0.  , 0.2 , 0.02, 0.  , 0.  , 0.02, 0.  , 0.  ]))
    """
    mass, at, link = (word.strip() for word in text.partition('@'))
    com: Sequence[float] = (0.0, 0.0, 0.0)
    if not at or not link:
        raise ValueError(f'--payload must be {PAYLOAD}, such as 2.5@tool0, got {text!r}')
    if link not in robot.link_names and ':' in link:  # the name may contain it
        link, _, center = link.rpartition(':')
        com = numbers('--payload: the center of mass X,Y,Z', center, 3)
    if link not in robot.link_names:
        raise ValueError(
            f'--payload: the robot has no link {link!r}; its links are '
            f'{", ".join(robot.link_names)}'
        )
    (value,) = numbers(f'--payload: MASS of {PAYLOAD}', mass, 1)
    return link, payload_parameters(value, com)


def write_output(path: str, data: Union[str, bytes]) -> None:
    """Write the file of `--output`.

    :raises ValueError: if it cannot be written
    """
    try:
        Path(path).write_bytes(data.encode('utf-8') if isinstance(data, str) else data)
    except OSError as error:
        raise ValueError(f'--output {path} cannot be written: {error.strerror or error}') from None
