# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of a running simulator, by parameter, in lockstep: equal motion for a seed."""

import numpy as np
import pytest
from support import outside
from support.waiting import until

outside.load('rclpy')

from lockstep_harness import make_controllers, MILLISECOND
from node_harness import TWO_LINK_ARM
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from rbd_ros import Robot, Simulator
from rbd_ros.hil import Fault
from rbd_ros.hil.scenario.payloads import with_payloads
from rbd_ros.nodes.common.diagnostics import OK, WARN
from rbd_ros.nodes.simulator.cycle.lockstep import stamp_of


@pytest.fixture
def controller(ros):
    yield from make_controllers(ros)


def request(arm, text, words=None):
    """Set faults, and wait until diagnostics show them or other words."""
    since = arm.ros.mark()
    result = arm.ros.set_parameters(arm.name, faults=text)[0]
    assert result.successful, result.reason
    return arm.ros.until_status(words or 'acting', 'faults', since=since)


def read(state):
    return deserialize_message(state, JointState)


def run(arm, cycles, effort=(0.0, 0.0)):
    """Answer so many states with one torque; return them."""
    states = []
    for _ in range(cycles):
        states.append(arm.state())
        arm.answer(stamp_of(states[-1]), effort)
    return states


def test_the_same_seed_and_answers_give_the_same_motion_bitwise(controller):
    text = """faults:
- {fault: position_noise, value: 0.001}
- {fault: latency, value: 0.01, channel: state}
- {fault: jitter, value: 0.004, channel: command}
- {fault: drop, value: 0.1}
- {fault: effort_derating, value: 0.5, joints: [elbow], start_time: 0.1}
- {fault: friction, value: 0.5}
"""
    states = []
    for name in ('one', 'other'):
        arm = controller(name, lockstep='stamp', fault_seed=7)
        first = run(arm, 5, (1.0, 1.0))
        arm.state()  # which waits, so that faults begin at the same time in both
        request(arm, text)
        arm.answer(arm.last, (1.0, 1.0))
        seen = []
        for k in range(300):
            data = arm.state()
            seen.append(data)
            q = np.array(read(data).position)
            arm.answer(stamp_of(data), 20.0 * (0.5 * np.sin(0.1 * k) - q))
        states.append((first, seen))
        arm.close()
    assert states[0] == states[1]
    stamps = np.array([stamp_of(data) for data in states[0][1]])
    assert np.diff(stamps).max() > MILLISECOND  # some were lost


def test_sensors_lie_and_the_robot_does_not_know(controller):
    arm = controller('lying', lockstep='stamp', initial_command='hold')
    run(arm, 3)
    arm.state()
    request(
        arm, 'faults: [{fault: position_bias, value: 0.25, joints: [elbow]}]', 'bias 0.25 of elbow'
    )
    arm.answer(arm.last)
    biased = read(run(arm, 1)[-1])
    arm.state()
    request(arm, 'faults: []', 'none')
    arm.answer(arm.last)
    honest = read(run(arm, 1)[-1])
    assert biased.position[1] - honest.position[1] == pytest.approx(0.25, abs=1e-3)
    assert biased.position[0] == pytest.approx(honest.position[0], abs=1e-3)


def test_latency_of_commands_and_states_is_exact(controller):
    arm = controller('late', lockstep='stamp', initial_command='zero')
    run(arm, 3)
    arm.state()
    request(arm, 'faults: [{fault: latency, value: 0.005, channel: command}]', 'of commands')
    stamp = arm.last
    arm.answer(stamp, (7.0, 0.0))
    states = [read(data) for data in run(arm, 10, (8.0, 0.0))]
    changed = next(k for k, state in enumerate(states) if state.effort[0] == 7.0)
    assert [state.effort[0] for state in states[changed : changed + 3]] == [7.0, 8.0, 8.0]
    assert changed == 5
    arm.state()
    request(arm, 'faults: [{fault: latency, value: 0.005, channel: state}]', 'of states')
    before = arm.last
    arm.answer(before)
    assert stamp_of(arm.state()) == before + MILLISECOND  # it comes, only later
    assert arm.values()  # the node is well


