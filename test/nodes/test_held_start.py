# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Topics of the simulator while its simulation is compiled: its start, and time."""

from pathlib import Path

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

import node_harness
from node_harness import TWO_LINK_ARM
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from test_cycle_memory import Quiet
from test_simulation_cycle import Recorder
from test_world_interface import WorldRecorder

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.simulator.commands.control_tag import NO_TAG, read_control_tag
from rbd_ros.nodes.simulator.cycle.simulation_cycle import SimulationCycle
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE
from rbd_ros.nodes.simulator.start.held_start import HeldStart

SCRIPT = Path(__file__).parent / 'slow_simulator.py'
START = [0.5, -0.8]
LEG = [0.1, 0.8, -1.6]
TAG = (
    '<robot name="r"><ros2_control name="c" type="system"><joint name="shoulder">'
    '<state_interface name="position"/></joint><joint name="elbow">'
    '<state_interface name="position"/><state_interface name="velocity"/></joint>'
    '</ros2_control></robot>'
)
SRDF = (
    '<robot><group_state name="bent" group="legs">'
    '<joint name="front_left_knee_joint" value="-1.6"/></group_state></robot>'
)


def nanoseconds(stamp):
    return stamp.sec * 10**9 + stamp.nanosec


def begun_slowly(ros, monkeypatch, gate, interrupted='', **parameters):
    def script(command):
        at = command.index('-m')
        return [*command[:at], str(SCRIPT), *command[at + 2 :]]

    monkeypatch.setattr(node_harness, 'with_signals', script)
    monkeypatch.setenv('RBD_TEST_GATE', str(gate))
    monkeypatch.setenv('RBD_TEST_INTERRUPTED', interrupted)
    states, clocks = ros.listen(JointState, 'joint_states'), ros.listen(Clock, '/clock')
    values = {'robot_description': TWO_LINK_ARM, 'initial_positions': START, **parameters}
    return ros.start('simulator', values), states, clocks


def test_states_and_time_come_while_the_simulation_is_compiled(ros, monkeypatch, tmp_path):
    gate = tmp_path / 'gate'
    process, states, clocks = begun_slowly(ros, monkeypatch, gate)
    ros.until(lambda: len(states) > 50 and len(clocks) > 10, 'states and time before the robot')
    held = len(states)
    for state in states[:held]:
        assert list(state.position) == START and list(state.velocity) == [0.0, 0.0]
    last = nanoseconds(states[-1].header.stamp)
    gate.touch()
    ros.until(lambda: 'robot ' in process.output(), 'the robot')
    ros.until(
        lambda: nanoseconds(states[-1].header.stamp) > last + 10**8 and len(states) > held + 100,
        'states of the simulation',
    )
    for messages in ([s.header.stamp for s in states], [c.clock for c in clocks]):
        times = [nanoseconds(each) for each in messages]
        # A clock may be sent twice in the instant at which the simulation begins; never backwards.
        assert np.diff(times).min() >= 0
    assert list(states[-1].position) == START
    assert process.stop() == 0


def test_a_command_sent_while_the_simulation_is_compiled_acts_from_its_first_cycle(
    ros, monkeypatch, tmp_path
):
    process, states, _ = begun_slowly(ros, monkeypatch, tmp_path / 'gate', initial_command='zero')
    commands = ros.publisher(JointState, 'joint_commands')
    servo = JointState(name=['shoulder', 'elbow'], position=[0.4, -0.7])
    ros.until(lambda: states, 'a state before the robot')
    # A publisher may know a subscription that does not know it yet: the first ones may be lost.
    for _ in range(5):
        for message in (JointState(name=['shoulder', 'elbow'], position=[1e308, 0.0]), servo):
            commands.publish(message)
            commands.wait_for_all_acked()  # the queues hold one: the next would replace it
            ros.spin(0.1)
    (tmp_path / 'gate').touch()
    ros.until_status('command rejected: a value of position is', 'commands')
    ros.until(
        lambda: np.abs(np.subtract(states[-1].position, servo.position)).max() < 1e-3,
        'the robot where the command wants it',
    )
    assert process.stop() == 0


