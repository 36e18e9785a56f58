# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulator in lockstep, over DDS: one cycle per response, also a slow or wrong one."""

import time

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from lockstep_harness import make_controllers, MILLISECOND
from node_harness import efforts, joint_state
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from rbd_ros.nodes.common.diagnostics import OK, WARN
from rbd_ros.nodes.simulator.cycle.lockstep import stamp_of


@pytest.fixture
def controller(ros):
    yield from make_controllers(ros)


def torques(state):
    """Return answer of a controller that pulls the arm about: a function of the state alone."""
    message = deserialize_message(state, JointState)
    q, v = np.array(message.position), np.array(message.velocity)
    return 20.0 * (0.3 - q) - 2.0 * v + np.array([-5.0, 2.0]) * np.sin(40.0 * q)


def test_a_recorded_stream_of_commands_gives_the_same_states_bitwise(controller):
    states, commands = [[], []], []
    first = controller('recorded', lockstep='stamp')
    for _ in range(1500):
        state = first.state()
        states[0].append(state)
        commands.append(torques(state))
        first.answer(stamp_of(state), commands[-1])
    assert first.values()['answered'] == 1500
    first.close()
    second = controller('replayed', lockstep='stamp')
    for k, command in enumerate(commands):
        state = second.state()
        states[1].append(state)
        if k % 200 == 7:
            time.sleep(0.01)  # how long it takes does not matter
        second.answer(stamp_of(state), command)
    assert states[0] == states[1]
    stamps = [stamp_of(state) for state in states[0]]
    assert stamps == [MILLISECOND * (k + 1) for k in range(1500)]
    moved = deserialize_message(states[0][-1], JointState).position
    assert np.abs(np.array(moved)).max() > 0.1
    assert second.values()['answered'] == 1500


def test_wrong_answers_are_omitted_and_counted(controller):
    arm = controller('wrong', lockstep='stamp', lockstep_timeout=0.0)
    for _ in range(5):
        arm.answer(stamp_of(arm.state()))
    waiting = stamp_of(arm.state())
    assert waiting == 6 * MILLISECOND
    arm.answer(waiting - MILLISECOND, (9.0, 9.0))  # twice
    arm.answer(waiting - 3 * MILLISECOND, (9.0, 9.0))  # out of order: late
    arm.answer(waiting + MILLISECOND, (9.0, 9.0))  # before its state
    arm.answer(0, (9.0, 9.0))  # without stamp
    arm.arrays.publish(efforts(9.0, 9.0))  # which cannot have one
    arm.until_counted('unstamped', 2)
    assert arm.stands_still()
    counts = arm.values()
    assert (counts['repeated'], counts['late'], counts['ahead'], counts['answered']) == (
        1,
        1,
        1,
        5,
    )
    assert arm.ros.status('header.stamp', 'lockstep', WARN, arm.since)
    arm.answer(waiting, (1.0, -2.0))
    after = deserialize_message(arm.state(), JointState)
    assert list(after.effort) == [1.0, -2.0]
    assert stamp_of(b'\0\1') == 0


def test_a_controller_that_never_answers_is_reported_and_the_state_is_sent_again(controller):
    arm = controller('silent', lockstep='stamp', lockstep_timeout=0.3, command_timeout=0.1)
    arm.answer(stamp_of(arm.state()), (1.0, 0.0))
    waiting = stamp_of(arm.state())
    status = arm.ros.until_status('no answer to the state of 0.002000 s', level=WARN)
    assert 'stamp' in status.message
    copies = [arm.take()]
    arm.ros.until(lambda: copies.append(arm.take()) or any(copies), 'a copy of the state')
    assert stamp_of(next(filter(None, copies))) == waiting
    assert arm.stands_still(1.0)
    since = arm.ros.mark()
    arm.answer(waiting, (1.0, 0.0))  # late by the clock of the wall, and right
    effort = deserialize_message(arm.state(), JointState).effort
    assert list(effort) == [1.0, 0.0]  # no timeout_command has taken its place
    arm.ros.until_status('answers come', 'lockstep', OK, since)
    assert arm.values()['states_sent_again'] >= 1


def test_late_commands_of_some_joints_leave_the_others_unchanged(controller):
    arm = controller('partial', lockstep='stamp', command_timeout=0.05)
    arm.answer(stamp_of(arm.state()), (1.0, 2.0))
    message = joint_state(['elbow'], effort=[3.0])
    for _ in range(2):
        message.header.stamp.nanosec = stamp_of(arm.state())
        time.sleep(0.3)  # far longer than the timeout
        arm._commands.publish(message)
    state = deserialize_message(arm.state(), JointState)
    assert list(state.effort) == [1.0, 3.0]


def test_in_order_each_command_is_a_cycle(controller):
    arm = controller('in_order', lockstep='order', lockstep_timeout=0.2)
    first = stamp_of(arm.state())
    for k in range(4):
        arm.answer(0, (1.0 + k, 0.0))  # all at once, before the states that they answer
    efforts_seen = [deserialize_message(arm.state(), JointState).effort[0] for _ in range(4)]
    assert efforts_seen == [1.0, 2.0, 3.0, 4.0]
    assert arm.last == first + 4 * MILLISECOND
    arm.arrays.publish(efforts(7.0, 0.0))
    assert deserialize_message(arm.state(), JointState).effort[0] == 7.0
    again = arm.values()['states_sent_again']
    assert arm.stands_still(1.0)  # and no copy of the state provokes a command too many
    assert arm.values()['states_sent_again'] == again


def test_slow_states_take_several_cycles_for_an_answer(controller):
    arm = controller('slow', lockstep='stamp', state_publish_rate=250.0)
    stamps = []
    for _ in range(7):
        stamps.append(stamp_of(arm.state()))
        arm.answer(stamps[-1])
    assert np.all(np.diff(stamps[2:]) == 4 * MILLISECOND)


def test_pauses_steps_and_resets_leave_lockstep_whole(controller):
    arm = controller('paused', lockstep='order', initial_command='zero')
    arm.state()  # earlier messages may have no subscriber
    arm.answer(0, (3.0, 0.0))
    arm.state()
    assert arm.call(SetBool, 'pause', SetBool.Request(data=True)).success
    before = arm.last
    arm.answer(0, (4.0, 0.0))
    assert arm.stands_still()
    assert arm.call(Trigger, 'step', Trigger.Request()).success
    stepped = deserialize_message(arm.state(), JointState)
    assert stepped.effort[0] == 3.0 and arm.last == before + MILLISECOND  # without waiting
    assert arm.call(SetBool, 'pause', SetBool.Request(data=False)).success
    assert arm.stands_still()  # what came while time stood still is forgotten
    before = arm.last
    assert arm.call(Trigger, 'reset', Trigger.Request()).success
    state = arm.state()
    assert stamp_of(state) == before + MILLISECOND  # the state before has another stamp
    assert list(deserialize_message(state, JointState).position) == [0.0, 0.0]
    assert arm.stands_still()
    arm.answer(0, (5.0, 0.0))
    assert deserialize_message(arm.state(), JointState).effort[0] == 5.0


def test_an_answer_that_is_not_a_command_takes_a_cycle_and_is_reported(controller):
    arm = controller('nothing', lockstep='stamp')
    stamp = stamp_of(arm.state())
    message = joint_state(['shoulder', 'elbow'], effort=[np.inf, 0.0])
    message.header.stamp.nanosec = stamp
    arm._commands.publish(message)
    assert stamp_of(arm.state()) == stamp + MILLISECOND
    arm.ros.until_status('command rejected', 'commands', WARN, arm.since)
