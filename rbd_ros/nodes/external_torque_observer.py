# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node external_torque_observer: external torques from states and efforts of a robot."""

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
from rbd_ros.nodes.observer.collision_response import NO_RESPONSE, STOP
from rbd_ros.nodes.torque.torque_interface import JOINT_STATES, TORQUE_PARAMETERS

_SHARED = ('payload_link', 'payload_mass', 'payload_center_of_mass', 'payload_inertia')

INTERFACE = NodeInterface(
    name='external_torque_observer',
    summary='Estimates external torques, the wrench at a frame, and whether there is a collision.',
    parameters=(
        *DESCRIPTION_PARAMETERS,
        gravity_parameter(live=True),
        *(p for p in TORQUE_PARAMETERS if p.name in _SHARED),
        Parameter(
            'gain',
            30.0,
            'Gain of the observer, the inverse of its time constant [1/s].',
            positive=True,
            maximum=1e5,
            live=True,
        ),
        Parameter(
            'friction_compensation',
            True,
            'Whether to subtract the viscous and Coulomb friction of the robot description.',
            live=True,
        ),
        Parameter(
            'wrench_frame',
            '',
            'Link or joint at which the external wrench acts; empty: the last link.',
            live=True,
        ),
        Parameter(
            'collision_threshold',
            (),
            'Threshold of the external torque for a collision: one for all joints or one for '
            'each, in the order of the robot [N m or N]; empty: a tenth of the effort limits, 10 '
            'without one.',
            minimum=1e-9,
            maximum=1e9,
            live=True,
        ),
        Parameter(
            'collision_hysteresis',
            0.5,
            'Fraction of the thresholds below which the torques of all joints must fall for a '
            'collision to end.',
            minimum=0.0,
            maximum=1.0,
            live=True,
        ),
        Parameter(
            'collision_response',
            NO_RESPONSE,
            'Response to a collision in addition to the flag. none: no response; stop: an empty '
            'JointTrajectory, at which inverse_dynamics holds the desired position.',
            choices=(NO_RESPONSE, STOP),
            live=True,
        ),
        Parameter(
            'state_timeout',
            0.5,
            'Time without a usable state after which diagnostics report it [s], in real time; '
            '0: never.',
            minimum=0.0,
            maximum=1e5,
            live=True,
        ),
        AUTOSTART,
    ),
    topics=(
        Topic(
            JOINT_STATES.name,
            JOINT_STATES.kind,
            'in',
            'Measured position, velocity and effort, in one message or in parts.',
            reliable=False,
            depth=10,
        ),
        Topic(
            '~/external_torque',
            'sensor_msgs/msg/JointState',
            'out',
            'Names and, as `effort`, the external torques, with the stamp of the state.',
        ),
        Topic(
            '~/external_wrench',
            'geometry_msgs/msg/WrenchStamped',
            'out',
            'Wrench at the origin of wrench_frame, in its axes, that fits the external torques '
            'best.',
        ),
        Topic(
            '~/collision',
            'std_msgs/msg/Bool',
            'out',
            'Whether a torque exceeds its threshold, with hysteresis.',
        ),
        Topic(
            'joint_trajectory',
            'trajectory_msgs/msg/JointTrajectory',
            'out',
            'A trajectory without points at the beginning of each collision.',
            optional=f'with collision_response {STOP}',
        ),
        DESCRIPTION_TOPIC,
        DIAGNOSTICS_TOPIC,
        TRANSITION_EVENT,
    ),
    services=LIFECYCLE_SERVICES,
)


def _load() -> Callable[[], Any]:
    from rbd_ros.nodes.observer.observer_node import ObserverNode

    return lambda: ObserverNode(INTERFACE)


def main(args: Optional[Sequence[str]] = None) -> int:
    """Run the node until it is stopped."""
    return run_node(_load, args)


if __name__ == '__main__':
    sys.exit(main())
