# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings read from files, and named errors."""

import json
from operator import itemgetter
import sqlite3
import struct
import sys

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside
from support.recorded_motions import arm, recorded

from rbd_ros.identification import (
    read_recording,
    read_robot_description,
    Recording,
    RecordingError,
)

NAMES = ('shoulder', 'elbow')


@pytest.fixture(scope='module')
def robot():
    return arm('two_link_arm')


@pytest.fixture(scope='module')
def original(robot):
    return recorded(robot, duration=3.0, rate=100.0)


def csv_text(recording, columns=('position', 'effort')):
    values = {'position': recording.positions, 'effort': recording.efforts}
    head = ['time', *(f'{n}.{c}' for c in columns for n in recording.joint_names)]
    table = np.concatenate([recording.times[:, None], *(values[c] for c in columns)], axis=1)
    rows = [','.join(map(repr, row)) for row in table.tolist()]
    return '\n'.join([','.join(head), *rows]) + '\n'


def cdr(names, stamp, position, effort):
    """Return a JointState as ROS 2 serializes it, little endian."""
    body = bytearray(struct.pack('<iI', *divmod(stamp, 10**9)))

    def align(size):
        body.extend(bytes(-len(body) % size))

    def text(word):
        align(4)
        body.extend(struct.pack('<I', len(word) + 1) + word.encode() + b'\0')

    text('')
    align(4)
    body.extend(struct.pack('<I', len(names)))
    for name in names:
        text(name)
    for values in (position, [], effort):
        align(4)
        body.extend(struct.pack('<I', len(values)))
        if len(values):
            align(8)
            body.extend(struct.pack(f'<{len(values)}d', *values))
    return b'\0\1\0\0' + bytes(body)


def messages(recording, start=1_700_000_000):
    for t, q, tau in zip(recording.times, recording.positions, recording.efforts):
        stamp = start * 10**9 + round(t * 1e9)
        yield stamp, cdr(recording.joint_names, stamp, q, tau)


_MESSAGES = messages


def write_mcap(path, recording, topic='/joint_states', chunk_size=4096, encoding='cdr'):
    outside.load('mcap')
    from mcap.writer import CompressionType, Writer

    with path.open('wb') as stream:
        writer = Writer(stream, chunk_size=chunk_size, compression=CompressionType.NONE)
        writer.start()
        other = writer.register_schema('std_msgs/msg/String', 'ros2msg', b'string data')
        writer.register_channel('/chatter', 'cdr', other)
        schema = writer.register_schema('sensor_msgs/msg/JointState', 'ros2msg', b'')
        channel = writer.register_channel(topic, encoding, schema)
        for k, (stamp, data) in enumerate(messages(recording)):
            if encoding == 'json':
                sec, nanosec = divmod(stamp, 10**9)
                content = {
                    'header': {'stamp': {'sec': sec, 'nanosec': nanosec}},
                    'name': list(recording.joint_names),
                    'position': recording.positions[k].tolist(),
                    'effort': recording.efforts[k].tolist(),
                }
                data = json.dumps(content).encode()
            writer.add_message(channel, stamp, data, stamp)
        writer.finish()


def write_bag(path, recording, kind='sensor_msgs/msg/JointState'):
    with sqlite3.connect(path) as bag:
        bag.execute('create table topics(id integer, name text, type text, serialization_format)')
        bag.execute('create table messages(id integer, topic_id, timestamp integer, data blob)')
        bag.execute('insert into topics values (7, ?, ?, ?)', ('/arm/joint_states', kind, 'cdr'))
        rows = [(k, 7, stamp, data) for k, (stamp, data) in enumerate(messages(recording))]
        bag.executemany('insert into messages values (?, ?, ?, ?)', rows)
    bag.close()


def same(found, original):
    assert found.joint_names == original.joint_names
    assert_allclose(np.diff(found.times), np.diff(original.times), atol=2e-9)
    assert_allclose(found.positions, original.positions, rtol=1e-15)
    assert_allclose(found.efforts, original.efforts, rtol=1e-15)
    assert found.notes == ()


def test_csv_is_read(tmp_path, original):
    path = tmp_path / 'run.csv'
    path.write_text(csv_text(original))
    same(read_recording(str(path)), original)


@pytest.mark.parametrize('encoding', ['cdr', 'json'])
def test_mcap_is_read(tmp_path, original, encoding):
    path = tmp_path / 'run.mcap'
    write_mcap(path, original, encoding=encoding)
    same(read_recording(str(path)), original)


