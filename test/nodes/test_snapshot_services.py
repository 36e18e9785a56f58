# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a simulator node over DDS: bitwise identical continuation; time goes forward."""

import re
import shutil

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from lockstep_harness import make_controllers, MILLISECOND
from node_harness import joint_state, reliable, TWO_LINK_ARM
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_srvs.srv import SetBool, Trigger

from rbd_ros import Robot, Simulator
from rbd_ros.nodes.common.diagnostics import ERROR
from rbd_ros.nodes.simulator.cycle.lockstep import stamp_of
from rbd_ros.simulation import load_snapshot, save_snapshot

FAULTS = """faults:
- {fault: position_noise, value: 0.001}
- {fault: backlash, value: 0.01}
- {fault: latency, value: 0.004, channel: state}
- {fault: jitter, value: 0.004, channel: command}
- {fault: drop, value: 0.1}
- {fault: effort_derating, value: 0.5, joints: [elbow], start_time: 0.1, duration: 0.06}
- {fault: friction, value: 0.5, start_time: 0.05}
"""
WORLD = """
objects:
  floor: {type: plane, xyz: [0, 0, -2]}
  ball: {type: sphere, radius: 0.1, xyz: [0, 4, -1.5], static: false, mass: 0.5}
"""


@pytest.fixture
def controller(ros):
    yield from make_controllers(ros)


def pull(data):
    """Return the torques for a state: a function of the state alone."""
    message = deserialize_message(data, JointState)
    q, v = np.array(message.position), np.array(message.velocity)
    return 20.0 * (0.3 - q) - 2.0 * v + np.array([-5.0, 2.0]) * np.sin(40.0 * q)


def hold(arm):
    """Wait until a state waits for its answer: nothing is under way."""
    arm.held = arm.state()


def run(arm, cycles):
    """Answer so many states; return them without their stamps, and the stamps."""
    seen, stamps = [], []
    for _ in range(cycles):
        data, arm.held = getattr(arm, 'held', None) or arm.state(), None
        arm.answer(stamp_of(data), pull(data))
        seen.append(data[:4] + data[12:])
        stamps.append(stamp_of(data))
    return seen, stamps


def set_parameter(arm, **values):
    for name, value in values.items():
        arm.ros.set_parameter(arm.name, name, value)


def ask(arm, service, good=True):
    answer = arm.call(Trigger, service, Trigger.Request())
    assert answer.success is good, answer.message
    return answer.message


def save(arm, name='a'):
    hold(arm)
    set_parameter(arm, snapshot_name=name)
    return ask(arm, 'save_snapshot')


def restore(arm, name='a', good=True):
    if getattr(arm, 'held', None) is None:
        hold(arm)
    set_parameter(arm, snapshot_name=name)
    answer = ask(arm, 'restore_snapshot', good)
    arm.held = None if good else arm.held
    return answer


def faults(arm, text, words):
    since = arm.ros.mark()
    set_parameter(arm, faults=text)
    arm.ros.until_status(words, 'faults', since=since)


def test_steps_after_a_snapshot_are_bitwise_identical_and_time_continues(controller):
    arm = controller('twice', lockstep='stamp', initial_command='zero')
    _, before = run(arm, 120)
    assert re.search(r'saved a, of 0\.12\d* s$', save(arm))
    first, stamps = run(arm, 200)
    assert 'restored a' in restore(arm)
    again, later = run(arm, 200)
    assert again == first and len(set(first)) == 200
    assert np.all(np.diff([*before, *stamps]) == MILLISECOND)
    assert np.all(np.diff(later) == MILLISECOND) and later[0] == stamps[-1] + 2 * MILLISECOND
    restore(arm)
    assert run(arm, 200)[0] == first
    assert arm.values()['repeated'] == arm.values()['late'] == 0


