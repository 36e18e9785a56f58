# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Fast path of the control loop: from the bytes of a state to those of its torque in one call.

It is open while only the state changes, with the desired motion at rest and constant law and
options. Any other change closes it. The next state takes the slow path, with the same result, and
opens the fast path again.
"""

from __future__ import annotations

import threading
from typing import Callable, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.compiler.loops import entry_point, Record
from rbd_ros.control import LawMemory, LimiterMemory
from rbd_ros.control.law.hand_guiding import BRAKING, GuidingMemory
from rbd_ros.control.law.limits import limiter_sent
from rbd_ros.control.law.soft_stops import StopsMemory
from rbd_ros.nodes.common.cycle_timer import add_cycle, CycleMemory
from rbd_ros.nodes.torque.compiled_answer import answered, CompiledAnswer, TorqueMessages
from rbd_ros.nodes.torque.compiled_state import (
    COMPLETE,
    NOT_TAKEN,
    SourceMemory,
    StateMemory,
    StatePattern,
    taken,
)
from rbd_ros.nodes.torque.motion_reference import MEASURED, MOVING, Reference
from rbd_ros.nodes.torque.overspeed import fastest_excess
from rbd_ros.nodes.torque.state_input import StateInput

#: Maximum time between two states on the fast path [s]; the motion advances by all of it.
MAX_STEP = 0.01

#: Additional status values: answered, and answered with braking hand guiding. Others are those of
#: compiled_state.py.
ANSWERED, BRAKED = 1, 7


class CycleState(NamedTuple):
    """State of the fast path besides law, limits and previous state.

    :param open: 1 while states may take the fast path, (1,)
    :param timeout: gap after which a torque does not continue the last one [s]; 0: none
    :param fed: time at which the watchdog was last fed [s], (1,)
    :param max_speed: speeds beyond which states take the slow path, (n,) [rad/s or m/s]
    :param measured: 1 if the desired position is the measured one, 0 if it is constant, (1,)
    :param counts: numbers of sent and of saturated torques, (2,)
    :param passed: number of states unknown to the reference, and time of the last one [ns], (2,)
    :param rested: time of these states, and between the last two [s], (2,)
    """

    open: np.ndarray
    timeout: float
    fed: np.ndarray
    max_speed: np.ndarray
    measured: np.ndarray
    counts: np.ndarray
    passed: np.ndarray
    rested: np.ndarray


@entry_point
def fast_cycle(
    pattern: StatePattern,
    source: SourceMemory,
    memory: StateMemory,
    law: LawMemory,
    guiding: GuidingMemory,
    stops: StopsMemory,
    limiter: LimiterMemory,
    messages: TorqueMessages,
    cycle: CycleState,
    data: bytes,
    size: int,
    now: float,
) -> int:
    """Answer a regular state.

    :param data: serialized message
    :param size: its size [bytes]
    :param now: present time of a steady clock [s]
    :return: ANSWERED or BRAKED if messages are written; NOT_TAKEN if nothing has changed;
        otherwise the status of the message, which is still to be reported or answered
    """
    if cycle.open[0] == 0 or (cycle.timeout > 0.0 and now - cycle.fed[0] > cycle.timeout):
        return NOT_TAKEN
    status = taken(pattern, source, memory, data, size, now)
    dt = memory.dt[0]
    if status != COMPLETE or memory.notes[0] != 0 or not 0.0 < dt <= MAX_STEP:
        return status
    if fastest_excess(cycle.max_speed, memory.state[1]) >= 0:
        return status
    for j in range(len(memory.seen)):
        law.motion[0, j] = memory.state[0, j]
        law.motion[1, j] = memory.state[1, j]
        if cycle.measured[0] == 1:
            law.motion[2, j] = memory.state[0, j]
    beyond = answered(law, guiding, stops, limiter, messages, dt, now, memory.stamp[0])
    if beyond < 0:
        return status
    cycle.counts[0] += 1
    if beyond > 0:
        cycle.counts[1] += 1
    cycle.passed[0] += 1
    cycle.passed[1] = memory.stamp[1]
    cycle.rested[0] += dt
    cycle.rested[1] = dt
    return BRAKED if guiding.exist and guiding.state[BRAKING] > 0.0 else ANSWERED


@entry_point
def end_cycle(
    timer: CycleMemory, cycle: CycleState, limiter: LimiterMemory, begin: float, end: float
) -> int:
    """Record the times of a cycle whose torque was sent, and feed the watchdog.

    :param begin: begin of the cycle on a monotonic clock [s]
    :param end: its end [s]
    :return: 0
    """
    add_cycle(timer, begin, end)
    cycle.fed[0] = end
    limiter_sent(limiter, end)
    return 0


def _decline(data: bytes, size: int, now: float) -> int:
    """Stand in for `fast_cycle` until it is opened first."""
    return NOT_TAKEN


class FastCycle:
    """The fast path and its state.

    `close` is for any thread; `run` for the holder of `lock`; all else for the control loop.

    :param states: input, whose memory it uses
    :param answers: compiled law, limits and messages, likewise
    :param counts: numbers of sent and of saturated torques, (2,) of int64
    :param is_open: 1 while states may take the fast path, (1,) of int64
    :param fed: memory of the watchdog
    :param timeout: timeout of the watchdog [s]; 0: none
    :param timer: memory of the timer of the loop
    :param lock: held while `run` is called
    :param max_speed: speeds beyond which states take the slow path, (n,) [rad/s or m/s]
    """

    def __init__(
        self,
        states: StateInput,
        answers: CompiledAnswer,
        counts: np.ndarray,
        is_open: np.ndarray,
        fed: np.ndarray,
        timeout: float,
        timer: Record,
        lock: threading.Lock,
        max_speed: np.ndarray,
    ):
        self._states, self._answers, self._lock = states, answers, lock
        self._open = is_open
        measured, passed = np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.int64)
        state = CycleState(is_open, timeout, fed, max_speed, measured, counts, passed, np.zeros(2))
        self._state, self._record = state, Record(state)
        self._bound: Tuple[Optional[Record], ...] = ()
        self._reference: Optional[Reference] = None
        #: Answers a message, given bytes, size and time: see `fast_cycle`
        self.run: Callable[[bytes, int, float], int] = _decline
        #: Records begin and end of a cycle whose torque was sent; under the lock
        self.end: Callable[[float, float], int] = end_cycle.bind(
            timer, self._record, answers.records[2], release_gil=False
        )

    def open(self, reference: Reference, may: Callable[[], bool]) -> None:
        """Open the fast path if possible.

        :param reference: reference of the last answer
        :param may: returns whether nothing else can change the answer
        """
        compiled_layout, law = self._states.compiled_layout, self._answers.law_record
        if compiled_layout is None or law is None:
            return
        self._reference = reference
        # First: a thread that changes something meanwhile closes it afterwards.
        self._open[0] = 1
        rest = reference.rest_kind()
        if rest == MOVING or not may():
            self._open[0] = 0
            return
        self._state.measured[0] = rest == MEASURED
        bound = (*compiled_layout, law)
        if self._bound != bound:
            self._bound = bound
            self.run = fast_cycle.bind(
                *compiled_layout,
                self._states.record,
                law,
                *self._answers.records,
                self._record,
                release_gil=False,
            )

    def close(self) -> None:
        """Close the fast path, and notify the reference of the states that took it."""
        self._open[0] = 0
        with self._lock:
            passed, time = self._state.passed.tolist()
            if passed and self._reference is not None:
                elapsed, dt = self._state.rested.tolist()
                self._state.passed[0], self._state.rested[0] = 0, 0.0
                self._reference.advance_at_rest(time, elapsed, dt, passed)