def test_bags_are_read_as_file_and_as_folder(tmp_path, original):
    write_bag(tmp_path / 'bag_0.db3', original)
    same(read_recording(str(tmp_path / 'bag_0.db3')), original)
    same(read_recording(str(tmp_path)), original)


def compressed(data):
    return outside.load('zstandard').ZstdCompressor().compress(data)


@pytest.mark.parametrize('ending', ['mcap', 'db3'])
def test_bags_that_are_compressed_as_files_are_read(tmp_path, original, ending):
    """ros2 bag record --compression-mode file --compression-format zstd."""
    plain = tmp_path / f'run_0.{ending}'
    {'mcap': write_mcap, 'db3': write_bag}[ending](plain, original)
    path = tmp_path / 'bag' / f'run_0.{ending}.zstd'
    path.parent.mkdir()
    path.write_bytes(compressed(plain.read_bytes()))
    for place in (path, path.parent):
        same(read_recording(str(place)), original)
    with pytest.raises(RecordingError, match='has no robot description: give the robot'):
        read_robot_description(str(path))
    path.write_bytes(path.read_bytes()[:4] + b'no more')
    with pytest.raises(RecordingError, match='cannot be unpacked'):
        read_recording(str(path))


@pytest.mark.parametrize('write, name', [(write_mcap, 'run.mcap'), (write_bag, 'run.db3')])
def test_bags_that_are_compressed_by_message_are_read(
    tmp_path, original, monkeypatch, write, name
):
    """ros2 bag record --compression-mode message --compression-format zstd."""
    plain = list(messages(original))
    packed = [(stamp, compressed(data)) for stamp, data in plain]
    monkeypatch.setitem(globals(), 'messages', lambda _: packed)
    write(tmp_path / name, original)
    same(read_recording(str(tmp_path / name)), original)
    packed[5] = (packed[5][0], packed[5][1][:8])
    packed[6] = (packed[6][0], packed[6][1][:4] + b'no more')
    write(tmp_path / f'broken_{name}', original)
    with pytest.raises(RecordingError, match='a message.*cannot be unpacked'):
        read_recording(str(tmp_path / f'broken_{name}'))


def test_a_compressed_bag_that_cannot_be_read_is_rejected_with_the_cure(
    tmp_path, original, monkeypatch
):
    write_bag(tmp_path / 'run.db3', original)
    path = tmp_path / 'bag' / 'run.db3.zstd'
    path.parent.mkdir()
    path.write_bytes(compressed((tmp_path / 'run.db3').read_bytes()))
    monkeypatch.setitem(sys.modules, 'zstandard', None)
    for place in (path, path.parent):
        with pytest.raises(RecordingError, match=r"by zstd.*pip install 'rbd_ros\[recording\]'"):
            read_recording(str(place))
    path.rename(path.with_suffix('.lz4'))
    with pytest.raises(RecordingError, match='ros2 bag convert'):
        read_recording(str(path.parent))


def parts_of(recording, rate):
    """Return the recordings of the first joint, and of the other at another rate."""
    times, few = recording.times, slice(None, None, rate)
    names, q, tau = recording.joint_names, recording.positions, recording.efforts
    return (
        Recording(names[:1], times, q[:, :1], tau[:, :1]),
        Recording(names[1:], times[few], q[few, 1:], tau[few, 1:]),
    )


@pytest.mark.parametrize('rate', [1, 2])
def test_joints_in_separate_messages_are_merged(tmp_path, original, monkeypatch, rate):
    parts = parts_of(original, rate)
    both = sorted((m for part in parts for m in messages(part)), key=itemgetter(0))
    monkeypatch.setitem(globals(), 'messages', lambda _: both)
    write_bag(tmp_path / 'run.db3', original)
    found = read_recording(str(tmp_path / 'run.db3'))
    assert found.joint_names == original.joint_names
    assert 'in separate messages' in found.notes[0]
    count = len(found.times)
    assert count >= len(original.times) - 1
    assert_allclose(found.positions[:, 0], original.positions[:count, 0], rtol=1e-15)
    tolerance = {1: 1e-12, 2: 0.02}[rate]  # interpolated
    assert_allclose(found.positions, original.positions[:count], atol=tolerance)


