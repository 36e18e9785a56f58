# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Starting one of our nodes."""

from __future__ import annotations

from typing import Any, Dict, Optional

from launch import Action, LaunchContext

from rbd_ros.launching.arguments import Arguments
from rbd_ros.launching.declarations import LOG_LEVELS
from rbd_ros.launching.launch_processes import require, start_node
from rbd_ros.nodes.common.node_interface import NodeInterface

PACKAGE = 'rbd_ros'
SIMULATOR = 'simulator'
BUILD = 'build the workspace with colcon and source its install/setup.bash'


def start_own_node(
    context: LaunchContext,
    arguments: Arguments,
    interface: NodeInterface,
    parameter_file: str,
    given: Dict[str, Any],
    use_sim_time: bool,
    remappings: Optional[Dict[str, str]] = None,
    robot: str = '',
) -> Action:
    """Return the action that starts one of our nodes; its end ends the launch.

    :param context: context of the launch
    :param arguments: arguments of the launch file
    :param interface: interface of the node
    :param parameter_file: path of its parameter file
    :param given: parameters that override the file
    :param use_sim_time: whether it follows simulated time, if any
    :param remappings: new names of topics by their old ones, in addition to the clock
    :param robot: namespace of the node within the common one; empty: the common one
    :raises MissingError: if it is not installed
    """
    name, clock = interface.name, arguments.clock()
    require(PACKAGE, name, BUILD)
    if name != SIMULATOR:
        time = {'use_sim_time': use_sim_time and bool(clock)}
    else:
        time = {} if clock else {'clock_publish_rate': 0.0}
    level = arguments.choice('log_level', LOG_LEVELS)
    return start_node(
        context,
        PACKAGE,
        name,
        name=name,
        namespace='/'.join(part for part in (arguments.namespace(), robot) if part),
        parameters=[parameter_file, {**given, **time}],
        remappings={**clock_remapping(clock), **(remappings or {})},
        arguments=['--ros-args', '--log-level', level],
        required=True,
    )


def clock_remapping(clock: str) -> Dict[str, str]:
    """Return the remapping of /clock to the topic `clock`, for simulated time of a node."""
    return {} if clock in ('', '/clock') else {'/clock': clock}
