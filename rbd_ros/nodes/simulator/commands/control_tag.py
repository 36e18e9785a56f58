# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The `<ros2_control>` tags of a robot description: which interfaces each joint has.

Hardware of ros2_control that speaks by topics sends the names of all joints of its tag, and for
each interface the values of those joints alone that declare it, one after another. Only the tag
says whose they are.
"""

from __future__ import annotations

from typing import Dict, FrozenSet, NamedTuple, Optional, Sequence
from xml.etree.ElementTree import Element

import numpy as np

from rbd_ros.model.bounded_xml import parse_xml
from rbd_ros.model.urdf.control_interfaces import unread_sensors
from rbd_ros.model.urdf.urdf_document import MAX_ELEMENTS, urdf_of_file

FIELDS = ('position', 'velocity', 'effort')  # interfaces that a JointState can carry


class JointInterfaces(NamedTuple):
    """Interfaces of a joint, by name.

    :param commands: those that it is commanded by
    :param states: those that its state is read by
    """

    commands: FrozenSet[str]
    states: FrozenSet[str]


class SensorTag(NamedTuple):
    """A `<sensor>` of a tag.

    :param frame: its parameter `frame_id`, '' if it has none
    :param states: its state interfaces
    :param is_unread: whether they stay NaN in ros2_control
    """

    name: str
    frame: str
    states: FrozenSet[str]
    is_unread: bool = False

    def measures(self, quantities: Sequence[str]) -> bool:
        """Return whether one of its state interfaces is one of these quantities."""
        return any(state.rpartition('.')[0] in quantities for state in self.states)


class ControlTag:
    """Joints of all `<ros2_control>` tags of a robot description.

    :param joints: interfaces of each joint, by its name; empty: there is no tag
    :param sensors: sensors by name
    """

    def __init__(
        self,
        joints: Dict[str, JointInterfaces],
        sensors: Optional[Dict[str, SensorTag]] = None,
    ):
        self.joints = joints
        self.sensors = sensors or {}

    def __bool__(self) -> bool:
        return bool(self.joints)

    def holders(self, names: Sequence[str], field: str) -> np.ndarray:
        """Return which of the joints `names` declare the command interface `field`, (k,)."""
        declared = self.joints
        return np.array(
            [k for k, n in enumerate(names) if n in declared and field in declared[n].commands],
            dtype=np.intp,
        )

    def commandable(self, name: str) -> bool:
        """Return whether a message about this joint is meant to command it.

        A joint of the tag without command interfaces is named in every message all the same.
        """
        return name not in self.joints or bool(self.joints[name].commands)

    def shows(self, name: str, field: str) -> bool:
        """Return whether the state of a joint has `field`; what no tag knows has all."""
        return name not in self.joints or field in self.joints[name].states

    def shown(self, names: Sequence[str], fields: Sequence[str] = ()) -> Dict[str, np.ndarray]:
        """Return which of the joints `names` have which field in their state, (k,) each.

        The hardware of ros2_control fails on a finite value of an interface that the tag does not
        declare; NaN, or a field that is empty, it passes over.

        :param fields: fields for all joints, whatever the tag says; empty: the tag counts
        """
        return {
            field: np.array(
                [
                    k
                    for k, name in enumerate(names)
                    if (field in fields if fields else self.shows(name, field))
                ],
                dtype=np.int64,
            )
            for field in FIELDS
        }


NO_TAG = ControlTag({})


def read_control_tag(source: str, package_paths: Sequence[str] = ()) -> ControlTag:
    """Read the tags of a valid robot description.

    :param source: the XML, or the path of a file with it, which may be xacro
    :param package_paths: directories in which xacro looks for packages first

    >>> tag = read_control_tag('''<robot name="r"><ros2_control name="c" type="system">
    ...   <joint name="elbow"><command_interface name="effort"/><state_interface name="position"/>
    ...   </joint></ros2_control></robot>''')
    >>> tag.shows('elbow', 'position'), tag.shows('elbow', 'effort')
    (True, False)
    """
    text = source.lstrip('\ufeff \t\r\n')
    data = text.encode() if text.startswith('<') else urdf_of_file(source, package_paths).lstrip()
    if text.startswith('<?xml'):
        # A text has no encoding any more, whatever its declaration says.
        data = text[text.index('?>') + 2 :].strip().encode()
    joints: Dict[str, JointInterfaces] = {}
    sensors: Dict[str, SensorTag] = {}
    for tag in parse_xml(data, MAX_ELEMENTS).iterfind('ros2_control'):
        for joint in tag.iterfind('joint'):
            name = joint.get('name', '')
            known = joints.get(name, JointInterfaces(frozenset(), frozenset()))
            joints[name] = JointInterfaces(
                known.commands | _names(joint, 'command_interface'),
                known.states | _names(joint, 'state_interface'),
            )
        unread = unread_sensors(tag)
        for sensor in tag.iterfind('sensor'):
            name = sensor.get('name', '')
            frames = [
                (param.text or '').strip()
                for param in sensor.iterfind('param')
                if param.get('name') == 'frame_id'
            ]
            states = _names(sensor, 'state_interface')
            sensors[name] = SensorTag(name, ''.join(frames[:1]), states, name in unread)
    return ControlTag(joints, sensors)


def _names(joint: Element, kind: str) -> FrozenSet[str]:
    return frozenset(each.get('name', '') for each in joint.iterfind(kind))