def test_a_dead_a_stuck_and_a_powerless_joint(controller):
    arm = controller('broken', lockstep='stamp', initial_command='zero')
    run(arm, 3, (40.0, 15.0))
    for kind, options, effort in (
        ('actuator_failure', ', joints: [elbow]', [40.0, 0.0]),
        ('effort_derating', ', value: 0.5, joints: [shoulder]', [20.0, 15.0]),
        ('power_cut', '', [0.0, 0.0]),
    ):
        arm.state()
        request(arm, f'faults: [{{fault: {kind}{options}}}]', f'acting: {kind}')
        arm.answer(arm.last, (40.0, 15.0))
        assert list(read(run(arm, 1, (40.0, 15.0))[-1]).effort) == effort
    arm.state()
    request(arm, 'faults: [{fault: joint_lock}]', 'acting: joint_lock')
    arm.answer(arm.last, (40.0, 15.0))
    states = [read(data) for data in run(arm, 20, (40.0, 15.0))]
    assert np.abs(np.array(states[-1].velocity)).max() < 1e-9
    assert list(states[-1].position) == pytest.approx(list(states[0].position), abs=1e-12)


def test_a_payload_comes_and_goes_in_mid_motion_and_the_motion_is_that_of_the_loaded_robot(
    controller,
):
    """The oracle is a simulation of the robot with that payload, from the same state."""
    arm = controller('loaded', lockstep='stamp', initial_command='zero')
    robot = Robot.from_urdf(TWO_LINK_ARM)
    loads = {
        'none': [],
        'payload 3 at tool': [Fault('payload', 3.0, link='tool')],
        'payload 0.5 at upper': [
            Fault('payload', 0.5, link='upper', center_of_mass=(0.2, 0.0, 0.1))
        ],
    }
    texts = {
        'none': 'faults: []',
        'payload 3 at tool': 'faults: [{fault: payload, value: 3.0, link: tool}]',
        'payload 0.5 at upper': (
            'faults: [{fault: payload, value: 0.5, link: upper, center_of_mass: [0.2, 0.0, 0.1]}]'
        ),
    }
    run(arm, 20, (5.0, 2.0))
    for name in ('payload 3 at tool', 'payload 0.5 at upper', 'payload 3 at tool', 'none'):
        begin = read(arm.state())
        request(arm, texts[name], name)
        arm.answer(arm.last, (5.0, 2.0))
        states = [read(data) for data in run(arm, 30, (5.0, 2.0))]
        expected = Simulator(with_payloads(robot, loads[name]), integrator='semi_implicit')
        expected.reset(begin.position, begin.velocity)
        for state in states:
            expected.step([5.0, 2.0])
            assert list(state.position) == pytest.approx(list(expected.q), abs=1e-9)
            assert list(state.velocity) == pytest.approx(list(expected.v), abs=1e-8)


def test_too_many_payloads_one_after_the_other_are_rejected(controller):
    arm = controller('burdened', lockstep='stamp', initial_command='zero')
    arm.state()
    entry = '{{fault: payload, value: {0}, link: tool, start_time: {0}, duration: 1}}'
    text = f'faults: [{", ".join(entry.format(k) for k in range(1, 40))}]'
    result = arm.ros.set_parameters(arm.name, faults=text)[0]
    assert not result.successful and 'sets of payloads' in result.reason


def test_a_payload_drops_when_its_time_is_over(controller):
    arm = controller('dropping', lockstep='stamp', initial_command='zero')
    run(arm, 3)
    arm.state()
    text = 'faults: [{fault: payload, value: 3.0, link: tool, start_time: 0.01, duration: 0.02}]'
    result = arm.ros.set_parameters(arm.name, faults=text)[0]
    assert result.successful, result.reason
    arm.answer(arm.last)
    speeds = np.array([read(data).velocity for data in run(arm, 60)])
    rates = np.diff(speeds[:, 1]) / 1e-3
    # Three stretches of nearly even acceleration: the elbow falls otherwise with the load.
    jumps = np.flatnonzero(np.abs(np.diff(rates)) > 0.5)
    assert len(jumps) == 2 and jumps[1] - jumps[0] == 20


