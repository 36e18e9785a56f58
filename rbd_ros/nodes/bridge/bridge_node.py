# SPDX-License-Identifier: Apache-2.0
"""The node udp_bridge: a torque node whose law is a program behind UDP."""

from __future__ import annotations

from typing import Any, Dict, Optional

from rbd_ros.control import TorqueLimiter
from rbd_ros.hil.controllers.udp_exchange import UdpExchange
from rbd_ros.nodes.bridge.bridge_commander import BridgeCommander, SUBJECT
from rbd_ros.nodes.common.compile_progress import Progress
from rbd_ros.nodes.common.diagnostics import FORGOTTEN, OK, WARN
from rbd_ros.nodes.common.node_interface import NodeInterface
from rbd_ros.nodes.torque.commander import Commander
from rbd_ros.nodes.torque.prepared import Prepared, Values
from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.nodes.torque.torque_node import TorqueNode
from rbd_ros.nodes.torque.torque_output import TorqueOutput
from rbd_ros.nodes.torque.trajectory_reference import TrajectoryReference
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound

# Of the law nothing is used but gravity, for the last command.
LAW = {'feedforward': 'gravity', 'feedback': 'none', 'friction': 'none'}
UNUSED = {'coulomb_smoothing_velocity': 0.0}


class BridgeReference(TrajectoryReference):
    """The motion that the program is shown; where it begins again, the next packet says so."""

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
        #: Way to the program; None without a robot
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
        self._states.needs_velocity = True  # what the program does with it is not known

    def configure(self, robot: Robot, progress: Progress) -> None:
        """Compose the node for a robot.

        :raises ValueError: if robot and parameters do not fit, or there is no such address
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
        """Forget the robot, and close the socket."""
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
