# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Measured state from `joint_states`, robust against its publishers.

Messages may have any order of joints, be partial, have empty or short fields or NaN, be old, or
come from two publishers. Each is accepted or rejected as a whole; a rejected one is reported and
changes nothing. Messages with the same list of names are one source, usually one publisher. Each
source has its own time.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
import time
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

import numpy as np
from rclpy.subscription import Subscription

from rbd_ros.compiler.loops import Record
from rbd_ros.control import StateGuard
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK, WARN
from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.messages.joint_names import JointNames, MessageProblem, Naming
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.nodes.torque.compiled_state import (
    check_message,
    COMPLETE,
    CONFLICT_WINDOW,
    CONTRADICTION,
    DEVIATING,
    ELSEWHERE,
    ESTIMATED,
    INCOMPLETE,
    JUMPED,
    MISSING,
    NOT_TAKEN,
    RESTARTED,
    SourceMemory,
    StateMemory,
    StatePattern,
    take_message,
)
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound
from rbd_ros.wire import (
    JointStateData,
    JointStateReader,
    make_pattern,
    NameList,
    Pattern,
    WireError,
)

SUBJECT = 'joint_states'

CONTRADICTION_CODE = 'publishers contradict each other'
MAX_SOURCES = 64  # limit of remembered sources
NO_PUBLISHER = 3  # time without a publisher that is reported [s]
LAYOUT_PERIOD = 1.0  # between two choices of the layout for compiled code [s]
READS_BEFORE_PATTERN = 3  # messages of a layout before it is learned


@dataclass(slots=True)
class MeasuredState:
    """State of all joints; the next one may overwrite it and its arrays.

    :param q: positions, (n,)
    :param v: velocities, (n,)
    :param stamp: time stamp of the message that completed the state, 0 if it has none [ns]
    :param time: time of the leading source (see `StateInput`), by its stamps if any [ns]
    :param dt: time since the previous state of the leading source, by its stamps, so possibly
        invalid; 0 for messages of other sources [s]
    :param restarted: whether the leading source's time restarted
    """

    q: np.ndarray
    v: np.ndarray
    stamp: int
    time: int
    dt: float
    restarted: bool


class _Source:
    """One source: messages with the same list of names, usually of one publisher.

    :param naming: mapping to the robot's joints
    :param leads: whether its time is that of the state
    :param guard: checks of its states
    :param wraparound: its continuous joints
    :param fastest: maximum plausible speeds, NaN: unknown
    :param state: record of the state of all joints
    """

    def __init__(
        self,
        naming: Naming,
        leads: bool,
        guard: StateGuard,
        wraparound: Wraparound,
        fastest: np.ndarray,
        state: Record,
    ):
        self.naming, self.leads, self.guard = naming, leads, guard
        k = naming.target.size
        flags, numbers = np.zeros((2, k), dtype=np.int64), np.zeros((4, k))
        self.memory = SourceMemory(
            naming.source.astype(np.int64),
            naming.target.astype(np.int64),
            int(leads),
            guard.memory,
            wraparound.periods,
            wraparound.rates,
            fastest,
            stamp=np.zeros(2, dtype=np.int64),
            has_velocity=np.zeros(1, dtype=np.int64),
            position=numbers[0],
            velocity=numbers[1],
            change=numbers[2],
            deviates=flags[0],
            elsewhere=numbers[3],
            counts=np.zeros(2, dtype=np.int64),
            times=np.array([-math.inf, 0.0]),
        )
        self.record = Record(self.memory)
        self.check = check_message.bind(self.record, state, release_gil=False)

    def load(self, message: JointStateData) -> None:
        """Decode a message like compiled code, for other layouts.

        :raises MessageProblem: if the numbers of names and values differ
        """
        naming, memory, velocity = self.naming, self.memory, message.velocity
        if message.position is None:
            raise MessageProblem('position empty', 'position is empty')
        for field, values in (('position', message.position), ('velocity', velocity)):
            if values is not None and values.size != naming.size:
                raise MessageProblem(
                    f'{field} has wrong length',
                    f'{field} has {values.size} elements for {naming.size} names',
                )
        memory.stamp[0], memory.has_velocity[0] = message.stamp, velocity is not None
        memory.position[:] = message.position[naming.source]
        memory.velocity[:] = 0.0 if velocity is None else velocity[naming.source]

    @property
    def received(self) -> float:
        """Time of its last good message [s]; -inf: none."""
        return self.memory.times.item(0)


