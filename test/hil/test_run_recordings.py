# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runs of the bench as MCAP files: readable by others, even if incomplete; replayed bitwise."""

from dataclasses import replace
import json
from pathlib import Path
import sys

import numpy as np
import pytest
from support import outside
import yaml

from rbd_ros.cli.main import main
from rbd_ros.hil import Bench, HilRecordingError, read_scenario, replay, RunRecorder
from rbd_ros.hil.controllers import make_controller
from rbd_ros.hil.report import run_recorder as recorder_module
from rbd_ros.hil.report.recorded_run import read_run
from rbd_ros.hil.report.run_recorder import BEGIN
from rbd_ros.identification import read_recording
from rbd_ros.wire import (
    DEFINITIONS,
    JointStateReader,
    JointStateWriter,
    read_string,
    ros2msg_schema,
    string_message,
    WireError,
)
from rbd_ros.wire.mcap_files import McapReader, McapWriter, ROS2

mcap = outside.load('mcap.reader')

FAULTS = [
    {'fault': 'latency', 'value': 0.003, 'channel': 'state'},
    {'fault': 'jitter', 'value': 0.004},
    {'fault': 'drop', 'value': 0.1},
    {'fault': 'duplicate', 'value': 0.1},
    {'fault': 'position_noise', 'value': 0.001},
    {'fault': 'backlash', 'value': 0.01},
    {'fault': 'actuator_failure', 'joints': ['elbow_joint'], 'start_time': 0.1, 'duration': 0.05},
    {'fault': 'friction', 'value': 0.5, 'start_time': 0.2},
    {'fault': 'payload', 'value': 0.5, 'link': 'tool0', 'start_time': 0.25, 'duration': 0.1},
]


def scenario_of(folder, name='scenario.yaml', **changes):
    content = {
        'robot': 'six_axis_arm',
        'duration': 0.4,
        'trajectory': {
            'joints': ['shoulder_lift_joint', 'elbow_joint'],
            'times': [0.0, 0.4],
            'positions': [[-1.2, 1.2], [-1.1, 1.1]],
        },
        'controller': {'python': 'rbd_ros.hil.controllers:computed_torque'},
        'seed': 4,
        'faults': FAULTS,
        **changes,
    }
    path = folder / name
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """Return scenario, run and path of a recording of it."""
    folder = tmp_path_factory.mktemp('recorded')
    scenario = read_scenario(scenario_of(folder))
    with RunRecorder(folder / 'run.mcap', scenario) as recorder:
        run = Bench(scenario).run(make_controller(scenario), recorder=recorder)
    return scenario, run, folder / 'run.mcap'


def test_a_recording_is_evaluated_without_naming_its_robot(recorded, capsys):
    from rbd_ros.cli.main import main

    path = str(recorded[2])
    printed = []
    for words in ([path], ['six_axis_arm', path]):
        words += ['--topic', 'true_joint_states', '--cutoff', '60']
        assert main(['validate-model', *words]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] and 'shoulder_lift_joint' in printed[0]


def test_a_run_is_the_same_whether_it_is_recorded_or_not(recorded):
    scenario, run, _ = recorded
    assert Bench(scenario).run(make_controller(scenario)).digest == run.digest
    assert len(run.time) == 400 and len({each.fault.kind for each in run.changes}) == 9


def test_commands_between_two_states_are_replayed_bitwise(recorded, tmp_path):
    """With states once in four time steps, as for a controller_manager, and commands late."""
    scenario = replace(recorded[0], timestep=0.004, substeps=4)
    with RunRecorder(tmp_path / 'run.mcap', scenario) as recorder:
        run = Bench(scenario).run(make_controller(scenario), recorder=recorder)
    assert not run.failure and len(run.time) == 400
    found = replay(scenario, tmp_path / 'run.mcap')
    assert found.identical and found.steps == 400, found


