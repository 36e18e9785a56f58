# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Serialized messages read and written with NumPy, without an object per name and number.

For subscriptions with `raw=True` and for `publisher.publish(bytes)`. A message is plain CDR (OMG
DDSI-RTPS 10.2): an encapsulation of four bytes, then the fields, each aligned to its size counted
from byte four. For any input, reading takes a bounded time and only raises `WireError`. This
package does not need rclpy.

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
    from rbd_ros.wire.message_writers import (
        ImuWriter,
        MultiDOFJointStateWriter,
        OdometryWriter,
        TransformsWriter,
        WrenchStampedWriter,
    )
    from rbd_ros.wire.pattern import has_layout, Layout, make_pattern, Pattern
    from rbd_ros.wire.small_messages import (
        ClockWriter,
        Float64MultiArrayReader,
        Float64MultiArrayWriter,
        plain_array_pattern,
        read_string,
        string_message,
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

__getattr__, __dir__ = lazy_names(__name__)
