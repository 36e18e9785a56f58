# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inconsistent interfaces in the `<ros2_control>` tags of a robot description."""

from __future__ import annotations

from typing import List
from xml.etree.ElementTree import Element

#: Topic-based hardware of ros2_control.
PLUGIN = 'joint_state_topic_hardware_interface/JointStateTopicSystem'


def unread_commands(tag: Element) -> List[str]:
    """Return command interfaces without a state interface of that name, as 'joint/interface'.

    Topic-based hardware compares each command with its state, and deactivates itself without one.
    Tags of other hardware are ignored.

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
    """Return names with state interfaces besides joints, which topic hardware leaves at NaN.

    It exports them for controllers, but only writes those of joints.

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
