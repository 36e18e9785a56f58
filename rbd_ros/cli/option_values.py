"""Values of options that several commands have: one syntax and one message for each kind."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Dict, List, Sequence, Tuple, Union

from rbd_ros import Robot
from rbd_ros.control import payload_parameters
from rbd_ros.control.arrays import FloatArray

PAYLOAD = 'MASS@LINK[:X,Y,Z]'
PAYLOAD_HELP = (
    'point mass [kg] on a link, at X,Y,Z in the link [m] or else at its origin, as 2.5@tool0 or '
    '2.5@tool0:0,0,0.1'
)
GRAVITY = 'X,Y,Z'
GRAVITY_HELP = (
    'acceleration of gravity in base coordinates [m/s^2], as --gravity=0,0,9.81 on a ceiling '
    '(default: 0,0,-9.81)'
)
POSITIONS = 'JOINT=VALUE,...'


def numbers(option: str, text: str, count: int) -> List[float]:
    """Read numbers with commas between them.

    :raises ValueError: for another count, or what is no finite number, naming the option

    >>> from rbd_ros.cli.option_values import numbers
    >>> numbers('--gravity', '0,0,-9.81', 3)
    [0.0, 0.0, -9.81]
    """
    try:
        values = [float(word) for word in text.split(',')]
    except ValueError:
        values = []
    if len(values) != count or not all(map(math.isfinite, values)):
        what = 'a finite number' if count == 1 else f'{count} finite numbers, separated by commas'
        raise ValueError(f'{option} must be {what}, got {text!r}')
    return values


def joint_values(option: str, text: str) -> Dict[str, float]:
    """Read positions of joints by name [rad, m].

    :raises ValueError: for what is no joint with a finite position, or a joint twice

    >>> from rbd_ros.cli.option_values import joint_values
    >>> joint_values('--pose', 'shoulder=0.5,elbow=-1')
    {'shoulder': 0.5, 'elbow': -1.0}
    """
    found: Dict[str, float] = {}
    for word in filter(None, (word.strip() for word in text.split(','))):
        name, _, value = word.rpartition('=')
        name = name.strip()
        if not name:
            raise ValueError(f'{option} must be {POSITIONS}, as elbow=1.5, got {word!r}')
        if name in found:
            raise ValueError(f'{option} names {name!r} twice; give one position')
        (found[name],) = numbers(f'{option} {name}', value, 1)
    return found


def payload(robot: Robot, text: str) -> Tuple[str, FloatArray]:
    """Read a payload: the link that carries it, and its inertial parameters, (10,).

    :raises ValueError: for what is no payload, or for a link that the robot does not have

    >>> from rbd_ros.cli.option_values import payload
    >>> payload(robot, '2@tool0:0,0,0.1')
    ('tool0', array([2.  , 0.  , 0.  , 0.2 , 0.02, 0.  , 0.  , 0.02, 0.  , 0.  ]))
    """
    mass, at, link = (word.strip() for word in text.partition('@'))
    com: Sequence[float] = (0.0, 0.0, 0.0)
    if not at or not link:
        raise ValueError(f'--payload must be {PAYLOAD}, as 2.5@tool0, got {text!r}')
    if link not in robot.link_names and ':' in link:  # which may be in the name
        link, _, centre = link.rpartition(':')
        com = numbers('--payload: the center of mass X,Y,Z', centre, 3)
    if link not in robot.link_names:
        raise ValueError(
            f'--payload: there is no link {link!r}; there are {", ".join(robot.link_names)}'
        )
    (value,) = numbers(f'--payload: MASS of {PAYLOAD}', mass, 1)
    return link, payload_parameters(value, com)


def write_output(path: str, data: Union[str, bytes]) -> None:
    """Write the file that `--output` names.

    :raises ValueError: if it cannot be written
    """
    try:
        Path(path).write_bytes(data.encode('utf-8') if isinstance(data, str) else data)
    except OSError as error:
        raise ValueError(f'--output {path} cannot be written: {error.strerror or error}') from None
