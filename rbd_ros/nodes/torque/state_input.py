# SPDX-License-Identifier: Apache-2.0
"""Measured state from `joint_states`, whatever its publishers send.

Messages come in any order of joints, in parts, with empty or short fields, with NaN, from the
past, from two publishers at once. Each is taken or refused as a whole; a refused one is reported
and changes nothing. Messages with the same run of names count as one publisher's: time is kept for
each of these sources by itself, since publishers send at their own times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
import time
from typing import Any, Dict, Optional, Sequence

import numpy as np
from rclpy.subscription import Subscription

from rbd_ros.control import StateGuard
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK, WARN
from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.messages.joint_names import JointNames, MessageProblem, Naming
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.nodes.torque.fast_state_reader import FastStateReader
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound
from rbd_ros.wire import (
    JointStateData,
    JointStateReader,
    NameList,
    WireError,
)

SUBJECT = 'joint_states'

CONFLICT_WINDOW = 1.0  # seconds that a contradiction between publishers is remembered
# rad or m by which two publishers of the same joint may differ, beyond its motion in between
AGREEMENT = 0.02
CONTRADICTION = 'publishers contradict each other'
VELOCITY_FILTER = 0.005  # time constant of the filter of differentiated positions [s]
MAX_DIFFERENCE = 0.5  # maximum time over which positions are differentiated [s]
MAX_SOURCES = 64  # that are remembered
# A joint may leap so far [rad or m], and this many times as far as at its velocity limit in the
# time since the state before, at least the shortest interval [s]; so many states that agree with
# each other are where the robot is, however far that is.
LEAP, LEAP_SPEED, SHORTEST_INTERVAL, STATES_ELSEWHERE = 0.5, 4.0, 0.005, 3
LONELY = 3  # seconds without a publisher after which that is reported
LEARNING_PERIOD = 1.0  # between two choices of the publisher whose layout machine code knows [s]
READS_BEFORE_PATTERN = 3  # messages of a layout before machine code learns it
INCOMPLETE_PATIENCE = 0.2  # parts of one state come one after another: reported if that lasts [s]


@dataclass(slots=True)
class MeasuredState:
    """State of all joints; it may change with the next one, and so may its arrays.

    :param q: positions, (n,)
    :param v: velocities, (n,)
    :param stamp: time stamp of the message that completed the state, 0 if it has none [ns]
    :param time: time of the leading source (see `StateInput`), by its stamps if it has any [ns]
    :param dt: time that passed at the leading source since the state before; may be anything that
        stamps can say, and is 0 for messages of other sources [s]
    :param restarted: whether the leading source's time began again
    """

    q: np.ndarray
    v: np.ndarray
    stamp: int
    time: int
    dt: float
    restarted: bool


class _Source:
    """State of one source: the messages with one list of names, usually one publisher's."""

    def __init__(
        self,
        naming: Naming,
        leads: bool,
        guards: Sequence[StateGuard],
        wraparound: Wraparound,
    ):
        self.naming, self.wraparound = naming, wraparound
        self.leads = leads
        self.guard, self.unstamped = guards
        self.stamp = 0
        self.received = -math.inf
        self.messages = 0
        #: Positions of refused states in a row that agree with each other, and how many there are
        self.elsewhere: Optional[np.ndarray] = None
        self.agreeing = 0


