# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Serialized messages read and written with NumPy, against rclpy and an independent encoder."""

import math
import struct

from hypothesis import given, strategies as st
import numpy as np
import pytest
from support import outside

from rbd_ros.wire import (
    ClockWriter,
    Float64MultiArrayReader,
    Float64MultiArrayWriter,
    JointStateReader,
    JointStateWriter,
    MAX_NAMES,
    WireError,
    WrenchStampedReader,
)
from rbd_ros.wire.joint_state import MAX_BYTES, MAX_LAYOUTS, MAX_NAME_LISTS

outside.load('rclpy')

from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from wire_harness import check_spoiled_messages, encode, TEXT, with_bytes

FIELDS = ('position', 'velocity', 'effort')
NAMES = [f'joint_{k}' for k in range(6)]

NUMBERS = st.lists(st.floats(width=64), max_size=7)
SECONDS = st.integers(-(2**31), 2**31 - 1)
NANOSECONDS = st.integers(0, 2**32 - 1)


def joint_state(names=NAMES, frame='', stamp=(0, 0), **fields):
    message = JointState(name=list(names))
    for field, values in fields.items():
        setattr(message, field, [float(x) for x in values])
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = stamp
    return message


def full_state(names=NAMES, **options):
    return joint_state(names, **{field: range(len(names)) for field in FIELDS}, **options)


def content(message):
    """Return all that a reader should find, numbers as bytes so that NaN equals itself."""
    stamp = message.header.stamp
    return (
        stamp.sec * 10**9 + stamp.nanosec,
        tuple(message.name),
        *(np.array(getattr(message, field), dtype=float).tobytes() for field in FIELDS),
    )


def found(data):
    return (
        data.stamp,
        data.names.names,
        *(b'' if x is None else x.tobytes() for x in (data.position, data.velocity, data.effort)),
    )


def meant(message):
    """Return the bytes of a message, and which of them mean something."""
    zeros, ones = (encode(message, padding=p) for p in (b'\0', b'\xff'))
    return np.frombuffer(zeros, np.uint8), np.array([a == b for a, b in zip(zeros, ones)])


def check_written(data, message):
    """Compare bytes with those of rclpy, which leaves garbage in padding and after the end."""
    theirs = np.frombuffer(serialize_message(message), np.uint8)
    expected, matters = meant(message)
    assert data == expected.tobytes()
    assert np.array_equal(theirs[: len(expected)][matters], expected[matters])


# -- JointState -----------------------------------------------------------------------------------


@given(st.lists(TEXT, max_size=8), TEXT, SECONDS, NANOSECONDS, NUMBERS, NUMBERS, NUMBERS)
def test_joint_states_are_read_as_rclpy_reads_them(
    names, frame, seconds, nanoseconds, position, velocity, effort
):
    message = joint_state(
        names,
        frame,
        (seconds, nanoseconds),
        position=position,
        velocity=velocity,
        effort=effort,
    )
    reader = JointStateReader()
    for data in (
        serialize_message(message),
        encode(message),
        encode(message, padding=b'\xa5'),
        encode(message, '>'),
        encode(message, '>', b'\xa5'),
        encode(message) + bytes(-len(encode(message)) % 4),  # as serdata_rmw of Cyclone DDS ends
    ):
        assert found(reader.read(data)) == content(deserialize_message(data, JointState))
        assert found(reader.read(data)) == content(message)
    assert reader.layouts == 2


@given(
    st.lists(TEXT, max_size=8),
    st.sets(st.sampled_from(FIELDS)),
    TEXT,
    SECONDS,
    NANOSECONDS,
    st.data(),
)
def test_joint_states_are_written_as_rclpy_writes_them(
    names, fields, frame, seconds, nanoseconds, draw
):
    writer = JointStateWriter(names, fields, frame)
    message = joint_state(names, frame)
    for _ in range(2):
        for field in fields:
            values = draw.draw(
                st.lists(st.floats(), min_size=len(names), max_size=len(names)), label=field
            )
            getattr(writer, field)[:] = values
            setattr(message, field, values)
        writer.set_stamp(seconds, nanoseconds)
        message.header.stamp.sec, message.header.stamp.nanosec = seconds, nanoseconds
        check_written(writer.data(), message)


@pytest.mark.parametrize('time_ns', [0, 1, -1, -(10**9), -(2**31) * 10**9, 2**31 * 10**9 - 1])
def test_times_survive_the_way_there_and_back(time_ns):
    writer, clock = JointStateWriter(['a'], ['effort']), ClockWriter()
    writer.set_stamp_ns(time_ns)
    clock.set_stamp_ns(time_ns)
    assert JointStateReader().read(writer.data()).stamp == time_ns
    stamp = deserialize_message(clock.data(), Clock).clock
    assert (stamp.sec, stamp.nanosec) == divmod(time_ns, 10**9)
    check_written(clock.data(), Clock(clock=stamp))