@pytest.mark.parametrize('moment', ['before', 'within'])
def test_random_streams_and_messages_in_transit_are_restored(controller, moment):
    # Without friction of its own, rounding depends on whether joints may have any.
    urdf = re.sub('friction="[^"]*"', '', TWO_LINK_ARM)
    arm = controller(
        moment, robot_description=urdf, lockstep='stamp', initial_command='zero', fault_seed=5
    )
    run(arm, 20)
    if moment == 'before':
        save(arm)
        faults(arm, FAULTS, 'acting')
        first, _ = run(arm, 250)
        restore(arm)
        hold(arm)
        faults(arm, 'faults: []', 'none')  # the same text alone would change nothing
        faults(arm, FAULTS, 'acting')
    else:
        hold(arm)
        faults(arm, FAULTS, 'acting')
        run(arm, 60)
        save(arm)
        first, _ = run(arm, 250)
        hold(arm)
        faults(arm, 'faults: []', 'none')
        restore(arm)
    again, stamps = run(arm, 250)
    assert again == first
    assert np.all(np.diff(stamps) > 0) and np.diff(stamps).max() > MILLISECOND  # some were lost


def test_a_snapshot_without_faults_ends_faults(controller):
    arm = controller('well', lockstep='stamp', initial_command='zero')
    run(arm, 30)
    save(arm)
    first, _ = run(arm, 50)
    hold(arm)
    faults(arm, 'faults: [{fault: power_cut}, {fault: position_bias, value: 0.5}]', 'power_cut')
    since = arm.ros.mark()
    restore(arm)
    arm.ros.until_status('none', 'faults', since=since)
    assert run(arm, 50)[0] == first


def test_a_snapshot_file_continues_in_another_process_and_in_the_library(controller, tmp_path):
    options = {
        'lockstep': 'stamp',
        'initial_command': 'zero',
        'snapshot_folder': str(tmp_path),
        'fault_seed': 3,
    }
    arm = controller('writer', **options)
    run(arm, 40)
    hold(arm)
    faults(arm, FAULTS, 'acting')
    run(arm, 60)
    assert str(tmp_path / 'kept.npz') in save(arm, 'kept')
    first, _ = run(arm, 150)
    arm.close()
    other = controller('reader', **options)
    run(other, 3)  # time there is younger than what is under way in the file
    restore(other, 'kept')
    assert run(other, 150)[0] == first
    # One who knows no node can go on from it, too.
    snapshot = load_snapshot(tmp_path / 'kept.npz')
    simulator = Simulator(Robot.from_urdf(TWO_LINK_ARM), 1e-3, 'semi_implicit')
    simulator.restore(snapshot)
    assert simulator.status.steps > 90
    # And the other way round.
    simulator.reset([0.25, -0.5], [0.1, 0.2])
    save_snapshot(simulator.snapshot(), tmp_path / 'library.npz')
    restore(other, 'library')
    state = deserialize_message(other.state(), JointState)
    assert list(state.position) == [0.25, -0.5] and list(state.velocity) == [0.1, 0.2]


def test_rewinding_goes_back_and_again_further_back(controller):
    arm = controller(
        'back', lockstep='stamp', initial_command='zero', rewind_period=0.02, rewind_count=20
    )
    assert 'no time has passed' in ask(arm, 'rewind', good=False)
    seen, _ = run(arm, 300)
    arm.state()
    set_parameter(arm, rewind_duration=0.1)
    gone = float(re.search(r'back by ([\d.]+) s', ask(arm, 'rewind'))[1])
    assert 0.1 <= gone <= 0.121
    steps = round(gone * 1000)
    data = arm.state()
    place = seen.index(data[:4] + data[12:])
    assert place == 300 - steps
    arm.held = data
    assert run(arm, 20)[0] == seen[place : place + 20]  # the same again
    arm.state()
    first = float(re.search(r'back by ([\d.]+) s', ask(arm, 'rewind'))[1])
    arm.state()
    second = float(re.search(r'back by ([\d.]+) s', ask(arm, 'rewind'))[1])
    data = arm.state()
    assert seen.index(data[:4] + data[12:]) == place + 20 - round(1000 * (first + second))
    set_parameter(arm, rewind_duration=5.0)
    assert 'the oldest snapshot is' in ask(arm, 'rewind', good=False)


