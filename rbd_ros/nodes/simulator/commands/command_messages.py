# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Command messages: the joints and interfaces that they drive, and their errors.

Machine code (compiled_cycle.py) decodes messages whose layout it has learned from the first ones.
This module reads all others, and reports unusual ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from rbd_ros.compiler.loops import Record
from rbd_ros.nodes.common.diagnostics import Diagnostics, OK, WARN
from rbd_ros.nodes.messages.joint_names import JointNames, MessageProblem, Naming
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.nodes.simulator.commands.control_tag import ControlTag, NO_TAG
from rbd_ros.nodes.simulator.commands.driven_joints import DrivenJoints
from rbd_ros.nodes.simulator.cycle.compiled_cycle import (
    apply_message,
    CommandPattern,
    is_command,
    MAX_ACCELERATION,
    MAX_EFFORT,
    MAX_POSITION,
    MAX_VELOCITY,
    take_command,
)
from rbd_ros.robot import Robot
from rbd_ros.simulation.stepping.drives import ACCELERATION
from rbd_ros.wire import (
    Float64MultiArrayReader,
    JointStateReader,
    NameList,
    Pattern,
    plain_array_pattern,
    WireError,
)

MAX_VALUES = {
    'effort': MAX_EFFORT,
    'position': MAX_POSITION,
    'velocity': MAX_VELOCITY,
    'acceleration': MAX_ACCELERATION,
}


class NamedJoints(NamedTuple):
    """Names of a message.

    :param naming: mapping to the robot's joints
    :param holders: names that declare a command interface in the tag, by field, (k,) each
    """

    naming: Naming
    holders: Mapping[str, np.ndarray]

    def whose(self, field: str, count: int) -> Optional[np.ndarray]:
        """Return the indices of the names that the `count` values of a field are for.

        None: all names, in order.

        :raises MessageProblem: if that is ambiguous
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
        """Return the robot's joint for each value of a field, -1 for none, (count,)."""
        joints = np.full(self.naming.size, -1, dtype=np.int64)
        joints[self.naming.source] = self.naming.target
        whose = self.whose(field, count)
        return joints if whose is None else joints[whose]

    def values(self, field: str, values: np.ndarray) -> np.ndarray:
        """Return the values of a field for the joints of `naming`, NaN for missing ones."""
        whose, naming = self.whose(field, values.size), self.naming
        check_size(field, values)
        if whose is not None:
            packed, values = values, np.full(naming.size, np.nan)
            values[whose] = packed
        return values if naming.in_order else values[naming.source]


def check_size(name: str, values: np.ndarray) -> None:
    """Reject infinite and too large values; NaN means no value."""
    if np.isinf(values).any():
        raise MessageProblem('not finite', f'a value of {name} is infinite, not finite')
    largest = np.nanmax(np.abs(values), initial=0.0)
    if largest > MAX_VALUES[name]:
        raise MessageProblem(
            'too large', f'a value of {name} is {largest:g}, beyond {MAX_VALUES[name]:g}'
        )


ROWS = ('effort', 'position', 'velocity')  # interfaces, as in `Sent`
MAX_LAYOUTS = 64  # remembered layouts of joint names
MAX_PATTERNS = 8  # patterns that machine code knows
READS_BEFORE_PATTERN = 3  # messages of a layout before machine code learns it


class KnownMessages(NamedTuple):
    """Messages of one pattern.

    :param take: takes a message of the pattern: bytes, size, present time [s]
    :param received: 1 if it has taken one since last cleared, (1,)
    :param naming: mapping to the robot's joints
    """

    take: Callable[[bytes, int, float], int]
    received: np.ndarray
    naming: Naming


