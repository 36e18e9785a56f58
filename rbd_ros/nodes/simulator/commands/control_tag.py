# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The `<ros2_control>` tags of a robot description: the interfaces of each joint.

Topic-based ros2_control hardware sends the names of all joints of its tag. For each interface, it
sends only the values of the joints that declare it, in order, so the tag is needed to read them.
"""

from __future__ import annotations

from typing import Dict, FrozenSet, NamedTuple, Optional, Sequence
from xml.etree.ElementTree import Element

import numpy as np

from rbd_ros.model.bounded_xml import parse_xml
from rbd_ros.model.urdf.control_interfaces import unread_sensors
from rbd_ros.model.urdf.urdf_document import MAX_ELEMENTS, urdf_of_file

FIELDS = ('position', 'velocity', 'effort')  # interfaces that are fields of JointState


class JointInterfaces(NamedTuple):
    """Interfaces of a joint.

    :param commands: its command interfaces
    :param states: its state interfaces
    """

    commands: FrozenSet[str]
    states: FrozenSet[str]


class SensorTag(NamedTuple):
    """A `<sensor>` element of a tag.

    :param frame: its parameter `frame_id`; '' without one
    :param states: its state interfaces
    :param is_unread: whether its states stay NaN in ros2_control
    """

    name: str
    frame: str
    states: FrozenSet[str]
    is_unread: bool = False

    def measures(self, quantities: Sequence[str]) -> bool:
        """Return whether a state interface is one of these quantities."""
        return any(state.rpartition('.')[0] in quantities for state in self.states)


class ControlTag:
    """Joints of all `<ros2_control>` tags of a robot description.

    :param joints: interfaces of each joint, by name; empty: there is no tag
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
        """Return whether a message with this joint may command it.

        Messages also name joints of the tag that have no command interface.
        """
        return name not in self.joints or bool(self.joints[name].commands)

    def shows(self, name: str, field: str) -> bool:
        """Return whether the state of a joint has `field`; without a tag, it has all."""
        return name not in self.joints or field in self.joints[name].states

    def shown(self, names: Sequence[str], fields: Sequence[str] = ()) -> Dict[str, np.ndarray]:
        """Return which of the joints `names` have each field in their state, (k,) each.

        ros2_control hardware fails on a finite value of an interface that the tag does not
        declare. It ignores NaN and empty fields.

        :param fields: fields for all joints, regardless of the tag; empty: the tag counts
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

    :param source: XML text, or the path of a URDF or xacro file
    :param package_paths: directories that xacro searches first for packages

    >>> tag = read_control_tag('''<robot name="r"><ros2_control name="c" type="system">
    ...   <joint name="elbow"><command_interface name="effort"/><state_interface name="position"/>
    ...   </joint></ros2_control></robot>''')
    >>> tag.shows('elbow', 'position'), tag.shows('elbow', 'effort')
    (True, False)
    """
    text = source.lstrip('\ufeff \t\r\n')
    data = text.encode() if text.startswith('<') else urdf_of_file(source, package_paths).lstrip()
    if text.startswith('<?xml'):
        # A decoded text must not declare an encoding.
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
