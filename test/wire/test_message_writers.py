# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Serialized poses: written for rclpy, and read from rclpy."""

from types import SimpleNamespace

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from geometry_msgs.msg import TransformStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import MultiDOFJointState
from wire_harness import encode, TEXT

from rbd_ros.wire import (
    MultiDOFJointStateWriter,
    TransformsWriter,
)

SEVEN = st.lists(st.floats(width=64), min_size=7, max_size=7)
NAMES = st.lists(TEXT, max_size=5)


def transform(values, frame='', child='', stamp=(0, 0)):
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = stamp
    t, r = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z, r.x, r.y, r.z, r.w = map(float, values)
    return message


def numbers(message):
    t, r = message.transform.translation, message.transform.rotation
    return np.array([t.x, t.y, t.z, r.x, r.y, r.z, r.w])


@settings(max_examples=40, deadline=None)
@given(NAMES, TEXT, st.integers(0, 2**31 - 1))
def test_states_of_bodies_are_read_by_rclpy_as_they_were_written(names, frame, seed):
    rng = np.random.default_rng(seed)
    writer = MultiDOFJointStateWriter(names, frame)
    for values in (writer.poses, writer.twists, writer.wrenches):
        values[:] = rng.normal(size=values.shape)
    writer.set_stamp_ns(seed * 1000)
    message = deserialize_message(writer.data(), MultiDOFJointState)
    stamp = message.header.stamp
    assert stamp.sec * 10**9 + stamp.nanosec == seed * 1000
    assert (message.header.frame_id, list(message.joint_names)) == (frame, names)
    assert len(message.transforms) == len(message.twist) == len(message.wrench) == len(names)
    for k in range(len(names)):
        pose = SimpleNamespace(transform=message.transforms[k])
        assert numbers(pose).tolist() == writer.poses[k].tolist()
        for pair, row in (
            ((message.twist[k].linear, message.twist[k].angular), writer.twists[k]),
            ((message.wrench[k].force, message.wrench[k].torque), writer.wrenches[k]),
        ):
            assert [x for v in pair for x in (v.x, v.y, v.z)] == row.tolist()


class Transforms:
    """Stands in for a TFMessage, whose package is not on PyPI."""

    def __init__(self, transforms):
        self.transforms = transforms

    @staticmethod
    def get_fields_and_field_types():
        return {'transforms': 'sequence<geometry_msgs/TransformStamped>'}


@pytest.mark.parametrize('children', [[], ['box'], ['a', 'left/ball', '', 'long name' * 9]])
def test_lists_of_transforms_are_sequences_of_stamped_ones(children, rng):
    writer = TransformsWriter('left/base', children)
    messages = []
    for child, row in zip(children, writer.poses, strict=True):
        row[:] = rng.normal(size=7)
        messages.append(transform(row, 'left/base', child, (3, 7)))
    writer.set_stamp_ns(3_000_000_007)
    assert writer.data() == encode(Transforms(messages))