def test_joints_on_separate_topics_are_merged_if_both_are_named(tmp_path, original):
    first, second = parts_of(original, 1)
    write_bag(tmp_path / 'run.db3', first)
    with sqlite3.connect(tmp_path / 'run.db3') as bag:
        kind = 'sensor_msgs/msg/JointState'
        bag.execute("insert into topics values (8, '/hand/joint_states', ?, 'cdr')", (kind,))
        rows = [(k, 8, stamp, data) for k, (stamp, data) in enumerate(messages(second))]
        bag.executemany('insert into messages values (?, ?, ?, ?)', rows)
    bag.close()
    with pytest.raises(RecordingError, match='several topics.*with commas'):
        read_recording(str(tmp_path / 'run.db3'))
    found = read_recording(str(tmp_path / 'run.db3'), 'arm/joint_states,hand/joint_states')
    assert found.joint_names == original.joint_names
    assert_allclose(found.positions, original.positions, rtol=1e-12)


def test_joints_that_were_seldom_published_are_omitted(tmp_path, original, monkeypatch):
    many, few = parts_of(original, 40)
    monkeypatch.setitem(globals(), 'messages', lambda _: mixed)
    mixed = sorted([*_MESSAGES(many), *list(_MESSAGES(few))[:3]], key=itemgetter(0))
    write_bag(tmp_path / 'run.db3', original)
    found = read_recording(str(tmp_path / 'run.db3'))
    assert found.joint_names == many.joint_names
    assert found.notes == ('3 joint states name other joints and are left out',)


def test_a_truncated_file_is_read_up_to_its_end(tmp_path, original):
    path = tmp_path / 'run.mcap'
    write_mcap(path, original)
    data = path.read_bytes()
    path.write_bytes(data[: int(0.6 * len(data))])
    found = read_recording(str(path))
    count = len(found.times)
    assert 0.4 * len(original.times) < count < 0.7 * len(original.times)
    assert_allclose(found.efforts, original.efforts[:count], rtol=1e-15)
    assert 'ends too early' in found.notes[0]


def test_a_file_that_is_not_mcap_is_rejected(tmp_path):
    outside.load('mcap')
    path = tmp_path / 'run.mcap'
    for data in (b'', b'\x89MCAP', b'something else altogether'):
        path.write_bytes(data)
        with pytest.raises(RecordingError, match='not an MCAP file'):
            read_recording(str(path))


def test_the_topic_is_found_by_type_or_name(tmp_path, original):
    path = tmp_path / 'run.mcap'
    write_mcap(path, original, topic='/left/joint_states')
    same(read_recording(str(path)), original)
    same(read_recording(str(path), 'left/joint_states'), original)
    with pytest.raises(RecordingError, match="no topic 'right'.*'/left/joint_states'"):
        read_recording(str(path), 'right')


def test_a_bag_without_joint_states_is_rejected(tmp_path, original):
    write_bag(tmp_path / 'run.db3', original, kind='std_msgs/msg/String')
    with pytest.raises(RecordingError, match='none of joint states'):
        read_recording(str(tmp_path / 'run.db3'))
    (tmp_path / 'text.db3').write_text('no database ' * 100)
    with pytest.raises(RecordingError, match='not a bag of ROS 2'):
        read_recording(str(tmp_path / 'text.db3'))


def with_line(text, number, line):
    lines = text.splitlines()
    lines[number] = line
    return '\n'.join(lines)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        (lambda t: '', 'line 1 has no column time'),
        (lambda t: t.replace('.effort', '.torque'), 'no efforts of joint'),
        (lambda t: t.replace('.position', ''), 'no column of a position'),
        (lambda t: with_line(t, 4, '0.04,one,2,3,4'), 'line 5: shoulder.position'),
        (lambda t: with_line(t, 4, '0.04,1,2'), 'line 5 has 3 values for 5 columns'),
        (lambda t: '\n'.join(t.splitlines()[:30]), '29 usable states'),
        (lambda t: t.replace('elbow.position', 'time', 1), "two columns 'time'"),
    ],
    ids=['empty', 'effort', 'position', 'word', 'length', 'short', 'twice'],
)
def test_bad_csv_is_rejected_by_line_and_column(tmp_path, original, change, message):
    path = tmp_path / 'run.csv'
    path.write_text(change(csv_text(original)))
    with pytest.raises(RecordingError, match=message):
        read_recording(str(path))


