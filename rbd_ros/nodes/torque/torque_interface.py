# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parameters and topics that all torque nodes declare."""

from __future__ import annotations

from typing import Tuple

from rbd_ros.nodes.common.declared import (
    AUTOSTART,
    DESCRIPTION_PARAMETERS,
    DESCRIPTION_TOPIC,
    DIAGNOSTICS_TOPIC,
    gravity_parameter,
    REAL_TIME_PARAMETERS,
    TRANSITION_EVENT,
)
from rbd_ros.nodes.common.node_interface import Parameter, Topic
from rbd_ros.nodes.common.timing_thresholds import threshold_parameters, UPDATE_RATE
from rbd_ros.nodes.torque.safety_parameters import SAFETY_PARAMETERS

FORMS = ('both', 'joint_state', 'array')
LAST_COMMANDS = ('zero', 'gravity', 'none')

# Above the needs of any robot; sums and products of them do not overflow.
MAX_MASS = 1e5  # [kg]
MAX_DISTANCE = 100.0  # [m]
MAX_INERTIA = 1e7  # [kg m^2]
MAX_TORQUE = 1e9  # [N m or N]
MAX_GAIN = 1e9

JOINT_STATES = Topic(
    'joint_states',
    'sensor_msgs/msg/JointState',
    'in',
    'Measured state, joints in any order, in one message or in parts.',
    reliable=False,
)
JOINT_COMMANDS = Topic(
    'joint_commands',
    'sensor_msgs/msg/JointState',
    'out',
    'Joint names and `effort`, with the stamp of the state that it answers.',
)
EFFORT_COMMANDS = Topic(
    'effort_commands',
    'std_msgs/msg/Float64MultiArray',
    'out',
    'The same torques in the order of parameter `joints`.',
)
MODEL_MARKERS = Topic(
    '~/model_markers',
    'visualization_msgs/msg/MarkerArray',
    'out',
    'Center of mass, inertia of the bodies as ellipsoids, gravity torques as arrows; ten times a '
    'second, only while subscribed to.',
)
TORQUE_TOPICS: Tuple[Topic, ...] = (
    JOINT_STATES,
    JOINT_COMMANDS,
    EFFORT_COMMANDS,
    MODEL_MARKERS,
    DESCRIPTION_TOPIC,
    DIAGNOSTICS_TOPIC,
    TRANSITION_EVENT,
)

TORQUE_PARAMETERS: Tuple[Parameter, ...] = (
    *DESCRIPTION_PARAMETERS,
    Parameter(
        'joints',
        (),
        'Joints to command, in the order of effort_commands; empty: all, in the order of the '
        'robot.',
        element=str,
    ),
    Parameter(
        'optional_joints',
        (),
        'Joints that joint_states may lack; until they appear, they count as at rest at zero.',
        element=str,
    ),
    Parameter(
        'output',
        'both',
        'Messages to publish: JointState on joint_commands, Float64MultiArray on effort_commands.',
        choices=FORMS,
    ),
    gravity_parameter(live=True),
    Parameter('payload_link', '', 'Link that carries the payload; empty: no payload.', live=True),
    Parameter(
        'payload_mass',
        0.0,
        'Mass of the payload [kg].',
        minimum=0.0,
        maximum=MAX_MASS,
        live=True,
    ),
    Parameter(
        'payload_center_of_mass',
        (0.0, 0.0, 0.0),
        'Center of mass of the payload in payload_link [m].',
        length=3,
        minimum=-MAX_DISTANCE,
        maximum=MAX_DISTANCE,
        live=True,
    ),
    Parameter(
        'payload_inertia',
        (0.0,) * 6,
        'Inertia of the payload about its center of mass, axes of payload_link: ixx ixy ixz iyy '
        'iyz izz [kg m^2].',
        length=6,
        minimum=-MAX_INERTIA,
        maximum=MAX_INERTIA,
        live=True,
    ),
    Parameter(
        'effort_limits',
        (),
        'Additional limits of the torque: one for all joints or one for each, in the order of '
        'the robot [N m or N]; empty: none.',
        minimum=0.0,
        maximum=MAX_TORQUE,
        live=True,
    ),
    Parameter(
        'torque_rate_limit',
        0.0,
        'Maximum rate of change of each torque in real time [N m/s or N/s]; 0: none. It also '
        'applies to last commands, to lowered effort_limits, and across configurations of the '
        'node; only a second stop signal ignores it.',
        minimum=0.0,
        maximum=MAX_TORQUE,
        live=True,
    ),
    Parameter(
        'coulomb_smoothing_velocity',
        0.0,
        'Velocity at which the compensation of Coulomb friction reaches 76 % [rad/s or m/s]; 0: '
        '0.0003 for the desired, 0.05 for the measured velocity.',
        minimum=0.0,
        maximum=1e3,
    ),
    Parameter(
        'position_limit_tolerance',
        0.5,
        'Maximum distance of a measured position outside the limits of its joint [rad or m]; the '
        'node ignores a state beyond it.',
        minimum=0.0,
        maximum=1e5,
    ),
    Parameter(
        'state_timeout',
        0.1,
        'Time without a usable state after which timeout_command is sent [s]; 0: never. Real '
        'time; with use_sim_time, simulated time must have passed as well.',
        minimum=0.0,
        maximum=60.0,
    ),
    Parameter(
        'timeout_command',
        'zero',
        'Last torque when states are missing, sent once; then no command is sent until they '
        'return. gravity: the gravity torque of the last known position; none: no command.',
        choices=LAST_COMMANDS,
        live=True,
    ),
    Parameter(
        'shutdown_command',
        'zero',
        'Last torque when the node ends; values as in timeout_command.',
        choices=LAST_COMMANDS,
        live=True,
    ),
    Parameter(
        'deactivate_command',
        'zero',
        'Last torque when the node is deactivated; values as in timeout_command.',
        choices=LAST_COMMANDS,
        live=True,
    ),
    *SAFETY_PARAMETERS,
    AUTOSTART,
    *REAL_TIME_PARAMETERS,
    UPDATE_RATE,
    *threshold_parameters(rate=(5.0, 10.0), execution=(1000.0, 2000.0)),
    Parameter(
        'frame_prefix',
        '',
        'Prefix of the names of frames in ~/model_markers, such as left/.',
    ),
)
