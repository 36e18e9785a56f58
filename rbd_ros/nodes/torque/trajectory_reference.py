# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The reference of inverse_dynamics: a held position, or a trajectory from a topic."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, Mapping, Optional

import numpy as np
from rclpy.node import Node

from rbd_ros.control import DesiredMotion, MotionOptions, TrajectoryError
from rbd_ros.control.motion.tolerances import Tolerances
from rbd_ros.nodes.common.communication import publisher, subscription
from rbd_ros.nodes.common.diagnostics import OK, WARN
from rbd_ros.nodes.messages.conversions import representable
from rbd_ros.nodes.torque.follow_action import offer_goals
from rbd_ros.nodes.torque.following import Followed, Following, VIOLATIONS
from rbd_ros.nodes.torque.motion_reference import HELD, Motion, MOVING, Reference
from rbd_ros.nodes.torque.prepared import per_joint
from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.robot import Robot
from rbd_ros.wire import JointStateWriter, JointTrajectoryReader, WireError

SUBJECT = 'trajectory'


class TrajectoryReference(Reference):
    """Follows the newest trajectory; see docs/nodes/inverse_dynamics.md.

    Trajectories are prepared on the node's executor, and then handed to the control loop.

    :param node: the torque node
    """

    def __init__(self, node: Node, robot: Robot):
        self._node = node
        self._interface = node.interface
        self._diagnostics = node.diagnostics
        self._motion = DesiredMotion(robot)
        self.joint_names = tuple(robot.joint_names)
        self.followed = Followed()
        self._silent_since: Optional[float] = None  # time since states are missing [s]
        self._time: Optional[int] = None  # of the last state [ns]
        self._shown = False
        self._close: Callable[[], None] = lambda: None
        self._received = self._rejected = 0  # trajectories
        self._desired = JointStateWriter(robot.joint_names, ('position', 'velocity', 'effort'))
        self._error = JointStateWriter(robot.joint_names, ('position', 'velocity'))
        topic = self._interface.topic
        self._desired_publisher = publisher(node, topic('~/desired_state'))
        self._error_publisher = publisher(node, topic('~/tracking_error'))
        self._reader = JointTrajectoryReader()
        subscription(node, topic('joint_trajectory'), self._on_trajectory, raw=True)
        self._goals = offer_goals(node, self)
        self._diagnostics.condition(
            SUBJECT,
            OK,
            'no trajectory yet: the node holds the first measured position',
            code='none',
        )

    # -- parameters -------------------------------------------------------------------------------

    def check(self, values: Mapping[str, Any]) -> None:
        """Reject wrong numbers of tolerances; the ranges are declared."""
        self._tolerances_of(values)

    def configure(self, values: Mapping[str, Any]) -> None:
        """Use changed parameters."""
        self._motion.options = MotionOptions(
            state_loss_policy=values['state_loss_policy'], max_state_gap=values['max_state_gap']
        )

    def _tolerances_of(self, values: Mapping[str, Any]) -> Tolerances:
        size = len(self.joint_names)
        path, goal = (
            per_joint(name, values[name], size) if values[name] else 0.0
            for name in ('constraints.trajectory', 'constraints.goal')
        )
        return Tolerances.of(
            self.joint_names,
            path,
            goal,
            values['constraints.stopped_velocity_tolerance'],
            values['constraints.goal_time'],
        )

    def tolerances(self) -> Tolerances:
        """Return the default tolerances of trajectories, from the parameters."""
        return self._tolerances_of(self._node.parameters.values)

    @property
    def partial(self) -> bool:
        """True if trajectories may omit joints."""
        allowed: bool = self._node.parameters['allow_partial_trajectory']
        return allowed

    # -- in the control loop ----------------------------------------------------------------------

    def begin(self, state: MeasuredState) -> None:
        """Hold the first measured position."""
        self._motion.hold(state.q)

    def resume_after_gap(self, state: MeasuredState, gap: float) -> None:
        """Resume or drop the trajectory, depending on `state_loss_policy`."""
        self._report(self._motion.resume_after_gap(state.q, gap))

    def restart_time(self, state: MeasuredState) -> None:
        """Resume or drop the trajectory after a time reset, which invalidates scheduled times."""
        self._report(self._motion.restart_time(state.q))

    def _report(self, text: str) -> None:
        if text:
            # Many resumed trajectories are logged once, dropped ones always.
            code = 'interrupted' if self._motion.is_following else 'dropped'
            self._diagnostics.event(SUBJECT, WARN, text, code=code)
        if self.followed.present:
            self.followed.interrupted(self._motion, text or 'states of the robot were missing')

    def desired(self, state: MeasuredState) -> Motion:
        """Return the desired motion at a measured state."""
        self._time = state.time
        return self._motion.advance(state.time, state.dt)

    def done(self, state: MeasuredState, motion: Motion, torque: np.ndarray) -> None:
        """Publish the desired state if subscribed to, and handle the end of a trajectory."""
        if self._shown:
            self._show(state, motion, torque)
        if self.followed.present:
            self._judge(state, motion)
        if self._motion.ended():
            self._diagnostics.condition(
                SUBJECT, OK, 'trajectory done: the node holds its last position', code='done'
            )

    def on_change(self, close: Callable[[], None]) -> None:
        """Set the callback before and after changes of the motion or its subscribers."""
        self._close = close

    def rest_kind(self) -> int:
        """Return whether the motion rests, without subscribers of each state."""
        busy = self._shown or self.followed.present or not self._motion.is_at_rest
        return MOVING if busy else HELD

    def advance_at_rest(self, time: int, elapsed: float, dt: float, states: int) -> None:
        """Advance over states that were answered while the motion was at rest."""
        self._time = time
        self._motion.advance_at_rest(time, elapsed, dt, states)

    def _judge(self, state: MeasuredState, motion: Motion) -> None:
        for outcome in self.followed.judge(self._motion, state, motion):
            if outcome.kind in VIOLATIONS:
                self._diagnostics.condition(SUBJECT, WARN, outcome.text, code=outcome.kind)

    def _show(self, state: MeasuredState, motion: Motion, torque: np.ndarray) -> None:
        q, v, _ = motion
        desired, error = self._desired, self._error
        desired.position[:], desired.velocity[:], desired.effort[:] = q, v, torque
        error.position[:] = self._motion.wraparound(q - state.q)
        np.subtract(v, state.v, out=error.velocity)
        for writer, target in (
            (desired, self._desired_publisher),
            (error, self._error_publisher),
        ):
            writer.set_stamp_ns(representable(state.time))
            target.publish(writer.data())

    # -- on the executor --------------------------------------------------------------------------

    def _on_trajectory(self, data: bytes) -> None:
        self._received += 1
        try:
            if self._time is None or not self._node.answering:
                raise WireError('no state', 'there is no usable state of the robot')
            message = self._reader.read(data)
            self.follow(
                message.joint_names,
                message.times,
                message.positions,
                message.velocities,
                message.accelerations,
                message.stamp,
                self.tolerances(),
            )
        except (TrajectoryError, WireError, ValueError) as error:
            self.report_rejection(error)

    def follow(
        self,
        names: Any,
        times: Any,
        positions: Any,
        velocities: Any,
        accelerations: Any,
        stamp: int,
        tolerances: Tolerances,
        goal: Any = None,
    ) -> Following:
        """Follow a trajectory, which replaces the previous motion of its joints from its begin.

        :param names: names of its joints; see `DesiredMotion.plan` for the other arguments
        :param stamp: its begin [ns]; 0: now
        :param tolerances: tolerances of at least these joints
        :param goal: handle of the waiting client; None: none
        :raises TrajectoryError: if it cannot be followed
        """
        values = self._node.parameters
        self._close()  # so that the time is that of the last state
        if self._time is None:
            raise TrajectoryError('there is no usable state of the robot', code='no state')
        plan = self._motion.plan(
            names,
            times,
            positions,
            velocities,
            accelerations,
            now=self._time,
            begin=stamp,
            allow_partial=values['allow_partial_trajectory'],
            check_limits=values['check_limits'],
            start_tolerance=values['start_tolerance'],
        )
        text = self._motion.follow(plan)
        tolerances = tolerances.of_joints(names)
        following = Following(plan, tolerances, goal)
        if goal is not None or (plan.trajectory is not None and tolerances.bounded):
            self.followed.add(following)
        self._close()
        self._diagnostics.condition(SUBJECT, OK, text, code=f'following since {self._time}')
        return following

    def cancel(self, following: Following) -> None:
        """Stop a trajectory smoothly, or drop it before its begin."""
        following.canceled = True
        self._motion.cancel(following.plan)
        self._close()

    @property
    def desired_position(self) -> np.ndarray:
        """Desired position at the last state, (n,) [rad or m]."""
        return self._motion.position

    @property
    def is_at_rest(self) -> bool:
        """True if the desired position was constant at the last state."""
        return self._motion.is_at_rest

    def present_time(self) -> Optional[int]:
        """Return the time of the last state [ns]; None before the first."""
        self._close()
        return self._time

    def count_received(self) -> None:
        """Count a received trajectory or pose."""
        self._received += 1

    def report_rejection(self, error: Exception, what: str = 'trajectory') -> None:
        """Report a rejected trajectory or pose."""
        self._rejected += 1
        self._diagnostics.event(
            SUBJECT,
            WARN,
            f'{what} rejected, the previous motion continues: {error}',
            code=getattr(error, 'code', '') or f'{what} not legal',
        )

    def unrecoverable_reason(self) -> str:
        """Return why no trajectory can continue without states; empty if one can."""
        if self._node.answering:
            self._silent_since = None
            return ''
        now, options = time.monotonic(), self._motion.options
        if self._silent_since is None:
            self._silent_since = now
        timeout = options.max_state_gap if options.state_loss_policy == 'resume' else 0.0
        return 'states of the robot are missing' if now - self._silent_since > timeout else ''

    def deactivate(self) -> None:
        """Send a result to a waiting client: its trajectory is interrupted."""
        if self._goals is not None:
            self._goals.drop('the node was deactivated')

    def stop(self) -> None:
        """Send a result to a waiting client."""
        if self._goals is not None:
            self._goals.stop()

    def every_second(self) -> None:
        """Publish the desired state and the error while they are subscribed to."""
        self._shown = bool(
            self._desired_publisher.get_subscription_count()
            or self._error_publisher.get_subscription_count()
        )
        if self._shown:
            self._close()

    def values(self) -> Dict[str, Any]:
        """Return the remaining time of the trajectory, and the numbers of trajectories."""
        return {
            'trajectory_left_s': self._motion.time_left,
            'trajectories_received': self._received,
            'trajectories_rejected': self._rejected,
        }
