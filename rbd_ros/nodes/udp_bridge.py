# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node udp_bridge: a program without ROS controls the robot by UDP."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Sequence

from rbd_ros.nodes.common.declared import LIFECYCLE_SERVICES
from rbd_ros.nodes.common.node_interface import NodeInterface, Parameter
from rbd_ros.nodes.common.node_process import run_node
from rbd_ros.nodes.inverse_dynamics import (
    DESIRED_STATE,
    FOLLOW_JOINT_TRAJECTORY,
    INTERFACE as INVERSE_DYNAMICS,
    JOINT_TRAJECTORY,
    TRACKING_ERROR,
)
from rbd_ros.nodes.torque.torque_interface import TORQUE_PARAMETERS, TORQUE_TOPICS

# Parameters of inverse_dynamics for the desired motion.
_MOTION = (
    'allow_partial_trajectory',
    'check_limits',
    'start_tolerance',
    'state_loss_policy',
    'max_state_gap',
    'constraints.trajectory',
    'constraints.goal',
    'constraints.goal_time',
    'constraints.stopped_velocity_tolerance',
)

INTERFACE = NodeInterface(
    name='udp_bridge',
    summary='Sends states to a program without ROS and receives its torques, by UDP.',
    parameters=(
        Parameter('address', '127.0.0.1', 'Host name or IP address where the program listens.'),
        Parameter('port', 9700, 'UDP port where it listens.', minimum=1, maximum=65535),
        Parameter(
            'response_timeout',
            0.01,
            'Maximum time to wait for the answer to a state [s]; after it, that state has no '
            'answer.',
            positive=True,
            maximum=10.0,
            live=True,
        ),
        *(p for p in TORQUE_PARAMETERS if p.name != 'coulomb_smoothing_velocity'),
        *(p for p in INVERSE_DYNAMICS.parameters if p.name in _MOTION),
    ),
    topics=(*TORQUE_TOPICS, JOINT_TRAJECTORY, DESIRED_STATE, TRACKING_ERROR),
    services=LIFECYCLE_SERVICES,
    actions=(FOLLOW_JOINT_TRAJECTORY,),
)


def _load() -> Callable[[], Any]:
    from rbd_ros.nodes.bridge.bridge_node import BridgeNode

    return lambda: BridgeNode(INTERFACE)


def main(args: Optional[Sequence[str]] = None) -> int:
    """Run the node until it is stopped."""
    return run_node(_load, args)


if __name__ == '__main__':
    sys.exit(main())