def test_a_time_that_does_not_fit_is_rejected_and_changes_nothing():
    writer = JointStateWriter(['a'])
    writer.set_stamp(5, 6)
    before = writer.data()
    for stamp in ((2**31, 0), (0, -1), (0, 2**32), (0.5, 0)):
        with pytest.raises(ValueError, match='are not a valid time'):
            writer.set_stamp(*stamp)
    with pytest.raises(ValueError, match='are not a valid time'):
        writer.set_stamp_ns(2**31 * 10**9)
    assert writer.data() == before


def test_names_that_no_message_can_carry_are_rejected():
    with pytest.raises(ValueError, match='zero byte'):
        JointStateWriter(['a\0b'])
    with pytest.raises(ValueError, match='surrogates'):
        JointStateWriter(['\ud800'])
    with pytest.raises(ValueError, match='torque'):
        JointStateWriter(['a'], ['torque'])


@pytest.mark.parametrize('size', range(9))
def test_numbers_are_aligned_for_any_length_of_the_frame(size):
    writer = JointStateWriter(NAMES, frame_id='x' * size)
    state = JointStateReader().read(writer.data())
    for values in (writer.position, writer.effort, state.position, state.velocity, state.effort):
        assert values.flags.aligned and values.flags.c_contiguous


def test_arrays_cannot_be_written_to_and_change_only_with_the_next_message_of_their_layout():
    writer, reader = JointStateWriter(NAMES), JointStateReader()
    writer.position[:] = 1.0
    first = reader.read(writer.data())
    assert not any(getattr(first, field).flags.writeable for field in FIELDS)
    reader.read(encode(full_state(NAMES[::-1])))
    with pytest.raises(WireError):
        reader.read(writer.data()[:-1])
    assert first.position.tolist() == [1.0] * 6
    writer.position[:] = 2.0
    assert reader.read(writer.data()).position.tolist() == [2.0] * 6


def test_equal_names_are_one_object_across_messages():
    reader = JointStateReader()
    first = reader.read(encode(full_state())).names
    for message in (
        full_state(frame='world'),
        joint_state(position=range(6)),
        joint_state(effort=range(6)),
        joint_state(position=range(5)),
        joint_state(),
    ):
        for order in '<>':
            assert reader.read(encode(message, order)).names is first
    assert reader.read(encode(full_state(NAMES[::-1]))).names is not first
    assert reader.read(encode(full_state())).names is first


def test_publishers_that_take_turns_are_distinguished():
    reader = JointStateReader()
    messages = [
        full_state(),
        full_state(NAMES[::-1]),
        full_state([f'other_{k}' for k in range(6)]),  # names of the same lengths
        joint_state(effort=range(6)),
        full_state(frame='world'),
    ]
    for k in range(50):
        message = messages[k % len(messages)]
        message.header.stamp.sec = k
        data = encode(message, '<>'[k % 2], bytes([k]))
        assert found(reader.read(data)) == content(message)
    assert reader.layouts == 2 * len(messages)


def test_a_publisher_that_invents_names_does_not_fill_the_memory():
    reader = JointStateReader()
    for k in range(500):
        message = full_state([f'joint_{k}_{i}' for i in range(3)])
        assert found(reader.read(encode(message))) == content(message)
        assert reader.layouts <= MAX_LAYOUTS
        assert len(reader._names) <= MAX_NAME_LISTS


def test_names_in_use_stay_the_same_object_while_others_are_invented():
    reader = JointStateReader()
    ours = reader.read(encode(full_state())).names
    for k in range(500):
        reader.read(encode(full_state([f'joint_{k}'])))
        assert reader.read(encode(full_state())).names is ours


def test_as_many_names_are_read_as_promised_and_no_more():
    reader = JointStateReader()
    message = full_state([f'a_joint_with_a_long_name_{k}' for k in range(MAX_NAMES)])
    assert found(reader.read(encode(message))) == content(message)
    for count in (MAX_NAMES + 1, 10_000):
        with pytest.raises(
            WireError, match=f'{count} joint names, more than the limit of {MAX_NAMES}'
        ):
            reader.read(encode(joint_state(['j'] * count)))


def test_a_message_larger_than_promised_is_rejected_even_if_it_is_known_otherwise():
    reader, data = JointStateReader(), encode(full_state())
    reader.read(data)
    reader.read(data + bytes(MAX_BYTES - len(data)))
    with pytest.raises(WireError, match='more than the'):
        reader.read(data + bytes(MAX_BYTES - len(data) + 1))


REJECTED = {
    'empty': (b'', 'truncated'),
    'encapsulation only': (b'\0\1\0\0', 'truncated'),
    'parameter list': (b'\0\3\0\0' + encode(full_state())[4:], 'not plain CDR'),
    'extended CDR': (b'\0\7\0\0' + encode(full_state())[4:], 'not plain CDR'),
    'unknown encapsulation': (b'\1\1\0\0' + encode(full_state())[4:], 'not plain CDR'),
    'names announced that are not there': (
        with_bytes(encode(joint_state(['a'])), 20, struct.pack('<I', 1000)),
        'truncated',
    ),
    'very many names announced': (
        with_bytes(encode(joint_state(['a'])), 20, b'\xff' * 4),
        'too many names',
    ),
    'name of no bytes': (
        with_bytes(encode(joint_state(['abc'])), 24, bytes(4)),
        'illegible text',
    ),
    'name without end': (with_bytes(encode(joint_state(['abc'])), 31, b'd'), 'illegible text'),
    'name with a zero byte': (
        with_bytes(encode(joint_state(['abc'])), 29, b'\0'),
        'illegible text',
    ),
    'name not UTF-8': (with_bytes(encode(joint_state(['abc'])), 29, b'\xff'), 'illegible text'),
    'name longer than the message': (
        with_bytes(encode(joint_state(['abc'])), 24, b'\xff' * 4),
        'truncated',
    ),
    'frame longer than the message': (
        with_bytes(encode(joint_state(['abc'])), 12, b'\xff' * 4),
        'truncated',
    ),
    'positions announced that are not there': (
        with_bytes(encode(joint_state(['abc'])), 32, b'\xff' * 4),
        'truncated',
    ),
}