def test_others_read_it_by_its_index_and_schemas(recorded):
    _, run, path = recorded
    with path.open('rb') as stream:
        reader = mcap.make_reader(stream)
        assert reader.get_header().profile == 'ros2'
        summary = reader.get_summary()
        seen = {}
        for schema, channel, message in reader.iter_messages():
            assert (schema.encoding, channel.message_encoding) == ('ros2msg', 'cdr')
            assert schema.data == ros2msg_schema(schema.name)
            seen.setdefault(channel.topic, []).append((message.log_time, message.data))
        about = {each.name: each.metadata for each in reader.iter_metadata()}
    assert summary.statistics.message_count == sum(map(len, seen.values()))
    assert len(summary.chunk_indexes) > 3
    assert about['rbd_ros']['robot'] == 'six_axis_arm' and about['rbd_ros']['seed'] == '4'
    assert [t for t, _ in seen['/true_joint_states']] == [BEGIN + k * 10**6 for k in range(400)]
    assert [t for t, _ in seen['/clock']] == [BEGIN + k * 10**7 for k in range(40)]
    assert [read_string(data) for _, data in seen['/faults']] == [str(c) for c in run.changes]
    assert '<robot name="six_axis_arm"' in read_string(seen['/robot_description'][0][1])
    for _, data in seen['/joint_states'] + seen['/joint_commands']:
        assert JointStateReader().read(data).names.names == recorded[0].robot.joint_names


def test_ros2_bag_plays_it_with_the_quality_of_service_of_its_topics(recorded):
    """The metadata of rosbag2_storage_mcap: with this record, jazzy reads numbers as humble."""
    file = recorded[2]
    reader = McapReader(file)
    list(reader)
    assert list(reader.metadata['rosbag2']) == ['ROS_DISTRO']
    with file.open('rb') as stream:
        channels = mcap.make_reader(stream).get_summary().channels.values()
    profiles = {
        each.topic: yaml.safe_load(each.metadata['offered_qos_profiles']) for each in channels
    }
    assert {topic: [each['durability'] for each in has] for topic, has in profiles.items()} == {
        topic: [1 if topic == '/robot_description' else 2] for topic in profiles
    }
    for (each,) in profiles.values():
        assert (each['history'], each['reliability'], each['liveliness']) == (1, 1, 1)
        assert each['deadline'] == each['lifespan'] == {'sec': 9223372036, 'nsec': 854775807}


def test_messages_are_those_of_ros(recorded):
    """With the messages of ROS themselves, and their definitions."""
    outside.load('rclpy')
    from rclpy.serialization import deserialize_message
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String

    _, run, path = recorded
    kinds = {
        '/true_joint_states': JointState,
        '/joint_states': JointState,
        '/joint_commands': JointState,
        '/clock': Clock,
        '/faults': String,
        '/robot_description': String,
    }
    found = {}
    for each in McapReader(path):
        found.setdefault(each.topic, []).append(
            (each.time, deserialize_message(each.data, kinds[each.topic]))
        )
    assert found.keys() == kinds.keys()
    true = found['/true_joint_states']
    assert np.array_equal([m.position for _, m in true], run.q)
    assert np.array_equal([m.velocity for _, m in true], run.v)
    assert np.array_equal([m.effort for _, m in true], run.torque)
    stamp = lambda m: m.header.stamp.sec * 10**9 + m.header.stamp.nanosec  # noqa: E731
    assert all(stamp(m) == t for t, m in true)
    # A state comes to the controller later than it was; what that answers, later still.
    assert all(t >= stamp(m) + 3 * 10**6 for t, m in found['/joint_states'])
    assert all(t >= stamp(m) + 3 * 10**6 for t, m in found['/joint_commands'])
    counts = run.counts
    sent = counts['states_sent'] - counts['states_dropped'] + counts['states_duplicated']
    assert 0 <= sent - len(found['/joint_states']) < 10  # those still under way at the end