def _take_nothing(data: bytes, size: int, now: float) -> int:
    """Stand in for `take_message` until a layout is known."""
    return NOT_TAKEN


class StateInput:
    """Reader of serialized JointState messages, which returns the state of all joints.

    Compiled code checks messages (compiled_state.py), and decodes those of a known layout; this
    class converts its results to text. Each joint of the robot must have one degree of freedom.

    The leading source, whose time is that of the state, has the first required joint.

    :param diagnostics: reports rejected messages
    :param timeout: age at which a joint's state expires [s]; 0 or less: never
    :param optional_joints: joints that may be absent; before their first state they are at rest
        in neutral position
    :param margin: tolerance of the position limits [rad or m]
    """

    def __init__(
        self,
        robot: Robot,
        diagnostics: Diagnostics,
        timeout: float,
        optional_joints: Sequence[str] = (),
        margin: float = math.inf,
    ):
        names = robot.joint_names
        mimics = [b.joint_name for b in robot.model.bodies if b.joint_name not in names]
        self._names = JointNames(names, [*mimics, *robot.model.joint_frames])
        self._reader = JointStateReader()
        self._diagnostics = diagnostics
        self._limits = robot.lower_limits, robot.upper_limits, margin
        self._periods = robot.position_periods
        known = np.isfinite(robot.velocity_limits) & (robot.velocity_limits > 0.0)
        self._fastest = np.where(known, robot.velocity_limits, np.nan)
        self.needs_velocity = False
        self._sources: Dict[NameList, _Source] = {}
        optional = [names.index(name) for name in optional_joints]
        required = np.setdiff1d(np.arange(robot.nv), optional)
        self._leading_joint = int(required[0]) if required.size else 0
        self._memory = StateMemory(
            known=np.array([robot.neutral(), np.zeros(robot.nv)]),
            state=np.zeros((2, robot.nv)),
            seen=np.full(robot.nv, -math.inf),
            required=required.astype(np.int64),
            max_age=timeout if timeout > 0.0 else math.inf,
            stamp=np.zeros(3, dtype=np.int64),
            dt=np.zeros(1),
            times=np.array([-math.inf, math.inf]),
            counts=np.zeros(2, dtype=np.int64),
            notes=np.zeros(1, dtype=np.int64),
        )
        #: Record of the state, for further compiled code
        self.record = Record(self._memory)
        self._state = MeasuredState(*self._memory.state, 0, 0, 0.0, False)
        # Compile before the first message.
        pattern = make_pattern(bytes(8), b'\xff' * 8, 0, {'position': 0})
        self._decode(pattern, self._source(self._names.naming(names)))
        self._reset_layout()
        self._conflict = ''
        self._seconds_without_publisher = 0
        self._read = 0  # messages that compiled code has not decoded
        self.rejected = 0
        self.last_problem = ''
        self._subscription: Optional[Subscription] = None

    #: Indices of the joints that a reference moves
    moved: Any = slice(None)

    def attach(self, subscription: Optional[Subscription]) -> None:
        """Set the subscription of the messages; None before its end."""
        self._subscription = subscription

    @property
    def usable(self) -> Optional[MeasuredState]:
        """Last usable state."""
        return self.last

    @property
    def last(self) -> Optional[MeasuredState]:
        """Last usable state."""
        return self._measured() if self._memory.counts[1] else None

    @property
    def publishers(self) -> int:
        """Number of connected publishers."""
        subscription = self._subscription
        return 0 if subscription is None else subscription.get_publisher_count()

    # -- one message ------------------------------------------------------------------------------

    def update(self, data: bytes, now: float) -> Optional[MeasuredState]:
        """Read and check one message.

        :param data: serialized JointState
        :param now: present time of a steady clock [s]
        :return: state of all joints; None if it is incomplete or not plausible
        """
        status = self._take(data, len(data), now)
        if status != NOT_TAKEN:
            return self.outcome(status, now)
        self._read += 1
        try:
            message = self._reader.read(data)
            source = self._sources.get(message.names) or self._new_source(message.names)
            source.load(message)
        except (MessageProblem, WireError) as problem:
            return self._reject(problem)
        state = self.outcome(source.check(now, 0), now, source)
        if state is not None and self._reader.layout is not self._layout:
            self._compile_decoder(source, now)
        return state

    def outcome(
        self, status: int, now: float, source: Optional[_Source] = None
    ) -> Optional[MeasuredState]:
        """Report the result of compiled code for the last message.

        :param now: present time of a steady clock [s]
        :param source: its source; None: that of compiled code's layout
        :return: state of all joints; None if it is incomplete or not plausible
        """
        if status == COMPLETE and not self._memory.notes[0]:
            return self._measured()
        source = source or self._layout_source
        if status == DEVIATING:
            if self.publishers > 1:
                memory = source.memory
                names = shorten(
                    self._names.joint_names[j] for j in memory.joint[memory.deviates > 0]
                )
                self._conflict = (
                    f'two publishers publish contradictory states of {names}; stop one of them'
                )
                self._memory.times[0] = now + CONFLICT_WINDOW
            status = source.check(now, 1)
        self._report_notes(source, now)
        if status == COMPLETE:
            return self._measured()
        return None if status == INCOMPLETE else self._reject(self._problem(source, status))

    def _measured(self) -> MeasuredState:
        # Reused, since an allocation costs time.
        state, memory = self._state, self._memory
        state.stamp, state.time, restarted = memory.stamp.tolist()
        state.dt, state.restarted = memory.dt.item(), restarted != 0
        return state

    @property
    def messages(self) -> int:
        """Number of received messages."""
        return self._read + self._memory.counts.item(0)

    # -- layouts that compiled code decodes -------------------------------------------------------

    def _compile_decoder(self, source: _Source, now: float) -> None:
        """Make compiled code decode the layout of the last message, if possible."""
        # Not two alternating publishers.
        if not source.leads or now - self._layout_time < LAYOUT_PERIOD:
            return
        pattern = self._reader.pattern(READS_BEFORE_PATTERN)
        if pattern is None or 'position' not in pattern.values:
            return
        self._decode(pattern, source)
        self._layout, self._layout_time = self._reader.layout, now

    def _decode(self, pattern: Pattern, source: _Source) -> None:
        values = pattern.values
        own = StatePattern(pattern.layout, values['position'], values.get('velocity', 0))
        #: Records of the pattern and the source in compiled code, if any
        self.compiled_layout: Optional[Tuple[Record, Record]] = (Record(own), source.record)
        self._take: Callable[[bytes, int, float], int] = take_message.bind(
            *self.compiled_layout, self.record, release_gil=False
        )
        self._layout_source: Optional[_Source] = source

    def _reset_layout(self) -> None:
        self._take, self.compiled_layout = _take_nothing, None
        self._layout_source = None
        self._layout: Optional[object] = None  # of the reader
        self._layout_time = -math.inf

    # -- problems of a message --------------------------------------------------------------------

    def _reject(self, problem: Exception) -> None:
        self.rejected += 1
        self.last_problem = str(problem)
        code = problem.code
        level = ERROR if code == CONTRADICTION_CODE else WARN
        self._diagnostics.event(SUBJECT, level, f'message rejected: {problem}', code=code)

    def _problem(self, source: _Source, status: int) -> MessageProblem:
        """Return the text for the status of a rejected message."""
        if status == CONTRADICTION:
            return MessageProblem(CONTRADICTION_CODE, self._conflict)
        if status == JUMPED:
            return MessageProblem(
                'position jumped',
                f'{self._jump(source)}; check its encoder and the limits of its position',
            )
        memory = source.memory
        stamp = memory.stamp.item(0) / NANOSECONDS
        problem = source.guard.problem(-status, stamp, memory.position, memory.velocity)
        return MessageProblem(problem.kind.replace('_', ' '), problem.message)

    def _report_notes(self, source: _Source, now: float) -> None:
        notes = self._memory.notes.item(0)
        if notes & RESTARTED:
            self._warn(
                'time went back in several states (simulation or bag restarted): the node '
                'uses the new time',
                'time restarted',
            )
        if notes & ELSEWHERE:
            self._warn(
                f'{self._jump(source)}, in several states: the node uses the new position',
                'put elsewhere',
            )
        if notes & ESTIMATED and self.needs_velocity:
            self._warn('no velocities: the node computes them from positions', 'velocity empty')
        if notes & MISSING:
            memory = self._memory
            seen = memory.seen[memory.required]
            absent = [
                self._names.joint_names[j] for j in memory.required[~(now - seen < memory.max_age)]
            ]
            self.last_problem = (
                f'no state of {shorten(absent)}; publish it on joint_states, or name joints '
                'without a sensor in the parameter optional_joints'
            )
            self._warn(self.last_problem, 'joints missing')

    def _jump(self, source: _Source) -> str:
        """Return the text about a position jump."""
        memory = source.memory
        j, dt = memory.counts.item(1), memory.times.item(1)
        return (
            f'position of joint {source.naming.names[j]!r} jumps by {memory.change[j]:.3g} rad or '
            f'm within {dt:.3g} s, more than any plausible velocity allows'
        )

    def _warn(self, text: str, code: str) -> None:
        self._diagnostics.event(SUBJECT, WARN, text, code=code)

    # -- sources ----------------------------------------------------------------------------------

    def _new_source(self, names: NameList) -> _Source:
        naming = self._names.naming(names.names)
        if not naming.target.size:
            raise MessageProblem('no known joints', 'it names no joint of the robot')
        if len(self._sources) >= MAX_SOURCES:
            # The number of sources is bounded.
            del self._sources[min(self._sources, key=lambda k: self._sources[k].received)]
            self._reset_layout()
        source = self._sources[names] = self._source(naming)
        self._report_unknown(source)
        return source

    def _source(self, naming: Naming) -> _Source:
        target, (lower, upper, margin) = naming.target, self._limits
        return _Source(
            naming,
            self._leading_joint in target,
            StateGuard(
                naming.names, lower=lower[target], upper=upper[target], limit_margin=margin
            ),
            Wraparound(self._periods[target]),
            self._fastest[target],
            self.record,
        )

    def _report_unknown(self, source: _Source) -> None:
        if source.naming.unknown:
            unknown = shorten(source.naming.unknown)
            self._warn(f'unknown joints ignored: {unknown}', 'unknown joints')

    # -- reports ----------------------------------------------------------------------------------

    def every_second(self) -> None:
        """Report too many or too few publishers."""
        if self._subscription is None:
            return
        publishers, now = self.publishers, time.monotonic()
        self._seconds_without_publisher = 0 if publishers else self._seconds_without_publisher + 1
        if self._seconds_without_publisher >= NO_PUBLISHER:
            self._warn(f'no node publishes {self._subscription.topic_name}', 'no publisher')
        sources = list(self._sources.values())
        recent = [source for source in sources if now - source.received < CONFLICT_WINDOW]
        for source in recent:
            self._report_unknown(source)
        together = [i for source in recent for i in source.naming.target]
        if publishers > 1 and (len(recent) < publishers or len(set(together)) < len(together)):
            self._warn(
                f'{publishers} publishers on {self._subscription.topic_name}, some for the same '
                'joints or for none of this robot',
                'several publishers',
            )

    def lost(self, timeout: float) -> None:
        """Report that there has been no usable state for `timeout` seconds."""
        reason = f' ({self.last_problem})' if self.last_problem else ''
        self._diagnostics.condition(
            SUBJECT, ERROR, f'no usable state for {timeout:g} s{reason}', code='lost'
        )

    def found(self) -> None:
        """Report that there is a usable state."""
        self.last_problem = ''
        self._diagnostics.condition(SUBJECT, OK, 'receiving', code='receiving')
