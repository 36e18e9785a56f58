# SPDX-License-Identifier: Apache-2.0
"""Serialized messages read and filled in with NumPy, without an object for every name and number.

For subscriptions made with `raw=True` and for `publisher.publish(bytes)`. A message is plain CDR
(OMG DDSI-RTPS 10.2): an encapsulation of four bytes, then the fields one after another, each
aligned to its size counted from byte four. Whatever bytes come in, reading costs a bounded time
and raises nothing but `WireError`. Nothing here needs rclpy.

The names below are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.wire.cdr import MAX_NAMES, WireError
    from rbd_ros.wire.definitions import DEFINITIONS, ros2msg_schema
    from rbd_ros.wire.joint_state import (
        JointStateData,
        JointStateReader,
        JointStateWriter,
        NameList,
    )
    from rbd_ros.wire.joint_trajectory import JointTrajectoryData, JointTrajectoryReader
    from rbd_ros.wire.measured import ImuWriter, OdometryWriter, WrenchStampedWriter
    from rbd_ros.wire.pattern import has_layout, Layout, make_pattern, Pattern
    from rbd_ros.wire.plain_text import read_string, string_message
    from rbd_ros.wire.pose_messages import MultiDOFJointStateWriter, TransformsWriter
    from rbd_ros.wire.small_messages import (
        ClockWriter,
        Float64MultiArrayReader,
        Float64MultiArrayWriter,
        plain_array_pattern,
        WrenchStampedData,
        WrenchStampedReader,
    )

__all__ = [
    'ClockWriter',
    'DEFINITIONS',
    'ImuWriter',
    'OdometryWriter',
    'WrenchStampedWriter',
    'Float64MultiArrayReader',
    'Float64MultiArrayWriter',
    'JointStateData',
    'JointStateReader',
    'JointStateWriter',
    'JointTrajectoryData',
    'JointTrajectoryReader',
    'MAX_NAMES',
    'MultiDOFJointStateWriter',
    'NameList',
    'Layout',
    'Pattern',
    'has_layout',
    'TransformsWriter',
    'WireError',
    'WrenchStampedData',
    'WrenchStampedReader',
    'make_pattern',
    'plain_array_pattern',
    'read_string',
    'ros2msg_schema',
    'string_message',
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        'ClockWriter': 'rbd_ros.wire.small_messages',
        'DEFINITIONS': 'rbd_ros.wire.definitions',
        'Float64MultiArrayReader': 'rbd_ros.wire.small_messages',
        'Float64MultiArrayWriter': 'rbd_ros.wire.small_messages',
        'ImuWriter': 'rbd_ros.wire.measured',
        'JointStateData': 'rbd_ros.wire.joint_state',
        'JointStateReader': 'rbd_ros.wire.joint_state',
        'JointStateWriter': 'rbd_ros.wire.joint_state',
        'JointTrajectoryData': 'rbd_ros.wire.joint_trajectory',
        'JointTrajectoryReader': 'rbd_ros.wire.joint_trajectory',
        'Layout': 'rbd_ros.wire.pattern',
        'MAX_NAMES': 'rbd_ros.wire.cdr',
        'MultiDOFJointStateWriter': 'rbd_ros.wire.pose_messages',
        'NameList': 'rbd_ros.wire.joint_state',
        'OdometryWriter': 'rbd_ros.wire.measured',
        'Pattern': 'rbd_ros.wire.pattern',
        'TransformsWriter': 'rbd_ros.wire.pose_messages',
        'WireError': 'rbd_ros.wire.cdr',
        'WrenchStampedData': 'rbd_ros.wire.small_messages',
        'WrenchStampedReader': 'rbd_ros.wire.small_messages',
        'WrenchStampedWriter': 'rbd_ros.wire.measured',
        'has_layout': 'rbd_ros.wire.pattern',
        'make_pattern': 'rbd_ros.wire.pattern',
        'plain_array_pattern': 'rbd_ros.wire.small_messages',
        'read_string': 'rbd_ros.wire.plain_text',
        'ros2msg_schema': 'rbd_ros.wire.definitions',
        'string_message': 'rbd_ros.wire.plain_text',
    },
)
