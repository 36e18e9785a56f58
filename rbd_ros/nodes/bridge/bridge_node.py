# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node udp_bridge: a torque node whose control law is a program behind UDP."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

import numpy as np

from rbd_ros.control import TorqueLaw, TorqueLimiter
from rbd_ros.control.law.soft_stops import SoftStops
from rbd_ros.hil.controllers.udp_exchange import UdpExchange
from rbd_ros.hil.controllers.udp_packets import PacketError
from rbd_ros.nodes.common.compile_progress import Progress
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, FORGOTTEN, OK, WARN
from rbd_ros.nodes.common.node_interface import NodeInterface
from rbd_ros.nodes.torque.commander import Commander
from rbd_ros.nodes.torque.motion_reference import Motion
from rbd_ros.nodes.torque.prepared import Prepared, Values
from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.nodes.torque.torque_node import TorqueNode
from rbd_ros.nodes.torque.torque_output import TorqueOutput
from rbd_ros.nodes.torque.trajectory_reference import TrajectoryReference
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound

SUBJECT = 'controller'


class BridgeCommander(Commander):
    """Publishes the torques that an external program returns.

    :param output: publisher of the torques
    :param limiter: limits of torque and of its rate in wall time
    :param stops: soft stops, applied before the limits; None: none
    :param exchange: connection to the program
    :param timeout: returns the timeout of an answer [s]
    :param diagnostics: diagnostics of the node
    :param wraparound: continuous joints; the program gets their desired position at the turn
        nearest to the measured one
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
        #: States without an answer since the last answer
        self.unanswered = 0
        self._problem, self._silence = '', 0.0

    def answer(self, law: TorqueLaw, state: MeasuredState, motion: Motion) -> Optional[np.ndarray]:
        """Publish the torque that the program answers, within the limits.

        :param law: torque law; computes gravity
        :param state: measured state
        :param motion: desired motion
        :return: published torque, (n,) [N m or N]; None after `close`
        :raises PacketError: if there is no usable answer; nothing is published
        """
        # Without the lock: the last command does not wait for the program.
        torque = self._ask(state, motion)
        with self.lock:
            if self._closed:
                return None
            self._limit_and_encode(torque, law, state)
            self._output.send()
            self._sent()
        return self.answers.torque

    def _ask(self, state: MeasuredState, motion: Motion) -> np.ndarray:
        n, values = len(state.q), self._exchange.writer.values
        values[:n], values[n : 2 * n] = state.q, state.v
        q_desired, *rates = motion
        # Programs can then subtract positions without wrapping.
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
        """Report that no answer was usable for some time, until one is.

        :param timeout: duration of the silence [s]
        """
        self._silence = timeout
        self._report_problem()

    def _report_problem(self) -> None:
        if not self._silence:
            self._diagnostics.condition(SUBJECT, WARN, self._problem, code='no answer')
            return
        # At 1 kHz, reports of single states would hide that the torque has ended.
        text = f'no usable answer for {self._silence:g} s: {self._problem}'
        self._diagnostics.condition(SUBJECT, ERROR, text, code='silent')


# Only the gravity of the law is used, for the last command.
LAW = {'feedforward': 'gravity', 'feedback': 'none', 'friction': 'none'}
UNUSED = {'coulomb_smoothing_velocity': 0.0}


class BridgeReference(TrajectoryReference):
    """The motion that the program receives; a restart sets a flag in the next packet."""

    def begin(self, state: MeasuredState) -> None:
        """Hold the first measured position."""
        self._node.exchange.begin()
        super().begin(state)

    def resume_after_gap(self, state: MeasuredState, gap: float) -> None:
        """Resume the trajectory or drop it, as `state_loss_policy` says."""
        self._node.exchange.begin()
        super().resume_after_gap(state, gap)

    def restart_time(self, state: MeasuredState) -> None:
        """Resume the trajectory or drop it."""
        self._node.exchange.begin()
        super().restart_time(state)


class BridgeNode(TorqueNode):
    """A torque node that asks a program for each torque.

    :param interface: interface of the node
    """

    def __init__(self, interface: NodeInterface):
        #: Connection to the program; None without a robot
        self.exchange: Optional[UdpExchange] = None
        super().__init__(interface, lambda robot, values: LAW, BridgeReference)

    def _prepare(self, values: Values) -> Optional[Prepared]:
        if 0.0 < values['state_timeout'] <= values['response_timeout']:
            raise ValueError(
                'response_timeout must be below state_timeout, at which the torque ends; got '
                f'{values["response_timeout"]:g} s and {values["state_timeout"]:g} s'
            )
        return super()._prepare(values)

    def _prepare_law(self, robot: Robot, values: Values) -> Prepared:
        return super()._prepare_law(robot, {**values, **UNUSED})

    def _take(self, prepared: Prepared) -> None:
        super()._take(prepared)
        self._states.needs_velocity = True  # the program may use it

    def configure(self, robot: Robot, progress: Progress) -> None:
        """Compose the node for a robot.

        :raises ValueError: if robot and parameters do not fit, or the address does not exist
        """
        values = self.parameters.values
        if robot.model.loops:
            raise ValueError('udp_bridge does not support a robot with kinematic loops')
        self.exchange = UdpExchange(values['address'], values['port'], robot.nv)
        super().configure(robot, progress)
        self.diagnostics.condition(
            SUBJECT,
            WARN,
            f'waiting for the first answer from {self.exchange.place}',
            code='waiting for the first answer',
        )

    def cleanup(self) -> None:
        """Drop the robot, and close the socket."""
        super().cleanup()
        if self.exchange is not None:
            self.exchange.close()
            self.exchange = None
        self.diagnostics.condition(SUBJECT, OK, FORGOTTEN, code=FORGOTTEN)

    def _create_commander(self, output: TorqueOutput, limiter: TorqueLimiter) -> Commander:
        assert self.exchange is not None
        return BridgeCommander(
            output,
            limiter,
            self._stops,
            self.exchange,
            lambda: self.parameters['response_timeout'],
            self.diagnostics,
            Wraparound(self._dofs.robot.position_periods),
        )

    def _report_silence(self, timeout: float) -> None:
        if not self._commander.unanswered:
            super()._report_silence(timeout)
            return
        self._commander.report_silence(timeout)

    def _values(self) -> Dict[str, Any]:
        exchange = self.exchange
        return {**super()._values(), **(exchange.counts() if exchange is not None else {})}
