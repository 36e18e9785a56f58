# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compiled code from a state to its torque messages: law, hand guiding, soft stops, limits.

At 1 kHz, most of the interpreter's data has left the processor's caches: calling the parts from
Python costs several times as much as the parts.
"""

from __future__ import annotations

from typing import NamedTuple, Optional

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import compiled, entry_point, Record
from rbd_ros.control import LawMemory, LimiterMemory, TorqueLaw, TorqueLimiter
from rbd_ros.control.law.hand_guiding import guide, GuidingMemory, NO_GUIDING, SHARE
from rbd_ros.control.law.limits import limit
from rbd_ros.control.law.prepared_law import holding_torque, law_torque, Q, V
from rbd_ros.control.law.soft_stops import bound, NO_STOPS, SoftStops, StopsMemory
from rbd_ros.nodes.messages.conversions import EARLIEST, LATEST, NANOSECONDS
from rbd_ros.nodes.torque.motion_reference import Motion
from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.nodes.torque.torque_output import TorqueOutput

LOW_HALF = 0xFFFFFFFF

#: Results of `answer` and `pass_on` without a message: the law's torque is not finite; the input
#: of the limits is NaN.
NOT_FINITE, NOT_A_NUMBER = -1, -2


class TorqueMessages(NamedTuple):
    """Views of the numbers in the published messages.

    :param joints: indices of the commanded joints, (m,)
    :param stamp: time stamp of the message by name: seconds in the lower half of a word,
        nanoseconds in the upper, (1,)
    :param by_name: efforts of the message by name, (m,), or (0,) if it is not published [N m or N]
    :param by_order: efforts of the message by order, likewise
    """

    joints: np.ndarray
    stamp: np.ndarray
    by_name: np.ndarray
    by_order: np.ndarray


@compiled
def limit_and_encode(
    stops: StopsMemory,
    limiter: LimiterMemory,
    messages: TorqueMessages,
    torque: FloatArray,
    q: FloatArray,
    v: FloatArray,
    now: float,
    stamp: int,
) -> int:
    """Bound and limit a torque, and write it into the messages; the result is `limiter.last`.

    :param stops: memory of the soft stops, with the weight if they exist
    :param limiter: memory of the limiter
    :param messages: views of the messages' numbers
    :param torque: requested torque, (n,) [N m or N]
    :param q: measured position, (n,)
    :param v: measured velocity, (n,)
    :param now: time of a monotonic clock, for the rate of change [s]
    :param stamp: time of the state [ns]
    :return: number of joints with a torque beyond the effort limits, or `NOT_A_NUMBER`
    """
    if stops.exist:
        bound(stops, torque, q, v, limiter.limits)
        beyond = limit(limiter, stops.torque, now)
    else:
        beyond = limit(limiter, torque, now)
    if beyond < 0:
        return NOT_A_NUMBER
    for k in range(len(messages.by_name)):
        messages.by_name[k] = limiter.last[messages.joints[k]]
    for k in range(len(messages.by_order)):
        messages.by_order[k] = limiter.last[messages.joints[k]]
    # A received stamp may exceed the range of messages, which must not suppress a torque.
    time = min(max(stamp, EARLIEST), LATEST)
    seconds = (time // NANOSECONDS) & LOW_HALF  # they may be negative
    messages.stamp[0] = ((time % NANOSECONDS) << 32) | seconds
    return beyond


@compiled
def answered(
    law: LawMemory,
    guiding: GuidingMemory,
    stops: StopsMemory,
    limiter: LimiterMemory,
    messages: TorqueMessages,
    dt: float,
    now: float,
    stamp: int,
) -> int:
    """Compute the torque of a law and pass it on.

    :param law: memory of the law, with the motion
    :param guiding: memory of hand guiding, whose torque is added
    :param dt: time since the previous state [s]
    :return: as `limit_and_encode`, or `NOT_FINITE`
    """
    if law_torque(law, dt) == 0:
        return NOT_FINITE
    if stops.exist:
        holding_torque(law, stops.weight)
    q, v = law.motion[Q], law.motion[V]
    if guiding.exist and guiding.state[SHARE] > 0.0:
        guide(guiding, q, v, dt)
        for j in range(len(law.applied)):
            law.result[j] += guiding.torque[j]
            law.before[j] = law.applied[j] = law.result[j]
    beyond = limit_and_encode(stops, limiter, messages, law.result, q, v, now, stamp)
    if beyond >= 0:
        for j in range(len(law.applied)):
            law.applied[j] = limiter.last[j]
    return beyond


#: `answered` and `limit_and_encode` for Python
answer, pass_on = entry_point(answered), entry_point(limit_and_encode)


class CompiledAnswer:
    """Law, soft stops, limits and messages in compiled code with shared memory.

    :param limiter: limits
    :param output: messages
    :param stops: soft stops; None: none
    :param guiding: memory of hand guiding
    """

    def __init__(
        self,
        limiter: TorqueLimiter,
        output: TorqueOutput,
        stops: Optional[SoftStops],
        guiding: GuidingMemory = NO_GUIDING,
    ):
        limits, messages = limiter.record, Record(TorqueMessages(*output.places))
        self._stops = NO_STOPS if stops is None else stops.memory
        behind = Record(self._stops), limits, messages
        #: Records of hand guiding, soft stops, limiter and messages
        self.records = Record(guiding), *behind
        self._limit_and_encode = pass_on.bind(*behind, release_gil=False)
        self._pass_on_last = pass_on.bind(Record(NO_STOPS), limits, messages, release_gil=False)
        #: Record of the last used law
        self.law_record: Optional[Record] = None
        self._memory: Optional[LawMemory] = None
        #: The last torque, (n,); overwritten by the next
        self.torque = limiter.memory.last

    @property
    def stopped(self) -> int:
        """Number of torques that soft stops have bounded."""
        return self._stops.counts.item(1)

    def prepare(self, law: TorqueLaw) -> None:
        """Change the law or its settings."""
        self._memory = memory = law.memory()
        self._q, self._v, self._q_desired, self._v_desired, self._a_desired, *_ = memory.motion
        self.law_record = Record(memory)
        self._answer = answer.bind(self.law_record, *self.records, release_gil=False)

    def by_law(self, law: TorqueLaw, state: MeasuredState, motion: Motion, now: float) -> None:
        """Fill the messages with the torque of a law.

        :param state: measured state
        :param motion: desired motion
        :param now: time of a monotonic clock [s]
        :raises FloatingPointError: if it is not finite, naming the joints
        """
        if law.memory() is not self._memory:
            self.prepare(law)
        self._q[...], self._v[...] = state.q, state.v
        self._q_desired[...], self._v_desired[...], self._a_desired[...] = motion
        status = self._answer(state.dt, now, state.stamp)
        if status == NOT_FINITE:
            raise FloatingPointError(law.problem)
        _check_status(status)

    def by_torque(
        self, torque: np.ndarray, weight: Optional[np.ndarray], state: MeasuredState, now: float
    ) -> None:
        """Fill the messages with a torque that was computed elsewhere.

        :param torque: requested torque, (n,) [N m or N]
        :param weight: gravity torque, (n,) [N m or N]; None without soft stops
        :param state: measured state
        :param now: time of a monotonic clock [s]
        :raises FloatingPointError: if it is not finite
        """
        if weight is not None:
            self._stops.weight[:] = weight
        numbers = [np.ascontiguousarray(x, dtype=float) for x in (torque, state.q, state.v)]
        if any(x.shape != self.torque.shape for x in numbers):
            raise ValueError('the torque is not one of all joints of the robot')
        _check_status(self._limit_and_encode(*numbers, now, state.stamp))

    def by_last_torque(self, torque: np.ndarray, now: float, stamp: int) -> None:
        """Fill the messages with the next torque towards the last one, within the limits.

        :param torque: last torque, (n,) [N m or N]
        :param now: time of a monotonic clock [s]
        :param stamp: present time [ns]
        :raises FloatingPointError: if it is not finite
        """
        _check_status(self._pass_on_last(torque, torque, torque, now, stamp))


def _check_status(status: int) -> None:
    if status == NOT_A_NUMBER:
        raise FloatingPointError('the torque is NaN and cannot be limited')
