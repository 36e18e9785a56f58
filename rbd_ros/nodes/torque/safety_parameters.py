# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of torque nodes for soft stops and speed limits of joints."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Tuple

from rbd_ros.nodes.common.node_interface import Parameter

SAFETY_PARAMETERS: Tuple[Parameter, ...] = (
    Parameter(
        'soft_stops',
        False,
        'Whether joints brake before their position limits: the soft limits of '
        '<safety_controller>, or soft_stop_margin inside the limits of the robot description.',
    ),
    Parameter(
        'soft_stop_margin',
        0.05,
        'Distance from the position limits at which joints without soft limits stop [rad or m]; '
        'at most a quarter of their range.',
        minimum=0.0,
        maximum=1e3,
    ),
    Parameter(
        'brake_at_velocity_limits',
        False,
        'Whether joints brake at the velocity limits of the robot description.',
    ),
    Parameter(
        'overspeed_factor',
        0.0,
        'Multiple of the velocity limits of the robot description at which the node sends '
        'timeout_command and then no command until it is deactivated and activated; 0: none, '
        'otherwise at least 1.',
        minimum=0.0,
        maximum=1e3,
    ),
)


def check_safety(values: Mapping[str, Any]) -> None:
    """Reject an invalid overspeed factor by a ValueError."""
    if 0.0 < values['overspeed_factor'] < 1.0:
        raise ValueError(
            'overspeed_factor must be 0, for none, or at least 1, got '
            f'{values["overspeed_factor"]:g}'
        )


def soft_stops(robot: Any, values: Mapping[str, Any]) -> Optional[Any]:
    """Return the soft stops for the parameters; None: none.

    :param values: values of the node's parameters by name
    """
    positions, speeds = values['soft_stops'], values['brake_at_velocity_limits']
    if not (positions or speeds):
        return None
    from rbd_ros.control.law.soft_stops import SoftLimits, SoftStops

    margin = values['soft_stop_margin']
    return SoftStops(
        robot, SoftLimits.for_robot(robot, margin, positions=positions, speeds=speeds)
    )
