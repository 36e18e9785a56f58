# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parameters, topics and services of gravity_compensation, beyond those of all torque nodes."""

from __future__ import annotations

from typing import Tuple

from rbd_ros.nodes.common.node_interface import Parameter, Service, Topic
from rbd_ros.nodes.torque.torque_interface import MAX_GAIN

MODES = ('compensation', 'hand_guiding')
SOURCES = ('parameters', 'imu')

IMU = Topic(
    'imu',
    'sensor_msgs/msg/Imu',
    'in',
    'Orientation, or acceleration at rest, of the link that frame_id names.',
    reliable=False,
    optional='with gravity_source imu',
)
PAYLOAD = Topic(
    '~/payload',
    'geometry_msgs/msg/InertiaStamped',
    'in',
    'The payload: link (frame_id), mass, center of mass, inertia about it.',
)
JOINT_TARGETS = Topic(
    'joint_targets',
    'sensor_msgs/msg/JointState',
    'in',
    'Desired positions of servos, by name; a message may have some of the joints.',
    optional='with servo_stiffness',
)
POSITION_COMMANDS = Topic(
    'position_commands',
    'std_msgs/msg/Float64MultiArray',
    'out',
    'Positions for servos in the order of parameter joints, in place of effort_commands; '
    'joint_commands then carries them as position.',
    optional='with servo_stiffness',
)
TOPICS: Tuple[Topic, ...] = (PAYLOAD, IMU, JOINT_TARGETS, POSITION_COMMANDS)

HAND_GUIDING = Service(
    '~/hand_guiding',
    'std_srvs/srv/SetBool',
    'Switches hand guiding on and off, like the parameter mode.',
)
SERVICES: Tuple[Service, ...] = (HAND_GUIDING,)

PARAMETERS: Tuple[Parameter, ...] = (
    Parameter(
        'robot_compensates_gravity',
        False,
        'Whether the robot compensates its own weight. true: the torque is that of payload, '
        'damping and friction only.',
    ),
    Parameter(
        'mounting_rpy',
        (0.0, 0.0, 0.0),
        'Orientation of the base in the world, roll, pitch and yaw as in URDF [rad]; gravity is '
        'then in the axes of the world.',
        length=3,
        minimum=-10.0,
        maximum=10.0,
        live=True,
    ),
    Parameter(
        'gravity_source',
        'parameters',
        'Source of the direction of gravity: the parameters gravity and mounting_rpy, or an IMU '
        'on the robot, from its first message on.',
        choices=SOURCES,
    ),
    Parameter('imu_frame', '', 'Link that carries the IMU; empty: frame_id of its messages.'),
    Parameter(
        'imu_timeout',
        1.0,
        'Time without a usable message of the IMU after which diagnostics report it [s]; the '
        'last direction of gravity is kept.',
        positive=True,
        maximum=60.0,
    ),
    Parameter(
        'gravity_slew_rate',
        0.5,
        'Maximum rate at which the direction of gravity follows that of the IMU [rad/s].',
        positive=True,
        maximum=100.0,
    ),
    Parameter(
        'payload_transition_time',
        0.5,
        'Transition time of the torque to another payload or gravity [s]; 0: none.',
        minimum=0.0,
        maximum=60.0,
        live=True,
    ),
    Parameter(
        'friction_compensation_scale',
        0.8,
        'Fraction of the friction that friction_compensation adds; below 1, an arm with less '
        'friction than described does not move by itself.',
        minimum=0.0,
        maximum=1.0,
        live=True,
    ),
    Parameter(
        'mode',
        'compensation',
        'hand_guiding: adds a soft position hold that follows the hand, and brakes on velocity '
        'and kinetic energy.',
        choices=MODES,
        live=True,
    ),
    Parameter(
        'hand_guiding.stiffness',
        (),
        'Stiffness of the position hold in hand guiding, one for all joints or one for each [N '
        'm/rad or N/m]; 0: damping only; empty: from the inertia.',
        minimum=0.0,
        maximum=MAX_GAIN,
        live=True,
    ),
    Parameter(
        'hand_guiding.damping',
        6.0,
        'Decay rate of the motion in hand guiding when the arm is released [1/s].',
        minimum=0.0,
        maximum=100.0,
        live=True,
    ),
    Parameter(
        'hand_guiding.deadband',
        0.05,
        'Displacement by hand above which the position hold follows [rad or m].',
        positive=True,
        maximum=10.0,
        live=True,
    ),
    Parameter(
        'hand_guiding.max_velocity',
        (1.0,),
        'Velocity in hand guiding above which the arm brakes, one for all joints or one for each '
        '[rad/s or m/s].',
        positive=True,
        maximum=1e3,
        live=True,
    ),
    Parameter(
        'hand_guiding.max_kinetic_energy',
        4.0,
        'Kinetic energy in hand guiding above which the arm brakes [J].',
        positive=True,
        maximum=1e6,
        live=True,
    ),
    Parameter(
        'servo_stiffness',
        (),
        'Stiffness of servos that are commanded by positions, one for all joints or one for '
        'each, in the order of the robot [N m/rad or N/m]; empty: the robot is commanded by '
        'torques.',
        positive=True,
        maximum=MAX_GAIN,
    ),
    Parameter(
        'max_position_offset',
        0.1,
        'Maximum distance of a commanded position from its target [rad or m].',
        minimum=0.0,
        maximum=10.0,
        live=True,
    ),
)