@pytest.mark.parametrize('case', REJECTED)
def test_bytes_that_are_no_message_are_rejected_with_a_reason(case):
    data, code = REJECTED[case]
    reader = JointStateReader()
    reader.read(encode(joint_state(['abc'])))
    with pytest.raises(WireError) as caught:
        reader.read(data)
    assert caught.value.code == code
    assert 5 < len(str(caught.value)) < 100


def test_corrupted_joint_states_are_rejected_or_read_as_rclpy_does(rng, capfd):
    valid = [
        encode(message, order)
        for message in (
            full_state(),
            full_state(['a', 'bc', 'def', 'ä€'], frame='world', stamp=(-3, 7)),
            joint_state(['a', 'b'], effort=[1.0, math.nan]),
            joint_state([]),
        )
        for order in '<>'
    ]
    reader = JointStateReader()
    for data in valid:
        reader.read(data)
    check_spoiled_messages(
        valid, lambda data: found(reader.read(data)), JointState, content, 20_000, rng, capfd
    )
    assert reader.layouts <= MAX_LAYOUTS


# -- the others -----------------------------------------------------------------------------------


@given(NUMBERS)
def test_arrays_are_read_and_written_as_rclpy_does(values):
    message = Float64MultiArray(data=values)
    writer, reader = Float64MultiArrayWriter(len(values)), Float64MultiArrayReader()
    writer.values[:] = values
    check_written(writer.data(), message)
    for data in (serialize_message(message), encode(message, '<', b'\xa5'), encode(message, '>')):
        assert reader.read(data).tobytes() == np.array(values).tobytes()


@given(st.lists(TEXT, max_size=4), NUMBERS)
def test_dimensions_of_arrays_are_passed_over(labels, values):
    message = Float64MultiArray(data=values)
    message.layout.data_offset = 3
    message.layout.dim = [MultiArrayDimension(label=x, size=1, stride=2) for x in labels]
    for order in '<>':
        read = Float64MultiArrayReader().read(encode(message, order))
        assert read.tobytes() == np.array(values).tobytes()


def test_corrupted_arrays_are_rejected_or_read_as_rclpy_does(rng, capfd):
    flat, shaped = (Float64MultiArray(data=[1.0, 2.0, math.inf]) for _ in range(2))
    shaped.layout.dim = [MultiArrayDimension(label=x, size=1, stride=2) for x in ('a', 'bcd')]
    valid = [encode(message, order) for message in (flat, shaped) for order in '<>']
    reader = Float64MultiArrayReader()
    check_spoiled_messages(
        valid,
        lambda data: reader.read(data).tobytes(),
        Float64MultiArray,
        lambda message: np.array(message.data, dtype=float).tobytes(),
        5_000,
        rng,
        capfd,
    )


@given(TEXT, SECONDS, NANOSECONDS, st.lists(st.floats(), min_size=6, max_size=6))
def test_wrenches_are_read_as_rclpy_reads_them(frame, seconds, nanoseconds, values):
    message = wrench(frame, seconds, nanoseconds, values)
    for data in (serialize_message(message), encode(message, '<', b'\xa5'), encode(message, '>')):
        read = WrenchStampedReader().read(data)
        assert read.stamp == seconds * 10**9 + nanoseconds
        assert read.frame_id == frame
        assert np.concatenate([read.force, read.torque]).tobytes() == np.array(values).tobytes()


def wrench(frame, seconds, nanoseconds, values):
    message = WrenchStamped()
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = seconds, nanoseconds
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = values
    return message


def test_corrupted_wrenches_are_rejected_or_read_as_rclpy_does(rng, capfd):
    valid = [encode(wrench('tool', -1, 5, map(float, range(6))), order) for order in '<>']

    def read(data):
        stamp, frame, force, torque = WrenchStampedReader().read(data)
        return stamp, frame, np.concatenate([force, torque]).tobytes()

    def content_of(message):
        stamp, (f, t) = message.header.stamp, (message.wrench.force, message.wrench.torque)
        return (
            stamp.sec * 10**9 + stamp.nanosec,
            message.header.frame_id,
            np.array([f.x, f.y, f.z, t.x, t.y, t.z]).tobytes(),
        )

    check_spoiled_messages(valid, read, WrenchStamped, content_of, 5_000, rng, capfd)
