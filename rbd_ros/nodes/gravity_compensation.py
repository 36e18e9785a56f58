# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node gravity_compensation: torques that hold the robot against gravity."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

from rbd_ros.nodes.common.declared import LIFECYCLE_SERVICES
from rbd_ros.nodes.common.node_interface import NodeInterface, Parameter
from rbd_ros.nodes.common.node_process import run_node
from rbd_ros.nodes.gravity.gravity_interface import PARAMETERS, SERVICES, TOPICS
from rbd_ros.nodes.torque.torque_interface import MAX_GAIN, TORQUE_PARAMETERS, TORQUE_TOPICS

INTERFACE = NodeInterface(
    name='gravity_compensation',
    summary='Publishes the torques that hold the robot against gravity at its measured position.',
    parameters=(
        *TORQUE_PARAMETERS,
        Parameter(
            'damping',
            (),
            'Damping that the torque adds to the measured velocity: one for all joints or one '
            'for each, in the order of the robot [N m s/rad or N s/m]; empty: none.',
            minimum=0.0,
            maximum=MAX_GAIN,
            live=True,
        ),
        Parameter(
            'friction_compensation',
            'none',
            'measured: adds the viscous and Coulomb friction of the robot description at the '
            'measured velocity.',
            choices=('none', 'measured'),
            live=True,
        ),
        *PARAMETERS,
    ),
    topics=(*TORQUE_TOPICS, *TOPICS),
    services=(*LIFECYCLE_SERVICES, *SERVICES),
)


def law_options(robot: Any, values: Mapping[str, Any]) -> Dict[str, Any]:
    """Return the arguments of `LawSettings.for_robot`: gravity; damping and friction if set.

    :param values: values of the node's parameters by name
    :raises ValueError: for a wrong number of values
    """
    from rbd_ros.nodes.torque.prepared import per_joint

    damping, share = values['damping'], values['friction_compensation_scale']
    return {
        'feedforward': 'gravity',
        'feedback': 'damping' if damping else 'none',
        'kd': per_joint('damping', damping, robot.nv) if damping else 0.0,
        'friction': values['friction_compensation'],
        'viscous': share * robot.damping,
        'coulomb': share * robot.friction,
    }


def _load() -> Callable[[], Any]:
    from rbd_ros.nodes.gravity.gravity_node import GravityNode

    return lambda: GravityNode(INTERFACE, law_options)


def main(args: Optional[Sequence[str]] = None) -> int:
    """Run the node until it is stopped."""
    return run_node(_load, args)


if __name__ == '__main__':
    sys.exit(main())