def test_time_stands_still_while_a_paused_simulation_is_compiled(ros, monkeypatch, tmp_path):
    gate = tmp_path / 'gate'
    process, states, clocks = begun_slowly(ros, monkeypatch, gate, start_paused=True)
    ros.until(lambda: len(states) > 5 and len(clocks) > 5, 'states before the robot')
    assert {nanoseconds(s.header.stamp) for s in states} == {10**6}
    gate.touch()
    ros.until(lambda: 'robot ' in process.output(), 'the robot')
    assert process.stop() == 0


def test_a_signal_ends_a_simulator_that_compiles(ros, monkeypatch, tmp_path):
    process, states, _ = begun_slowly(ros, monkeypatch, tmp_path / 'gate')
    ros.until(lambda: states, 'a state before the robot')
    assert process.stop() == 0


def test_a_signal_between_its_first_state_and_the_compilation_ends_the_simulator(
    ros, monkeypatch, tmp_path
):
    process, states, _ = begun_slowly(ros, monkeypatch, tmp_path / 'gate', interrupted='yes')
    ros.processes.remove(process)
    assert process.wait() == 0
    assert 'Traceback' not in process.output()


@pytest.mark.parametrize(
    ('file', 'tag', 'parameters'),
    [
        ('two_link_arm', NO_TAG, {'initial_positions': START}),
        ('two_link_arm', NO_TAG, {'initial_command': 'zero'}),
        ('two_link_arm', read_control_tag(TAG), {}),
        ('two_link_arm', NO_TAG, {'state_fields': ['position']}),
        ('four_bar', NO_TAG, {'initial_positions': [0.3], 'initial_joints': ['crank_joint']}),
        (
            'quadruped',
            NO_TAG,
            {'initial_group_state': 'bent', 'robot_description_semantic': SRDF},
        ),
        ('quadruped', NO_TAG, {'initial_positions': LEG * 4}),
    ],
)
def test_the_simulation_begins_with_the_published_initial_state(file, tag, parameters):
    path = resource_path('urdf', f'{file}.urdf')
    options = {'extension': str(resource_path('config', 'four_bar.yaml'))}
    robot = Robot.from_urdf(
        path, floating_base=file == 'quadruped', **(options if file == 'four_bar' else {})
    )
    values = {**INTERFACE.defaults, **parameters}
    held, begun = Recorder(), Recorder()
    with HeldStart(robot, values, tag, held) as start:
        first = start.end()
    assert first > nanoseconds(held.states[-1].header.stamp)
    SimulationCycle(
        robot, values, Quiet(), begun, lambda _: None, WorldRecorder, tag, begin=lambda: first
    )
    assert nanoseconds(begun.states[0].header.stamp) == first
    for field in ('name', 'position', 'velocity'):
        one, other = getattr(held.states[0], field), getattr(begun.states[0], field)
        if field == 'position' and file == 'four_bar':  # whose loop is closed twice
            np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)
        else:
            np.testing.assert_array_equal(one, other)
    # Of a base that floats nothing holds the joints: what they bear is not known before.
    if file != 'quadruped':
        np.testing.assert_allclose(
            held.states[0].effort, begun.states[0].effort, rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize('lockstep', ['off', 'stamp'])
def test_time_begins_at_the_start_time(lockstep):
    robot = Robot.from_urdf(TWO_LINK_ARM)
    values = {**INTERFACE.defaults, 'start_time': 86400.5, 'lockstep': lockstep}
    held, ports = Recorder(), Recorder()
    with HeldStart(robot, values, NO_TAG, held):
        pass
    assert nanoseconds(held.states[0].header.stamp) == 86400_501_000_000
    assert nanoseconds(held.clocks[0].clock) == 86400_501_000_000
    cycle = SimulationCycle(robot, values, Quiet(), ports, lambda _: None)
    assert nanoseconds(ports.states[0].header.stamp) == 86400_501_000_000
    for _ in range(99):
        cycle.run()
    times = [nanoseconds(state.header.stamp) for state in ports.states]
    assert times == [86400_500_000_000 + k * 10**6 for k in range(1, 101)]
    ticks = [nanoseconds(each.clock) for each in ports.clocks[2:]]
    assert ticks == [86400_500_000_000 + k * 10**7 for k in range(1, 11)]
