"""The reference of inverse_dynamics: a held position, or a trajectory from a topic."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

import numpy as np
from rclpy.node import Node

from rbd_ros.control import DesiredMotion, MotionOptions, TrajectoryError
from rbd_ros.nodes.common.communication import publisher, subscription
from rbd_ros.nodes.common.conversions import representable
from rbd_ros.nodes.common.diagnostics import OK, WARN
from rbd_ros.nodes.common.wire import JointStateWriter, JointTrajectoryReader, WireError
from rbd_ros.nodes.torque.reference import Motion
from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.robot import Robot

SUBJECT = 'trajectory'


class TrajectoryReference:
    """Follows the newest trajectory; see docs/nodes/inverse_dynamics.md.

    Trajectories are read and prepared on the node's executor, beside the control loop, which then
    takes them over whole.

    :param node: the torque node
    :param robot: its robot
    """

    def __init__(self, node: Node, robot: Robot):
        self._node = node
        self._interface = node.interface
        self._diagnostics = node.diagnostics
        self._motion = DesiredMotion(robot)
        self._time: Optional[int] = None  # of the last state [ns]
        self._shown = False
        self._received = self._refused = 0  # trajectories
        self._desired = JointStateWriter(robot.joint_names, ('position', 'velocity', 'effort'))
        self._error = JointStateWriter(robot.joint_names, ('position', 'velocity'))
        topic = self._interface.topic
        self._desired_publisher = publisher(node, topic('~/desired_state'))
        self._error_publisher = publisher(node, topic('~/tracking_error'))
        self._reader = JointTrajectoryReader()
        subscription(node, topic('joint_trajectory'), self._on_trajectory, raw=True)
        self._diagnostics.condition(
            SUBJECT, OK, 'no trajectory yet: the first measured position is held', code='none'
        )

    # -- parameters -------------------------------------------------------------------------------

    def check(self, values: Mapping[str, Any]) -> None:
        """Accept everything: the ranges say what is legal."""

    def configure(self, values: Mapping[str, Any]) -> None:
        """Take parameters into use."""
        self._motion.options = MotionOptions(
            gap_policy=values['after_gap'], longest_gap=values['longest_gap']
        )

    # -- in the control loop ----------------------------------------------------------------------

    def begin(self, state: MeasuredState) -> None:
        """Hold the first measured position."""
        self._motion.hold(state.q)

    def interrupted(self, state: MeasuredState, gap: float) -> None:
        """Resume the trajectory or drop it, as `after_gap` says."""
        self._tell(self._motion.interrupted(state.q, gap))

    def time_restarted(self, state: MeasuredState) -> None:
        """Resume the trajectory or drop it: times that were scheduled mean nothing any more."""
        self._tell(self._motion.time_restarted(state.q))

    def _tell(self, text: str) -> None:
        if text:
            self._diagnostics.event(SUBJECT, WARN, text, code='interrupted')

    def desired(self, state: MeasuredState) -> Motion:
        """Desired motion at a measured state."""
        self._time = state.time
        return self._motion.advance(state.time, state.dt)

    def done(self, state: MeasuredState, motion: Motion, torque: np.ndarray) -> None:
        """Publish the desired state if somebody listens, and note the end of a trajectory."""
        if self._shown:
            self._show(state, motion, torque)
        if self._motion.ended():
            self._diagnostics.condition(
                SUBJECT, OK, 'trajectory done: its last position is held', code='done'
            )

    def _show(self, state: MeasuredState, motion: Motion, torque: np.ndarray) -> None:
        q, v, _ = motion
        desired, error = self._desired, self._error
        desired.position[:], desired.velocity[:], desired.effort[:] = q, v, torque
        np.subtract(q, state.q, out=error.position)
        np.subtract(v, state.v, out=error.velocity)
        for writer, target in (
            (desired, self._desired_publisher),
            (error, self._error_publisher),
        ):
            writer.set_stamp_ns(representable(state.time))
            target.publish(writer.data())

    # -- on the executor --------------------------------------------------------------------------

    def _on_trajectory(self, data: bytes) -> None:
        values = self._node.parameters
        self._received += 1
        try:
            if self._time is None or not self._node.answering:
                raise WireError('no state', 'there is no usable state of the robot')
            message = self._reader.read(data)
            plan = self._motion.plan(
                message.joint_names,
                message.times,
                message.positions,
                message.velocities,
                message.accelerations,
                now=self._time,
                begin=message.stamp,
                allow_partial=values['allow_partial_trajectory'],
                check_limits=values['check_limits'],
                start_tolerance=values['start_tolerance'],
            )
            text = self._motion.follow(plan)
        except (TrajectoryError, WireError, ValueError) as error:
            self._refused += 1
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'trajectory refused, the motion before it goes on: {error}',
                code=getattr(error, 'code', '') or 'trajectory not legal',
            )
            return
        self._diagnostics.condition(SUBJECT, OK, text, code=f'following since {self._time}')

    def every_second(self) -> None:
        """Publish the desired state and the error only while somebody listens."""
        self._shown = bool(
            self._desired_publisher.get_subscription_count()
            or self._error_publisher.get_subscription_count()
        )

    def values(self) -> Dict[str, Any]:
        """Time that is left of the trajectory, and how many there were."""
        return {
            'trajectory_left_s': self._motion.time_left,
            'trajectories_received': self._received,
            'trajectories_refused': self._refused,
        }
