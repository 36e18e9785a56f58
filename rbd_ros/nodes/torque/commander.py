# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The only sender of torques: limits, messages, and the last command."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Optional

import numpy as np

from rbd_ros.control import TorqueLaw, TorqueLimiter
from rbd_ros.control.law.hand_guiding import GuidingMemory, NO_GUIDING
from rbd_ros.control.law.soft_stops import SoftStops
from rbd_ros.nodes.torque.compiled_answer import CompiledAnswer
from rbd_ros.nodes.torque.motion_reference import Motion
from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.nodes.torque.torque_output import TorqueOutput

RAMP_PERIOD = 0.005  # between two steps of a rate-limited last command [s]


class Commander:
    """Sender of all torques, within their limits.

    The control loop, the watchdog and the end of the node call it in their threads.

    :param output: publisher of torques
    :param limiter: limits of torque and of its rate in real time
    :param compiled: whether compiled code can compute the law
    :param stops: soft stops, applied before the limits; None: none
    :param guiding: memory of hand guiding
    """

    def __init__(
        self,
        output: TorqueOutput,
        limiter: TorqueLimiter,
        compiled: bool = True,
        stops: Optional[SoftStops] = None,
        guiding: GuidingMemory = NO_GUIDING,
    ):
        self._output = output
        self.limiter = limiter
        #: Law, soft stops, limits and messages, compiled
        self.answers = CompiledAnswer(limiter, output, stops, guiding)
        #: Whether the compiled code includes the law
        self.compiled = compiled
        self._stops = stops
        #: Held during an answer, and by changes of its inputs
        self.lock = threading.Lock()
        #: 1 while states may take the fast path, (1,); set to 0 after any change, see FastCycle
        self.fast_path_open = np.zeros(1, dtype=np.int64)
        #: Numbers of sent and of saturated torques, (2,)
        self.counts = np.zeros(2, dtype=np.int64)
        #: If set, called with law and state before each answer, to change the law's inputs; its
        #: `report` is called after it. While it is `needed`, states take the slow path
        self.adjust: Any = None
        self._closed = False
        self._target: Optional[np.ndarray] = None  # of an unfinished last command
        self.commanding = False  # whether the present torque is not a last command
        self.has_sent = False  # whether a torque was sent since the last `mark_idle`

    @property
    def sent(self) -> int:
        """Number of sent torques of the law."""
        return self.counts[0].item()

    @property
    def saturated(self) -> int:
        """Number of torques of the law beyond the effort limits."""
        return self.counts[1].item()

    @property
    def unchanging(self) -> bool:
        """True if no setting can change between two responses."""
        return not self._closed and (self.adjust is None or not self.adjust.needed)

    def send(self) -> None:
        """Send the messages that machine code has written; the caller holds the lock."""
        self._output.send()

    def prepare(self, law: TorqueLaw) -> None:
        """Compile and allocate everything for a law before the first state."""
        if self.compiled:
            self.answers.prepare(law)

    def answer(self, law: TorqueLaw, state: MeasuredState, motion: Motion) -> Optional[np.ndarray]:
        """Send the torque of the law, within the limits.

        :param state: measured state
        :param motion: desired motion
        :return: sent torque, (n,) [N m or N], overwritten by the next; None after `close`
        :raises FloatingPointError: if the torque is not finite; nothing is sent
        """
        # Checked under the lock: after `close` no answer is running or follows.
        with self.lock:
            if self._closed:
                return None
            if self.adjust is not None:
                self.adjust(law, state)
            if self.compiled:
                self.answers.by_law(law, state, motion, time.monotonic())
            else:
                torque = law(state.q, state.v, *motion, state.dt)
                self._limit_and_encode(torque, law, state)
                law.set_applied_torque(self.answers.torque)
            self._output.send()
            self._sent()
        if self.adjust is not None:
            self.adjust.report()
        return self.answers.torque

    def _limit_and_encode(self, torque: np.ndarray, law: TorqueLaw, state: MeasuredState) -> None:
        """Encode a torque that was computed elsewhere; the caller holds the lock."""
        weight = None if self._stops is None else law.gravity_torque(state.q)
        self.answers.by_torque(torque, weight, state, time.monotonic())

    def _sent(self) -> None:
        """Count a sent torque of the law; the caller holds the lock."""
        self.limiter.mark_sent(time.monotonic())
        self.commanding = self.has_sent = True
        self.counts[0] += 1
        self.counts[1] += self.limiter.is_saturated

    def open(self) -> None:
        """Allow torques, also after `close`."""
        with self.lock:
            self._closed = False
            self.fast_path_open[0] = 0

    def mark_idle(self) -> None:
        """Set that no torque of this node is in effect."""
        with self.lock:
            self.commanding = self.has_sent = False
            self.fast_path_open[0] = 0

    def close(self) -> Optional[np.ndarray]:
        """End torques and any unfinished last command, so that only the final one can follow.

        Two last commands in two threads would alternate.

        :return: target of the unfinished last command, (n,) [N m or N], or None
        """
        with self.lock:
            self._closed = True
            self.fast_path_open[0] = 0
            return self._target

    def finish(
        self,
        torque: np.ndarray,
        stamp: Callable[[], int],
        forced: threading.Event,
        final: bool = False,
        is_superseded: Callable[[], bool] = bool,
    ) -> bool:
        """Send a last torque, in steps if its rate is limited.

        :param torque: last torque, (n,) [N m or N]
        :param stamp: returns the present time [ns]
        :param forced: once set, the rate limit is ignored
        :param final: whether it is the final one, which `close` does not end
        :param is_superseded: returns whether another last command replaces this one
        :return: whether the torque was reached; False if the control loop sent one in between
        """
        with self.lock:
            before = self.sent
            self._target = torque
            self.fast_path_open[0] = 0
        try:
            while True:
                with self.lock:
                    if self.sent != before or (self._closed and not final) or is_superseded():
                        return False
                    if forced.is_set():
                        self.limiter.reset()
                    self.answers.by_last_torque(torque, time.monotonic(), stamp())
                    self._output.send(last=True)
                    self.limiter.mark_sent(time.monotonic())
                    if self.limiter.has_reached(torque):
                        self.commanding = False
                        return True
                forced.wait(RAMP_PERIOD)
        finally:
            self._target = None

    def flush(self) -> None:
        """Wait until subscribers have received all messages."""
        self._output.flush()