def test_other_files_are_rejected(tmp_path):
    with pytest.raises(RecordingError, match='cannot be read: No such file'):
        read_recording(str(tmp_path / 'absent.csv'))
    with pytest.raises(RecordingError, match=r'ends with \.csv, \.mcap, \.db3'):
        read_recording(str(tmp_path / 'run.bag'))
    with pytest.raises(RecordingError, match='is not a bag'):
        read_recording(str(tmp_path))


def rewritten(tmp_path, recording, times=None, efforts=None, rows=None):
    """Return the recording read from a CSV file with other times, efforts or fewer rows."""
    rows = np.arange(len(recording.times)) if rows is None else rows
    changed = object.__new__(Recording)
    object.__setattr__(changed, 'joint_names', recording.joint_names)
    for name, new in (('times', times), ('positions', None), ('efforts', efforts)):
        values = getattr(recording, name) if new is None else new
        object.__setattr__(changed, name, values[rows])
    path = tmp_path / 'run.csv'
    path.write_text(csv_text(changed))
    return read_recording(str(path))


def test_gaps_are_reported_and_separate_the_parts(tmp_path, original):
    rows = np.r_[0:120, 180:300]
    found = rewritten(tmp_path, original, rows=rows)
    assert [(p.start, p.stop) for p in found.segments()] == [(0, 120), (120, 240)]
    assert '1 gaps, up to 0.61 s' in found.notes[0]


def test_a_few_lost_states_are_no_gap(tmp_path, original):
    rows = np.delete(np.arange(300), [100, 101, 200])
    found = rewritten(tmp_path, original, rows=rows)
    assert len(found.segments()) == 1 and not found.notes


def test_states_from_before_are_omitted(tmp_path, original):
    times = original.times.copy()
    times[150:160] -= 1.0
    times[200] = times[199]
    found = rewritten(tmp_path, original, times=times)
    assert len(found.times) == 289
    assert any('goes back for 10 states' in note for note in found.notes)
    assert any('1 states repeat' in note for note in found.notes)


def test_time_that_goes_back_permanently_is_rejected(tmp_path, original):
    times = original.times.copy()
    times[100:] -= 50.0
    with pytest.raises(RecordingError, match='goes back for 200 of 300'):
        rewritten(tmp_path, original, times=times)


def test_states_that_are_not_finite_are_omitted(tmp_path, original):
    efforts = original.efforts.copy()
    efforts[[10, 20], 1] = np.nan, np.inf
    found = rewritten(tmp_path, original, efforts=efforts)
    assert len(found.times) == 298 and '2 of 300 states are not finite' in found.notes[0]


def test_messages_without_efforts_are_reported(tmp_path, original):
    outside.load('mcap')
    path = tmp_path / 'run.mcap'
    bare = object.__new__(Recording)
    for name in ('joint_names', 'times', 'positions'):
        object.__setattr__(bare, name, getattr(original, name))
    object.__setattr__(bare, 'efforts', np.zeros((300, 0)))
    write_mcap(path, bare)
    with pytest.raises(RecordingError, match='none of its 300 joint states has efforts'):
        read_recording(str(path))


def test_another_robot_is_reported_by_its_joints(original):
    with pytest.raises(RecordingError, match="to another robot: it has joint 'shoulder'"):
        original.for_robot(arm())


def test_missing_joints_are_named_or_held(robot, original):
    one = Recording(NAMES[:1], original.times, original.positions[:, :1], original.efforts[:, :1])
    with pytest.raises(RecordingError, match="lacks joint 'elbow'"):
        one.for_robot(robot)
    held = one.for_robot(robot, {'elbow': 0.25})
    assert (held.positions[:, 1] == 0.25).all() and np.isnan(held.efforts[:, 1]).all()
    with pytest.raises(RecordingError, match="'wing'"):
        one.for_robot(robot, {'wing': 0.0})


def test_joints_are_put_into_the_order_of_the_robot(robot, original):
    swapped = Recording(
        (*NAMES[::-1], 'gripper'),
        original.times,
        np.c_[original.positions[:, ::-1], original.times],
        np.c_[original.efforts[:, ::-1], original.times],
    )
    found = swapped.for_robot(robot)
    assert (found.positions == original.positions).all()
    assert (found.efforts == original.efforts).all()
    assert "joint 'gripper'" in found.notes[0]


def test_degrees_are_detected(robot, original):
    degrees = Recording(NAMES, original.times, np.rad2deg(original.positions), original.efforts)
    with pytest.raises(RecordingError, match='degrees'):
        degrees.for_robot(robot)