@pytest.mark.parametrize('kind', sorted(DEFINITIONS))
def test_definitions_are_those_of_ros(kind):
    """Names and types of the fields, in their order."""
    outside.load('rclpy')
    from importlib import import_module

    package, _, name = kind.split('/')
    message = getattr(import_module(f'{package}.msg'), name)
    fields = [line.split() for line in DEFINITIONS[kind].splitlines() if '=' not in line]
    described = {}
    for word, (field, text) in zip(fields, message.get_fields_and_field_types().items()):
        listed = text.startswith('sequence<')
        plain = text[len('sequence<') : -1] if listed else text
        plain = {'double': 'float64', 'octet': 'byte'}.get(plain, plain)
        described[field] = plain + ('[]' if listed else '')
        assert word[1] == field
    assert {name: kind for kind, name in fields} == described


def test_schemas_hold_all_types_that_are_in_them():
    text = ros2msg_schema('diagnostic_msgs/msg/DiagnosticArray').decode()
    assert text.startswith('std_msgs/Header header\n')
    assert text.count('=' * 80) == 4 == text.count('\nMSG: ')
    for inner in (
        'std_msgs/Header',
        'builtin_interfaces/Time',
        'diagnostic_msgs/DiagnosticStatus',
        'diagnostic_msgs/KeyValue',
    ):
        assert f'MSG: {inner}\n' in text


def test_texts_that_cannot_be_messages_are_rejected():
    with pytest.raises(ValueError):
        string_message('a\0b')
    with pytest.raises(WireError):
        read_string(string_message('abc')[:-2])
    with pytest.raises(WireError):
        read_string(b'\0\1\0\0\2\0\0\0\xff\0')


def test_it_can_be_evaluated_as_a_recording(recorded):
    _, run, path = recorded
    found = read_recording(str(path), 'true_joint_states')
    assert np.array_equal(found.positions, run.q) and np.array_equal(found.efforts, run.torque)


# -- replay ---------------------------------------------------------------------------------------


def test_a_recording_is_replayed_bitwise(recorded):
    scenario, run, path = recorded
    found = replay(scenario, path)
    assert found.identical and str(found) == '400 steps replayed: bitwise identical'
    read = read_run(path)
    assert read.seed == 4 and np.array_equal(read.q, run.q)


def rewritten(path, target, change):
    """Return the recording with other messages: `change` returns the replacement of each."""
    reader = McapReader(path)
    list(reader)
    with McapWriter(target, ROS2) as file:
        channels = {}
        about = change('about', 0, dict(reader.metadata['rbd_ros']))
        file.metadata('rbd_ros', about)
        for found in reader:
            if found.topic not in channels:
                schema = ros2msg_schema(found.schema)
                channels[found.topic] = file.channel(
                    found.topic, found.schema, 'ros2msg', schema, 'cdr'
                )
            for time, data in change(found.topic, found.time, found.data):
                file.write(channels[found.topic], time, data)
    return target


def changed(topic, work):
    """Return a change of one topic; all else stays as it is."""

    def change(name, time, data):
        if name == topic:
            return work(time, data)
        return data if name == 'about' else [(time, data)]

    return change


def edited(data, **fields):
    """Return a JointState with other numbers, or names."""
    message = JointStateReader().read(data)
    names = fields.pop('names', message.names.names)
    keep = [message.names.names.index(n) if n in message.names.names else 0 for n in names]
    given = [f for f in ('position', 'velocity', 'effort') if getattr(message, f) is not None]
    writer = JointStateWriter(names, fields.pop('fields', given))
    for field in ('position', 'velocity', 'effort'):
        values = getattr(writer, field)
        if len(values):
            values[:] = fields.get(field, getattr(message, field))[keep]
    writer.set_stamp_ns(message.stamp)
    return writer.data()


