# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node gravity_compensation, composed of a torque node and its own parts."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

from geometry_msgs.msg import InertiaStamped
import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
from std_srvs.srv import SetBool

from rbd_ros.control import GuidingSettings, mounted_gravity, TorqueLaw, TorqueLimiter
from rbd_ros.control.law.bumpless_transfer import BumplessTransfer
from rbd_ros.nodes.common.communication import service, subscription
from rbd_ros.nodes.common.diagnostics import Diagnostics, WARN
from rbd_ros.nodes.common.node_interface import NodeInterface
from rbd_ros.nodes.common.parameter_table import ParameterTable
from rbd_ros.nodes.gravity.gravity_interface import HAND_GUIDING, PAYLOAD
from rbd_ros.nodes.gravity.guiding import GuidingMode, SUBJECT as HAND_GUIDING_SUBJECT
from rbd_ros.nodes.gravity.imu import ImuGravity
from rbd_ros.nodes.gravity.servo_output import ServoOutput
from rbd_ros.nodes.torque.commander import Commander
from rbd_ros.nodes.torque.motion_reference import MeasuredPosition
from rbd_ros.nodes.torque.prepared import per_joint
from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.nodes.torque.torque_node import LawOptions, TorqueNode
from rbd_ros.robot import Robot

SUBJECT = 'payload'


def payload_values(message: InertiaStamped) -> Dict[str, Any]:
    """Return the parameters, by name, for the payload of a message.

    :raises ValueError: for a mass without a link
    """
    inertia, link = message.inertia, message.header.frame_id.lstrip('/')
    if not link and inertia.m != 0.0:
        raise ValueError('frame_id is empty; give it the link that carries the payload')
    names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    return {
        'payload_link': link,
        'payload_mass': float(inertia.m),
        'payload_center_of_mass': (inertia.com.x, inertia.com.y, inertia.com.z),
        'payload_inertia': tuple(getattr(inertia, name) for name in names),
    }


class PayloadMessages:
    """Subscriber of payloads; it sets the payload parameters of the node.

    :param diagnostics: reports rejected messages
    """

    def __init__(self, node: Node, parameters: ParameterTable, diagnostics: Diagnostics):
        self._node, self._parameters, self._diagnostics = node, parameters, diagnostics
        subscription(node, PAYLOAD, self._on_message)

    def _on_message(self, message: InertiaStamped) -> None:
        try:
            values = payload_values(message)
        except ValueError as error:
            self._reject(str(error))
            return
        present = self._parameters.values
        changed = {name: value for name, value in values.items() if value != present[name]}
        if not changed:
            return  # a repeated payload costs nothing
        result = self._node.set_parameters_atomically(
            [
                RosParameter(name, value=list(value) if isinstance(value, tuple) else value)
                for name, value in changed.items()
            ]
        )
        if not result.successful:
            self._reject(result.reason)

    def _reject(self, reason: str) -> None:
        self._diagnostics.event(SUBJECT, WARN, f'message rejected: {reason}', code='rejected')


class Adjustments:
    """Hook of the control loop, called as `adjustments(law, state)` in its thread.

    It is called before each answer on the slow path. While it changes nothing, states take the
    fast path.

    :param commander: publisher of torques, which calls this hook
    :param law: the law in use
    :param imu: gravity of an IMU; None: none
    :param ramp: transition time of the torque to another gravity or payload [s]
    """

    def __init__(
        self, commander: Commander, law: TorqueLaw, imu: Optional[ImuGravity], ramp: float
    ):
        self._commander, self._imu = commander, imu
        #: Transition time [s]; assignable at any time
        self.ramp = ramp
        self._law = law
        self._transfer = BumplessTransfer(law.gravity_function)
        self._zero = np.zeros(law.robot.nv)
        self._changing = False
        #: Hand guiding; None if the robot does not support it
        self.guiding: Optional[GuidingMode] = None
        commander.adjust = self

    def begin_change(self) -> None:
        """Disable the fast path before a change of the law or the settings."""
        self._changing = True
        self._commander.fast_path_open[0] = 0

    def end_change(self, law: TorqueLaw) -> None:
        """End a change; `law` is in use from the next state on."""
        self._law = law
        self._changing = False

    def __call__(self, law: TorqueLaw, state: MeasuredState) -> None:
        """Set the law's torque offset and gravity for a state."""
        if not self.needed:
            return
        dt = state.dt
        if self._imu is not None:
            law.set_gravity(self._imu.advance(dt))
        added = self._transfer(law.gravity_function, state.q, dt, self.ramp)
        if self.guiding is not None:
            self.guiding.advance(dt)
        law.set_torque_offset(self._zero if added is None else added)

    def report(self) -> None:
        """Report the state of the last response, in addition to its torque."""
        if self.guiding is not None:
            self.guiding.report()

    @property
    def needed(self) -> bool:
        """True if the next state changes something."""
        guiding = self.guiding
        return (
            self._changing
            or self._imu is not None
            or self._transfer.is_active
            or self._law.gravity_function is not self._transfer.holding
            or (guiding is not None and guiding.changing)
        )


GUIDING = {
    'stiffness': 'hand_guiding.stiffness',
    'max_velocity': 'hand_guiding.max_velocity',
}


