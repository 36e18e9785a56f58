# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Command messages by machine code or one by one: equal commands of the joints."""

import numpy as np
from numpy.testing import assert_array_equal
import pytest
from support import outside, random_trees

outside.load('rclpy')

from node_harness import joint_state
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from rbd_ros import Robot
from rbd_ros.nodes.simulator.commands.command_messages import Commands, READS_BEFORE_PATTERN

ROBOT = Robot.from_urdf(random_trees.tree(8, 4, ('revolute', 'prismatic'), 0, 0.5))
NAMES = ROBOT.joint_names


class DiagnosticsRecorder:
    """Stand-in for diagnostics that records reports in order."""

    def __init__(self):
        self.codes = []

    def event(self, subject, level, message, code=None):
        self.codes.append(code)

    def condition(self, subject, level, message, code=None):
        self.codes.append(code)


class SlowCommands(Commands):
    """Commands that never learn a pattern: every message is read."""

    def _compile_decoder(self, *_):
        return None


class Both:
    """The same messages for both ways of taking them."""

    def __init__(self, array_joints=()):
        self.now = 1.0
        self.ways = [
            kind(ROBOT, DiagnosticsRecorder(), array_joints, 50.0)
            for kind in (Commands, SlowCommands)
        ]

    def take(self, data, by_order=False):
        """Give a message to both; return whether it drives a joint."""
        self.now += 0.001
        name = 'take_array' if by_order else 'take_joint_state'
        taken = [getattr(way, name)(data, self.now) for way in self.ways]
        fast, slow = self.ways
        assert taken[0] == taken[1]
        for field in ('mode', 'received', 'effort', 'position', 'velocity'):
            assert_array_equal(getattr(fast.drives, field), getattr(slow.drives, field), field)
        assert (fast.accepted, fast.rejected) == (slow.accepted, slow.rejected)
        assert fast.reports.diagnostics.codes == slow.reports.diagnostics.codes
        return taken[0]

    def heard(self):
        """Return the different lists of joints heard lately."""
        fast, slow = ([sorted(map(tuple, way.recent_names()))] for way in self.ways)
        assert fast == slow
        return fast[0]


def random_values(rng, count):
    """Return the values of a field: mostly good ones, some that are not."""
    values = rng.normal(size=count) * 10.0 ** rng.integers(-3, 4)
    if rng.random() < 0.2 and count:
        odd = rng.choice([np.nan, np.inf, -np.inf, 2e5, -1e300, 1e9, -0.0, 5e-324])
        values[rng.integers(count)] = odd
    return values


@pytest.mark.parametrize('seed', range(8))
def test_machine_code_takes_messages_as_if_each_were_read(seed):
    rng = np.random.default_rng(seed)
    both = Both()
    layouts = []
    for _ in range(6):  # publishers
        names = list(rng.permutation([*NAMES, 'stranger']))[: rng.integers(1, len(NAMES) + 2)]
        fields = rng.random(3) < 0.6
        layouts.append((names, fields, ''.join(rng.choice(list('abc'), rng.integers(0, 9)))))
    for k in range(400):
        if k % 50 == 0:
            both.heard()
        names, fields, frame = layouts[rng.integers(len(layouts))]
        message = joint_state(
            names,
            *(
                random_values(rng, len(names) if rng.random() < 0.97 else 2).tolist()
                if given
                else []
                for given in fields
            ),
        )
        message.header.frame_id = frame
        message.header.stamp.sec = int(rng.integers(0, 2**31))
        data = bytearray(serialize_message(message))
        if rng.random() < 0.2:
            data[rng.integers(len(data))] = rng.integers(256)
        if rng.random() < 0.1:
            data = data[: rng.integers(len(data) + 1)]
        both.take(bytes(data))
    assert both.ways[0]._known and both.ways[0].accepted > 50
    both.heard()


@pytest.mark.parametrize('order', [(), NAMES[::-1], NAMES[1:3]])
def test_arrays_are_taken_as_if_each_were_read(order):
    rng = np.random.default_rng(5)
    both = Both(order)
    count = len(order or NAMES)
    for _ in range(200):
        size = count if rng.random() < 0.9 else count + 1
        message = Float64MultiArray(data=random_values(rng, size).tolist())
        message.layout.data_offset = int(rng.integers(0, 3))
        if rng.random() < 0.2:
            message.layout.dim = [MultiArrayDimension(label='joint', size=size, stride=size)]
        data = bytearray(serialize_message(message))
        if rng.random() < 0.2:
            data[rng.integers(len(data))] = rng.integers(256)
        both.take(bytes(data), by_order=True)
    assert both.ways[0].accepted > 50


def test_the_first_messages_teach_the_pattern_and_the_rest_is_not_read(monkeypatch):
    both = Both()
    data = serialize_message(joint_state(NAMES, effort=[1.0] * len(NAMES)))
    for _ in range(READS_BEFORE_PATTERN):
        assert both.take(data)
    monkeypatch.setattr(both.ways[0]._by_name, 'read', None)
    assert both.take(data) and both.heard() == [NAMES]
    assert both.heard() == []


def test_publishers_that_invent_names_do_not_fill_the_memory():
    both = Both()
    for k in range(60):
        names = [NAMES[0], f'invented_{k}']
        for _ in range(READS_BEFORE_PATTERN + 1):
            assert both.take(serialize_message(joint_state(names, effort=[0.1, 0.2])))
    assert len(both.ways[0]._known) <= 8
