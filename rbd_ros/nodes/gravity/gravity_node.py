# SPDX-License-Identifier: Apache-2.0
"""The node gravity_compensation, composed of a torque node and its own parts."""

from __future__ import annotations

from typing import Any, Mapping, Optional

import numpy as np
from rclpy.parameter import Parameter as RosParameter
from std_srvs.srv import SetBool

from rbd_ros.control import GuidingSettings, mounted_gravity, TorqueLimiter
from rbd_ros.nodes.common.communication import service
from rbd_ros.nodes.common.node_interface import NodeInterface
from rbd_ros.nodes.gravity.adjustments import Adjustments
from rbd_ros.nodes.gravity.gravity_interface import HAND_GUIDING
from rbd_ros.nodes.gravity.guiding import GuidingMode, SUBJECT as HAND_GUIDING_SUBJECT
from rbd_ros.nodes.gravity.imu import ImuGravity
from rbd_ros.nodes.gravity.payload_messages import PayloadMessages
from rbd_ros.nodes.gravity.servo_output import ServoOutput
from rbd_ros.nodes.torque.commander import Commander
from rbd_ros.nodes.torque.motion_reference import MeasuredPosition
from rbd_ros.nodes.torque.prepared import per_joint
from rbd_ros.nodes.torque.torque_node import LawOptions, TorqueNode
from rbd_ros.robot import Robot

GUIDING = {
    'stiffness': 'hand_guiding.stiffness',
    'max_velocity': 'hand_guiding.max_velocity',
}


class GravityNode(TorqueNode):
    """A torque node that holds the robot against gravity, and what belongs to that.

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
        """Forget the robot, and what was made for it."""
        self._adjustments = self._imu = self._guiding = None
        super().cleanup()

    def _configuration(self) -> Optional[np.ndarray]:
        state = self._loop.last_state
        return None if state is None else state.q.copy()

    def _every_second(self) -> None:
        super()._every_second()
        if self._imu is not None:
            self._imu.every_second()
