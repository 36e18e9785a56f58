# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Messages as bytes (rbd_ros/wire/) through the middleware."""

import time

from support import outside

outside.load('rclpy')

from sensor_msgs.msg import JointState

from rbd_ros.wire import JointStateReader, JointStateWriter

NAMES = [f'joint_{k}' for k in range(6)]
FIELDS = ('position', 'velocity', 'effort')
NUMBERS = [0.5, -1.0, 2.25, 1e-300, -0.0, 3e8]


def test_messages_as_bytes_pass_through_the_middleware_both_ways(ros):
    """Bytes that are published arrive as messages, and published messages as the same bytes."""
    typed, raw = [], []
    node = ros.node
    node.create_subscription(JointState, 'wire_typed', typed.append, 10)
    node.create_subscription(JointState, 'wire_raw', raw.append, 10, raw=True)
    to_typed = node.create_publisher(JointState, 'wire_typed', 10)
    to_raw = node.create_publisher(JointState, 'wire_raw', 10)
    writer, reader = JointStateWriter(NAMES, frame_id='base'), JointStateReader()
    message = JointState(name=NAMES, **dict.fromkeys(FIELDS, NUMBERS))
    message.header.frame_id = 'base'
    end = time.monotonic() + 60.0
    while time.monotonic() < end and min(len(typed), len(raw)) < 20:
        writer.set_stamp(len(typed), 5)
        message.header.stamp.sec = len(raw)
        for field in FIELDS:
            getattr(writer, field)[:] = NUMBERS
        to_typed.publish(writer.data())
        to_raw.publish(message)
        ros.executor.spin_once(timeout_sec=0.1)
    assert min(len(typed), len(raw)) >= 20
    for received in typed:
        assert received.header.frame_id == 'base' and received.header.stamp.nanosec == 5
        assert list(received.name) == NAMES
        assert all(list(getattr(received, field)) == NUMBERS for field in FIELDS)
    for received in raw:
        assert isinstance(received, bytes)
        data = reader.read(received)
        assert all(list(getattr(data, field)) == NUMBERS for field in FIELDS)
    assert reader.layouts == 1