def test_another_motion_is_reported_by_joint_time_and_size(recorded, tmp_path):
    scenario, run, path = recorded

    def nudge(time, data):
        if time == BEGIN + 123 * 10**6:
            q = np.array(JointStateReader().read(data).position)
            q[2] = np.nextafter(q[2], 9.0)
            return [(time, edited(data, position=q))]
        return [(time, data)]

    found = replay(scenario, rewritten(path, tmp_path / 'q', changed('/true_joint_states', nudge)))
    assert not found.identical and 'q of elbow_joint at 0.123000 s, by 2.22e-16' in str(found)

    def weaker(time, data):
        if time < BEGIN + 50 * 10**6:
            return [(time, data)]
        effort = np.array(JointStateReader().read(data).effort)
        return [(time, edited(data, effort=effort * (1.0 + 1e-9)))]

    found = replay(scenario, rewritten(path, tmp_path / 'c', changed('/joint_commands', weaker)))
    assert 'NOT the same: torque of' in str(found) and 'at 0.05' in str(found)
    # Without the friction that came, the motion goes another way.
    about = changed('about', lambda _, about: {**about, 'faults': '[]'})
    found = replay(scenario, rewritten(path, tmp_path / 'f', about))
    assert 'at 0.100000 s' in str(found)


def test_a_file_cut_off_anywhere_is_replayed_as_far_as_it_goes(recorded, tmp_path):
    scenario, run, path = recorded
    data, cut = path.read_bytes(), tmp_path / 'cut.mcap'
    counts, notes = [], []
    whole = len(list(McapReader(path)))
    for size in sorted({*range(0, len(data), 211), 7, 8, 9, len(data) - 1, len(data)}):
        cut.write_bytes(data[:size])
        reader = McapReader(cut)
        if size < 8:
            with pytest.raises(ValueError):
                list(reader)
            continue
        counts.append(len(list(reader)))
        notes.append(reader.note)
    assert counts == sorted(counts) and counts[-1] == whole == counts[-2]
    assert all('ends too early' in note for note in notes[:-1]) and notes[-1] == ''
    # Up to the last complete chunk: at most one is lost.
    with path.open('rb') as stream:
        chunks = mcap.make_reader(stream).get_summary().chunk_indexes
    assert len(chunks) > 3
    for chunk in chunks:
        end = chunk.chunk_start_offset + chunk.chunk_length
        cut.write_bytes(data[:end])
        complete = len(list(McapReader(cut)))
        cut.write_bytes(data[: end - 1])
        assert len(list(McapReader(cut))) < complete
        cut.write_bytes(data[: end + chunk.message_index_length // 2])
        assert len(list(McapReader(cut))) == complete
    cut.write_bytes(data[: chunks[1].chunk_start_offset + 100])
    found = replay(scenario, cut)
    assert found.identical and 20 < found.steps < 400 and 'ends too early' in str(found)
    cut.write_bytes(data[: chunks[0].chunk_start_offset + 9])
    with pytest.raises(HilRecordingError, match='no state on /true_joint_states'):
        replay(scenario, cut)


def test_a_recording_is_readable_before_its_end(recorded, tmp_path):
    scenario, _, _ = recorded
    path = tmp_path / 'growing.mcap'
    recorder = RunRecorder(path, scenario)
    recorder.begin(1, ())
    zero = np.zeros(6)
    for k in range(2000):
        recorder.step(k * 1e-3, zero, zero, zero, [])
    seen = sum(found.topic == '/true_joint_states' for found in McapReader(path))
    assert seen > 1500
    reader = McapReader(path)
    list(reader)
    assert reader.metadata['rbd_ros']['kind'] == 'bench'
    recorder.__exit__(None, None, None)
    assert len(read_run(path).time) == 2000


def test_gaps_and_time_that_goes_back_are_reported_with_their_place(recorded, tmp_path):
    scenario, _, path = recorded

    def without(first, last):
        return lambda t, data: [] if first <= (t - BEGIN) / 1e9 < last else [(t, data)]

    def late(time, data):
        return [(time - 10**8, data)] if time == BEGIN + 300 * 10**6 else [(time, data)]

    def twice(time, data):
        return [(time, data)] * (1 + (time == BEGIN + 70 * 10**6))

    for work, words in (
        (without(0.2, 0.21), 'states are missing after 0.199000 s'),
        (without(0.0, 0.1), 'begins at 0.100000 s, so earlier states are unknown'),
        (late, 'the time does not increase at 0.299000 s'),
        (twice, 'the time does not increase at 0.070000 s'),
    ):
        target = rewritten(path, tmp_path / 'g.mcap', changed('/true_joint_states', work))
        with pytest.raises(HilRecordingError, match=f'g.mcap.*{words}'):
            replay(scenario, target)


def test_missing_joints_and_fields_are_reported_with_their_place(recorded, tmp_path):
    scenario, _, path = recorded
    names = scenario.robot.joint_names

    def fewer(time, data):
        return [(time, edited(data, names=names[:5]) if time == BEGIN + 10**8 else data)]

    def bare(time, data):
        return [(time, edited(data, fields=['position', 'velocity']))]

    for topic, work, words in (
        ('/true_joint_states', fewer, 'at 0.100000 s, /true_joint_states lacks joint wrist_3'),
        ('/joint_commands', lambda t, d: [(t, edited(d, names=names[1:]))], 'lacks joint should'),
        ('/true_joint_states', bare, 'at 0.000000 s.* does not contain the effort of each joint'),
        ('/true_joint_states', lambda t, d: [(t, d[:50])], 'cannot be read'),
    ):
        target = rewritten(path, tmp_path / 'm.mcap', changed(topic, work))
        with pytest.raises(HilRecordingError, match=f'm.mcap.*{words}'):
            replay(scenario, target)


def test_a_scenario_that_is_shorter_is_reported(recorded, tmp_path):
    _, _, path = recorded
    found = replay(read_scenario(scenario_of(tmp_path, duration=0.3)), path)
    assert not found.identical and 'ended after 300 of 400 steps: the scenario is shorter' in str(
        found
    )


def test_joints_in_another_order_are_the_same_motion(recorded, tmp_path):
    scenario, _, path = recorded
    back = scenario.robot.joint_names[::-1]
    work = lambda t, data: [(t, edited(data, names=back))]  # noqa: E731
    target = rewritten(path, tmp_path / 'a', changed('/true_joint_states', work))
    target = rewritten(target, tmp_path / 'b', changed('/joint_commands', work))
    assert replay(scenario, target).identical


def test_recordings_of_others_are_reported(recorded, tmp_path):
    scenario, _, path = recorded
    other = {'robot': 'two_link_arm', 'faults': []}
    other['trajectory'] = {'times': [0.0, 0.3], 'positions': [[0.2, 0.3], [0.3, 0.2]]}
    arm = (Path(__file__).resolve().parents[2] / 'urdf' / 'six_axis_arm.urdf').read_text()
    (tmp_path / 'heavy.urdf').write_text(arm.replace('mass value="', 'mass value="1', 1))
    elsewhere = {
        'joints': ['shoulder_lift_joint', 'elbow_joint'],
        'times': [0.0, 0.4],
        'positions': [[-1.0, 1.2], [-1.1, 1.1]],
    }
    for changes, words in (
        (other, 'to another robot, .six_axis_arm. with the joints shoulder_pan_joint'),
        ({'robot': 'heavy.urdf'}, 'the description of .six_axis_arm. has changed'),
        ({'timestep': 0.002}, 'a time step of 0.001 s, but the scenario has one of 0.002 s'),
        ({'trajectory': elsewhere}, 'begins at another position'),
    ):
        given = read_scenario(scenario_of(tmp_path, **changes))
        with pytest.raises(HilRecordingError, match=words):
            replay(given, path)


def test_a_file_that_is_not_a_recording_is_reported(recorded, tmp_path):
    scenario, _, path = recorded
    text = tmp_path / 'text.mcap'
    text.write_text('a letter, and a long one at that')
    foreign = tmp_path / 'foreign.mcap'
    with McapWriter(foreign) as file:
        file.write(file.channel('/a', 'b', 'jsonschema', b'{}', 'json'), 1, b'1')
    for given, words in (
        (text, 'not an MCAP file'),
        (tmp_path / 'none.mcap', 'none.mcap cannot be read: No such file'),
        (tmp_path, 'cannot be read'),
        (foreign, 'no metadata of a run'),
    ):
        with pytest.raises(HilRecordingError, match=words):
            replay(scenario, given)
    for about, words in (
        ({'format': 'rbd_ros recording 9'}, 'has rbd_ros recording 9, but this command replays'),
        ({'kind': 'simulator'}, 'hil_run --replay-recording'),
        ({'faults': 'x'}, 'does not contain the scenario'),
        ({'faults': '[{"kind": "gremlin"}]'}, "unknown fault 'gremlin'"),
        ({'seed': 'x'}, 'does not contain the scenario'),
        ({'joints': '3'}, 'does not contain the scenario'),
    ):
        change = changed('about', lambda _, then, new=about: {**then, **new})
        with pytest.raises(HilRecordingError, match=words):
            replay(scenario, rewritten(path, tmp_path / 'o.mcap', change))


# -- the command ----------------------------------------------------------------------------------


def test_the_command_records_and_replays(tmp_path, capsys):
    path, file = scenario_of(tmp_path), tmp_path / 'run.mcap'
    words = ['hil', str(path), '--report', str(tmp_path / 'r')]
    assert main([*words, '--record', str(file), '--seed', '8']) == 0
    assert f'recording: {file}' in capsys.readouterr().out
    digest = json.loads((tmp_path / 'r' / 'result.json').read_text())['digest']
    assert main(['hil', str(path), '--replay-recording', str(file)]) == 0
    assert '400 steps replayed: bitwise identical' in capsys.readouterr().out
    assert main([*words, '--seed', '8']) == 0
    assert json.loads((tmp_path / 'r' / 'result.json').read_text())['digest'] == digest
    capsys.readouterr()

    def other(time, data):
        effort = np.array(JointStateReader().read(data).effort)
        return [(time, edited(data, effort=effort + 1e-6))]

    wrong = rewritten(file, tmp_path / 'wrong.mcap', changed('/joint_commands', other))
    assert main(['hil', str(path), '--replay-recording', str(wrong)]) == 1
    assert 'NOT the same' in capsys.readouterr().out


def test_wrong_words_about_recordings_are_reported(tmp_path, capsys, monkeypatch):
    path, file = str(scenario_of(tmp_path)), str(tmp_path / 'run.mcap')
    for words, output in (
        (['--record', file, '--seeds', '3'], '--record applies to one run'),
        (['--replay-recording', file, '--replay', '3'], '--replay-recording applies to one run'),
        (['--replay-recording', file, '--record', file], 'do not go together'),
        (['--replay-recording', file, '--json'], '--json and --replay-recording do not'),
        (['--json', '--seeds', '2'], '--json applies to one run, not to a campaign'),
        (['--json', '--dead-time'], '--json applies to one run, not to --dead-time'),
        (['--replay-recording', file, '--seed', '3'], '--seed applies to a new run'),
        (['--replay-recording', file], 'cannot be read'),
        (['--record', str(tmp_path / 'no' / 'a.mcap')], 'cannot be written'),
    ):
        assert main(['hil', path, '--report', str(tmp_path / 'r'), *words]) == 1
        assert output in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, 'mcap.writer', None)
    assert main(['hil', path, '--report', str(tmp_path / 'r'), '--record', file]) == 1
    assert 'pip install' in capsys.readouterr().err


def test_a_full_disk_is_not_a_fault_of_the_controller(recorded, tmp_path, monkeypatch):
    scenario, run, _ = recorded

    class Full(McapWriter):
        count = 0

        def write(self, channel, time, data):
            Full.count += 1
            if Full.count > 100:
                raise OSError(28, 'No space left on device')
            super().write(channel, time, data)

    monkeypatch.setattr(recorder_module, 'McapWriter', Full)
    with pytest.raises(ValueError, match='written completely: No space left'):
        with RunRecorder(tmp_path / 'full.mcap', scenario) as recorder:
            found = Bench(scenario).run(make_controller(scenario), recorder=recorder)
    assert found.digest == run.digest and not found.failure
    assert 50 < len(list(McapReader(tmp_path / 'full.mcap'))) <= 100
