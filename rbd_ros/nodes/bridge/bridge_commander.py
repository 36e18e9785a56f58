# SPDX-License-Identifier: Apache-2.0
"""The commander of udp_bridge: torques are those that a program answers, within the limits."""

from __future__ import annotations

from typing import Callable, Optional

import numpy as np

from rbd_ros.control import TorqueLaw, TorqueLimiter
from rbd_ros.control.law.soft_stops import SoftStops
from rbd_ros.hil.controllers.udp_exchange import UdpExchange
from rbd_ros.hil.controllers.udp_packets import PacketError
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK, WARN
from rbd_ros.nodes.torque.commander import Commander
from rbd_ros.nodes.torque.motion_reference import Motion
from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.nodes.torque.torque_output import TorqueOutput
from rbd_ros.robot.wraparound import Wraparound

SUBJECT = 'controller'


class BridgeCommander(Commander):
    """Sender of the torques that a program answers.

    :param output: where torques go
    :param limiter: limits of torque and of its rate in real time
    :param stops: bounds of torque before the limits, if there are
    :param exchange: way to the program
    :param timeout: returns how long to wait for an answer [s]
    :param diagnostics: where to report
    :param wraparound: which joints turn for ever: the program is shown what they want at the turn
        nearest to what is measured
    """

    def __init__(
        self,
        output: TorqueOutput,
        limiter: TorqueLimiter,
        stops: Optional[SoftStops],
        exchange: UdpExchange,
        timeout: Callable[[], float],
        diagnostics: Diagnostics,
        wraparound: Wraparound,
    ):
        super().__init__(output, limiter, False, stops)
        self._wraparound = wraparound
        self._exchange, self._timeout, self._diagnostics = exchange, timeout, diagnostics
        #: States without an answer since the last one with one
        self.unanswered = 0
        self._problem, self._silence = '', 0.0

    def answer(self, law: TorqueLaw, state: MeasuredState, motion: Motion) -> Optional[np.ndarray]:
        """Send the torque that the program answers, within the limits.

        :param law: knows gravity
        :param state: measured state
        :param motion: desired motion
        :return: what was sent, (n,) [N m or N]; None after `close`
        :raises PacketError: if there is no answer, or none that can be used; nothing is sent
        """
        # Not under the lock: who sends a last command does not wait for the program.
        torque = self._ask(state, motion)
        with self.lock:
            if self._closed:
                return None
            # Whatever a program answers, the node's limits hold.
            self._pass_on(torque, law, state)
            self._output.send()
            self._sent()
        return self.answers.torque

    def _ask(self, state: MeasuredState, motion: Motion) -> np.ndarray:
        n, values = len(state.q), self._exchange.writer.values
        values[:n], values[n : 2 * n] = state.q, state.v
        q_desired, *rates = motion
        # A difference of desired and measured position is then the short way round for any
        # program.
        values[2 * n : 3 * n] = self._wraparound.nearest(q_desired, state.q)
        for k, each in enumerate(rates, start=3):
            values[k * n : (k + 1) * n] = each
        timeout = self._timeout()
        try:
            torque = self._exchange.exchange(state.time, timeout)
            if torque is None:
                raise PacketError(f'no answer within {timeout:g} s: {self._exchange.silence()}')
        except PacketError as error:
            self.unanswered += 1
            self._problem = str(error)
            self._report_problem()
            raise
        if self.unanswered or self._silence or not self.sent:
            self.unanswered, self._silence = 0, 0.0
            self._diagnostics.condition(SUBJECT, OK, 'answering', code='answering')
        return torque

    def report_silence(self, timeout: float) -> None:
        """Report that no answer could be used for so long, until one can.

        :param timeout: how long there was none [s]
        """
        self._silence = timeout
        self._report_problem()

    def _report_problem(self) -> None:
        if not self._silence:
            self._diagnostics.condition(SUBJECT, WARN, self._problem, code='no answer')
            return
        # States go on, at 1 kHz: what each of them met must not hide that the torque has ended.
        text = f'no usable answer for {self._silence:g} s: {self._problem}'
        self._diagnostics.condition(SUBJECT, ERROR, text, code='silent')
