"""Command messages: which joint they drive by what; refused ones, old ones, missing ones.

What a controller sends all day is taken by machine code (compiled_cycle.py), which learns from the
first messages how they look. Everything else is read here, and what is odd about it is told.
"""

from __future__ import annotations

from dataclasses import replace
import math
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

import numpy as np

from rbd_ros.compiler.loops import Record
from rbd_ros.nodes.common.diagnostics import Diagnostics, OK, WARN
from rbd_ros.nodes.common.joint_names import JointNames, MessageProblem, Naming
from rbd_ros.nodes.common.text import shorten
from rbd_ros.nodes.common.wire import (
    Float64MultiArrayReader,
    JointStateReader,
    NameList,
    Pattern,
    plain_array_pattern,
    WireError,
)
from rbd_ros.nodes.simulator.compiled_cycle import (
    CommandPattern,
    LARGEST_EFFORT,
    LARGEST_POSITION,
    LARGEST_VELOCITY,
    take_command,
)
from rbd_ros.robot import Robot
from rbd_ros.simulation.drives import EFFORT, GRAVITY, make_drives, POSITION, VELOCITY, ZERO

SUBJECT = 'commands'
LARGEST = {
    'effort': LARGEST_EFFORT,
    'position': LARGEST_POSITION,
    'velocity': LARGEST_VELOCITY,
}
MOST_LAYOUTS = 64  # runs of joint names that are remembered
MOST_PATTERNS = 8  # of messages by name that machine code knows
READS_BEFORE_PATTERN = 3  # messages of a layout before machine code learns it
CHECKS_A_TIMEOUT = 20  # how often commands are looked at in the time after which they are too old
STAND_INS = {'hold': POSITION, 'gravity': GRAVITY, 'zero': ZERO}


class _Known(NamedTuple):
    """Messages of one pattern.

    :param take: takes one, if it has the pattern: bytes, their number, present time [s]
    :param heard: 1 if it has taken one since this was last cleared, (1,)
    :param naming: which joints they are for
    """

    take: Callable[[bytes, int, float], int]
    heard: np.ndarray
    naming: Naming