class Commands(DrivenJoints):
    """Commands of all actuated joints with one degree of freedom.

    :param diagnostics: reports rejected messages
    :param array_joints: joints in the order of a Float64MultiArray; empty: all that can be
        commanded
    :param bandwidth: natural frequency of the servo [rad/s]
    :param tag: interfaces of the joints in the robot description
    :raises ValueError: if `array_joints` are not distinct joints of the robot with actuators
    """

    def __init__(
        self,
        robot: Robot,
        diagnostics: Diagnostics,
        array_joints: Sequence[str],
        bandwidth: float,
        tag: ControlTag = NO_TAG,
    ):
        super().__init__(robot, diagnostics, bandwidth)
        others = [b.joint_name for b in robot.model.bodies if b.joint_name not in self.names]
        passive = frozenset(self.names) - frozenset(robot.model.actuated_joints)
        commanded = array_joints or [self.names[k] for k in self.driven]
        order = JointNames(self.names).naming(commanded)
        if order.unknown:
            raise ValueError(f'parameter joints: the robot has no joint {shorten(order.unknown)}')
        if without := [name for name in order.names if name in passive]:
            raise ValueError(f'parameter joints: {shorten(without)} has no actuator')
        self._read_by(JointNames(self.names, ignored=others), passive, order, tag)

    def _read_by(
        self, joints: JointNames, passive: FrozenSet[str], order: Naming, tag: ControlTag
    ) -> None:
        """Read messages with these names from now on.

        :param joints: names of the joints in messages
        :param passive: names of joints without actuators
        :param order: joints of messages without names
        :param tag: interfaces of the joints
        """
        self._joints, self._passive, self._array_order = joints, passive, order
        self._tag = tag
        self._by_name, self._by_order = JointStateReader(), Float64MultiArrayReader()
        self._namings: Dict[NameList, NamedJoints] = {}
        self.received: Dict[Naming, None] = {}  # in order of arrival
        self._known: List[KnownMessages] = []
        self._known_array = self._compile_decoder(
            plain_array_pattern(order.size), NamedJoints(order, {}), {'effort': order.size}, False
        )

    @property
    def accepted(self) -> int:
        """Number of accepted messages."""
        return self.reports.accepted

    @property
    def rejected(self) -> int:
        """Number of rejected messages."""
        return self.reports.rejected

    # -- input ------------------------------------------------------------------------------------

    def take_joint_state(self, data: bytes, now: float) -> bool:
        """Apply commands by name: for each joint, the interface with a new value counts.

        NaN means no command for that joint (controllers send it before they are active).

        :param data: serialized JointState
        :param now: present time of a steady clock [s]
        :return: whether the message now drives any joint
        """
        for known in self._known:
            if known.take(data, len(data), now):
                self.reports.count_message()
                return True
        try:
            message = self._by_name.read(data)
            named = self._namings.get(message.names) or self._new_naming(message.names)
            fields = {
                name: values
                for name, values in (
                    ('effort', message.effort),
                    ('position', message.position),
                    ('velocity', message.velocity),
                )
                if values is not None
            }
            if not fields:
                raise MessageProblem('no values', 'effort, position and velocity are all empty')
            given = {name: named.values(name, values) for name, values in fields.items()}
        except (MessageProblem, WireError) as problem:
            self.reports.reject(problem)
            return False
        self.received[named.naming] = None
        counts = {name: values.size for name, values in fields.items()}
        known = self._compile_decoder(self._by_name.pattern(READS_BEFORE_PATTERN), named, counts)
        if known is not None:
            self._collect_names(self._known[: -MAX_PATTERNS + 1])  # those to be dropped
            self._known = [*self._known[-MAX_PATTERNS + 1 :], known]
        return self._take(named.naming, given, now)

    def _take(self, naming: Naming, fields: Mapping[str, np.ndarray], now: float) -> bool:
        """Apply the commands of a message in Python.

        :param fields: values of each field for those joints, NaN for missing ones
        """
        target, given = naming.target, self.sent.given
        given[:, target] = np.nan
        for field, values in fields.items():
            given[ROWS.index(field), target] = values
        if not is_command(self.sent, target):
            # Expected until a controller is active.
            self.sent.last[:, target] = np.nan
            self.reports.event(
                OK,
                'NaN is not a command; the previous command is kept for joint '
                f'{shorten(self.names[i] for i in target)}',
                'NaN',
            )
            return False
        apply_message(self.sent, self.drives, target, now)
        self.reports.count_message()
        return True

    def _new_naming(self, names: NameList) -> NamedJoints:
        naming = self._joints.naming(names.names)
        commandable = self._tag.commandable
        if unknown := [name for name in naming.unknown if commandable(name)]:
            self.reports.event(
                WARN,
                f'unknown joints ignored: {shorten(unknown)}',
                'unknown joints',
            )
        if passive := [name for name in naming.names if name in self._passive]:
            naming = self._without_passive(naming)
            if commanded := [name for name in passive if commandable(name)]:
                self.reports.event(
                    WARN,
                    f'commands of joints without an actuator ignored: {shorten(commanded)}',
                    'no actuator',
                )
            if not naming.target.size:
                raise MessageProblem('no actuator', 'it names no joint with an actuator')
        if not naming.target.size:
            raise MessageProblem('no known joints', 'it names no joint of the robot')
        if len(self._namings) >= MAX_LAYOUTS:  # a publisher with ever new names
            del self._namings[next(iter(self._namings))]
        holders = {field: self._tag.holders(names.names, field) for field in ROWS}
        named = self._namings[names] = NamedJoints(naming, holders)
        return named

    def _without_passive(self, naming: Naming) -> Naming:
        """Return the naming restricted to joints that can be commanded."""
        kept = np.array([name not in self._passive for name in naming.names], dtype=bool)
        return replace(
            naming,
            source=naming.source[kept],
            target=naming.target[kept],
            place=naming.target[kept],
            names=tuple(name for name in naming.names if name not in self._passive),
            in_order=False,
        )

    def take_array(self, data: bytes, now: float) -> bool:
        """Apply efforts in the order of `array_joints`; otherwise like `take_joint_state`.

        :param data: serialized Float64MultiArray
        """
        order = self._array_order
        if self._known_array is not None and self._known_array.take(data, len(data), now):
            self.reports.count_message()
            return True
        try:
            values = self._by_order.read(data)
            if values.size != order.size:
                raise MessageProblem(
                    'wrong length', f'{values.size} efforts for {order.size} joints'
                )
            if np.isnan(values).any():
                raise MessageProblem('not finite', 'an effort is not finite')
            check_size('effort', values)
        except (MessageProblem, WireError) as problem:
            self.reports.reject(problem)
            return False
        return self._take(order, {'effort': values[order.source]}, now)

    def take_accelerations(self, data: bytes, now: float) -> bool:
        """Apply accelerations in the order of `array_joints`; NaN means none for that joint.

        :param data: serialized Float64MultiArray
        :param now: present time of a steady clock [s]
        :return: whether the message now drives any joint
        """
        order = self._array_order
        try:
            values = self._by_order.read(data)
            if values.size != order.size:
                raise MessageProblem(
                    'wrong length', f'{values.size} accelerations for {order.size} joints'
                )
            check_size('acceleration', values)
        except (MessageProblem, WireError) as problem:
            self.reports.reject(problem)
            return False
        given = ~np.isnan(values[order.source])
        joints = order.target[given]
        if not joints.size:
            return False
        drives = self.drives
        drives.acceleration[joints] = values[order.source][given]
        drives.mode[joints] = ACCELERATION
        drives.received[joints] = now
        self.reports.count_message()
        return True

    def _compile_decoder(
        self,
        pattern: Optional[Pattern],
        named: NamedJoints,
        counts: Mapping[str, int],
        partial: bool = True,
    ) -> Optional[KnownMessages]:
        """Make machine code decode messages of this layout.

        :param named: mapping to the robot's joints
        :param counts: number of values of each field
        :param partial: whether NaN means no command
        """
        if pattern is None:
            return None
        joints = {field: named.joints(field, count) for field, count in counts.items()}
        received, none = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
        values = pattern.values
        command = CommandPattern(
            layout=pattern.layout,
            joints=np.array(named.naming.target, dtype=np.int64),
            effort_joints=joints.get('effort', none),
            position_joints=joints.get('position', none),
            velocity_joints=joints.get('velocity', none),
            effort=values.get('effort', values.get('data', 0)),
            position=values.get('position', 0),
            velocity=values.get('velocity', 0),
            partial=int(partial),
            received=received,
        )
        take = take_command.bind(Record(command), self.sent_record, self.record, release_gil=False)
        return KnownMessages(take, received, named.naming)

    def recent_names(self) -> List[Sequence[str]]:
        """Return the distinct lists of joint names in messages since the last call."""
        self._collect_names(self._known)
        received, self.received = self.received, {}
        return [naming.names for naming in received]

    def _collect_names(self, patterns: Sequence[KnownMessages]) -> None:
        for known in patterns:
            if known.received[0]:
                known.received[0] = 0
                self.received[known.naming] = None
