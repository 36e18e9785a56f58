# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node inverse_dynamics: torques that make the robot follow a trajectory."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

from rbd_ros.nodes.common.declared import LIFECYCLE_SERVICES
from rbd_ros.nodes.common.node_interface import Action, NodeInterface, Parameter, Topic
from rbd_ros.nodes.common.node_process import run_node
from rbd_ros.nodes.torque.task_parameters import task_options, TASK_PARAMETERS
from rbd_ros.nodes.torque.torque_interface import MAX_GAIN, TORQUE_PARAMETERS, TORQUE_TOPICS

JOINT_TRAJECTORY = Topic(
    'joint_trajectory',
    'trajectory_msgs/msg/JointTrajectory',
    'in',
    'Desired trajectory; see below.',
)
DESIRED_POSE = Topic(
    '~/desired_pose',
    'geometry_msgs/msg/PoseStamped',
    'in',
    'Desired pose of `task_frame` in the frame of the base link; the joints move there within '
    'their limits.',
)
DESIRED_STATE = Topic(
    '~/desired_state',
    'sensor_msgs/msg/JointState',
    'out',
    'Desired position and velocity, and the torque that was sent; only while subscribed to.',
)
TRACKING_ERROR = Topic(
    '~/tracking_error',
    'sensor_msgs/msg/JointState',
    'out',
    'Desired minus measured position and velocity; only while subscribed to.',
)
FOLLOW_JOINT_TRAJECTORY = Action(
    '~/follow_joint_trajectory',
    'control_msgs/action/FollowJointTrajectory',
    'Follows a trajectory, with tolerances, feedback and a result; see below.',
    optional='control_msgs',
)

INTERFACE = NodeInterface(
    name='inverse_dynamics',
    summary='Publishes the torques that make the robot follow a trajectory.',
    parameters=(
        *TORQUE_PARAMETERS,
        Parameter(
            'feedforward',
            'inverse_dynamics',
            'inverse_dynamics: inertia, Coriolis and gravity, of the desired motion with feedback '
            'pd, of the measured state with computed_torque; gravity: gravity at the measured '
            'position; none.',
            choices=('inverse_dynamics', 'gravity', 'none'),
            live=True,
        ),
        Parameter(
            'feedback',
            'computed_torque',
            'computed_torque: H (kp e + kd de/dt) at the measured position, with its integral; '
            'pd: kp e + kd de/dt, with its integral; task_impedance: springs and dampers of '
            'task_frame; none.',
            choices=('computed_torque', 'pd', 'task_impedance', 'none'),
            live=True,
        ),
        Parameter(
            'kp',
            (),
            'Gain of the position error: one for all joints or one for each, in the order of the '
            'robot, [1/s^2] with computed_torque, [N m/rad or N/m] with pd; empty: from '
            'natural_frequency.',
            minimum=0.0,
            maximum=MAX_GAIN,
            live=True,
        ),
        Parameter(
            'kd',
            (),
            'Gain of the velocity error, likewise, [1/s] or [N m s/rad or N s/m]; empty: from '
            'natural_frequency and damping_ratio.',
            minimum=0.0,
            maximum=MAX_GAIN,
            live=True,
        ),
        Parameter(
            'ki',
            (),
            'Gain of the integral of the position error, likewise, [1/s^3] or [N m/(rad s) or '
            'N/(m s)]; empty: from natural_frequency, or none if kp or kd is given.',
            minimum=0.0,
            maximum=MAX_GAIN,
            live=True,
        ),
        Parameter(
            'natural_frequency',
            18.0,
            'Frequency of the closed loop from which empty gains follow [rad/s].',
            positive=True,
            maximum=1000.0,
            live=True,
        ),
        Parameter(
            'damping_ratio',
            1.0,
            'Damping of the closed loop from which empty gains follow.',
            minimum=0.0,
            maximum=10.0,
            live=True,
        ),
        *TASK_PARAMETERS,
        Parameter(
            'friction_compensation',
            'desired',
            'Adds the viscous and Coulomb friction of the robot description at the desired or the '
            'measured velocity.',
            choices=('desired', 'measured', 'none'),
            live=True,
        ),
        Parameter(
            'allow_partial_trajectory',
            False,
            'Whether a trajectory may leave joints out; these continue their motion or stay.',
            live=True,
        ),
        Parameter(
            'check_limits',
            True,
            'Whether to reject trajectories beyond the position or velocity limits of the robot '
            'description.',
            live=True,
        ),
        Parameter(
            'start_tolerance',
            0.2,
            'Maximum distance of the start of a trajectory from the desired position, from which '
            'the robot moves there smoothly [rad or m]; 0: any distance.',
            minimum=0.0,
            maximum=1e5,
            live=True,
        ),
        Parameter(
            'state_loss_policy',
            'resume',
            'Policy for a trajectory when usable states were missing for state_timeout. resume: '
            'continue it where it stopped, if states return within max_state_gap and the robot '
            'is near; hold: hold the measured position.',
            choices=('resume', 'hold'),
            live=True,
        ),
        Parameter(
            'max_state_gap',
            1.0,
            'Time without usable states after which a trajectory is not resumed [s].',
            minimum=0.0,
            maximum=3600.0,
            live=True,
        ),
        Parameter(
            'constraints.trajectory',
            (),
            'Maximum position error during a trajectory, one number for all joints or one for '
            'each, in the order of the robot [rad or m]; 0 or empty: any distance.',
            minimum=0.0,
            maximum=1e5,
            live=True,
        ),
        Parameter(
            'constraints.goal',
            (),
            'Maximum position error at the last point of a trajectory, likewise.',
            minimum=0.0,
            maximum=1e5,
            live=True,
        ),
        Parameter(
            'constraints.goal_time',
            0.0,
            'Maximum time after the end of a trajectory in which the robot must reach its goal '
            '[s]; 0: any time.',
            minimum=0.0,
            maximum=3600.0,
            live=True,
        ),
        Parameter(
            'constraints.stopped_velocity_tolerance',
            0.01,
            'Velocity below which a robot at its goal counts as stopped [rad/s or m/s]; 0: any.',
            minimum=0.0,
            maximum=1e4,
            live=True,
        ),
    ),
    topics=(*TORQUE_TOPICS, JOINT_TRAJECTORY, DESIRED_POSE, DESIRED_STATE, TRACKING_ERROR),
    services=LIFECYCLE_SERVICES,
    actions=(FOLLOW_JOINT_TRAJECTORY,),
)


