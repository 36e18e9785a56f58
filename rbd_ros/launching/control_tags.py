# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The `<ros2_control>` tags of a launched robot: given ones, or a tag of all its joints."""

from __future__ import annotations

from typing import Collection, List, NamedTuple, Tuple
from xml.etree import ElementTree

from rbd_ros.launching.arguments import ArgumentError
from rbd_ros.launching.urdf_argument import LaunchedRobot
from rbd_ros.model import load_urdf
from rbd_ros.model.urdf.control_interfaces import PLUGIN, unread_commands, unread_sensors

THRESHOLD = 'trigger_joint_command_threshold'
INTERFACES = ('position', 'velocity', 'effort')

#: Name of the generated tag. ros2_control creates a node of this name, which must be unique.
OWN_TAG = 'simulated_hardware'


class Topics(NamedTuple):
    """Topics between the simulator and the hardware of ros2_control."""

    commands: str
    states: str


#: In the namespace of the nodes on both sides.
OWN_TOPICS = Topics('joint_commands', 'simulator/joint_states')
DEFAULTS = Topics('/robot_joint_commands', '/robot_joint_states')  # those of the plugin


class Controlled(NamedTuple):
    """A description with tags for the simulator.

    :param text: the description
    :param topics: topics of the tags
    :param nodes: names of the nodes that ros2_control creates for the tags
    :param unread: names of sensors whose state interfaces have no value
    """

    text: str
    topics: Topics
    nodes: Tuple[str, ...]
    unread: Tuple[str, ...] = ()


def controlled(robot: LaunchedRobot, file: str, namespace: str) -> Controlled:
    """Return the description with a tag for ros2_control: given ones, or one with all joints.

    :param file: name of the launch file
    :param namespace: namespace of all nodes
    :raises ArgumentError: if there is no description, or its tags are not only for the simulator
    """
    if robot.text is None:
        raise ArgumentError(
            f'launch argument urdf: {file} needs the robot description as a file; topic is not '
            'possible'
        )
    tags = ElementTree.fromstring(robot.text.strip()).findall('ros2_control')
    if not tags:
        return Controlled(_with_tag(robot.text), OWN_TOPICS, (OWN_TAG,))
    found = {}
    for tag in tags:
        _check(tag)
        own = {each.get('name'): (each.text or '').strip() for each in tag.iter('param')}
        topics = Topics(
            own.get('joint_commands_topic', DEFAULTS.commands),
            own.get('joint_states_topic', DEFAULTS.states),
        )
        found.setdefault(topics, tag.get('name', ''))
    if len(found) > 1:
        uses = '; '.join(f'{name}: {t.commands}, {t.states}' for t, name in found.items())
        raise ArgumentError(
            f'launch argument urdf: the <ros2_control> tags have different topics ({uses}), but '
            'the simulator has one of each; give all tags the same joint_commands_topic and '
            'joint_states_topic'
        )
    topics = next(iter(found))
    _check_namespace(topics, namespace)
    unread = tuple(name for tag in tags for name in unread_sensors(tag))
    return Controlled(robot.text, topics, tuple(_node(tag) for tag in tags), unread)


def _check_namespace(topics: Topics, namespace: str) -> None:
    """Reject topics outside of the namespace, which belong to another robot.

    :raises ArgumentError: for such a topic
    """
    inside = f'/{namespace.strip("/")}/'
    outside = [t for t in topics if t.startswith('/') and not t.startswith(inside)]
    if namespace and outside:
        raise ArgumentError(
            f'launch argument namespace: the <ros2_control> tags name {" and ".join(outside)}, '
            f'outside of {inside[:-1]}: write joint_commands_topic and joint_states_topic without '
            'a slash before them'
        )


def check_answers(text: str) -> None:
    """Reject tags whose hardware does not send exactly one command in each period.

    :param text: the description
    :raises ArgumentError: for such a tag
    """
    tags = ElementTree.fromstring(text.strip()).findall('ros2_control')
    if len(tags) > 1:
        raise ArgumentError(
            f'launch argument lockstep: each of the {len(tags)} <ros2_control> tags sends its '
            'own commands, but the simulator waits for one; put all joints into one tag'
        )
    own = {each.get('name'): (each.text or '').strip() for each in tags[0].iter('param')}
    if not own.get(THRESHOLD, '').startswith('-'):
        raise ArgumentError(
            f'launch argument lockstep: without {THRESHOLD} -1 in the <ros2_control> tag, its '
            'hardware sends no command while it equals the state, and the simulator waits; set '
            'it to -1'
        )


def check_fields(text: str, fields: Collection[str]) -> None:
    """Reject fields of joint_states other than the state interfaces of each joint.

    The hardware leaves an interface without a value at NaN, and fails on a value without one.

    :param text: the description
    :param fields: parameter state_fields
    :raises ArgumentError: for such a joint
    """
    for joint in ElementTree.fromstring(text.strip()).iterfind('ros2_control/joint'):
        states = {each.get('name') for each in joint.iterfind('state_interface')}
        if states.intersection(INTERFACES) != set(fields):
            raise ArgumentError(
                f'launch argument state_fields: {", ".join(fields)} are not the state interfaces '
                f'of {joint.get("name")} in the <ros2_control> tag, which controllers need; leave '
                'it out, and joint_states has those of the tag'
            )


def _check(tag: ElementTree.Element) -> None:
    """Reject a tag with other hardware than the simulator.

    :raises ArgumentError: for such a tag
    """
    plugin = (tag.findtext('hardware/plugin') or '').strip()
    if plugin != PLUGIN:
        raise ArgumentError(
            f'launch argument urdf: the <ros2_control> tag {tag.get("name", "")!r} has '
            f'{plugin or "no plugin"} instead of {PLUGIN}; let xacro create one for the '
            'simulator (urdf/simulated_hardware.xacro)'
        )
    if unread := unread_commands(tag):
        raise ArgumentError(
            f'launch argument urdf: the command interfaces {", ".join(unread)} have no state '
            'interface of that name, so the hardware deactivates itself; declare both'
        )


def _node(tag: ElementTree.Element) -> str:
    """Return the name of the node that ros2_control creates for a tag."""
    return tag.get('name', '').lower().replace('/', '_')


def check_node_names(names: List[str]) -> None:
    """Reject duplicate node names in the common namespace.

    :param names: names of all started nodes
    :raises ArgumentError: for a duplicate name
    """
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(
                f'launch argument urdf: two nodes would have the name /{name}: ros2_control '
                'starts a node for each <ros2_control> tag and each controller; give the tag '
                'another name'
            )


def _with_tag(text: str) -> str:
    """Return a description with a tag of all commandable joints."""
    model = load_urdf(text)
    joints = ''.join(
        f'<joint name="{model.body(i).joint_name}">'
        + ''.join(f'<{k}_interface name="{n}"/>' for k in ('command', 'state') for n in INTERFACES)
        + '</joint>'
        for i in model.independent_slices
        if model.body(i).joint.nv == 1
    )
    parameters = {
        'joint_commands_topic': OWN_TOPICS.commands,
        'joint_states_topic': OWN_TOPICS.states,
        THRESHOLD: '-1',
    }
    hardware = f'<plugin>{PLUGIN}</plugin>' + ''.join(
        f'<param name="{name}">{value}</param>' for name, value in parameters.items()
    )
    end = text.rindex('</robot>')
    return (
        f'{text[:end]}<ros2_control name="{OWN_TAG}" type="system"><hardware>{hardware}'
        f'</hardware>{joints}</ros2_control>{text[end:]}'
    )
