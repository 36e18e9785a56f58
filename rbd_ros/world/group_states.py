# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Group states of an SRDF: named configurations, as in MoveIt."""

from __future__ import annotations

import math
import os
from typing import Dict, List, NamedTuple, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from rbd_ros.model import Model
from rbd_ros.model.errors import unknown_name
from rbd_ros.model.floating_model import floating_bases
from rbd_ros.model.urdf.schema import shorten
from rbd_ros.world.allowed_collisions import srdf_elements, SrdfError

#: Maximum position in a state [rad, m].
_MAX_POSITION = 1e6

#: Tolerance of the norm of a quaternion, which is written with few digits.
_NOT_UNIT = 1e-3


class NamedPosition(NamedTuple):
    """Position of a joint in a group state.

    :param joint: name of the joint
    :param values: its position [rad, m]; for a floating joint x, y, z and a quaternion x, y, z, w
    :param line: line of the file
    """

    joint: str
    values: Tuple[float, ...]
    line: int


def read_group_states(source: Union[str, os.PathLike[str]]) -> Dict[str, List[NamedPosition]]:
    """Read the group states of an SRDF; states of several groups with one name are merged.

    :param source: path of the file, or its XML, which begins with '<'
    :return: positions of joints by the name of the state
    :raises SrdfError: if it cannot be read, a state or joint has no name, or a value is invalid

    >>> from rbd_ros.world.group_states import read_group_states
    >>> joint = '<joint name="elbow" value="1.5"/>'
    >>> read_group_states(f'<robot><group_state name="up">{joint}</group_state></robot>')
    {'up': [NamedPosition(joint='elbow', values=(1.5,), line=1)]}
    """
    label, elements = srdf_elements(source)
    states: Dict[str, List[NamedPosition]] = {}
    current: List[NamedPosition] = []
    for element in elements:
        where = f'{label}: line {element.line}'
        name = element.attributes.get('name', '')
        if element.path == ('group_state',):
            if not name:
                raise SrdfError(f'{where}: <group_state> has no name; add name="..."')
            current = states.setdefault(name, [])
        elif element.path == ('group_state', 'joint'):
            if not name:
                raise SrdfError(f'{where}: <joint> has no name; add name="name of a joint"')
            text = element.attributes.get('value', '')
            try:
                values = tuple(float(word) for word in text.split())
            except ValueError:
                # Texts that are not numbers are reported like missing values.
                values = ()
            # NaN is also rejected.
            if not values or not all(abs(value) <= _MAX_POSITION for value in values):
                raise SrdfError(
                    f'{where}: joint {shorten(name)} has the value {shorten(text)}; give its '
                    f'position, of at most {_MAX_POSITION:g}'
                )
            current.append(NamedPosition(name, values, element.line))
    return states


def named_configuration(
    model: Model, srdf: Union[str, os.PathLike[str]], name: str, q: NDArray[np.float64]
) -> Tuple[NDArray[np.float64], bool]:
    """Return the configuration of a group state of an SRDF.

    :param model: model of the robot
    :param srdf: path of the SRDF, or its XML
    :param name: name of the state
    :param q: default configuration, (nq,)
    :return: the configuration, (nq,), and whether the state has the pose of a floating base
    :raises SrdfError: if there is no such state, or it has an unknown joint

    >>> from rbd_ros.world.group_states import named_configuration
    >>> joint = '<joint name="elbow_joint" value="1.5"/>'
    >>> srdf = f'<robot><group_state name="up" group="arm">{joint}</group_state></robot>'
    >>> named_configuration(robot.model, srdf, 'up', np.zeros(6))
    (array([0. , 0. , 1.5, 0. , 0. , 0. ]), False)
    """
    states = read_group_states(srdf)
    if name not in states:
        what = 'group state of the SRDF'
        raise SrdfError(unknown_name(what, name[:80], states))
    slices = {model.body(i).joint_name: at for i, (at, _) in model.independent_slices.items()}
    # Robots of the world have prefixed names.
    own = [i for i in floating_bases(model) if '/' not in model.body(i).joint_name]
    bases = [model.independent_slices[i][0] for i in own[:1]]
    result, placed = q.copy(), False
    for state in states[name]:
        at = slices.get(state.joint)
        if at is None and len(state.values) == 7:
            # The virtual joint of a base has a name in the SRDF only, and may be fixed here.
            if bases:
                result[bases[0]] = _floating_position(name, state)
                placed = True
        elif at is None:
            # Fixed joints and mimic joints have no position variables.
            if state.joint not in model.joint_frames:
                raise SrdfError(
                    f'group state {shorten(name)}: line {state.line}: '
                    + unknown_name('joint', state.joint[:80], model.joint_frames)
                )
        elif at in bases and len(state.values) == 7:
            result[at] = _floating_position(name, state)
            placed = True
        elif at.stop - at.start != len(state.values):
            raise SrdfError(
                f'group state {shorten(name)}: line {state.line}: joint {shorten(state.joint)} '
                f'has {at.stop - at.start} position variables, not {len(state.values)}; give them '
                'all'
            )
        else:
            result[at] = state.values
    return result, placed


def _floating_position(name: str, state: NamedPosition) -> List[float]:
    x, y, z, qx, qy, qz, qw = state.values
    norm = math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    if not abs(norm - 1.0) <= _NOT_UNIT:
        raise SrdfError(
            f'group state {shorten(name)}: line {state.line}: the quaternion of joint '
            f'{shorten(state.joint)} has the norm {norm:.3g}; give x y z, then a unit quaternion '
            'x y z w'
        )
    return [*(np.array([qw, qx, qy, qz]) / norm).tolist(), x, y, z]
