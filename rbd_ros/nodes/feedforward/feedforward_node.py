# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node trajectory_feedforward, composed of its parts."""

from __future__ import annotations

from array import array
import math
import time
from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np
from trajectory_msgs.msg import JointTrajectory as Message, JointTrajectoryPoint

from rbd_ros.control import (
    add_feedforward,
    check_trajectory,
    Feedforward,
    FeedforwardTrajectory,
    JointTrajectory,
    LawSettings,
    TrajectoryError,
    TrajectoryReport,
)
from rbd_ros.nodes.common.answering import AnsweringNode
from rbd_ros.nodes.common.communication import publisher, subscription
from rbd_ros.nodes.common.compile_progress import Progress
from rbd_ros.nodes.common.diagnostics import OK, WARN
from rbd_ros.nodes.common.node_interface import NodeInterface
from rbd_ros.nodes.messages.conversions import NANOSECONDS, set_stamp
from rbd_ros.nodes.torque.prepared import checked_payload, per_joint
from rbd_ros.robot import Robot
from rbd_ros.wire import (
    JointStateReader,
    JointTrajectoryData,
    JointTrajectoryReader,
    WireError,
)

SUBJECT = 'trajectory'
SHOWN = 3  # exceeded limits that a message lists


class FeedforwardNode(AnsweringNode[Feedforward]):
    """A node that republishes trajectories with efforts while it is active.

    :param interface: interface of the node
    """

    def __init__(self, interface: NodeInterface):
        super().__init__(interface, SUBJECT)
        self._positions: Dict[str, Tuple[float, float]] = {}  # and when they arrived [s]
        self._published = self._rejected = 0
        self._publisher = publisher(self, interface.topic('feedforward_trajectory'))
        self._states, self._trajectories = JointStateReader(), JointTrajectoryReader()
        subscription(self, interface.topic('joint_states'), self._on_states, raw=True)
        subscription(self, interface.topic('joint_trajectory'), self._on_trajectory, raw=True)
        self.bring_up()

    def activate(self) -> None:
        """Begin to answer trajectories."""
        self.diagnostics.condition(SUBJECT, OK, 'waiting for trajectories', code='ready')

    def cleanup(self) -> None:
        """Drop the robot and its joint positions."""
        self._positions.clear()
        super().cleanup()

    def _prepare(self, values: Mapping[str, Any]) -> Optional[Feedforward]:
        """Return the settings computed from the parameters for the robot.

        :raises ValueError: if the parameters cannot be used
        """
        link, payload = checked_payload(values)
        robot = self.robot
        if robot is None:
            return None
        limits = robot.effort_limits
        if values['effort_limits']:
            given = per_joint('effort_limits', values['effort_limits'], robot.nv)
            limits = np.minimum(limits, given)
        settings = LawSettings.for_robot(
            robot,
            feedback='none',
            friction=values['friction_compensation'],
            gravity=np.array(values['gravity']),
            payload=payload,
            effort_limits=limits,
        )
        return Feedforward(robot, settings, link)

    def configure(self, robot: Robot, progress: Progress) -> None:
        """Compile the inverse dynamics of a robot.

        :raises ValueError: if robot and parameters do not fit
        """
        progress.stage('compiling the inverse dynamics')
        self.robot = robot
        self._prepared = self._prepare(self.parameters.values)

    # -- messages ---------------------------------------------------------------------------------

    def _on_states(self, data: bytes) -> None:
        if self.robot is None:
            return
        try:
            message = self._states.read(data)
        except WireError as error:
            self.diagnostics.event('joint_states', WARN, str(error), code=error.code)
            return
        names, positions = message.names.names, message.position
        if positions is None or positions.size != len(names):
            size = 0 if positions is None else positions.size
            self.diagnostics.event(
                'joint_states',
                WARN,
                f'message rejected: position has {size} elements for {len(names)} names',
                code='position has wrong length',
            )
            return
        now, known = time.monotonic(), frozenset(self.robot.joint_names)
        for name, position in zip(names, positions.tolist()):
            if name in known and math.isfinite(position):
                self._positions[name] = position, now

    def _on_trajectory(self, data: bytes) -> None:
        try:
            if self._prepared is None:
                raise WireError('no robot', 'the node has no robot description yet')
            if not self.active:
                cure = f'ros2 lifecycle set {self.get_fully_qualified_name()} activate'
                raise WireError('not active', f'the node is {self.state}: {cure}')
            message = self._trajectories.read(data)
            result = self._answer(self._prepared, message)
        except (TrajectoryError, WireError, ValueError) as error:
            self._rejected += 1
            self.diagnostics.event(
                SUBJECT,
                WARN,
                f'trajectory rejected and not published: {error}',
                code=getattr(error, 'code', '') or 'trajectory not valid',
            )
            return
        self._publisher.publish(result)
        self._published += 1
        self.diagnostics.condition(SUBJECT, OK, 'trajectories are answered', code='answering')

    def _answer(self, feedforward: Feedforward, data: JointTrajectoryData) -> Message:
        """Return the message with efforts; an empty trajectory, which stops, is unmodified.

        :raises TrajectoryError: if efforts cannot be computed, with joint and point
        """
        if not len(data.times):
            return _message(data, None)
        values = self.parameters.values
        trajectory = JointTrajectory(
            data.joint_names, data.times, data.positions, data.velocities, data.accelerations
        )
        missing_joints = self._held(data.joint_names, values['state_timeout'])
        report = check_trajectory(feedforward, trajectory, missing_joints)
        if not report.within_limits:
            trajectory = self._within_limits(trajectory, report, values['limit_violation_policy'])
        step = values['max_point_spacing'] or None
        return _message(data, add_feedforward(feedforward, trajectory, missing_joints, step))

    def _held(self, named: Tuple[str, ...], timeout: float) -> Dict[str, float]:
        """Return the known positions of joints that a trajectory does not name."""
        oldest = time.monotonic() - (timeout or math.inf)
        return {
            name: position
            for name, (position, arrived) in self._positions.items()
            if name not in named and arrived >= oldest
        }

    def _within_limits(
        self, trajectory: JointTrajectory, report: TrajectoryReport, policy: str
    ) -> JointTrajectory:
        """Return the trajectory to publish for one that exceeds limits.

        :raises TrajectoryError: if it is rejected
        """
        text = _exceeded(report)
        if policy == 'warn':
            self.diagnostics.event(
                SUBJECT, WARN, f'{text}; the trajectory is published', code='beyond limits'
            )
            return trajectory
        if policy == 'time_scale' and report.min_time_scale is not None:
            factor = report.min_time_scale
            self.diagnostics.event(
                SUBJECT,
                WARN,
                f'{text}; the trajectory is published with {factor:.4g} times its duration',
                code='time scaled',
            )
            return trajectory.scale_time(factor)
        cure = 'no duration keeps all limits'
        if report.min_time_scale is not None:
            cure = f'make it at least {report.min_time_scale:.4g} times as long'
        worst = next(m for m in report.margins if not m.within_limits)
        raise TrajectoryError(f'{text}; {cure}', worst.joint, code='beyond limits')

    def _values(self) -> Dict[str, Any]:
        return {
            'trajectories_published': self._published,
            'trajectories_rejected': self._rejected,
        }


