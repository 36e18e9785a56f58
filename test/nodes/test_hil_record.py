# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A live simulator in lockstep, recorded over DDS and replayed bitwise, or a reason."""

import json
import os
from pathlib import Path
import signal
import subprocess
import sys

import numpy as np
import pytest
from support import outside
from support.fresh_python import python_path
from support.waiting import CEILING
import yaml

outside.load('rclpy')
mcap = outside.load('mcap.reader')

from lockstep_harness import make_controllers, MILLISECOND
from node_harness import reliable, TWO_LINK_ARM, with_signals
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from rbd_ros.cli.main import main
from rbd_ros.hil import HilRecordingError
from rbd_ros.nodes.bench.node_replay import replay_node
from rbd_ros.nodes.simulator.cycle.lockstep import restamped, stamp_of
from rbd_ros.wire import ros2msg_schema
from rbd_ros.wire.mcap_files import McapReader, McapWriter, ROS2

ROOT = Path(__file__).resolve().parents[2]
CYCLES = 300


class Recording:
    """`hil_record` in a separate process."""

    def __init__(self, ros, path, namespace, *words):
        self._ros = ros
        ros.processes.append(self)  # terminated at the end in any case
        self.path, self.log = path, path.with_suffix('.log')
        command = [sys.executable, '-m', 'rbd_ros.nodes.bench.hil_record', str(path), *words]
        with self.log.open('w') as log:
            self.process = subprocess.Popen(
                with_signals([*command, '--ros-args', '-r', f'__ns:=/{namespace}']),
                stdout=log,
                stderr=subprocess.STDOUT,
                env={
                    **os.environ,
                    'ROS_DOMAIN_ID': str(ros.domain),
                    'PYTHONPATH': python_path(),
                },
            )

    def output(self):
        return self.log.read_text()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        code = self.process.wait(CEILING)
        self._ros.processes.remove(self)
        return code, self.log.read_text()


@pytest.fixture
def controller(ros):
    yield from make_controllers(ros)


def topics_of(path):
    """Return the messages by the last word of their topics."""
    found = {}
    for each in McapReader(path):
        found.setdefault(each.topic.rpartition('/')[2], []).append(each.data)
    return found


def begin(arm, path, answered_by_stamp=True):
    """Record an arm from before its first answer on."""
    namespace = arm.name.split('/')[1]
    recording = Recording(arm.ros, path, namespace)
    senders = arm._commands, arm.arrays
    arm.ros.until(
        lambda: min(each.get_subscription_count() for each in senders) >= 2,
        'somebody who records commands',
    )

    def knows():
        reader = McapReader(path)
        seen = [each.topic.endswith('joint_states') for each in reader]
        return 'rbd_ros' in reader.metadata and any(seen)

    arm.ros.until(knows, 'the first state in the file')
    if answered_by_stamp:
        # What is no answer, until both know each other: the first answer must not be lost.

        def heard():
            arm.answer(0)
            return 'joint_commands' in topics_of(path)

        arm.ros.until(heard, 'a command in the file')
    else:
        arm.ros.spin(2.0)
    return recording


def pull(data):
    message = deserialize_message(data, JointState)
    q, v = np.array(message.position), np.array(message.velocity)
    return 20.0 * (0.3 - q) - 2.0 * v + np.array([-5.0, 2.0]) * np.sin(40.0 * q)


def answered(arm, cycles):
    """Answer so many states; return them."""
    states = []
    for _ in range(cycles):
        data = arm.state()
        states.append(data)
        arm.answer(stamp_of(data), pull(data))
    return states


def finish(arm, recording, states, commands='joint_commands'):
    """End a recording when all of it is in the file."""
    arm.ros.until(
        lambda: (
            len(set(topics_of(recording.path).get('joint_states', ()))) > states
            and len(topics_of(recording.path).get(commands, ())) >= states
        ),
        'all messages in the file',
    )
    return recording.end()