def test_invalid_faults_are_rejected_and_active_ones_continue(controller):
    arm = controller('rejected', lockstep='stamp', initial_command='zero')
    run(arm, 3)
    arm.state()
    request(
        arm, 'faults: [{fault: actuator_failure, joints: [elbow]}]', 'actuator_failure of elbow'
    )
    for text, words in (
        ('faults:\n- {fault: actuator_failure, joints: [elbo]}', 'line 2'),
        ('faults: [{fault: gremlin}]', 'gremlin'),
        ('{', 'line'),
        ('faults: [{fault: payload, value: 1.0, link: tol}]', "'tol'"),
    ):
        result = arm.ros.set_parameters(arm.name, faults=text)[0]
        assert not result.successful and words in result.reason
    arm.answer(arm.last, (40.0, 15.0))
    assert list(read(run(arm, 1)[-1]).effort) == [40.0, 0.0]
    assert request(arm, 'faults: []', 'none')


def test_faults_act_without_lockstep_too(controller):
    arm = controller('free', initial_command='zero')
    arm.state()
    request(arm, 'faults: [{fault: joint_lock, duration: 1.0e6}]')

    def rests():
        arm.answer(0, (40.0, 15.0))
        return np.abs(np.array(read(arm.state()).velocity)).max() < 1e-9

    until(rests, 'an arm at rest', lambda: None)
    status = request(arm, 'faults: [{fault: drop, value: 1.0, channel: state, duration: 0.2}]')
    assert status.level == WARN
    arm.ros.until_status('none', 'faults', OK, since=arm.ros.mark())
    assert arm.state()


def test_the_parameter_takes_faults_and_rejects_them_by_line_and_key(controller):
    arm = controller('told', lockstep='stamp', initial_command='zero')
    run(arm, 3)
    arm.state()

    def put(text, **more):
        return arm.ros.set_parameters(arm.name, faults=text, **more)[0]

    assert put('faults: [{fault: actuator_failure, joints: [elbow]}]').successful
    arm.ros.until_status('acting: actuator_failure of elbow', 'faults')
    for text, words in (
        ('faults:\n- {fault: actuator_failure, joints: [elbo]}', ('line 2', "'elbo'", "'elbow'")),
        ('faults:\n- fault: drop\n  valeu: 0.1', ('line 3', "'valeu'")),
        ('faults: [{fault: payload, value: 1.0, link: tol}]', ('line 1', "'tol'", "'tool'")),
        ('{', ('line',)),
    ):
        result = put(text)
        assert not result.successful and all(word in result.reason for word in words), result
    arm.answer(arm.last, (40.0, 15.0))
    assert list(read(run(arm, 1, (40.0, 15.0))[-1]).effort) == [40.0, 0.0]
    arm.state()
    request(
        arm,
        'faults: [{fault: actuator_failure, joints: [shoulder]}]',
        'acting: actuator_failure of shoulder',
    )
    arm.answer(arm.last, (40.0, 15.0))
    assert list(read(run(arm, 1, (40.0, 15.0))[-1]).effort) == [0.0, 15.0]
    arm.state()
    since = arm.ros.mark()
    assert put('', fault_seed=5).successful
    arm.ros.until_status('none', 'faults', since=since)
    arm.answer(arm.last, (40.0, 15.0))
    assert list(read(run(arm, 1, (40.0, 15.0))[-1]).effort) == [40.0, 15.0]


def test_initial_faults_act_from_the_first_cycle(controller):
    text = 'faults: [{fault: actuator_failure, joints: [shoulder]}]'
    arm = controller('born', lockstep='stamp', initial_command='zero', faults=text)
    arm.ros.until_status('acting: actuator_failure of shoulder', 'faults')
    run(arm, 1, (40.0, 15.0))
    assert list(read(run(arm, 1, (40.0, 15.0))[-1]).effort) == [0.0, 15.0]


def test_faults_that_the_robot_cannot_have_end_the_start(ros):
    parameters = {
        'robot_description': TWO_LINK_ARM,
        'faults': 'faults: [{fault: actuator_failure, joint: x}]',
    }
    process = ros.start('simulator', parameters, ['-r', '__ns:=/stillborn'])
    assert process.wait() != 0
    assert 'parameter faults: ' in process.output() and "'joint'" in process.output()