class Commands:
    """Commands of all joints with one degree of freedom; others cannot be commanded.

    Of a robot with loops, only joints with actuators can; all others move freely.

    :param robot: the robot
    :param diagnostics: where refused messages are reported
    :param array_joints: joints that a Float64MultiArray names by its order; empty: all that can be
        commanded
    :param bandwidth: natural frequency of the servo [rad/s]
    :raises ValueError: if `array_joints` are not different joints of the robot, with actuators
    """

    def __init__(
        self,
        robot: Robot,
        diagnostics: Diagnostics,
        array_joints: Sequence[str],
        bandwidth: float,
    ):
        self._diagnostics = diagnostics
        model = robot.model
        single = [
            (model.body(i).joint_name, at_q.start, at_v.start)
            for i, (at_q, at_v) in model.independent_slices.items()
            if model.body(i).joint.nv == 1
        ]
        self.names = tuple(name for name, _, _ in single)
        self.at_q = np.array([q for _, q, _ in single], dtype=np.intp)
        self.at_v = np.array([v for _, _, v in single], dtype=np.intp)
        others = [b.joint_name for b in model.bodies if b.joint_name not in self.names]
        self._joints = JointNames(self.names, ignored=others)
        actuated = model.actuated_joints
        #: Which of the joints can be commanded, (k,)
        self.driven = np.array(
            [k for k, name in enumerate(self.names) if name in actuated], dtype=np.intp
        )
        self._passive = frozenset(self.names) - frozenset(actuated)
        self._by_name, self._by_order = JointStateReader(), Float64MultiArrayReader()
        self._namings: Dict[NameList, Naming] = {}
        self.heard: Dict[Naming, None] = {}  # in the order in which they were heard
        commanded = array_joints or [self.names[k] for k in self.driven]
        order = JointNames(self.names).naming(commanded)
        if order.unknown:
            raise ValueError(f'parameter joints: the robot has no joint {shorten(order.unknown)}')
        if passive := [name for name in order.names if name in self._passive]:
            raise ValueError(f'parameter joints: {shorten(passive)} has no actuator')
        self._array_order = order
        self.drives = make_drives(robot, self.at_q, self.at_v, bandwidth)
        self.record = Record(self.drives)
        self._targets = {
            EFFORT: self.drives.effort,
            POSITION: self.drives.position,
            VELOCITY: self.drives.velocity,
        }
        self._receiving = False
        self._known: List[_Known] = []
        self._known_array = self._learn(plain_array_pattern(order.size), order)
        self.accepted = 0
        self.refused = 0

    # -- input ------------------------------------------------------------------------------------

    def stand_in(self, action: str, q: np.ndarray) -> None:
        """Drive the joints as `action` (hold, gravity or zero) says, and forget all commands.

        :param q: configuration to hold, (nq,)
        """
        self.drives.mode[:] = ZERO
        self._drive_by(self.driven, action, q)

    def take_joint_state(self, data: bytes, now: float) -> bool:
        """Take commands by name; effort counts before position, and position before velocity.

        NaN means no command for that joint (controllers send it before they are active).

        :param data: serialised JointState
        :param now: present time of a steady clock [s]
        :return: whether any joint is now driven by the message
        """
        for known in self._known:
            if known.take(data, len(data), now):
                self.accepted += 1
                if not self._receiving:
                    self._report_receiving()
                return True
        try:
            message = self._by_name.read(data)
            naming = self._namings.get(message.names) or self._new_naming(message.names)
            fields = {
                drive: self._field(name, values, naming)
                for drive, name, values in (
                    (EFFORT, 'effort', message.effort),
                    (POSITION, 'position', message.position),
                    (VELOCITY, 'velocity', message.velocity),
                )
                if values is not None
            }
            if not fields:
                raise MessageProblem('no values', 'effort, position and velocity are all empty')
        except (MessageProblem, WireError) as problem:
            self._refuse(problem)
            return False
        self.heard[naming] = None
        known = self._learn(self._by_name.pattern(READS_BEFORE_PATTERN), naming)
        if known is not None:
            self._note_heard(self._known[: -MOST_PATTERNS + 1])  # those that are forgotten
            self._known = [*self._known[-MOST_PATTERNS + 1 :], known]
        return self._take(naming, fields, now)

    def _take(self, naming: Naming, fields: Dict[int, np.ndarray], now: float) -> bool:
        target = naming.target
        taken = np.zeros(target.size, dtype=bool)
        for drive, values in fields.items():
            fresh = ~taken & ~np.isnan(values)
            self._command(drive, target[fresh], values[fresh], now)
            taken |= fresh
        if POSITION in fields and VELOCITY in fields:
            self.drives.velocity[target] = np.nan_to_num(fields[VELOCITY])
        if not taken.all():
            absent = [self.names[i] for i in target[~taken]]
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'NaN is no command: left as they were: {shorten(absent)}',
                code='NaN',
            )
        self.accepted += bool(taken.any())
        return bool(taken.any())

    def _new_naming(self, names: NameList) -> Naming:
        naming = self._joints.naming(names.names)
        if naming.unknown:
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'unknown joints ignored: {shorten(naming.unknown)}',
                code='unknown joints',
            )
        if passive := [name for name in naming.names if name in self._passive]:
            naming = self._without_passive(naming)
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'commands of joints without an actuator ignored: {shorten(passive)}',
                code='no actuator',
            )
            if not naming.target.size:
                raise MessageProblem('no actuator', 'it names no joint that has an actuator')
        if not naming.target.size:
            raise MessageProblem('no known joints', 'it names no joint of the robot')
        if len(self._namings) >= MOST_LAYOUTS:  # a sender that invents names
            del self._namings[next(iter(self._namings))]
        self._namings[names] = naming
        return naming

    def _without_passive(self, naming: Naming) -> Naming:
        """Naming of the joints among these that can be commanded."""
        kept = np.array([name not in self._passive for name in naming.names], dtype=bool)
        return replace(
            naming,
            source=naming.source[kept],
            target=naming.target[kept],
            place=naming.target[kept],
            names=tuple(name for name in naming.names if name not in self._passive),
            in_order=False,
        )

    @staticmethod
    def _field(name: str, values: np.ndarray, naming: Naming) -> np.ndarray:
        """Values of one field for the joints of `naming`."""
        if values.size != naming.size:
            raise MessageProblem(
                f'{name} has wrong length',
                f'{name} has {values.size} elements for {naming.size} names',
            )
        _check_size(name, values)
        return values if naming.in_order else values[naming.source]

    def take_array(self, data: bytes, now: float) -> bool:
        """Take efforts in the order of `array_joints`; otherwise like `take_joint_state`.

        :param data: serialised Float64MultiArray
        """
        order = self._array_order
        if self._known_array is not None and self._known_array.take(data, len(data), now):
            self.accepted += 1
            if not self._receiving:
                self._report_receiving()
            return True
        try:
            values = self._by_order.read(data)
            if values.size != order.size:
                raise MessageProblem(
                    'wrong length', f'{values.size} efforts for {order.size} joints'
                )
            if np.isnan(values).any():
                raise MessageProblem('not finite', 'an effort is not finite')
            _check_size('effort', values)
        except (MessageProblem, WireError) as problem:
            self._refuse(problem)
            return False
        self._command(EFFORT, order.target, values[order.source], now)
        self.accepted += 1
        return True

    def _learn(self, pattern: Optional[Pattern], naming: Naming) -> Optional[_Known]:
        """Let machine code take messages of a pattern from now on.

        :param naming: which joints they are for
        """
        if pattern is None:
            return None
        joints = np.full(naming.size, -1, dtype=np.int64)
        joints[naming.source] = naming.target
        heard = np.zeros(1, dtype=np.int64)
        values = pattern.values
        command = CommandPattern(
            layout=pattern.layout,
            joints=joints,
            effort=values.get('effort', values.get('data', 0)),
            position=values.get('position', 0),
            velocity=values.get('velocity', 0),
            heard=heard,
        )
        take = take_command.bind(Record(command), self.record, keep_lock=True)
        return _Known(take, heard, naming)

    def heard_lately(self) -> List[Sequence[str]]:
        """Different lists of joints that messages by name had since the last call."""
        self._note_heard(self._known)
        heard, self.heard = self.heard, {}
        return [naming.names for naming in heard]

    def _note_heard(self, patterns: Sequence[_Known]) -> None:
        for known in patterns:
            if known.heard[0]:
                known.heard[0] = 0
                self.heard[known.naming] = None

    def expire(self, now: float, timeout: float, action: str, q: np.ndarray) -> None:
        """Let `action` replace efforts and velocities that are older than `timeout` seconds."""
        drives = self.drives
        late = (now - drives.received > timeout) & (drives.mode != POSITION)
        if late.any():
            self._receiving = False
            late = np.flatnonzero(late)
            self._drive_by(late, action, q)
            self._diagnostics.condition(
                SUBJECT,
                WARN,
                f'no command for {timeout:g} s for {shorten([self.names[i] for i in late])}: '
                f'{action}. (A sender that '
                'is silent while its command does not change needs command_timeout 0, or '
                'trigger_joint_command_threshold -1 in joint_state_topic_hardware_interface)',
                code='timeout',
            )

    def refresh(self, now: float) -> None:
        """Count the age of commands from `now`: simulation was paused."""
        received = self.drives.received
        received[np.isfinite(received)] = now

    def _drive_by(self, joints: np.ndarray, action: str, q: np.ndarray) -> None:
        drives = self.drives
        drives.mode[joints] = STAND_INS[action]
        drives.position[joints] = q[self.at_q[joints]]
        drives.velocity[joints] = 0.0
        drives.received[joints] = math.inf
        self._receiving = False

    def _command(self, drive: int, joints: np.ndarray, values: np.ndarray, now: float) -> None:
        if not values.size:
            return
        self._targets[drive][joints] = values
        if drive == POSITION:
            self.drives.velocity[joints] = 0.0
        self.drives.received[joints] = now
        self.drives.mode[joints] = drive
        if not self._receiving:
            self._report_receiving()

    def _report_receiving(self) -> None:
        self._receiving = True
        self._diagnostics.condition(SUBJECT, OK, 'receiving', code='receiving')

    def _refuse(self, problem: Any) -> None:
        self.refused += 1
        self._diagnostics.event(SUBJECT, WARN, f'command refused: {problem}', code=problem.code)


def _check_size(name: str, values: np.ndarray) -> None:
    """Refuse values that are infinite or beyond all bounds; NaN may mean that there is none."""
    if np.isinf(values).any():
        raise MessageProblem('not finite', f'a value of {name} is infinite, not finite')
    largest = np.nanmax(np.abs(values), initial=0.0)
    if largest > LARGEST[name]:
        raise MessageProblem(
            'too large', f'a value of {name} is {largest:g}, beyond {LARGEST[name]:g}'
        )
