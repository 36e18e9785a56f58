# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of feedback task_impedance: the frame that yields, its springs and its dampers.

Parameters count the axes as ROS does, x, y, z and then the rotations about them; the law has the
rotations first.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Tuple

from rbd_ros.nodes.common.node_interface import Parameter
from rbd_ros.nodes.torque.torque_interface import MAX_GAIN

TASK_PARAMETERS: Tuple[Parameter, ...] = (
    Parameter(
        'task_frame',
        '',
        'Link with the springs and dampers of feedback task_impedance, such as the tool.',
        live=True,
    ),
    Parameter(
        'task_stiffness',
        (500.0, 500.0, 500.0, 30.0, 30.0, 30.0),
        'Stiffness of task_frame along and about the axes of the base: x y z rx ry rz [N/m, '
        'N m/rad].',
        length=6,
        minimum=0.0,
        maximum=MAX_GAIN,
        live=True,
    ),
    Parameter(
        'task_damping',
        (),
        'Damping of task_frame likewise [N s/m, N m s/rad]; empty: from task_damping_ratio.',
        minimum=0.0,
        maximum=MAX_GAIN,
        live=True,
    ),
    Parameter(
        'task_damping_ratio',
        1.0,
        'Damping ratio of task_frame with the inertia of the robot; it has no effect if '
        'task_damping is given.',
        minimum=0.0,
        maximum=10.0,
        live=True,
    ),
    Parameter(
        'task_bandwidth',
        100.0,
        'Maximum natural frequency of the springs [rad/s]; stiffer springs are softened for the '
        'inertia at their end. Keep the dead time of the loop below 0.6 / task_bandwidth.',
        positive=True,
        maximum=1e4,
        live=True,
    ),
    Parameter(
        'nullspace_stiffness',
        (10.0,),
        'Stiffness of the joints about the trajectory in the nullspace of task_frame, one for '
        'all joints or one for each [1/s^2].',
        minimum=0.0,
        maximum=MAX_GAIN,
        live=True,
    ),
    Parameter(
        'nullspace_damping',
        (6.0,),
        'Damping of the joints likewise [1/s].',
        minimum=0.0,
        maximum=MAX_GAIN,
        live=True,
    ),
    Parameter(
        'pose_velocity_scaling',
        0.3,
        'Scaling factor of the velocity limits for the motion to a desired_pose.',
        positive=True,
        maximum=1.0,
        live=True,
    ),
    Parameter(
        'ik_attempts',
        5,
        'Maximum number of starts of the inverse kinematics for a desired_pose: 1 starts from the '
        'present positions only; with more, an arm at rest may flip its elbow or wrist.',
        minimum=1,
        maximum=50,
        live=True,
    ),
    Parameter(
        'pose_stamp_tolerance',
        0.5,
        'Maximum difference between the stamp of a desired_pose and the time of joint_states [s]; '
        '0: any.',
        minimum=0.0,
        maximum=3600.0,
        live=True,
    ),
)


def task_options(robot: Any, values: Mapping[str, Any]) -> Dict[str, Any]:
    """Return the arguments of `LawSettings.for_robot` with feedback task_impedance.

    :param values: values of the node's parameters by name
    :raises ValueError: for a missing frame or a wrong number of values
    """
    from rbd_ros.control.law.task_impedance import TaskImpedance
    from rbd_ros.nodes.torque.prepared import per_joint

    if not values['task_frame']:
        raise ValueError(
            'feedback task_impedance needs task_frame; set it to a link such as the tool'
        )
    damping = values['task_damping']
    if len(damping) not in (0, 6):
        raise ValueError(f'parameter task_damping has {len(damping)} numbers; give 6 or none')
    task = TaskImpedance.of(
        _rotations_first(values['task_stiffness']),
        _rotations_first(damping) if damping else 0.0,
        0.0 if damping else values['task_damping_ratio'],
        values['task_bandwidth'],
    )
    gains = {
        gain: per_joint(name, values[name] or (0.0,), robot.nv)
        for gain, name in (('kp', 'nullspace_stiffness'), ('kd', 'nullspace_damping'))
    }
    return {'task': task, 'ki': 0.0, **gains}


def _rotations_first(values: Any) -> Tuple[float, ...]:
    return (*values[3:], *values[:3])