@pytest.fixture(scope='module')
def recorded(ros, tmp_path_factory):
    """Return a recording of a run in lockstep, and the states that the controller saw."""
    path = tmp_path_factory.mktemp('recorded') / 'run.mcap'
    for arm_of in make_controllers(ros):
        arm = arm_of('recorded', lockstep='stamp', initial_command='zero')
        recording = begin(arm, path)
        states = answered(arm, CYCLES)
        # What is no answer is left out again.
        arm.state()
        arm.answer(arm.last - 5 * MILLISECOND, (9.0, 9.0))
        arm.answer(0, (9.0, 9.0))
        arm.until_counted('unstamped', 1)
        code, text = finish(arm, recording, CYCLES)
        assert code == 0, text
        assert ' of /recorded/joint_commands' in text and 'cannot be replayed' not in text
        return path, states


def test_all_messages_are_in_the_file(recorded):
    path, states = recorded
    found = topics_of(path)
    distinct = list(dict.fromkeys(found['joint_states']))
    assert distinct[:CYCLES] == states and len(distinct) == CYCLES + 1
    answers = [stamp_of(each) for each in found['joint_commands'] if stamp_of(each)]
    assert answers[:CYCLES] == [MILLISECOND * (k + 1) for k in range(CYCLES)]
    assert len(answers) == CYCLES + 1 and found['joint_commands'][-1] != answers[-1]
    assert found['diagnostics']
    reader = McapReader(path)
    schemas = {each.schema for each in reader}
    about = json.loads(reader.metadata['rbd_ros']['parameters'])
    assert about['lockstep'] == 'stamp' and about['robot_description'] == TWO_LINK_ARM
    assert 'sensor_msgs/msg/JointState' in schemas and reader.note == ''
    with path.open('rb') as stream:
        channels = mcap.make_reader(stream).get_summary().channels.values()
    profiles = {c.topic: yaml.safe_load(c.metadata['offered_qos_profiles']) for c in channels}
    latched = {topic for topic, (each,) in profiles.items() if each['durability'] == 1}
    assert latched == {'/recorded/robot_description'} and len(profiles) == 6


def test_it_is_replayed_bitwise_by_both_commands(recorded, capfd):
    path, _ = recorded
    found = replay_node(path)
    assert found.identical and found.steps == CYCLES + 1 and not found.note
    assert main(['hil', '--replay-recording', str(path)]) == 0
    assert f'{CYCLES + 1} steps replayed: bitwise identical' in capfd.readouterr().out
    assert main(['hil', 'scenario.yaml', '--replay-recording', str(path), '--seed', '3']) == 1


def test_order_and_arrays_are_replayed_bitwise(controller, tmp_path):
    arm = controller('ordered', lockstep='order', initial_command='gravity', substeps=2)
    recording = begin(arm, tmp_path / 'o.mcap', False)
    rng = np.random.default_rng(2)
    for _ in range(100):
        arm.state()
        message = arm.arrays.msg_type(data=list(rng.normal(size=2)))
        arm.arrays.publish(message)
    arm.state()
    code, text = finish(arm, recording, 100, 'effort_commands')
    assert code == 0, text
    found = replay_node(tmp_path / 'o.mcap')
    assert found.identical and found.steps == 101, found


def test_one_that_is_killed_can_be_replayed_as_far_as_it_went(controller, tmp_path):
    arm = controller('killed', lockstep='stamp', initial_command='zero')
    recording = begin(arm, tmp_path / 'k.mcap')
    answered(arm, 200)
    arm.state()
    arm.ros.until(
        lambda: len(topics_of(recording.path).get('joint_commands', ())) >= 100,
        'messages in the file',
    )
    code, _ = recording.end(signal.SIGKILL)
    assert code == -signal.SIGKILL
    found = replay_node(tmp_path / 'k.mcap')
    assert found.identical and found.steps >= 100 and 'ends too early' in found.note


