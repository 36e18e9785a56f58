# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Serialized trajectories read with NumPy, against rclpy and an independent encoder."""

import struct

from hypothesis import given, strategies as st
import numpy as np
import pytest
from support import outside

from rbd_ros.wire import JointTrajectoryReader, MAX_NAMES, WireError
from rbd_ros.wire.joint_trajectory import MAX_BYTES, MAX_POINTS, SHORT_RUN

outside.load('rclpy')

from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from wire_harness import check_spoiled_messages, encode, TEXT, with_bytes

FIELDS = ('positions', 'velocities', 'accelerations')


def trajectory(points, joints, fields=FIELDS, effort=lambda point: 0, frame='', rng=None):
    """Return the message with random numbers.

    :param effort: how many efforts a point has
    """
    rng = rng or np.random.default_rng(points)
    message = JointTrajectory(joint_names=[f'j{k}' for k in range(joints)])
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = -7, 5
    for k in range(points):
        values = {field: rng.normal(size=joints).tolist() for field in fields}
        point = JointTrajectoryPoint(effort=[9.0] * effort(k), **values)
        point.time_from_start.sec, point.time_from_start.nanosec = k, int(rng.integers(10**9))
        message.points.append(point)
    return message


def content(message):
    """Return all that the reader should find.

    Or None if points carry too many or too few numbers.
    """
    n = len(message.joint_names)
    columns = []
    for field in FIELDS:
        rows = [list(getattr(point, field)) for point in message.points]
        lengths = {len(row) for row in rows}
        if field != 'positions' and lengths <= {0}:
            columns.append(None)
        elif lengths <= {n}:
            columns.append(np.array(rows, dtype=float).reshape(len(rows), n).tobytes())
        else:
            return None
    stamp = message.header.stamp
    durations = [point.time_from_start for point in message.points]
    return (
        tuple(message.joint_names),
        stamp.sec * 10**9 + stamp.nanosec,
        np.array([t.sec + t.nanosec / 1e9 for t in durations], dtype=float).tobytes(),
        *columns,
    )


def found(data):
    columns = (data.positions, data.velocities, data.accelerations)
    for column in columns:
        assert column is None or column.shape == (len(data.times), len(data.joint_names))
    return (
        data.joint_names,
        data.stamp,
        data.times.tobytes(),
        *(None if column is None else column.tobytes() for column in columns),
    )


def check(message):
    expected = content(message)
    for data in (
        serialize_message(message),
        encode(message, '<', b'\xa5'),
        encode(message, '>'),
        encode(message) + b'more',
    ):
        assert found(JointTrajectoryReader().read(data)) == expected


@given(
    st.integers(0, 12),
    st.integers(0, 4),
    st.sets(st.sampled_from(FIELDS[1:])),
    st.lists(st.integers(0, 3), min_size=12, max_size=12),
    TEXT,
)
def test_trajectories_are_read_as_rclpy_reads_them(points, joints, fields, efforts, frame):
    check(trajectory(points, joints, {'positions', *fields}, efforts.__getitem__, frame))


@pytest.mark.parametrize('fields', [FIELDS[:1], FIELDS[:2], FIELDS])
@pytest.mark.parametrize('frame', ['', 'four', 'a longer one'])
@pytest.mark.parametrize('joints', [1, 6, 7])
def test_long_trajectories_are_read_at_every_alignment(joints, frame, fields):
    check(trajectory(3 * SHORT_RUN, joints, fields, frame=frame))


EFFORTS = {
    'none': lambda point: 0,
    'all': lambda point: 6,
    'first point only': lambda point: 6 * (point == 0),
    'last point only': lambda point: 6 * (point == 799),
    'every other point': lambda point: 6 * (point % 2),
    'long runs': lambda point: point // 100,
    'first runs, then chaos': lambda point: 0 if point < 300 else point * point % 7,
}


@pytest.mark.parametrize('effort', EFFORTS)
def test_efforts_are_passed_over_wherever_they_are(effort):
    check(trajectory(800, 6, effort=EFFORTS[effort]))


def test_a_trajectory_of_many_points_is_read_whole(rng):
    points, joints = 100_000, 7
    # With a frame of this length the first point begins at the same alignment as all others.
    one, two = (encode(trajectory(k, joints, frame='base')) for k in (1, 2))
    size = len(two) - len(one)
    head = one[: len(one) - size - 4] + struct.pack('<I', points)
    packed = np.zeros((points, size), np.uint8)
    packed[:] = np.frombuffer(one[-size:], np.uint8)
    numbers = rng.normal(size=(len(FIELDS), points, joints))
    times = rng.integers(0, 10**9, (points, 2), dtype=np.int32)
    for k in range(len(FIELDS)):
        begin = 4 + k * (8 * joints + 8)
        packed[:, begin : begin + 8 * joints] = numbers[k].view(np.uint8)
    packed[:, -8:] = times.view(np.uint8)
    data = JointTrajectoryReader().read(head + packed.tobytes())
    assert np.array_equal(data.times, times[:, 0] + times[:, 1] / 1e9)
    for column, expected in zip(data[3:], numbers):
        assert np.array_equal(column, expected)


