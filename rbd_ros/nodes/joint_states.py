"""Measured state from `joint_states`, whatever its publishers send.

Messages come in any order of joints, in parts, with empty or short fields, with NaN, from the
past, from two publishers at once. Each is taken or refused as a whole; a refused one is reported
and changes nothing.
"""

from __future__ import annotations

import math
import time
from typing import Dict, NamedTuple, Optional, Sequence

import numpy as np
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from rbd_ros.control import StateGuard
from rbd_ros.nodes.conversions import (
    JointNames,
    MessageProblem,
    Naming,
    NANOSECONDS,
    nanoseconds,
    read_field,
    shorten,
)
from rbd_ros.nodes.diagnostics import Diagnostics, ERROR, OK, WARN
from rbd_ros.robot import Robot

SUBJECT = 'joint_states'

CONFLICT_WINDOW = 1.0  # seconds that a contradiction between publishers is remembered
# rad or m by which two publishers of the same joint may differ, beyond its motion in between
AGREEMENT = 0.02
CONTRADICTION = 'publishers contradict each other'
VELOCITY_FILTER = 0.005  # time constant of velocities worked out from positions [s]


class MeasuredState(NamedTuple):
    """State of all joints.

    :param q: positions, (n,)
    :param v: velocities, (n,)
    :param time: time stamp of the message that completed the state, or the time at which it came
        if it has none [ns]
    """

    q: np.ndarray
    v: np.ndarray
    time: int


class _Source:
    """What is remembered of the messages with one order of names, mostly one publisher's."""

    def __init__(self, naming: Naming, joint_names: Sequence[str]):
        names = [joint_names[i] for i in naming.target]
        self.guard, self.unstamped = StateGuard(names), StateGuard(names)
        self.stamp = 0
        self.received = -math.inf