def law_options(robot: Any, values: Mapping[str, Any]) -> Dict[str, Any]:
    """Return the arguments of `LawSettings.for_robot`: the terms of the law and its gains.

    :param values: values of the node's parameters by name; empty gains are computed from the
        natural frequency and the damping ratio
    :raises ValueError: for a wrong number of values
    """
    from rbd_ros.control import default_gains
    from rbd_ros.nodes.torque.prepared import per_joint

    feedback = values['feedback']
    if feedback == 'task_impedance':
        return {
            'feedforward': values['feedforward'],
            'feedback': feedback,
            'friction': values['friction_compensation'],
            **task_options(robot, values),
        }
    given = {
        name: per_joint(name, values[name], robot.nv)
        for name in ('kp', 'kd', 'ki')
        if values[name]
    }
    gains = default_gains(
        robot,
        feedback=feedback,
        natural_frequency=values['natural_frequency'],
        damping_ratio=values['damping_ratio'],
    )
    if given:
        gains = (gains[0], gains[1], 0.0)
    kp, kd, ki = (given.get(name, gain) for name, gain in zip(('kp', 'kd', 'ki'), gains))
    return {
        'feedforward': values['feedforward'],
        'feedback': feedback,
        'friction': values['friction_compensation'],
        'kp': kp,
        'kd': kd,
        'ki': ki,
    }


def _load() -> Callable[[], Any]:
    from rbd_ros.nodes.torque.pose_target import PoseReference
    from rbd_ros.nodes.torque.torque_node import TorqueNode

    return lambda: TorqueNode(INTERFACE, law_options, PoseReference)


def main(args: Optional[Sequence[str]] = None) -> int:
    """Run the node until it is stopped."""
    return run_node(_load, args)


if __name__ == '__main__':
    sys.exit(main())