def test_a_world_around_the_robot_is_replayed_too(controller, tmp_path):
    world = tmp_path / 'world.yaml'
    world.write_text(
        'objects:\n'
        '  floor: {type: plane, xyz: [0, 0, -0.4]}\n'
        '  ball: {type: sphere, radius: 0.1, xyz: [0.9, 0, 0.3], static: false, mass: 0.5}\n'
    )
    sphere = '<link name="tool"><collision><geometry><sphere radius="0.1"/></geometry></collision>'
    arm = controller(
        'around',
        lockstep='stamp',
        initial_command='zero',
        world=str(world),
        robot_description=TWO_LINK_ARM.replace('<link name="tool"/>', f'{sphere}</link>'),
    )
    recording = begin(arm, tmp_path / 'w.mcap')
    answered(arm, 200)
    arm.state()
    code, text = finish(arm, recording, 200)
    assert code == 0, text
    assert replay_node(tmp_path / 'w.mcap').identical


# -- recordings without replay
# -----------------------------------------------------------------------


def rewritten(path, target, change=lambda topic, data: [data], about=lambda values: values):
    """Return the recording with other messages, or another description of itself."""
    reader = McapReader(path)
    list(reader)
    with McapWriter(target, ROS2) as file:
        file.metadata('rbd_ros', about(dict(reader.metadata['rbd_ros'])))
        channels = {}
        for found in reader:
            if found.topic not in channels:
                schema = ros2msg_schema(found.schema)
                channels[found.topic] = file.channel(
                    found.topic, found.schema, 'ros2msg', schema, 'cdr'
                )
            for data in change(found.topic.rpartition('/')[2], found.data):
                file.write(channels[found.topic], found.time, data)
    return target


def with_parameters(**values):
    def about(then):
        return {**then, 'parameters': json.dumps({**json.loads(then['parameters']), **values})}

    return about


def of(topic, work):
    return lambda name, data: work(data) if name == topic else [data]


def test_gaps_and_time_that_goes_back_are_reported(recorded, tmp_path):
    path, states = recorded
    third, reply = 100 * MILLISECOND, 'joint_commands'
    target = tmp_path / 'bad.mcap'
    for change, words in (
        (
            of(reply, lambda d: [] if stamp_of(d) == third else [d]),
            '0.1000.* no answer',
        ),
        (of('joint_states', lambda d: [] if stamp_of(d) < third else [d]), 'begins at 0.100000 s'),
        (
            of(
                'joint_states',
                lambda d: [d, restamped(d, -3 * MILLISECOND)] if stamp_of(d) == third else [d],
            ),
            'time goes back from 0.100000 s to 0.097000 s',
        ),
        (of('joint_states', lambda d: []), 'has no joint states'),
    ):
        with pytest.raises(HilRecordingError, match=f'bad.mcap.*{words}'):
            replay_node(rewritten(path, target, change))
    # An unrecorded state is no gap in the commands.
    lost = of('joint_states', lambda d: [] if stamp_of(d) == third else [d])
    found = replay_node(rewritten(path, target, lost))
    assert (
        found.identical
        and found.steps == CYCLES
        and 'not recorded and are not compared: 1' in found.note
    )


def test_another_motion_is_reported_by_joint_and_time(recorded, tmp_path):
    path, states = recorded
    place = states[150].rindex(np.array(deserialize_message(states[150], JointState).velocity[1]))

    def change(data):
        if data != states[150]:
            return [data]
        return [data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]]

    found = replay_node(rewritten(path, tmp_path / 'a.mcap', of('joint_states', change)))
    assert 'NOT the same: velocity of elbow at 0.151000 s' in str(found)
    faster = rewritten(path, tmp_path / 'b.mcap', about=with_parameters(gravity=[0.0, 0.0, -9.0]))
    found = replay_node(faster)
    assert 'NOT the same' in str(found) and '0.002000 s' in str(found)
    assert main(['hil', '--replay-recording', str(faster)]) == 1


