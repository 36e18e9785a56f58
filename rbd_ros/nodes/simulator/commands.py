"""Command messages: which joint they drive by what; refused ones, old ones, missing ones.

What a controller sends all day is taken by machine code (compiled_cycle.py), which learns from the
first messages how they look. Everything else is read here, and what is odd about it is told.
"""

from __future__ import annotations

from dataclasses import replace
import math
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

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
from rbd_ros.nodes.simulator.command_fields import check_size, NamedJoints
from rbd_ros.nodes.simulator.compiled_cycle import (
    CHANGING,
    CommandPattern,
    is_command,
    obey,
    Sent,
    STANDING,
    take_command,
)
from rbd_ros.nodes.simulator.control_tag import ControlTag, NO_TAG
from rbd_ros.robot import Robot
from rbd_ros.simulation.drives import (
    ACCELERATION,
    EFFORT,
    GRAVITY,
    make_drives,
    POSITION,
    VELOCITY,
    ZERO,
)

SUBJECT = 'commands'
ROWS = ('effort', 'position', 'velocity')  # interfaces, as in `Sent`
MOST_LAYOUTS = 64  # runs of joint names that are remembered
MOST_PATTERNS = 8  # of messages by name that machine code knows
READS_BEFORE_PATTERN = 3  # messages of a layout before machine code learns it
USUAL_PATIENCE = 1.0  # until silence is noted where no command times out [s]
STREAM = 20  # messages without a gap that make a controller, whose end is worth a warning
CHECKS_A_TIMEOUT = 20  # how often commands are looked at in the time after which they are too old
COUNTS = {
    ZERO: 'nothing',
    GRAVITY: 'gravity',
    EFFORT: 'effort',
    POSITION: 'position',
    VELOCITY: 'velocity',
    ACCELERATION: 'acceleration',
}
REMEMBERED = ('mode', 'effort', 'position', 'velocity', 'acceleration')  # of `Drives`
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
    :param tag: which joints have which interfaces in the robot description
    :raises ValueError: if `array_joints` are not different joints of the robot, with actuators
    """

    def __init__(
        self,
        robot: Robot,
        diagnostics: Diagnostics,
        array_joints: Sequence[str],
        bandwidth: float,
        tag: ControlTag = NO_TAG,
    ):
        self._diagnostics, self._tag = diagnostics, tag
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
        self._namings: Dict[NameList, NamedJoints] = {}
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
        count = len(self.names)
        self._sent = Sent(
            np.full((3, count), np.nan),
            np.full((3, count), np.nan),
            np.zeros(count, dtype=np.int64),
        )
        self._sent_record = Record(self._sent)
        self._receiving, self._accepted_before = False, 0
        self._known: List[_Known] = []
        self._known_array = self._learn(
            plain_array_pattern(order.size), NamedJoints(order, {}), {'effort': order.size}, False
        )
        self.accepted = 0
        self.refused = 0

    # -- input ------------------------------------------------------------------------------------

    def stand_in(self, action: str, q: np.ndarray) -> None:
        """Drive the joints as `action` (hold, gravity or zero) says, and forget all commands.

        :param q: configuration to hold, (nq,)
        """
        self.drives.mode[:] = ZERO
        self._drive_by(self.driven, action, q)

    def memory(self, now: float) -> Dict[str, Any]:
        """What drives the joints, and what was said last; JSON values.

        :param now: present time of a steady clock [s]
        """
        drives = self.drives
        kept = {name: getattr(drives, name).tolist() for name in REMEMBERED}
        kept['age'] = (now - drives.received).tolist()
        return {
            **kept,
            'last': self._sent.last.tolist(),
            'beside': self._sent.beside.tolist(),
            'receiving': self._receiving,
        }

    def recall(self, memory: Mapping[str, Any], now: float) -> None:
        """Go back to a `memory`; counts go on."""
        for name in REMEMBERED:
            getattr(self.drives, name)[:] = memory[name]
        self.drives.received[:] = now - np.array(memory['age'])
        self._sent.last[:] = memory['last']
        self._sent.beside[:] = memory['beside']
        self._receiving = memory['receiving']

    def take_joint_state(self, data: bytes, now: float) -> bool:
        """Take commands by name: of each joint, the interface that says something new counts.

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
            self._refuse(problem)
            return False
        self.heard[named.naming] = None
        counts = {name: values.size for name, values in fields.items()}
        known = self._learn(self._by_name.pattern(READS_BEFORE_PATTERN), named, counts)
        if known is not None:
            self._note_heard(self._known[: -MOST_PATTERNS + 1])  # those that are forgotten
            self._known = [*self._known[-MOST_PATTERNS + 1 :], known]
        return self._take(named.naming, given, now)

    def _take(self, naming: Naming, fields: Mapping[str, np.ndarray], now: float) -> bool:
        """Let the joints of a message do what it says, in the interpreter.

        :param fields: values of each field for those joints, NaN for none
        """
        target, given = naming.target, self._sent.given
        given[:, target] = np.nan
        for field, values in fields.items():
            given[ROWS.index(field), target] = values
        if not is_command(self._sent, target):
            # As it should be until a controller is active.
            self._sent.last[:, target] = np.nan
            self._diagnostics.event(
                SUBJECT,
                OK,
                f'NaN is no command: left as they were: {shorten(self.names[i] for i in target)}',
                code='NaN',
            )
            return False
        obey(self._sent, self.drives, target, now)
        self.accepted += 1
        if not self._receiving:
            self._report_receiving()
        return True

    def _new_naming(self, names: NameList) -> NamedJoints:
        naming = self._joints.naming(names.names)
        commandable = self._tag.commandable
        if unknown := [name for name in naming.unknown if commandable(name)]:
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'unknown joints ignored: {shorten(unknown)}',
                code='unknown joints',
            )
        if passive := [name for name in naming.names if name in self._passive]:
            naming = self._without_passive(naming)
            if commanded := [name for name in passive if commandable(name)]:
                self._diagnostics.event(
                    SUBJECT,
                    WARN,
                    f'commands of joints without an actuator ignored: {shorten(commanded)}',
                    code='no actuator',
                )
            if not naming.target.size:
                raise MessageProblem('no actuator', 'it names no joint that has an actuator')
        if not naming.target.size:
            raise MessageProblem('no known joints', 'it names no joint of the robot')
        if len(self._namings) >= MOST_LAYOUTS:  # a sender that invents names
            del self._namings[next(iter(self._namings))]
        holders = {field: self._tag.holders(names.names, field) for field in ROWS}
        named = self._namings[names] = NamedJoints(naming, holders)
        return named

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
            check_size('effort', values)
        except (MessageProblem, WireError) as problem:
            self._refuse(problem)
            return False
        return self._take(order, {'effort': values[order.source]}, now)

    def take_accelerations(self, data: bytes, now: float) -> bool:
        """Take accelerations in the order of `array_joints`; NaN means none for that joint.

        :param data: serialised Float64MultiArray
        :param now: present time of a steady clock [s]
        :return: whether any joint is now driven by the message
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
            self._refuse(problem)
            return False
        given = ~np.isnan(values[order.source])
        joints = order.target[given]
        if not joints.size:
            return False
        drives = self.drives
        drives.acceleration[joints] = values[order.source][given]
        drives.mode[joints] = ACCELERATION
        drives.received[joints] = now
        self.accepted += 1
        if not self._receiving:
            self._report_receiving()
        return True

    def _learn(
        self,
        pattern: Optional[Pattern],
        named: NamedJoints,
        counts: Mapping[str, int],
        partial: bool = True,
    ) -> Optional[_Known]:
        """Let machine code take messages of a pattern from now on.

        :param named: which joints they are for
        :param counts: number of values of each field that they have
        :param partial: whether NaN means that there is no command
        """
        if pattern is None:
            return None
        joints = {field: named.joints(field, count) for field, count in counts.items()}
        heard, none = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
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
            heard=heard,
        )
        take = take_command.bind(Record(command), self._sent_record, self.record, keep_lock=True)
        return _Known(take, heard, named.naming)

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

    def watch(self, now: float, timeout: float) -> None:
        """Tell who has fallen silent, and which commands contradict each other.

        A position has no timeout, for it is safe to keep; that nobody sends one is told all the
        same.

        :param timeout: of commands [s]; 0: none
        """
        beside, drives = self._sent.beside, self.drives
        if beside.any():
            self._tell_beside(beside)
            beside[:] = 0
        if not self._receiving:
            return
        commanded = np.isfinite(drives.received)
        patience = timeout or USUAL_PATIENCE
        if not commanded.any() or now - drives.received[commanded].max() <= patience:
            return
        self._receiving = False
        streamed = timeout > 0.0 and self.accepted - self._accepted_before >= STREAM
        kept = shorten(self.names[i] for i in np.flatnonzero(commanded))
        self._diagnostics.condition(
            SUBJECT,
            WARN if streamed else OK,
            f'silent for {patience:g} s: the last command still holds for {kept}',
            code='silent',
        )

    def _tell_beside(self, beside: np.ndarray) -> None:
        """Tell which joints get more than one command at a time.

        :param beside: as in `Sent`
        """
        for text, level, code, which in (
            (
                'contradictory commands: several of effort, position and velocity change at the '
                'same time for',
                WARN,
                'contradictory commands',
                beside & CHANGING != 0,
            ),
            (
                'another command stands beside the one that counts for',
                OK,
                'standing command',
                beside == STANDING,
            ),
        ):
            if which.any():
                joints = shorten(
                    f'{self.names[j]} ({COUNTS[self.drives.mode[j]]} counts)'
                    for j in np.flatnonzero(which)
                )
                self._diagnostics.event(SUBJECT, level, f'{text} {joints}', code=code)

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
        self._sent.last[:, joints] = np.nan
        self._receiving = False

    def _report_receiving(self) -> None:
        self._receiving, self._accepted_before = True, self.accepted
        self._diagnostics.condition(SUBJECT, OK, 'receiving', code='receiving')

    def _refuse(self, problem: Any) -> None:
        self.refused += 1
        self._diagnostics.event(SUBJECT, WARN, f'command refused: {problem}', code=problem.code)
