# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parameters and topics that all nodes share."""

from __future__ import annotations

from typing import Tuple

from rbd_ros.nodes.common.node_interface import Parameter, Service, Topic

MAX_GRAVITY = 1e3  # [m/s^2]

DESCRIPTION_PARAMETERS: Tuple[Parameter, ...] = (
    Parameter(
        'robot_description',
        '',
        'URDF of the robot as text. If empty, the node uses robot_description_file, or the topic '
        'robot_description if that is empty as well.',
    ),
    Parameter(
        'robot_description_file',
        '',
        'Path of a URDF or xacro file, used if robot_description is empty.',
    ),
    Parameter(
        'xacro_args',
        (),
        'Arguments of the xacro file, each as name:=value.',
        element=str,
    ),
    Parameter(
        'armature_file',
        '',
        'Path of a YAML file with the reflected rotor inertia of joints by name [kg m^2 or kg]; '
        'none if empty.',
    ),
    Parameter(
        'extension_file',
        '',
        'Path of a YAML file of extensions that URDF cannot express: joint types, gears, rotors, '
        'loops, actuated joints; none if empty.',
    ),
    Parameter(
        'package_paths',
        (),
        'Folders in which to look for packages of package:// URIs.',
        element=str,
    ),
)

DESCRIPTION_TOPIC = Topic(
    'robot_description',
    'std_msgs/msg/String',
    'in',
    'URDF of the robot; subscribed to only if no parameter gives one.',
    transient_local=True,
    optional='without a description by parameter',
)

DIAGNOSTICS_TOPIC = Topic(
    '/diagnostics',
    'diagnostic_msgs/msg/DiagnosticArray',
    'out',
    'State of the node, every second and immediately after a change.',
    depth=10,
)

AUTOSTART = Parameter(
    'autostart',
    True,
    'Whether the node configures and activates itself; false: it waits for transitions of the '
    'lifecycle.',
)

TRANSITION_EVENT = Topic(
    '~/transition_event',
    'lifecycle_msgs/msg/TransitionEvent',
    'out',
    'Transitions of the lifecycle.',
    depth=10,
)

LIFECYCLE_SERVICES: Tuple[Service, ...] = (
    Service(
        '~/change_state',
        'lifecycle_msgs/srv/ChangeState',
        'Transition of the lifecycle: configure, activate, deactivate, cleanup, shutdown. An '
        'impossible transition fails, and the log and /diagnostics show the reason.',
    ),
    Service('~/get_state', 'lifecycle_msgs/srv/GetState', 'Present state of the lifecycle.'),
    Service(
        '~/get_available_states',
        'lifecycle_msgs/srv/GetAvailableStates',
        'All states of the lifecycle.',
    ),
    Service(
        '~/get_available_transitions',
        'lifecycle_msgs/srv/GetAvailableTransitions',
        'Transitions of the present state.',
    ),
    Service(
        '~/get_transition_graph',
        'lifecycle_msgs/srv/GetAvailableTransitions',
        'All transitions of the lifecycle.',
    ),
)

REAL_TIME_PARAMETERS: Tuple[Parameter, ...] = (
    Parameter(
        'thread_priority',
        0,
        "Real-time priority (SCHED_FIFO) of the loop's thread; 0: none.",
        minimum=0,
        maximum=99,
    ),
    Parameter(
        'lock_memory',
        False,
        'Whether to lock the memory of the process, so that no page is swapped out.',
    ),
    Parameter(
        'cpu_affinity',
        (),
        'Cores on which the thread of the loop may run; empty: any.',
        element=int,
        minimum=0,
        maximum=4095,
    ),
)


def gravity_parameter(live: bool) -> Parameter:
    """Return parameter `gravity`; `live` says whether it can be changed while the node runs."""
    return Parameter(
        'gravity',
        (0.0, 0.0, -9.81),
        'Gravity in base coordinates [m/s^2].',
        length=3,
        minimum=-MAX_GRAVITY,
        maximum=MAX_GRAVITY,
        live=live,
    )
