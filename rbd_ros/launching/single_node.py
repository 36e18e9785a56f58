# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Launch description of one node, with an argument for every parameter."""

from __future__ import annotations

from typing import List

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from rbd_ros.launching.arguments import Arguments
from rbd_ros.launching.declarations import (
    declare_common,
    declare_parameter,
    declare_urdf,
    launch_parameters,
    node_interface,
)
from rbd_ros.launching.own_nodes import SIMULATOR, start_own_node
from rbd_ros.launching.urdf_argument import launched_robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.common.node_interface import NodeInterface


def node_launch_description(name: str) -> LaunchDescription:
    """Return the launch description of one of our nodes.

    :param name: name of the node, its module and its executable
    """
    interface = node_interface(name)
    declared = [
        declare_urdf(),
        DeclareLaunchArgument(
            'params_file',
            default_value=str(resource_path('config', f'{name}.yaml')),
            description='YAML file with the parameters of the node; arguments that are given '
            'override it.',
        ),
        *declare_common(),
    ]
    if name != SIMULATOR:
        declared.append(
            DeclareLaunchArgument(
                'use_sim_time',
                default_value='false',
                description='Whether the node follows simulated time (argument clock).',
            )
        )
    declared += [declare_parameter({name: p}) for p in launch_parameters(interface)]
    known = [argument.name for argument in declared]

    def start(context: LaunchContext) -> List[Action]:
        return [_start(context, Arguments(context, f'{name}.launch.py', known), interface)]

    return LaunchDescription([*declared, OpaqueFunction(function=start)])


def _start(context: LaunchContext, arguments: Arguments, interface: NodeInterface) -> Action:
    robot = launched_robot(
        arguments['urdf'], arguments.words('xacro_args'), arguments.paths('package_paths')
    )
    given = {**arguments.parameters(launch_parameters(interface)), **robot.parameters}
    simulated = interface.name != SIMULATOR and arguments.boolean('use_sim_time') == 'true'
    file = arguments.parameter_file('params_file')
    return start_own_node(context, arguments, interface, file, given, simulated)
