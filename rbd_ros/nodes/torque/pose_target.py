# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Topic `~/desired_pose`: converts a pose of task_frame to a motion of the joints."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import PoseStamped
import numpy as np

from rbd_ros.control import TrajectoryError
from rbd_ros.nodes.common.communication import subscription
from rbd_ros.nodes.messages.conversions import floating_joint_from_pose, NANOSECONDS, nanoseconds
from rbd_ros.nodes.messages.text import short_name
from rbd_ros.nodes.torque.trajectory_reference import TrajectoryReference
from rbd_ros.robot import Robot
from rbd_ros.spatial.rotation import quaternion_to_rotation

MAX_DISTANCE = 1e3  # maximum distance of a pose from the base [m]
NEAR, NEARLY_TURNED = 1e-3, 5e-3  # tolerances of a reached pose [m, rad]
SHORTEST = 0.02  # minimum duration of a motion [s]
PEAK = 1.5  # maximum speed of a cubic from rest to rest / mean speed
WITHOUT_LIMIT = 1.0  # speed of a joint without a limit [rad/s or m/s]


class PoseTargets:
    """Subscriber of poses; each replaces the previous motion.

    :param node: the torque node
    :param robot: its robot; with loops, its independent joints
    :param reference: follows the motions
    """

    def __init__(self, node: Any, robot: Any, reference: TrajectoryReference):
        self._node, self._robot, self._reference = node, robot, reference
        self._base, self._speeds = '', np.zeros(0)
        if isinstance(robot, Robot):
            links = robot.model.links.values()
            base = next((link.name for link in links if link.body == 0), '')
            self._base = node.parameters['frame_prefix'] + base
            speeds = np.asarray(robot.velocity_limits)
            known = np.isfinite(speeds) & (speeds > 0.0)
            self._speeds = np.where(known, speeds, WITHOUT_LIMIT)
            if node.parameters['task_frame'] in robot.link_names:
                # Compile before the robot moves.
                tool, q = robot.frame(node.parameters['task_frame']), robot.neutral()
                tool.inverse_kinematics(tool.pose(q), q, starts=1)
        topic = node.interface.topic('~/desired_pose')
        subscription(node, topic, self.on_pose)

    def on_pose(self, message: PoseStamped) -> None:
        """Move to a pose; an impossible pose is rejected, and the present motion continues."""
        self._reference.count_received()
        try:
            self._accept(message)
        except (TrajectoryError, ValueError) as error:
            self._reference.report_rejection(error, 'pose')

    def _accept(self, message: PoseStamped) -> None:
        reference, values = self._reference, self._node.parameters
        if not self._speeds.size:
            raise _error('loops', 'the robot has kinematic loops; send a trajectory of its joints')
        if not values['task_frame']:
            raise _error(
                'no task_frame', 'task_frame is empty; set it to the link of the desired pose'
            )
        now = reference.present_time()
        if now is None or not self._node.answering:
            raise _error('no state', 'there is no usable state of the robot')
        frame = message.header.frame_id.lstrip('/')
        if frame not in ('', self._base):
            raise _error(
                'frame',
                f'frame_id is {short_name(frame)!r}; give the pose in the frame {self._base!r}',
            )
        stamp, tolerance = nanoseconds(message.header.stamp), values['pose_stamp_tolerance']
        age = abs(now - stamp) / NANOSECONDS
        if stamp and 0.0 < tolerance < age:
            raise _error(
                'stale',
                f'its stamp differs from the time of joint_states by {age:.3g} s, above '
                f'pose_stamp_tolerance {tolerance:g} s; stamp 0 means now',
            )
        pose = _pose_matrix(message)
        start = reference.desired_position
        # In motion, as with a stream of poses, it must not jump to another configuration.
        attempts = values['ik_attempts'] if reference.is_at_rest else 1
        tool = self._robot.frame(values['task_frame'])
        goal = tool.inverse_kinematics(pose, start, starts=attempts)
        if goal.position_error > NEAR or goal.rotation_error > NEARLY_TURNED:
            raise _error(
                'out of reach',
                f'{tool.name!r} comes no closer than {goal.position_error:.3g} m and '
                f'{goal.rotation_error:.3g} rad within the limits of the joints, '
                'starting at the present position'
                + (
                    ''
                    if reference.is_at_rest
                    else '; at rest, the node tries other configurations as well'
                ),
            )
        mean = self._speeds * values['pose_velocity_scaling'] / PEAK
        duration = max(float((np.abs(goal.q - start) / mean).max(initial=0.0)), SHORTEST)
        reference.follow(
            reference.joint_names, [duration], [goal.q], None, None, 0, reference.tolerances()
        )


class PoseReference(TrajectoryReference):
    """Reference that follows trajectories and moves to poses.

    :param node: torque node with `~/desired_pose`
    """

    def __init__(self, node: Any, robot: Any):
        super().__init__(node, robot)
        PoseTargets(node, robot, self)


def _pose_matrix(message: PoseStamped) -> np.ndarray:
    """Return the homogeneous matrix of a pose, (4, 4).

    :raises TrajectoryError: for an invalid pose
    """
    numbers = floating_joint_from_pose(message.pose)
    quaternion, position = numbers[:4], numbers[4:]
    if not np.isfinite(numbers).all():
        raise _error('not finite', 'the pose is not finite')
    if np.abs(position).max() > MAX_DISTANCE:
        raise _error('too far', f'the position is beyond {MAX_DISTANCE:g} m')
    with np.errstate(over='ignore'):
        square = float(quaternion @ quaternion)
    if not 0.5 < square < 2.0:
        raise _error('not a unit quaternion', 'its orientation is not a unit quaternion')
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = quaternion_to_rotation(tuple(quaternion)), position
    return pose


def _error(code: str, text: str) -> TrajectoryError:
    return TrajectoryError(text, code=f'pose {code}')