def _exceeded(report: TrajectoryReport) -> str:
    """Return the exceeded limits, for a message."""
    broken = [margin for margin in report.margins if not margin.within_limits]
    texts = [
        f'{m.quantity} of joint {m.joint!r} is {m.value:.6g} at {m.time:.3f} s, its limit '
        f'{m.limit:.6g}'
        for m in broken[:SHOWN]
    ]
    if len(broken) > SHOWN:
        texts.append(f'and {len(broken) - SHOWN} more')
    return '; '.join(texts)


def _message(data: JointTrajectoryData, trajectory: Optional[FeedforwardTrajectory]) -> Message:
    """Return the message with the names and the stamp of the received one."""
    message = Message(joint_names=list(data.joint_names))
    set_stamp(message.header.stamp, data.stamp)
    if trajectory is None:
        return message
    fields = {
        'positions': trajectory.positions,
        'velocities': trajectory.velocities,
        'accelerations': trajectory.accelerations,
        'effort': trajectory.efforts,
    }
    given = [(name, values) for name, values in fields.items() if values is not None]
    for k, at in enumerate(trajectory.times.tolist()):
        point = JointTrajectoryPoint()
        for name, values in given:
            setattr(point, name, array('d', values[k].tobytes()))
        sec, nanosec = divmod(round(at * NANOSECONDS), NANOSECONDS)
        point.time_from_start.sec, point.time_from_start.nanosec = sec, nanosec
        message.points.append(point)
    return message