def message_with(lengths, joints=2):
    """Trajectory whose points carry (positions, velocities, accelerations) of these lengths."""
    message = JointTrajectory(joint_names=[f'j{k}' for k in range(joints)])
    for row in lengths:
        values = {field: [1.0] * n for field, n in zip(FIELDS, row)}
        message.points.append(JointTrajectoryPoint(**values))
    return message


WRONG = {
    'too few positions': ([(2, 0, 0), (1, 0, 0)], 'point 1 has 1 positions for 2'),
    'too many positions': ([(2, 0, 0)] * 99 + [(3, 0, 0)], 'point 99 has 3 positions for 2'),
    'no positions': ([(0, 2, 0)], 'point 0 has 0 positions for 2'),
    'velocities absent later': (
        [(2, 2, 0)] * 70 + [(2, 0, 0)] * 70,
        'point 70 has 0 velocities for 2',
    ),
    'velocities absent first': ([(2, 0, 0), (2, 2, 0)], 'point 0 has 0 velocities for 2'),
    'too many accelerations': ([(2, 2, 2), (2, 2, 5)], 'point 1 has 5 accelerations for 2'),
    'changing forth and back': ([(2, 0, 0), (2, 2, 0)] * 99, 'point 0 has 0 velocities for 2'),
}


@pytest.mark.parametrize('case', WRONG)
def test_points_with_wrong_lengths_are_rejected_by_number(case):
    lengths, text = WRONG[case]
    for order in '<>':
        with pytest.raises(WireError, match=text) as caught:
            JointTrajectoryReader().read(encode(message_with(lengths), order))
        assert caught.value.code == 'trajectory has wrong lengths'


def test_a_trajectory_that_ends_too_early_is_rejected_by_the_number_of_the_point():
    data = encode(trajectory(200, 6))
    begin, second, third = (len(encode(trajectory(k, 6))) for k in range(3))
    for end in range(len(data) - 1, begin, -101):
        point = 0 if end < second else 1 + (end - second) // (third - second)
        with pytest.raises(WireError) as caught:
            JointTrajectoryReader().read(data[:end])
        assert caught.value.code == 'truncated'
        if end > begin + 200 * 24:  # otherwise 200 points cannot be there at all
            assert str(caught.value) == f'the message ends within trajectory point {point}'


def test_impossible_counts_are_rejected():
    data = encode(trajectory(3, 2))
    at = len(encode(trajectory(0, 2))) - 4
    for count in (4, 1000, 2**32 - 1):
        with pytest.raises(WireError, match='the message ends within'):
            JointTrajectoryReader().read(with_bytes(data, at, struct.pack('<I', count)))


def test_trajectories_larger_than_promised_are_rejected():
    names = JointTrajectory(joint_names=['j'] * (MAX_NAMES + 1))
    empty = encode(JointTrajectory())[:-4]
    for data, text in (
        (encode(names), f'{MAX_NAMES + 1} joint names, more than'),
        (bytes(MAX_BYTES + 1), f'{MAX_BYTES + 1} bytes, more than'),
        (
            empty + struct.pack('<I', MAX_POINTS + 1) + bytes(24 * (MAX_POINTS + 1)),
            f'{MAX_POINTS + 1} points, more than',
        ),
    ):
        with pytest.raises(WireError, match=text):
            JointTrajectoryReader().read(data)


def test_a_trajectory_without_joints_has_only_times():
    data = JointTrajectoryReader().read(encode(message_with([(0, 0, 0)] * 500, joints=0)))
    assert data.times.shape == (500,)
    assert data.positions.shape == (500, 0)


def test_corrupted_trajectories_are_rejected_or_read_as_rclpy_does(rng, capfd):
    messages = (
        trajectory(3, 2),
        trajectory(2, 3, FIELDS[:1], frame='world'),
        trajectory(4, 1, FIELDS[:2], effort=lambda point: point),
        trajectory(20, 1, FIELDS[:1]),
        trajectory(0, 2),
    )
    valid = [encode(message, order) for message in messages for order in '<>']
    reader = JointTrajectoryReader()
    check_spoiled_messages(
        valid, lambda data: found(reader.read(data)), JointTrajectory, content, 20_000, rng, capfd
    )
