# SPDX-License-Identifier: Apache-2.0
"""Joints of the values of a command message, by its names or the `<ros2_control>` tag."""

from __future__ import annotations

from typing import Mapping, NamedTuple, Optional

import numpy as np

from rbd_ros.nodes.messages.joint_names import MessageProblem, Naming
from rbd_ros.nodes.simulator.cycle.compiled_cycle import (
    MAX_ACCELERATION,
    MAX_EFFORT,
    MAX_POSITION,
    MAX_VELOCITY,
)

MAX_VALUES = {
    'effort': MAX_EFFORT,
    'position': MAX_POSITION,
    'velocity': MAX_VELOCITY,
    'acceleration': MAX_ACCELERATION,
}


class NamedJoints(NamedTuple):
    """Names of a message.

    :param naming: which joints they are
    :param holders: which of them declare a command interface in the tag, by field, (k,) each
    """

    naming: Naming
    holders: Mapping[str, np.ndarray]

    def whose(self, field: str, count: int) -> Optional[np.ndarray]:
        """Return the names that `count` values of a field are for.

        None: of all, one after another.

        :raises MessageProblem: if that is unknown
        """
        if count == self.naming.size:
            return None
        holders = self.holders.get(field, ())
        if count == len(holders):
            return holders
        problem = f'{field} has {count} elements for {self.naming.size} names'
        if len(holders):
            problem += (
                f', {len(holders)} of them with the command interface {field} in the '
                '<ros2_control> tag'
            )
        raise MessageProblem(f'{field} has wrong length', problem)

    def joints(self, field: str, count: int) -> np.ndarray:
        """Return the robot's joint of each value of a field, -1 for none, (count,)."""
        joints = np.full(self.naming.size, -1, dtype=np.int64)
        joints[self.naming.source] = self.naming.target
        whose = self.whose(field, count)
        return joints if whose is None else joints[whose]

    def values(self, field: str, values: np.ndarray) -> np.ndarray:
        """Return the values of a field for the joints of `naming`, NaN where there is none."""
        whose, naming = self.whose(field, values.size), self.naming
        check_size(field, values)
        if whose is not None:
            packed, values = values, np.full(naming.size, np.nan)
            values[whose] = packed
        return values if naming.in_order else values[naming.source]


def check_size(name: str, values: np.ndarray) -> None:
    """Reject values that are infinite or beyond all bounds; NaN may mean that there is none."""
    if np.isinf(values).any():
        raise MessageProblem('not finite', f'a value of {name} is infinite, not finite')
    largest = np.nanmax(np.abs(values), initial=0.0)
    if largest > MAX_VALUES[name]:
        raise MessageProblem(
            'too large', f'a value of {name} is {largest:g}, beyond {MAX_VALUES[name]:g}'
        )
