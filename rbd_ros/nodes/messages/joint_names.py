# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mapping of the joint names of a message to the joints of a robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence, Tuple, Union

import numpy as np

from rbd_ros.nodes.messages.text import shorten


class MessageProblem(ValueError):
    """A message cannot be used.

    :param code: short kind of problem, for counting
    :param text: description of the problem, with names and numbers
    """

    def __init__(self, code: str, text: str):
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, eq=False)
class Naming:
    """Mapping of the names of one message to the robot's joints.

    :param size: number of names in the message
    :param source: indices of the robot's joints in the message, (k,)
    :param target: indices of these joints in the robot, (k,)
    :param names: names of those joints, in the order of `target`
    :param place: `target` as an index; a slice if it is all joints in order
    :param unknown: names that the robot does not have
    :param in_order: whether the names are exactly the robot's joints, in its order
    """

    size: int
    source: np.ndarray
    target: np.ndarray
    place: Union[slice, np.ndarray]
    names: Tuple[str, ...]
    unknown: Tuple[str, ...]
    in_order: bool


class JointNames:
    """Joint names of a robot.

    :param joint_names: the robot's joints, in the robot's order
    :param ignored: known names of joints without degrees of freedom (mimic, fixed joints)
    """

    def __init__(self, joint_names: Sequence[str], ignored: Sequence[str] = ()):
        self.joint_names = tuple(joint_names)
        self._index = {name: i for i, name in enumerate(self.joint_names)}
        self._ignored = frozenset(ignored)

    def naming(self, names: Sequence[str]) -> Naming:
        """Map `names` to the robot's joints, in time linear in their number.

        :raises MessageProblem: if a name occurs twice
        """
        names = tuple(names)
        if len(set(names)) != len(names):
            seen, twice = set(), {}
            for name in names:
                if name in seen:
                    twice[name] = None
                seen.add(name)
            raise MessageProblem('name given twice', f'joint names given twice: {shorten(twice)}')
        index, ignored = self._index, self._ignored
        source = [k for k, name in enumerate(names) if name in index]
        target = np.array([index[names[k]] for k in source], dtype=np.intp)
        in_order = names == self.joint_names
        return Naming(
            size=len(names),
            source=np.array(source, dtype=np.intp),
            target=target,
            place=slice(None) if in_order else target,
            names=tuple(names[k] for k in source),
            unknown=tuple(n for n in names if n not in index and n not in ignored),
            in_order=in_order,
        )
