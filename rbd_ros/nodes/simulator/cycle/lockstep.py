# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lockstep: the simulation waits for the answer to each state before the next cycle.

The controller sets the pace, independent of clocks: the same answers to the same states give
bitwise identical motion.
"""

from __future__ import annotations

import struct
from time import perf_counter
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np

from rbd_ros.nodes.common.diagnostics import Diagnostics, OK, WARN
from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.simulator.cycle.cycle_ports import Message

SUBJECT = 'lockstep'
OFF, BY_STAMP, IN_ORDER = 'off', 'stamp', 'order'

WAIT = 0.01  # longest wait for a message before requests are served [s]
# Period of repeating the state until the first answer, for late subscribers [s].
FIRST_CONTACT = 0.1
MAX_FORGOTTEN = 100  # limit of dropped messages of a topic, which a flood could refill
RECENT = 4096  # number of answer delays in the statistics
BY_NAME = 1  # the commands with a stamp, by the order of `_take`

Take = Callable[[], Message]

_STAMPS = {0: struct.Struct('>iI'), 1: struct.Struct('<iI')}  # by the byte order of the message
_STAMP = 4  # offset of the stamp in a stamped message [bytes]


def restamped(data: bytes, shift: int) -> bytes:
    """Return a serialized message that begins with a header, its stamp shifted [ns].

    >>> stamp_of(restamped(bytes([0, 1, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0]), 10**9 + 1))
    3000000006
    """
    stamp = divmod(stamp_of(data) + shift, NANOSECONDS)
    return data[:_STAMP] + _STAMPS[data[1] & 1].pack(*stamp) + data[_STAMP + 8 :]


def stamp_of(data: bytes) -> int:
    """Return the stamp [ns] of a serialized message that begins with a header; 0: no stamp.

    >>> stamp_of(bytes([0, 1, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0]))
    2000000005
    """
    if len(data) < _STAMP + 8:
        return 0
    seconds, nanoseconds = _STAMPS[data[1] & 1].unpack_from(data, _STAMP)
    return seconds * NANOSECONDS + nanoseconds


class LockstepPorts:
    """Ports of a simulation cycle that pass one command for each state.

    With `stamp`, the answer to a state is the first JointState with its stamp. With `order`, each
    command is an answer.

    :param ports: wrapped ports (cycle_ports.py)
    :param mode: 'stamp' or 'order'
    :param wait: waits for a command, for a time [s]
    :param diagnostics: diagnostics of the node
    :param timeout: real time without an answer after which it is reported, and the state is sent
        again; 0: never [s]
    """

    def __init__(
        self,
        ports: Any,
        mode: str,
        wait: Callable[[float], None],
        diagnostics: Diagnostics,
        timeout: Callable[[], float],
    ):
        self._ports, self._by_stamp, self._wait = ports, mode == BY_STAMP, wait
        self._diagnostics, self._timeout = diagnostics, timeout
        self._take: Sequence[Take] = (
            ports.take_by_order,
            ports.take_by_name,
            ports.take_accelerations,
        )
        self._chosen: List[Message] = [None] * len(self._take)  # the answer, by type
        self._state: Optional[bytes] = None  # pending state
        self._stamp, self._answered_stamp = -1, -1
        self._sent_at = self._resent_at = 0.0
        self._silent = False
        #: Counts of messages by kind, and of repeated states.
        self.answered = self.late = self.repeated = self.ahead = self.unstamped = self.resent = 0
        self._delays = np.zeros(RECENT)
        self._reported = 0
        # All else is passed through.
        self.take_wrench = ports.take_wrench
        self.send_clock = ports.send_clock
        self.send_base = ports.send_base
        self._send = ports.send_state

    # -- for the cycle ----------------------------------------------------------------------------

    def take_by_order(self) -> Message:
        """Take the answer, if it is an array."""
        return self._given(0)

    def take_by_name(self) -> Message:
        """Take the answer, if it is a JointState."""
        return self._given(BY_NAME)

    def take_accelerations(self) -> Message:
        """Take the answer, if it is an array of accelerations."""
        return self._given(2)

    def _given(self, kind: int) -> Message:
        taken, self._chosen[kind] = self._chosen[kind], None
        return taken

    def send_state(self, data: bytes) -> None:
        """Send a state and wait for its answer from now on."""
        self._state, self._stamp = data, stamp_of(data)
        self._send(data)
        self._sent_at = self._resent_at = perf_counter()

    # -- for the loop -----------------------------------------------------------------------------

    def ready(self) -> bool:
        """Return whether a cycle is due; wait for a moment if not."""
        if self._state is None:
            return True
        self._wait(WAIT)  # returns at once if there is a message
        if self._poll():
            return True
        self._watch(perf_counter())
        return False

    def discard_messages(self) -> None:
        """Drop the commands received so far, so that only later ones apply."""
        self._chosen = [None] * len(self._take)
        for take in self._take:
            remaining = MAX_FORGOTTEN
            while remaining and take() is not None:
                remaining -= 1

    @property
    def waiting(self) -> bool:
        """True if a state has no answer yet."""
        return self._state is not None

    def expect(self, answer: bool) -> None:
        """Set whether the last state needs an answer."""
        if not answer:
            self._state = None

    def _poll(self) -> bool:
        """Process received messages until there is an answer."""
        for kind, take in enumerate(self._take):
            taken = take()
            while taken is not None:
                if not self._by_stamp or self._is_answer(kind, taken[0]):
                    self._chosen[kind] = taken
                    self._record_response(perf_counter())
                    return True
                taken = take()
        return False

    def _record_response(self, now: float) -> None:
        self._state, self._answered_stamp = None, self._stamp
        self._delays[self.answered % RECENT] = now - self._sent_at
        self.answered += 1
        if self._silent or self.answered == 1:
            self._silent = False
            self._diagnostics.condition(SUBJECT, OK, 'answers come', code='answers')

    def _is_answer(self, kind: int, data: bytes) -> bool:
        """Return whether a message answers the pending state; otherwise count it."""
        stamp = stamp_of(data) if kind == BY_NAME else 0
        if stamp == self._stamp:
            return True
        if stamp == 0:
            self.unstamped += 1
            self._report(
                'a command without the stamp of its state is ignored: set header.stamp to that '
                'of the joint state, or the parameter lockstep to order',
                'no stamp',
            )
        elif stamp == self._answered_stamp:
            self.repeated += 1
            self._report('a second answer to the same state is ignored', 'repeated')
        elif stamp < self._stamp:
            self.late += 1
            self._report('an answer to an earlier state is ignored', 'late')
        else:
            self.ahead += 1
            self._report('an answer to a state that was not sent is ignored', 'ahead')
        return False

    def _report(self, text: str, code: str) -> None:
        self._diagnostics.event(SUBJECT, WARN, text, code=code)

    def _watch(self, now: float) -> None:
        """Repeat the state and report the missing answer when they are due."""
        timeout, waiting = self._timeout(), now - self._sent_at
        if timeout > 0.0 and waiting > timeout and not self._silent:
            self._silent = True
            self._diagnostics.condition(
                SUBJECT,
                WARN,
                f'no answer to the state of {self._stamp / NANOSECONDS:.6f} s for {timeout:g} s: '
                'the simulation waits for a command'
                + (' with the stamp of that state' if self._by_stamp else ''),
                code='silent',
            )
        # A state that was sent before its subscriber was discovered is lost. With `order`, a
        # repeated state may get two answers, so it is repeated only until the first command.
        period = FIRST_CONTACT if not self.answered else timeout if self._by_stamp else 0.0
        if 0.0 < period < now - self._resent_at and self._state is not None:
            self._resent_at = now
            self.resent += 1
            self._send(self._state)

    # -- diagnostics ------------------------------------------------------------------------------

    def values(self) -> Dict[str, Any]:
        """Return diagnostics values: counts, and delays of answers since the last call."""
        count = min(self.answered - self._reported, RECENT)
        places = np.arange(self.answered - count, self.answered) % RECENT
        self._reported = self.answered
        delays = 1e6 * self._delays[places]
        median, worst = (np.median(delays), delays.max()) if count else (0.0, 0.0)
        return {
            'answered': self.answered,
            'late': self.late,
            'repeated': self.repeated,
            'ahead': self.ahead,
            'unstamped': self.unstamped,
            'states_sent_again': self.resent,
            'median_delay_us': float(median),
            'max_delay_us': float(worst),
        }
