# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node trajectory_feedforward: adds efforts to trajectories of controllers."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Sequence

from rbd_ros.nodes.common.declared import (
    AUTOSTART,
    DESCRIPTION_PARAMETERS,
    DESCRIPTION_TOPIC,
    DIAGNOSTICS_TOPIC,
    gravity_parameter,
    LIFECYCLE_SERVICES,
    TRANSITION_EVENT,
)
from rbd_ros.nodes.common.node_interface import NodeInterface, Parameter, Topic
from rbd_ros.nodes.common.node_process import run_node
from rbd_ros.nodes.torque.torque_interface import JOINT_STATES, TORQUE_PARAMETERS

_SHARED = (
    'payload_link',
    'payload_mass',
    'payload_center_of_mass',
    'payload_inertia',
    'effort_limits',
)

INTERFACE = NodeInterface(
    name='trajectory_feedforward',
    summary='Adds efforts to trajectories by inverse dynamics, and checks limits.',
    parameters=(
        *DESCRIPTION_PARAMETERS,
        gravity_parameter(live=True),
        *(p for p in TORQUE_PARAMETERS if p.name in _SHARED),
        Parameter(
            'friction_compensation',
            'desired',
            'Adds the viscous and Coulomb friction of the robot description at the velocity of '
            'the trajectory.',
            choices=('desired', 'none'),
            live=True,
        ),
        Parameter(
            'max_point_spacing',
            0.0,
            'Maximum time between points; the node inserts points where it is longer, since '
            'controllers interpolate efforts linearly [s]; 0: no points.',
            minimum=0.0,
            maximum=1e3,
            live=True,
        ),
        Parameter(
            'limit_violation_policy',
            'reject',
            'Policy for a trajectory beyond a limit of position, velocity or effort. reject: '
            'it is not published; time_scale: it is published with the minimum duration that '
            'keeps all limits, and rejected if there is none; warn: it is published with a '
            'warning.',
            choices=('reject', 'time_scale', 'warn'),
            live=True,
        ),
        Parameter(
            'state_timeout',
            1.0,
            'Maximum age of joint_states as positions of joints that a trajectory leaves out '
            '[s], in real time; 0: any.',
            minimum=0.0,
            maximum=1e5,
            live=True,
        ),
        AUTOSTART,
    ),
    topics=(
        Topic(
            'joint_trajectory',
            'trajectory_msgs/msg/JointTrajectory',
            'in',
            'Trajectories; their efforts are ignored.',
            depth=10,
        ),
        Topic(
            'feedforward_trajectory',
            'trajectory_msgs/msg/JointTrajectory',
            'out',
            'The same with efforts, to be remapped to the topic of a controller.',
            depth=10,
        ),
        Topic(
            JOINT_STATES.name,
            JOINT_STATES.kind,
            'in',
            'Positions of joints that a trajectory leaves out.',
            reliable=False,
        ),
        DESCRIPTION_TOPIC,
        DIAGNOSTICS_TOPIC,
        TRANSITION_EVENT,
    ),
    services=LIFECYCLE_SERVICES,
)


def _load() -> Callable[[], Any]:
    from rbd_ros.nodes.feedforward.feedforward_node import FeedforwardNode

    return lambda: FeedforwardNode(INTERFACE)


def main(args: Optional[Sequence[str]] = None) -> int:
    """Run the node until it is stopped."""
    return run_node(_load, args)


if __name__ == '__main__':
    sys.exit(main())
