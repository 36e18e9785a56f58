# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lockstep with a controller_manager: exactly one of its cycles in each period.

States and /clock are sent once a period, which update_rate.py defines; receipts.py explains why
/clock waits. The robot does not move in a period without a command. So the motion depends on the
commands only, not on the start-up time or a replacement of the manager.
"""

from __future__ import annotations

from time import perf_counter, sleep
from typing import Any, Callable, Dict, Optional

import numpy as np

from rbd_ros.hil.update_rate import NUDGE_AFTER, nudged, PACE, SETTLING_TIME
from rbd_ros.nodes.common.diagnostics import Diagnostics, OK, WARN
from rbd_ros.nodes.common.receipts import Receipts
from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.simulator.cycle.cycle_ports import Message
from rbd_ros.nodes.simulator.cycle.lockstep import (
    BY_NAME,
    IN_ORDER,
    LockstepPorts,
    stamp_of,
    SUBJECT,
    WAIT,
)
from rbd_ros.wire import ClockWriter, JointStateReader, WireError

#: Checks to suggest if commands are NaN, and if there are none.
INACTIVE = 'a controller is active'
NO_ANSWER = (
    'controller_manager is active with trigger_joint_command_threshold -1, and that start_time is '
    'above each time of an earlier simulator that it has seen'
)


class ManagerPorts(LockstepPorts):
    """Ports of a simulation cycle that wait for the command of each period.

    Stamps of commands are ignored: the hardware interface writes them from a clock that may lag
    behind that of the manager.

    :param ports: wrapped ports (cycle_ports.py)
    :param period: period of the manager, whole cycles [ns]
    :param wait: waits for a command, for a time [s]
    :param diagnostics: diagnostics of the node
    :param timeout: real time after which a period passes without an answer; 0: never [s]
    :param receipts: receipts of states by the hardware interface
    """

    def __init__(
        self,
        ports: Any,
        period: int,
        wait: Callable[[float], None],
        diagnostics: Diagnostics,
        timeout: Callable[[], float],
        receipts: Receipts,
    ):
        super().__init__(ports, IN_ORDER, wait, diagnostics, timeout)
        self._period, self._receipts = period, receipts
        self._publish_time = ports.send_clock
        self.send_clock = self._send_clock
        #: Called in a period without a command, to hold the robot.
        self.hold: Callable[[], None] = lambda: None
        #: Number of periods without a command.
        self.held_periods = 0
        self._held = self._paced = True  # in the last period, and in this one
        self._pace = PACE  # duration of a period in which the robot is held [s]
        self._clock: Optional[bytes] = None  # of this period, unpublished
        self._clock_writer, self._nudges = ClockWriter(), 0
        self._reader = JointStateReader()

    # -- for the cycle ----------------------------------------------------------------------------

    def take_by_order(self) -> Message:
        """Take the answer, if it is an array; manual steps wait for it here."""
        self._finish_period()
        return super().take_by_order()

    def send_state(self, data: bytes) -> None:
        """Send a state; its answer belongs to the next /clock."""
        if stamp_of(data) >= self._stamp + self._period:  # a reset may occur within a period
            self._finish_period()
        self._send(data)

    def _finish_period(self) -> None:
        """Wait for the command of a period that the loop has not waited for.

        If a time is published before the manager wakes up at the last one, it skips a cycle.
        """
        end = perf_counter() + 2.0 * NUDGE_AFTER
        while self._state is not None and not self._paced:
            if not self.ready() and perf_counter() > end:
                self._begin_period(False)

    def _send_clock(self, data: bytes) -> None:
        time = stamp_of(data)
        if self._stamp >= 0 and time < self._stamp + self._period:  # the manager does not wake up
            if self._time_is_published(0.0):
                self._publish_time(data)
            return
        self._drop_commands()  # earlier commands are no answer to this period
        self._state = self._clock = bytes(data)
        self._stamp, self._sent_at, self._nudges = time, perf_counter(), 0
        self._paced = self._held  # without commands, time advances at a pace
        self._receipts.ask(all_nodes=self._paced)
        self._time_is_published(0.0)

    def _time_is_published(self, seconds: float) -> bool:
        """Publish the time after the receipt of the state; return whether it is published.

        At a pace, it is published at the middle of the period if there is no receipt.

        :param seconds: timeout of the receipt
        """
        if self._clock is not None and (self._receipts.wait(seconds) or self._is_half_over()):
            self._publish_time(self._clock)
            self._clock = None
        return self._clock is None

    def _is_half_over(self) -> bool:
        return self._paced and perf_counter() - self._sent_at > self._pace / 2

    # -- for the loop -----------------------------------------------------------------------------

    def ready(self) -> bool:
        """Return whether a cycle is due; wait for a moment if not."""
        published = self._time_is_published(WAIT)
        if self._state is None:
            return published
        waited = perf_counter() - self._sent_at
        if self._paced:
            if waited < self._pace:
                sleep(min(self._pace - waited, WAIT) if published else 0.0)
                return False
            return self._begin_period(self._poll_all())
        if published:
            self._wait(WAIT)
            if self._poll():
                return self._begin_period(True)
        if 0.0 < self._timeout() < waited - NUDGE_AFTER:
            return self._begin_period(False)
        if published and waited > NUDGE_AFTER:
            self._nudges += 1
            self._clock_writer.set_stamp_ns(nudged(self._stamp, self._nudges))
            self._publish_time(bytes(self._clock_writer.data()))
        return False

    def discard_messages(self) -> None:
        """Restart the waiting time; keep commands, since one may answer the published time."""
        self._sent_at = perf_counter()

    def _drop_commands(self) -> None:
        super().discard_messages()

    def _poll_all(self) -> bool:
        found = False
        while self._poll():
            found = True
        return found

    def _begin_period(self, answered: bool) -> bool:
        """Start the next period, with or without a new command."""
        if self._clock is not None:  # the manager has not taken the state and may be gone
            self._publish_time(self._clock)
        self._state, self._clock, was = None, None, self._held
        commanded = answered and self._is_command()
        # The first command may be a late answer to an earlier period: the robot is held for one
        # more period, until all pending messages have arrived.
        settled = not was or self._pace == SETTLING_TIME
        self._held = not (commanded and settled)
        self._pace = SETTLING_TIME if commanded else PACE
        if self._held:
            self.held_periods += 1
            self.hold()
        if not commanded:
            cure, code = (INACTIVE, 'inactive') if answered else (NO_ANSWER, 'held')
            self._diagnostics.condition(
                SUBJECT,
                WARN,
                f'no command for the time {self._stamp / NANOSECONDS:.6f} s: the robot is held, '
                f'and time advances by one period every {PACE:g} s; check that {cure}',
                code=code,
            )
        elif was and settled:
            self._diagnostics.condition(SUBJECT, OK, 'a command for each period', code='commands')
        return True

    def _is_command(self) -> bool:
        """Return whether the answer has a command, not only NaN."""
        taken = self._chosen[BY_NAME]
        if taken is None:
            return True
        try:
            message = self._reader.read(taken[0])
        except WireError:
            return False
        fields = (message.position, message.velocity, message.effort)
        return any(values is not None and not np.isnan(values).all() for values in fields)

    def values(self) -> Dict[str, Any]:
        """Return diagnostics values, with the number of periods without a command."""
        return {**super().values(), 'held_periods': self.held_periods}