def test_part_of_the_time(original):
    found = original.part(0.5, 1.0)
    assert_allclose(found.times[[0, -1]], [0.5, 1.0])
    with pytest.raises(RecordingError, match='between 7 and 8 s'):
        original.part(7.0, 8.0)


# -- the robot in a recording ---------------------------------------------------------------------


def string(text):
    data = text.encode() + b'\0'
    return b'\0\1\0\0' + struct.pack('<I', len(data)) + data


def add_to_bag(path, topic, kind, data):
    with sqlite3.connect(path) as bag:
        (number,) = bag.execute('select max(id) + 1 from topics').fetchone()
        columns = 'id, name, type, serialization_format'
        bag.execute(
            f'insert into topics ({columns}) values (?, ?, ?, "cdr")', (number, topic, kind)
        )
        bag.execute(
            'insert into messages (topic_id, timestamp, data) values (?, 0, ?)', (number, data)
        )
    bag.close()


@pytest.mark.parametrize('topic', ['/robot_description', '/left/robot_description'])
def test_the_robot_is_read_from_a_bag(tmp_path, original, topic):
    path = tmp_path / 'run.db3'
    write_bag(path, original)
    with pytest.raises(RecordingError, match='run.db3 has no robot description: give the robot'):
        read_robot_description(str(path))
    add_to_bag(path, '/other', 'std_msgs/msg/String', string('nothing'))
    add_to_bag(path, topic, 'std_msgs/msg/String', string('<robot name="me"/>'))
    for place in (path, tmp_path):
        assert read_robot_description(str(place)) == '<robot name="me"/>'


def test_a_malformed_robot_description_is_rejected(tmp_path, original):
    path = tmp_path / 'run.db3'
    write_bag(path, original)
    add_to_bag(path, '/robot_description', 'std_msgs/msg/String', b'\0\1\0\0\xff\xff')
    with pytest.raises(RecordingError, match='run.db3: its robot description'):
        read_robot_description(str(path))
    (tmp_path / 'run.csv').write_text('time,a.position,a.effort\n')
    for name, words in (
        ('run.csv', 'run.csv has no robot description'),
        ('none.mcap', 'none.mcap cannot be read: No such file'),
        ('text.db3', 'is not a bag of ROS 2'),
    ):
        if name == 'text.db3':
            (tmp_path / name).write_text('this is no database at all, but some text' * 40)
        with pytest.raises(RecordingError, match=words):
            read_robot_description(str(tmp_path / name))


def test_a_data_frame_has_the_columns_of_csv_and_leads_back(tmp_path, original):
    pandas = outside.load('pandas')
    frame = original.to_pandas()
    assert frame.index.name == 'time'
    frame.to_csv(tmp_path / 'run.csv')
    (tmp_path / 'ours.csv').write_text(csv_text(original))
    read = pandas.read_csv(tmp_path / 'ours.csv')
    for again in (
        Recording.from_pandas(frame),
        Recording.from_pandas(read),  # with the time as a column
        read_recording(str(tmp_path / 'run.csv')),
    ):
        same(again, original)


def test_a_data_frame_is_cleaned_as_a_csv_file(original):
    outside.load('pandas')
    frame = original.to_pandas()
    frame['mode'] = 'moving'  # another column, which is ignored
    frame.iloc[7, 0] = np.nan
    found = Recording.from_pandas(frame, 'run')
    assert len(found.times) == len(original.times) - 1 and found.label == 'run'
    assert 'not finite' in found.notes[0]


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        (lambda frame: frame.reset_index(drop=True), 'run has no column time'),
        (lambda frame: frame.rename(columns=lambda n: n.upper()), 'no column of a position'),
        (lambda frame: frame.iloc[:, :2], 'run has no efforts of joint'),
        (lambda frame: frame.astype(str).replace(r'.*', 'x', regex=True), 'must be numbers'),
        (lambda frame: frame.iloc[:3], '3 usable states'),
    ],
)
def test_another_data_frame_is_rejected(original, change, message):
    outside.load('pandas')
    with pytest.raises(RecordingError, match=message):
        Recording.from_pandas(change(original.to_pandas()), 'run')


def test_without_pandas_the_cure_is_reported(original, monkeypatch):
    monkeypatch.setitem(sys.modules, 'pandas', None)
    with pytest.raises(ImportError, match=r"pip install 'rbd_ros\[pandas\]'"):
        original.to_pandas()