class JointStateInput:
    """Turns JointState messages into the state of a robot with one degree of freedom a joint.

    :param robot: the robot
    :param diagnostics: where refused messages are reported
    :param timeout: age at which a joint's state no longer counts [s]; 0 or less: never
    :param optional_joints: joints that may be absent; until they are seen they are at rest in
        neutral position
    :param needs_velocity: whether velocities are used, so that their absence is worth a word
    """

    def __init__(
        self,
        robot: Robot,
        diagnostics: Diagnostics,
        timeout: float,
        optional_joints: Sequence[str] = (),
        needs_velocity: bool = False,
    ):
        mimics = [
            b.joint_name for b in robot.model.bodies if b.joint_name not in robot.joint_names
        ]
        self._names = JointNames(robot.joint_names, [*mimics, *robot.model.joint_frames])
        self._diagnostics = diagnostics
        self._limit = timeout if timeout > 0.0 else math.inf
        self._needs_velocity = needs_velocity
        self._sources: Dict[Naming, _Source] = {}
        self._q = robot.neutral()
        self._v = np.zeros(robot.nv)
        self._seen = np.full(robot.nv, -math.inf)
        optional = [robot.joint_names.index(name) for name in optional_joints]
        self._required = np.setdiff1d(np.arange(robot.nv), optional)
        self._conflict_until = -math.inf
        self._conflict = ''
        self._incomplete_since = math.inf
        self.messages = 0
        self.refused = 0
        self.last_problem = ''
        self._subscription: Optional[Subscription] = None

    def attach(self, subscription: Subscription) -> None:
        """Tell from which subscription the messages come."""
        self._subscription = subscription

    @property
    def publishers(self) -> int:
        """Number of publishers that are connected."""
        return self._subscription.get_publisher_count()

    def update(self, message: JointState, now: float) -> Optional[MeasuredState]:
        """Take a message.

        :param now: present time of a steady clock [s]
        :return: the state of all joints, or None if it is not complete or cannot be trusted
        """
        self.messages += 1
        try:
            return self._update(message, now)
        except MessageProblem as problem:
            self.refused += 1
            self.last_problem = str(problem)
            level = ERROR if problem.code == CONTRADICTION else WARN
            self._diagnostics.event(
                SUBJECT, level, f'message refused: {problem}', code=problem.code
            )
            return None

    def _update(self, message: JointState, now: float) -> Optional[MeasuredState]:
        naming = self._names.naming(message.name)
        if naming.unknown:
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'unknown joints ignored: {shorten(naming.unknown)}',
                code='unknown joints',
            )
        if not naming.target.size:
            raise MessageProblem('no known joints', 'it names no joint of the robot')
        position = read_field(message, 'position', naming, required=True)
        velocity = read_field(message, 'velocity', naming)
        self._check_finite('position', position, naming)
        if velocity is not None:
            self._check_finite('velocity', velocity, naming)
        self._check_publishers(naming, position, velocity, now)
        source = self._source(naming)
        stamp = nanoseconds(message.header.stamp)
        self._check_time(source, stamp, position, velocity)
        if velocity is None:
            velocity = self._differentiate(source, naming, position, stamp, now)
        target = naming.target
        self._q[target], self._v[target], self._seen[target] = position, velocity, now
        source.stamp, source.received = stamp, now
        if target.size == self._q.size:
            self._incomplete_since = math.inf
        elif not self._complete(now):
            return None
        return MeasuredState(self._q.copy(), self._v.copy(), stamp or round(now * NANOSECONDS))

    def _source(self, naming: Naming) -> _Source:
        source = self._sources.get(naming)
        if source is None:
            if len(self._sources) > 64:
                self._sources.clear()
            source = self._sources[naming] = _Source(naming, self._names.joint_names)
        return source

    def _check_finite(self, field: str, values: np.ndarray, naming: Naming) -> None:
        if math.isfinite(values.sum()):
            return
        bad = [self._names.joint_names[i] for i in naming.target[~np.isfinite(values)]]
        raise MessageProblem(
            f'{field} not finite',
            f'{field} is not finite for {shorten(bad) or "the sum of its joints"}',
        )

    def _check_time(
        self, source: _Source, stamp: int, position: np.ndarray, velocity: Optional[np.ndarray]
    ) -> None:
        if velocity is None:
            velocity = np.zeros(position.size)
        # Stamp zero means that the publisher does not tell the time.
        guard = source.guard if stamp else source.unstamped
        problem = guard.check(stamp / NANOSECONDS if stamp else self.messages, position, velocity)
        if problem is not None and problem.kind != 'time_repeated':
            raise MessageProblem(problem.kind.replace('_', ' '), problem.message)
        if guard.time_jumped:
            self._diagnostics.event(
                SUBJECT,
                WARN,
                'time went back and stays there (simulation or bag restarted): going on from the '
                'new time',
                code='time restarted',
            )
            source.stamp, source.received = 0, -math.inf

    def _check_publishers(
        self, naming: Naming, position: np.ndarray, velocity: Optional[np.ndarray], now: float
    ) -> None:
        """Refuse states while two publishers contradict each other about the same joint.

        One publisher may put the robot elsewhere at once (a simulation was reset). When there are
        several, it more likely is two robots taking turns.
        """
        target = naming.target
        change = np.abs(position - self._q[target])
        if now >= self._conflict_until and change.max() <= AGREEMENT:
            return
        elapsed = np.minimum(now - self._seen[target], CONFLICT_WINDOW)
        speed = np.abs(self._v[target]) + (0.0 if velocity is None else np.abs(velocity))
        apart = change > AGREEMENT + 2.0 * speed * elapsed
        apart &= elapsed < CONFLICT_WINDOW
        if apart.any() and self.publishers > 1:
            names = shorten([self._names.joint_names[i] for i in target[apart]])
            self._conflict = (
                f'two publishers contradict each other about {names}; stop one of them'
            )
            self._conflict_until = now + CONFLICT_WINDOW
        if now < self._conflict_until:
            # What the next message is compared with, even though it is not used.
            self._q[target], self._seen[target] = position, now
            raise MessageProblem(CONTRADICTION, self._conflict)

    def every_second(self) -> None:
        """Report publishers that are too many or too few."""
        publishers, now = self.publishers, time.monotonic()
        if not publishers:
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'nobody publishes {self._subscription.topic_name}',
                code='no publisher',
            )
        heard = [n for n, s in self._sources.items() if now - s.received < CONFLICT_WINDOW]
        together = [i for naming in heard for i in naming.target]
        if publishers > 1 and (len(heard) < publishers or len(set(together)) < len(together)):
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'{publishers} publishers on {self._subscription.topic_name}, some for the same '
                'joints or for none of '
                'this robot',
                code='several publishers',
            )

    def _differentiate(
        self, source: _Source, naming: Naming, position: np.ndarray, stamp: int, now: float
    ) -> np.ndarray:
        """Velocities from successive positions, (k,), for publishers that send none."""
        if self._needs_velocity:
            self._diagnostics.event(
                SUBJECT,
                WARN,
                'no velocities: they are worked out from positions',
                code='velocity empty',
            )
        target = naming.target
        if stamp and source.stamp:
            dt = (stamp - source.stamp) / NANOSECONDS
        else:
            dt = now - source.received
        if not 0.0 < dt < 0.5:
            return self._v[target] if dt == 0.0 else np.zeros(target.size)
        weight = dt / (dt + VELOCITY_FILTER)
        change = (position - self._q[target]) / dt
        return self._v[target] + weight * (change - self._v[target])

    def _complete(self, now: float) -> bool:
        """Whether every joint has a state that is not too old."""
        fresh = now - self._seen[self._required] < self._limit
        if fresh.all():
            self._incomplete_since = math.inf
            return True
        # Parts of one state arrive one after another: that is no news until it lasts.
        self._incomplete_since = min(self._incomplete_since, now)
        if now - self._incomplete_since > 0.2:
            absent = [self._names.joint_names[i] for i in self._required[~fresh]]
            self.last_problem = f'no state of {shorten(absent)}'
            self._diagnostics.event(SUBJECT, WARN, self.last_problem, code='joints missing')
        return False

    def lost(self, timeout: float) -> None:
        """Report that there has been no usable state for `timeout` seconds."""
        reason = f' ({self.last_problem})' if self.refused or self.last_problem else ''
        self._diagnostics.condition(
            SUBJECT, ERROR, f'no usable state for {timeout:g} s{reason}', code='lost'
        )

    def found(self) -> None:
        """Report that there is a usable state."""
        self.last_problem = ''
        self._diagnostics.condition(SUBJECT, OK, 'receiving', code='receiving')