def test_another_robot_or_none_is_reported(recorded, tmp_path):
    path, _ = recorded
    target = tmp_path / 'bad.mcap'
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(TWO_LINK_ARM)
    renamed = TWO_LINK_ARM.replace('"elbow"', '"knee"')
    in_file = with_parameters(robot_description='', robot_description_file=str(urdf))
    for about, words in (
        (with_parameters(robot_description=renamed), 'another robot: its states lack joint knee'),
        (with_parameters(robot_description=''), 'no robot description'),
        (with_parameters(robot_description='<robot/>'), 'cannot be created again'),
        (with_parameters(world='no_such_world'), 'cannot be created again.*no_such_world'),
        (lambda a: {**in_file(a), 'description': 'f00'}, 'arm.urdf has changed since'),
        (
            with_parameters(robot_description='', robot_description_file='/no/arm.urdf'),
            '/no/arm.urdf cannot be read',
        ),
        (with_parameters(lockstep='off'), 'not recorded in lockstep'),
        (with_parameters(robot_namespaces=True), 'robot_namespaces'),
        (with_parameters(timestep=-1.0), 'not contain the parameters'),
        (lambda a: {**a, 'parameters': 'x'}, 'not contain the parameters'),
        (lambda a: {**a, 'kind': 'bench'}, 'give its scenario'),
    ):
        with pytest.raises(HilRecordingError, match=words):
            replay_node(rewritten(path, target, about=about))
    assert replay_node(rewritten(path, target, about=lambda a: {**in_file(a), 'description': ''}))


def test_faults_that_were_reported_meanwhile_are_rejected(controller, tmp_path):
    arm = controller('faulty', lockstep='stamp', initial_command='zero')
    recording = begin(arm, tmp_path / 'f.mcap')
    assert arm.ros.set_parameters(arm.name, faults='[{fault: actuator_failure}]')[0].successful
    arm.ros.until_status('acting', 'faults', since=0)
    answered(arm, 20)
    arm.state()
    code, text = finish(arm, recording, 20)
    assert code == 0, text
    with pytest.raises(HilRecordingError, match='faults were active'):
        replay_node(tmp_path / 'f.mcap')


def test_one_without_a_simulator_says_so(ros, tmp_path):
    publisher = ros.publisher(JointState, '/alone/joint_states', reliable(10), wait=False)
    recording = Recording(ros, tmp_path / 'a.mcap', 'alone')

    def heard():
        publisher.publish(JointState(name=['a'], position=[1.0]))
        path = recording.path
        return path.is_file() and path.stat().st_size > 8 and 'joint_states' in topics_of(path)

    ros.until(heard, 'a state in the file')
    code, text = recording.end(signal.SIGTERM)
    assert code == 0 and ' of /alone/joint_states' in text and 'cannot be replayed' in text
    with pytest.raises(HilRecordingError, match='no metadata of a run'):
        replay_node(tmp_path / 'a.mcap')


def test_it_ends_after_its_duration(ros, tmp_path):
    recording = Recording(ros, tmp_path / 'short.mcap', 'nowhere', '--duration', '0.2')
    assert recording.process.wait(CEILING) == 0
    heard = {each.topic for each in McapReader(recording.path)}
    assert heard <= {'/diagnostics'}  # of another test's node, which is about to end
    assert heard or 'no messages' in recording.output()


def test_a_file_that_cannot_be_written_is_reported(ros, tmp_path):
    done = subprocess.run(
        [sys.executable, '-m', 'rbd_ros.nodes.bench.hil_record', str(tmp_path / 'no' / 'a.mcap')],
        capture_output=True,
        text=True,
        env={**os.environ, 'PYTHONPATH': python_path(), 'ROS_DOMAIN_ID': str(ros.domain)},
    )
    assert done.returncode == 1 and 'cannot be written' in done.stderr