def test_without_a_period_there_is_nothing_to_rewind_to(controller):
    arm = controller('off', lockstep='stamp')
    run(arm, 3)
    assert 'rewind_period above 0' in ask(arm, 'rewind', good=False)


def test_impossible_requests_are_reported_and_the_node_continues(controller, tmp_path):
    folder = tmp_path / 'kept'
    folder.mkdir()
    arm = controller(
        'wrong', lockstep='stamp', initial_command='zero', snapshot_folder=str(folder)
    )
    first, _ = run(arm, 10)
    words = f"no snapshot 'a', and no file {folder / 'a.npz'}; there are none"
    assert words in restore(arm, good=False)
    simulator = Simulator(Robot.from_urdf(TWO_LINK_ARM), 1e-3, 'semi_implicit')
    save_snapshot(simulator.snapshot(), folder / 'good.npz')
    good = (folder / 'good.npz').read_bytes()
    (folder / 'cut.npz').write_bytes(good[: len(good) // 2])
    (folder / 'foreign.npz').write_bytes(b'a letter')
    heavy = TWO_LINK_ARM.replace('mass value="', 'mass value="1')
    assert heavy != TWO_LINK_ARM
    strange = Simulator(Robot.from_urdf(heavy), 1e-3, 'semi_implicit')
    save_snapshot(strange.snapshot(), folder / 'strange.npz')
    for name, words in (
        ('missing', f"no snapshot 'missing', and no file {folder / 'missing.npz'}"),
        ('cut', 'cut.npz is truncated'),
        ('foreign', 'foreign.npz is truncated, damaged, or not a snapshot'),
        ('strange', 'with other inertias'),
    ):
        since = arm.ros.mark()
        assert words in restore(arm, name, good=False)
        status = arm.ros.until_status(words.split(str(folder))[0], 'snapshots', since=since)
        assert status.level == ERROR
    assert 'cut.npz is truncated' in arm.process.output()
    shutil.rmtree(folder)
    set_parameter(arm, snapshot_name='a')
    assert 'cannot be written' in ask(arm, 'save_snapshot', good=False)
    assert "no snapshot 'a'" in restore(arm, good=False)  # not half of it
    assert run(arm, 10)[1][0] == 11 * MILLISECOND and first


def test_a_name_that_cannot_be_is_rejected_when_it_is_set(controller):
    arm = controller('rejected', lockstep='stamp')
    kind = SetParameters
    for value in ('../good', '.good', '', 'x' * 101, 'a?', 'zeit_ä', 'a\n'):
        given = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value)
        request = kind.Request(parameters=[Parameter(name='snapshot_name', value=given)])
        (result,) = arm.ros.call(kind, f'{arm.name}/set_parameters', request).results
        assert not result.successful and 'not a valid name of a snapshot' in result.reason
    (name,) = arm.ros.get_parameters(arm.name, ['snapshot_name'])
    assert name.string_value == 'snapshot'


@pytest.mark.parametrize('folder', ['/no/folder', __file__, 'x' * 5000, '~nobody-here/a'])
def test_a_folder_that_is_not_there_is_rejected_at_the_start(ros, folder):
    parameters = {'robot_description': TWO_LINK_ARM, 'snapshot_folder': folder}
    process = ros.start('simulator', parameters)
    assert process.wait() == 1
    assert 'is not a folder; create it first' in process.output()
    ros.processes.remove(process)


def test_the_clock_never_goes_back_and_a_pause_stays_one(ros):
    name = '/free/simulator'
    process = ros.start(
        'simulator',
        {'robot_description': TWO_LINK_ARM, 'initial_command': 'zero', 'rewind_period': 0.1},
        ['-r', '__ns:=/free', '-r', '/clock:=/free/clock'],
    )
    clock = ros.listen(Clock, '/free/clock', reliable(1000))
    states = ros.listen(JointState, '/free/joint_states', reliable(1000))
    ros.until(lambda: len(clock) > 30, 'time')
    trigger = Trigger.Request()
    assert ros.call(Trigger, f'{name}/save_snapshot', trigger).success
    count = len(clock)
    ros.until(lambda: len(clock) > count + 30, 'time')
    ros.set_parameter(name, 'rewind_duration', 0.2)
    assert ros.call(Trigger, f'{name}/restore_snapshot', trigger).success
    assert ros.call(Trigger, f'{name}/rewind', trigger).success
    assert ros.call(SetBool, f'{name}/pause', SetBool.Request(data=True)).success
    assert ros.call(Trigger, f'{name}/restore_snapshot', trigger).success
    count = len(states)

    def stands():
        stamps = {str(each.header.stamp) for each in states[-5:]}
        return len(states) > count + 5 and len(stamps) == 1

    ros.until(stands, 'states of one time while paused')
    stamps = [each.header.stamp.sec * 10**9 + each.header.stamp.nanosec for each in states]
    assert np.all(np.diff(stamps) >= 0)
    times = [each.clock.sec * 10**9 + each.clock.nanosec for each in clock]
    assert np.all(np.diff(times) >= 0)
    assert process.alive()


def test_objects_are_restored_and_continue_bitwise(ros, tmp_path):
    (tmp_path / 'world.yaml').write_text(WORLD)
    name = '/around/simulator'
    ros.start(
        'simulator',
        {
            'robot_description': TWO_LINK_ARM,
            'world': str(tmp_path / 'world.yaml'),
            'start_paused': True,
            'step_count': 150,
            'world_publish_rate': 0.0,
            'clock_publish_rate': 0.0,
        },
        ['-r', '__ns:=/around'],
    )
    objects = ros.listen(MultiDOFJointState, f'{name}/object_states', reliable(1000))
    ros.until(lambda: objects, 'objects')
    trigger = Trigger.Request()

    def call(service):
        answer = ros.call(Trigger, f'{name}/{service}', trigger)
        assert answer.success, answer.message

    def shown():
        """Return the state of the objects in the newest message."""
        message = objects[-1]
        return list(message.joint_names), [
            (p.translation.x, p.translation.y, p.translation.z) for p in message.transforms
        ]

    def time_ns():
        stamp = objects[-1].header.stamp
        return stamp.sec * 1000 * MILLISECOND + stamp.nanosec

    def step():
        """Step, and return the state of the objects that follows."""
        end = time_ns() + 150 * MILLISECOND
        call('step')
        ros.until(lambda: time_ns() == end, 'objects after all steps')
        return shown()

    then = step()
    call('save_snapshot')
    after = step()  # it falls onto the floor
    assert after != then
    call('restore_snapshot')
    ros.until(lambda: shown() == then, 'the objects of the snapshot')
    assert step() == after


def test_commands_are_restored(controller):
    arm = controller('commands', lockstep='order', initial_command='hold')
    arm.state()
    arm.answer(arm.last)
    positions = arm.node.create_publisher(JointState, '/commands/joint_commands', reliable(10))
    arm.ros.until(positions.get_subscription_count, 'the simulator')
    arm.state()
    positions.publish(joint_state(['elbow'], position=[0.5]))
    seen = []
    save(arm)
    for turn in range(2):
        states = []
        for _ in range(120):
            # Of the shoulder alone: the elbow goes where it was sent.
            data, arm.held = arm.held or arm.state(), None
            states.append(data)
            positions.publish(joint_state(['shoulder'], effort=[1.0]))
        seen.append([data[:4] + data[12:] for data in states])
        if not turn:
            arm.state()
            positions.publish(joint_state(['elbow'], effort=[-5.0]))
            restore(arm)
    assert seen[0] == seen[1]
    elbow = deserialize_message(states[-1], JointState).position[1]
    assert elbow == pytest.approx(0.5, abs=0.05)
