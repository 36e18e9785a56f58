# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Interfaces in the `<ros2_control>` tags of a robot description that do not go together."""

from __future__ import annotations

from typing import List
from xml.etree.ElementTree import Element

#: Hardware of ros2_control that speaks by topics.
PLUGIN = 'joint_state_topic_hardware_interface/JointStateTopicSystem'


def unread_commands(tag: Element) -> List[str]:
    """Command interfaces without a state interface of that name, as 'joint/interface'.

    Hardware by topics compares each command with the state that it is for, and deactivates itself
    where there is none. Tags of other hardware are left alone.

    >>> from xml.etree import ElementTree
    >>> from rbd_ros.model.urdf.control_interfaces import PLUGIN, unread_commands
    >>> unread_commands(ElementTree.fromstring(f'''<ros2_control>
    ...   <hardware><plugin>{PLUGIN}</plugin></hardware>
    ...   <joint name="elbow"><command_interface name="effort"/><state_interface name="position"/>
    ...   </joint></ros2_control>'''))
    ['elbow/effort']
    """
    if not _is_by_topics(tag):
        return []
    found = []
    for joint in tag.iterfind('joint'):
        states = {each.get('name') for each in joint.iterfind('state_interface')}
        found += [
            f'{joint.get("name")}/{each.get("name")}'
            for each in joint.iterfind('command_interface')
            if each.get('name') not in states
        ]
    return found


def unread_sensors(tag: Element) -> List[str]:
    """Return names with state interfaces beside joints, which topic hardware leaves at NaN.

    It has them for controllers to read, and sets those of joints alone.

    >>> from xml.etree import ElementTree
    >>> from rbd_ros.model.urdf.control_interfaces import PLUGIN, unread_sensors
    >>> unread_sensors(ElementTree.fromstring(f'''<ros2_control>
    ...   <hardware><plugin>{PLUGIN}</plugin></hardware>
    ...   <sensor name="wrist"><state_interface name="force.x"/></sensor></ros2_control>'''))
    ['wrist']
    """
    if not _is_by_topics(tag):
        return []
    parts = [each for each in tag if each.tag in ('sensor', 'gpio')]
    return [each.get('name', '') for each in parts if each.find('state_interface') is not None]


def _is_by_topics(tag: Element) -> bool:
    return (tag.findtext('hardware/plugin') or '').strip() == PLUGIN
