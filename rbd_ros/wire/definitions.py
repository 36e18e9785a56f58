# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Definitions of the recorded messages in the format of ROS 2 (schema `ros2msg`)."""

from __future__ import annotations

from typing import Dict, List

_TIME = 'builtin_interfaces/msg/Time'
_HEADER = 'std_msgs/msg/Header'

#: Fields of messages by type.
DEFINITIONS: Dict[str, str] = {
    _TIME: 'int32 sec\nuint32 nanosec\n',
    _HEADER: 'builtin_interfaces/Time stamp\nstring frame_id\n',
    'rosgraph_msgs/msg/Clock': 'builtin_interfaces/Time clock\n',
    'sensor_msgs/msg/JointState': (
        'std_msgs/Header header\nstring[] name\n'
        'float64[] position\nfloat64[] velocity\nfloat64[] effort\n'
    ),
    'std_msgs/msg/String': 'string data\n',
    'std_msgs/msg/MultiArrayDimension': 'string label\nuint32 size\nuint32 stride\n',
    'std_msgs/msg/MultiArrayLayout': 'std_msgs/MultiArrayDimension[] dim\nuint32 data_offset\n',
    'std_msgs/msg/Float64MultiArray': 'std_msgs/MultiArrayLayout layout\nfloat64[] data\n',
    'diagnostic_msgs/msg/KeyValue': 'string key\nstring value\n',
    'diagnostic_msgs/msg/DiagnosticStatus': (
        'byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\nbyte level\n'
        'string name\nstring message\nstring hardware_id\ndiagnostic_msgs/KeyValue[] values\n'
    ),
    'diagnostic_msgs/msg/DiagnosticArray': (
        'std_msgs/Header header\ndiagnostic_msgs/DiagnosticStatus[] status\n'
    ),
}


def ros2msg_schema(kind: str) -> bytes:
    """Return the schema of a message type, with all types in it.

    :param kind: one of `DEFINITIONS`

    >>> from rbd_ros.wire import ros2msg_schema
    >>> print(ros2msg_schema('rosgraph_msgs/msg/Clock').decode().replace('=' * 80, '==='))
    builtin_interfaces/Time clock
    ===
    MSG: builtin_interfaces/Time
    int32 sec
    uint32 nanosec
    <BLANKLINE>
    """
    needed, parts = [kind], []
    for each in needed:
        text = DEFINITIONS[each]
        plain = each.replace('/msg/', '/')
        parts.append(text if each == kind else f'{"=" * 80}\nMSG: {plain}\n{text}')
        needed += [inner for inner in _types_in(text) if inner not in needed]
    return ''.join(parts).encode()


def _types_in(text: str) -> List[str]:
    """Return the message types of the fields."""
    words = [line.split()[0].removesuffix('[]') for line in text.splitlines()]
    return [word.replace('/', '/msg/') for word in dict.fromkeys(words) if '/' in word]