class GravityNode(TorqueNode):
    """A torque node that holds the robot against gravity.

    :param interface: interface of the node
    :param law_options: see `TorqueNode`
    """

    def __init__(self, interface: NodeInterface, law_options: LawOptions):
        self._adjustments: Optional[Adjustments] = None
        self._imu: Optional[ImuGravity] = None
        self._guiding: Optional[GuidingMode] = None
        super().__init__(interface, law_options, MeasuredPosition)

    def _create_own(self) -> None:
        self._report_weight_model()
        PayloadMessages(self, self.parameters, self.diagnostics)
        service(self, HAND_GUIDING, self._on_hand_guiding)

    def _report_weight_model(self) -> None:
        if not self._own_weight:
            self.get_logger().warning(
                'robot_compensates_gravity is true: the torque does not include the weight of '
                'the links, and the arm falls unless the robot compensates it'
            )
        elif not self.parameters['servo_stiffness']:
            self.get_logger().warning(
                'the torque includes the weight of the robot; if the robot compensates gravity '
                'itself, set robot_compensates_gravity to true, or the arm rises'
            )

    # -- parameters -------------------------------------------------------------------------------

    @property
    def _own_weight(self) -> bool:
        return not self.parameters['robot_compensates_gravity']

    def _gravity(self, values: Mapping[str, Any]) -> np.ndarray:
        if self._imu is not None:
            return self._imu.direction * float(np.linalg.norm(values['gravity']))
        return mounted_gravity(values['gravity'], values['mounting_rpy'])

    def _prepare(self, values: Mapping[str, Any]) -> Any:
        if values['gravity_source'] == 'imu' and not np.linalg.norm(values['gravity']) > 1e-3:
            raise ValueError(
                'gravity must not be zero with gravity_source imu: its magnitude must be the '
                'acceleration that an IMU at rest measures'
            )
        return super()._prepare(values)

    def _prepare_own(self, robot: Any, values: Mapping[str, Any]) -> Optional[GuidingSettings]:
        """Prepare hand guiding, if it is on."""
        given = {
            name: per_joint(parameter, values[parameter], robot.nv) if values[parameter] else None
            for name, parameter in GUIDING.items()
        }
        if given['max_velocity'] is None:
            raise ValueError('parameter hand_guiding.max_velocity must not be empty')
        if values['mode'] != 'hand_guiding':
            return None
        if self._closing is not None:
            raise ValueError('mode hand_guiding does not support robots with loops; use damping')
        if values['servo_stiffness']:
            raise ValueError(
                'mode hand_guiding does not support servos, which are not commanded by torques'
            )
        try:
            return GuidingSettings.for_robot(
                robot,
                damping=values['hand_guiding.damping'],
                deadband=values['hand_guiding.deadband'],
                max_kinetic_energy=values['hand_guiding.max_kinetic_energy'],
                **given,
            )
        except ValueError as error:
            raise ValueError(f'mode hand_guiding: {error}') from None

    def _take(self, prepared: Any) -> None:
        adjustments = self._adjustments
        if adjustments is None:
            super()._take(prepared)
            return
        adjustments.begin_change()
        adjustments.ramp = self.parameters['payload_transition_time']
        if self._imu is not None:
            self._imu.magnitude = float(np.linalg.norm(self.parameters['gravity']))
        if self._closing is not None:
            prepared.law.friction_compensation_scale = self.parameters[
                'friction_compensation_scale'
            ]
        super()._take(prepared)
        if adjustments.guiding is not None:
            adjustments.guiding.switch(prepared.own)
        adjustments.end_change(prepared.law)

    def _on_hand_guiding(
        self, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        mode = 'hand_guiding' if request.data else 'compensation'
        result = self.set_parameters_atomically([RosParameter('mode', value=mode)])
        response.success = result.successful
        response.message = f'mode is {mode}' if result.successful else result.reason
        return response

    # -- the robot --------------------------------------------------------------------------------

    def _create_output(self, robot: Robot, values: Mapping[str, Any]) -> Any:
        if not values['servo_stiffness']:
            return super()._create_output(robot, values)
        return ServoOutput(
            self,
            robot,
            self._dofs.joints(values['joints']),
            values['output'],
            per_joint('servo_stiffness', values['servo_stiffness'], robot.nv),
            lambda: self.parameters.values,
            self.diagnostics,
        )

    def _create_commander(self, output: Any, limiter: TorqueLimiter) -> Commander:
        if self._closing is not None:
            return super()._create_commander(output, limiter)
        self._guiding = GuidingMode(self._dofs.robot, self.diagnostics)
        return Commander(output, limiter, True, self._stops, self._guiding.memory)

    def _configure_own(self, prepared: Any) -> None:
        values, robot = self.parameters.values, self.robot
        if values['gravity_source'] == 'imu':
            self._imu = ImuGravity(
                self, robot, self._configuration, self._gravity(values), values, self.diagnostics
            )
        if self._closing is not None:
            prepared.law.friction_compensation_scale = values['friction_compensation_scale']
        self._adjustments = Adjustments(
            self._commander, prepared.law, self._imu, values['payload_transition_time']
        )
        if self._guiding is not None:
            self._adjustments.guiding = self._guiding
            self.diagnostics.add_values(HAND_GUIDING_SUBJECT, self._guiding.values)
            if prepared.own is not None:
                self._take(prepared)

    def cleanup(self) -> None:
        """Drop the robot and all objects created for it."""
        self._adjustments = self._imu = self._guiding = None
        super().cleanup()

    def _configuration(self) -> Optional[np.ndarray]:
        state = self._loop.last_state
        return None if state is None else state.q.copy()

    def _every_second(self) -> None:
        super()._every_second()
        if self._imu is not None:
            self._imu.every_second()
