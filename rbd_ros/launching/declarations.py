# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Declarations of launch arguments; those of nodes are generated from the nodes' interfaces."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Dict, List, Mapping, Tuple

from launch.actions import DeclareLaunchArgument

from rbd_ros.lookup.robots import DEFAULT_ROBOT
from rbd_ros.nodes.common.node_interface import NodeInterface, Parameter

FROM_TOPIC = 'topic'
LOG_LEVELS = ('debug', 'info', 'warn', 'error', 'fatal')
# Parameters whose launch arguments have another meaning.
REPLACED = ('robot_description', 'robot_description_file', 'frame_prefix')

# Declarations of one parameter, by node.
Uses = Dict[str, Parameter]


def node_interface(name: str) -> NodeInterface:
    """Return the interface of one of our nodes.

    :param name: name of the node, its module and its executable
    """
    return import_module(f'rbd_ros.nodes.{name}').INTERFACE


def launch_parameters(interface: NodeInterface) -> Tuple[Parameter, ...]:
    """Return the parameters of a node that are arguments of its launch file."""
    return tuple(p for p in interface.parameters if p.name not in REPLACED)


def shared_parameters(
    always: NodeInterface, alternatives: List[NodeInterface]
) -> Tuple[Dict[str, Uses], Dict[str, Uses]]:
    """Return the parameters of nodes started together, by name, each with their declarations.

    :param always: a node that is always started
    :param alternatives: nodes of which one may be started in addition
    :return: parameters that one argument can set, and those that it cannot, since their type or
        legal values differ between nodes that run together
    """
    uses: Dict[str, Uses] = {}
    for interface in (always, *alternatives):
        for parameter in launch_parameters(interface):
            uses.setdefault(parameter.name, {})[interface.name] = parameter
    clear, ambiguous = {}, {}
    for name, declarations in uses.items():
        first = declarations.get(always.name)
        same = first is None or all(_alike(first, other) for other in declarations.values())
        (clear if same else ambiguous)[name] = declarations
    return clear, ambiguous


def _alike(a: Parameter, b: Parameter) -> bool:
    return (a.kind, a.choices, a.length) == (b.kind, b.choices, b.length)


def declare_urdf() -> DeclareLaunchArgument:
    """Declare the argument `urdf` for the robot."""
    return DeclareLaunchArgument(
        'urdf',
        default_value=DEFAULT_ROBOT,
        description='Robot: path of a URDF or xacro file ("arm.urdf.xacro name:=value" with '
        'arguments of xacro), package://PACKAGE/PATH, name of an embedded robot or of one of '
        f'example-robot-data, or {FROM_TOPIC}: the nodes wait for the topic '
        'robot_description.',
    )


def declare_common() -> List[DeclareLaunchArgument]:
    """Declare the arguments of all launch files except `urdf`."""
    return [
        DeclareLaunchArgument(
            'namespace', default_value='', description='Namespace of all nodes and topics.'
        ),
        DeclareLaunchArgument(
            'clock',
            default_value='/clock',
            description='Topic of simulated time, in the namespace if it has no leading slash; '
            'false: no topic.',
        ),
        DeclareLaunchArgument(
            'log_level',
            default_value='info',
            description=f'Lowest severity that is logged. One of: {", ".join(LOG_LEVELS)}.',
        ),
    ]


def declare_frame_prefix() -> DeclareLaunchArgument:
    """Declare the argument `frame_prefix`."""
    return DeclareLaunchArgument(
        'frame_prefix',
        default_value='',
        description='Prefix of the names of all frames of the robot, such as left/.',
    )


def with_default(argument: DeclareLaunchArgument, text: str) -> DeclareLaunchArgument:
    """Return the same argument with another default.

    :param text: the default
    """
    return DeclareLaunchArgument(
        argument.name, default_value=text, description=argument.description
    )


def declare_parameter(uses: Mapping[str, Parameter]) -> DeclareLaunchArgument:
    """Declare the argument that sets a parameter; if it is empty, the parameter file decides.

    :param uses: declarations of the parameter by node, at least one
    """
    nodes_of_text: Dict[str, List[str]] = {}
    for node, parameter in uses.items():
        nodes_of_text.setdefault(_description(parameter), []).append(node)
    name = next(iter(uses.values())).name
    if len(nodes_of_text) == 1:
        description = next(iter(nodes_of_text))
    else:
        description = ' '.join(f'{", ".join(n)}: {text}' for text, n in nodes_of_text.items())
    return DeclareLaunchArgument(name, default_value='', description=description)


def _description(parameter: Parameter) -> str:
    details = [parameter.kind, parameter.range, f'default {_text(parameter.default)}']
    return f'{parameter.description} [{"; ".join(filter(None, details))}]'


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f'[{", ".join(map(_text, value))}]'
    return f'{value:g}' if isinstance(value, float) else str(value) or "''"