class StateInput:
    """Reader of serialized JointState messages, which returns the state of all joints.

    Each joint of the robot must have one degree of freedom.

    The leading source, whose time is that of the state, is the one with the first joint that must
    be seen.

    :param robot: the robot
    :param diagnostics: where refused messages are reported
    :param timeout: age at which a joint's state no longer counts [s]; 0 or less: never
    :param optional_joints: joints that may be absent; until they are seen they are at rest in
        neutral position
    :param margin: how far outside the limits of a joint a position may lie [rad or m]
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
        self._limit = timeout if timeout > 0.0 else math.inf
        self._limits = robot.lower_limits, robot.upper_limits, margin
        self._periods = robot.position_periods
        known = np.isfinite(robot.velocity_limits) & (robot.velocity_limits > 0.0)
        self._fastest = np.where(known, robot.velocity_limits, np.nan)
        self.needs_velocity = False
        self._sources: Dict[NameList, _Source] = {}
        self._q = robot.neutral()
        self._v = np.zeros(robot.nv)
        self._seen = np.full(robot.nv, -math.inf)
        bounds = self._guard(slice(None), names).bounds
        self._fast_reader = FastStateReader(robot.nv, bounds, AGREEMENT, Wraparound(self._periods))
        self._fast_state = MeasuredState(
            self._fast_reader.q, self._fast_reader.v, 0, 0, 0.0, False
        )
        self._fast_source: Optional[_Source] = None
        self._fast_layout: Optional[object] = None  # of the reader
        self._learned = -math.inf  # when that publisher was chosen
        optional = [names.index(name) for name in optional_joints]
        self._required = np.setdiff1d(np.arange(robot.nv), optional)
        self._leading_joint = int(self._required[0]) if self._required.size else 0
        self._time = 0
        self._conflict_until = -math.inf
        self._conflict = ''
        self._incomplete_since = math.inf
        self._lonely_seconds = 0
        self._read = 0  # messages that machine code has not taken
        self.refused = 0
        self.last_problem = ''
        self._last: Optional[MeasuredState] = None
        self._subscription: Optional[Subscription] = None

    def attach(self, subscription: Optional[Subscription]) -> None:
        """Set the subscription that the messages come from; None before it is destroyed."""
        self._subscription = subscription

    @property
    def usable(self) -> Optional[MeasuredState]:
        """Last state that could be used."""
        return self.last

    @property
    def last(self) -> Optional[MeasuredState]:
        """Last state that could be used."""
        return self._last if self._fast_reader.seen == -math.inf else self.taken()

    @property
    def publishers(self) -> int:
        """Number of publishers that are connected."""
        subscription = self._subscription
        return 0 if subscription is None else subscription.get_publisher_count()

    # -- one message ------------------------------------------------------------------------------

    def update(self, data: bytes, now: float) -> Optional[MeasuredState]:
        """Read and check one message.

        :param data: serialized JointState
        :param now: present time of a steady clock [s]
        :return: the state of all joints, or None if it is not complete or cannot be trusted
        """
        if self._fast_reader.take(data, len(data), now):
            return self.taken()
        self._read += 1
        self._catch_up()
        try:
            state = self._update(self._reader.read(data), now)
            self._last = state or self._last
            return state
        except (MessageProblem, WireError) as problem:
            self.refused += 1
            self.last_problem = str(problem)
            level = ERROR if problem.code == CONTRADICTION else WARN
            self._diagnostics.event(
                SUBJECT, level, f'message refused: {problem}', code=problem.code
            )
            return None
        finally:
            self._expect_next(now)

    def taken(self) -> MeasuredState:
        """Return the state of the message that machine code has read last."""
        reader = self._fast_reader
        # Filled in, not made: once in a millisecond that is not the same.
        state = self._fast_state
        state.stamp = state.time = reader.stamp
        state.dt = reader.elapsed / NANOSECONDS
        return state

    @property
    def messages(self) -> int:
        """Number of messages that have come."""
        return self._read + self._fast_reader.count

    @property
    def fast_reader(self) -> FastStateReader:
        """Reader of regular messages, for machine code that does more than read them."""
        return self._fast_reader

    # -- regular messages, which machine code reads -----------------------------------------------

    def _learn(self, source: _Source, stamp: int, now: float) -> None:
        """Let machine code read messages like the last one from now on, if it can."""
        if not (source.naming.in_order and source.leads and stamp):
            return
        # Not those of two publishers in turns.
        if now - self._learned < LEARNING_PERIOD:
            return
        if self._fast_reader.learn(self._reader.pattern(READS_BEFORE_PATTERN)):
            self._fast_source, self._fast_layout = source, self._reader.layout
            self._learned = now

    def _stop_fast_reading(self) -> None:
        self._fast_reader.forget()
        self._fast_source = self._fast_layout = None
        self._learned = -math.inf

    def _catch_up(self) -> None:
        """Note the states that machine code has read since the last message read here."""
        source, seen = self._fast_source, self._fast_reader.seen
        if seen == -math.inf:
            return
        state = self.taken()
        self._fast_reader.noted()
        source.stamp, source.received = self._fast_reader.stamp, seen
        source.guard.passed(source.stamp / NANOSECONDS)
        self._time = source.stamp
        self._seen[:] = seen
        self._incomplete_since = math.inf
        self._q, self._v = self._fast_reader.q.copy(), self._fast_reader.v.copy()
        self._last = replace(state, q=self._q, v=self._v)

    def _expect_next(self, now: float) -> None:
        """Set what the next regular message is compared with."""
        source = self._fast_source
        if source is not None:
            # While publishers contradict each other, no message is regular.
            stamp = source.stamp if self._conflict_until <= now else 0
            self._fast_reader.expect(self._q, self._v, stamp)

    # -- all other messages -----------------------------------------------------------------------

    def _update(self, message: JointStateData, now: float) -> Optional[MeasuredState]:
        source = self._sources.get(message.names) or self._new_source(message.names)
        naming, stamp = source.naming, message.stamp
        position, velocity = message.position, message.velocity
        self._check_lengths(naming, position, velocity)
        # Copies either way: numbers within a message are not aligned as kernels want them.
        if naming.in_order:
            position = position.copy()
            velocity = None if velocity is None else velocity.copy()
        else:
            position = position[naming.source]
            velocity = None if velocity is None else velocity[naming.source]
        restarted = self._check(source, stamp, position, velocity)
        # Whole turns of joints without limits are no change.
        change = position - (self._q if naming.in_order else self._q[naming.target])
        change = source.wraparound(change)
        self._check_publishers(naming, position, change, velocity, now)
        dt = self._elapsed(source, stamp, now)
        if self._leaped(source, position, change, velocity, dt):
            dt = 0.0
            velocity = np.zeros(naming.target.size) if velocity is None else velocity
        if velocity is None:
            velocity = self._differentiate(naming, change, dt)
        source.stamp, source.received = stamp, now
        source.messages += 1
        target = naming.target
        if target.size == self._q.size:
            # A message with all joints: arrays of their own, so that nothing has to be copied.
            self._q, self._v = self._in_robot_order(naming, position, velocity)
            self._seen[:] = now
            self._incomplete_since = math.inf
            q, v = self._q, self._v
        else:
            self._q, self._v = q, v = self._q.copy(), self._v.copy()
            q[target], v[target], self._seen[target] = position, velocity, now
            if not self._complete(now):
                return None
        if self._reader.layout is not self._fast_layout:
            self._learn(source, stamp, now)
        if not source.leads:
            return MeasuredState(q, v, stamp, self._time, 0.0, False)
        self._time = stamp or round(now * NANOSECONDS)
        return MeasuredState(q, v, stamp, self._time, dt, restarted)

    @staticmethod
    def _in_robot_order(naming: Naming, position: np.ndarray, velocity: np.ndarray) -> tuple:
        if naming.in_order:
            return position, velocity
        q, v = np.empty(naming.target.size), np.empty(naming.target.size)
        q[naming.target], v[naming.target] = position, velocity
        return q, v

    @staticmethod
    def _check_lengths(
        naming: Naming, position: Optional[np.ndarray], velocity: Optional[np.ndarray]
    ) -> None:
        if position is None:
            raise MessageProblem('position empty', 'position is empty')
        for field, values in (('position', position), ('velocity', velocity)):
            if values is not None and values.size != naming.size:
                raise MessageProblem(
                    f'{field} has wrong length',
                    f'{field} has {values.size} elements for {naming.size} names',
                )

    def _new_source(self, names: NameList) -> _Source:
        naming = self._names.naming(names.names)
        if not naming.target.size:
            raise MessageProblem('no known joints', 'it names no joint of the robot')
        if len(self._sources) >= MAX_SOURCES:
            # A publisher that invents names must not fill the memory.
            del self._sources[min(self._sources, key=lambda k: self._sources[k].received)]
            self._stop_fast_reading()
        guards = [self._guard(naming.target, naming.names) for _ in range(2)]
        leads = self._leading_joint in naming.target
        wraparound = Wraparound(self._periods[naming.target])
        source = self._sources[names] = _Source(naming, leads, guards, wraparound)
        self._report_unknown(source)
        return source

    def _guard(self, target: Any, names: Sequence[str]) -> StateGuard:
        """Return the guard of some joints.

        :param target: indices of these joints among the robot's
        :param names: their names
        """
        lower, upper, margin = self._limits
        return StateGuard(names, lower=lower[target], upper=upper[target], limit_margin=margin)

    def _report_unknown(self, source: _Source) -> None:
        if source.naming.unknown:
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'unknown joints ignored: {shorten(source.naming.unknown)}',
                code='unknown joints',
            )

    def _check(
        self, source: _Source, stamp: int, position: np.ndarray, velocity: Optional[np.ndarray]
    ) -> bool:
        """Refuse implausible values and times; return whether the source's time began again."""
        # Stamp zero means that the publisher does not know the time.
        guard = source.guard if stamp else source.unstamped
        at = stamp / NANOSECONDS if stamp else float(source.messages)
        still = np.zeros(position.size) if velocity is None else velocity
        problem = guard.check(at, position, still)
        if problem is not None and problem.kind != 'time_repeated':
            raise MessageProblem(problem.kind.replace('_', ' '), problem.message)
        if not guard.time_jumped:
            return False
        self._diagnostics.event(
            SUBJECT,
            WARN,
            'time went back and stays there (simulation or bag restarted): continuing from the '
            'new time',
            code='time restarted',
        )
        source.stamp, source.received = 0, -math.inf
        return source.leads

    def _check_publishers(
        self,
        naming: Naming,
        position: np.ndarray,
        change: np.ndarray,
        velocity: Optional[np.ndarray],
        now: float,
    ) -> None:
        """Refuse states while two publishers contradict each other about the same joint.

        One publisher may put the robot elsewhere at once (a simulation was reset). When there are
        several, it more likely is two robots taking turns.
        """
        target = naming.target
        # Where the sum of squares is small, so is each of them.
        if now >= self._conflict_until and change.dot(change) <= AGREEMENT**2:
            return
        change = np.abs(change)
        if now >= self._conflict_until and change.max() <= AGREEMENT:
            return
        elapsed = np.minimum(now - self._seen[target], CONFLICT_WINDOW)
        speed = np.abs(self._v[target]) + (0.0 if velocity is None else np.abs(velocity))
        apart = change > AGREEMENT + 2.0 * speed * elapsed
        apart &= elapsed < CONFLICT_WINDOW
        if apart.any() and self.publishers > 1:
            names = shorten(self._names.joint_names[i] for i in target[apart])
            self._conflict = (
                f'two publishers publish contradictory states of {names}; stop one of them'
            )
            self._conflict_until = now + CONFLICT_WINDOW
        if now < self._conflict_until:
            # What the next message is compared with, even though it is not used.
            self._q = self._q.copy()
            self._q[target], self._seen[target] = position, now
            raise MessageProblem(CONTRADICTION, self._conflict)

    def _leaped(
        self,
        source: _Source,
        position: np.ndarray,
        change: np.ndarray,
        velocity: Optional[np.ndarray],
        dt: float,
    ) -> bool:
        """Refuse positions that no velocity explains; return whether the robot is there to stay.

        One state may be garbage. States in a row that agree with each other are a robot that was
        put elsewhere, as when a simulation is reset.
        """
        size = np.abs(change)
        if source.received == -math.inf or size.max(initial=0.0) <= LEAP:
            source.elsewhere = None
            return False
        target = source.naming.target
        speed = self._fastest[target]
        measured = np.inf if velocity is None else np.abs(self._v[target]) + np.abs(velocity)
        speed = np.where(np.isnan(speed), measured, speed)
        most = LEAP + LEAP_SPEED * speed * max(dt, SHORTEST_INTERVAL)
        beyond = size > most
        if not beyond.any():
            source.elsewhere = None
            return False
        before, source.elsewhere = source.elsewhere, position
        agree = before is not None and (np.abs(source.wraparound(position - before)) <= most).all()
        source.agreeing = source.agreeing + 1 if agree else 1
        j = int(np.argmax(np.where(beyond, size - most, -np.inf)))
        text = (
            f'position of joint {source.naming.names[j]!r} jumps by {change[j]:.3g} rad or m '
            f'within {dt:.3g} s, more than any plausible velocity allows'
        )
        if source.agreeing < STATES_ELSEWHERE:
            raise MessageProblem(
                'position jumped', f'{text}; check its encoder and the limits of its position'
            )
        self._diagnostics.event(
            SUBJECT, WARN, f'{text}, and stays there: continuing from there', code='put elsewhere'
        )
        source.elsewhere = None
        return True

    @staticmethod
    def _elapsed(source: _Source, stamp: int, now: float) -> float:
        """Time since the message before of the same source, by its stamps if it has any [s]."""
        if stamp and source.stamp:
            return (stamp - source.stamp) / NANOSECONDS
        return now - source.received if source.received > -math.inf else 0.0

    def _differentiate(self, naming: Naming, change: np.ndarray, dt: float) -> np.ndarray:
        """Return the velocities from changes of position, (k,), for publishers that send none."""
        if self.needs_velocity:
            self._diagnostics.event(
                SUBJECT,
                WARN,
                'no velocities: the node computes them from positions',
                code='velocity empty',
            )
        target = naming.target
        if not 0.0 < dt < MAX_DIFFERENCE:
            return self._v[target] if dt == 0.0 else np.zeros(target.size)
        weight = dt / (dt + VELOCITY_FILTER)
        return self._v[target] + weight * (change / dt - self._v[target])

    def _complete(self, now: float) -> bool:
        """Return whether every joint has a state that is not too old."""
        fresh = now - self._seen[self._required] < self._limit
        if fresh.all():
            self._incomplete_since = math.inf
            return True
        # Parts of one state arrive one after another: that is no news until it lasts.
        self._incomplete_since = min(self._incomplete_since, now)
        if now - self._incomplete_since > INCOMPLETE_PATIENCE:
            absent = [self._names.joint_names[i] for i in self._required[~fresh]]
            self.last_problem = (
                f'no state of {shorten(absent)}; publish it on joint_states, or name joints '
                'without a sensor in the parameter optional_joints'
            )
            self._diagnostics.event(SUBJECT, WARN, self.last_problem, code='joints missing')
        return False

    # -- reports ----------------------------------------------------------------------------------

    def every_second(self) -> None:
        """Report that there are too many or too few publishers."""
        if self._subscription is None:
            return
        publishers, now = self.publishers, time.monotonic()
        self._lonely_seconds = 0 if publishers else self._lonely_seconds + 1
        if self._lonely_seconds >= LONELY:
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'no node publishes {self._subscription.topic_name}',
                code='no publisher',
            )
        fast, seen = self._fast_source, self._fast_reader.seen
        heard = [
            s
            for s in list(self._sources.values())
            if now - max(s.received, seen if s is fast else s.received) < CONFLICT_WINDOW
        ]
        for source in heard:
            self._report_unknown(source)
        together = [i for source in heard for i in source.naming.target]
        if publishers > 1 and (len(heard) < publishers or len(set(together)) < len(together)):
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'{publishers} publishers on {self._subscription.topic_name}, some for the same '
                'joints or for none of this robot',
                code='several publishers',
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
