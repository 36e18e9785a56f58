# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Managed torque nodes, over DDS: every transition, and the torque after it."""

import signal
import time

import pytest
from support import outside

outside.load('rclpy')

from lifecycle_harness import (
    ACTIVE,
    end_well,
    FINALIZED,
    INACTIVE,
    started,
    UNCONFIGURED,
    WAYS,
)
from lifecycle_msgs.msg import TransitionEvent
from node_harness import joint_state, reliable, TWO_LINK_ARM
import numpy as np
from safety_harness import gravity_of, lines_of, POSE, Repeat, states_at
from std_msgs.msg import String

NODES = ('gravity_compensation', 'inverse_dynamics')
HELD = gravity_of(POSE)
HEAVY_ARM = TWO_LINK_ARM.replace('<mass value="1"/>', '<mass value="2"/>')


@pytest.fixture
def managed(ros):
    """Start managed nodes, which must have survived at the end."""
    rigs = []
    yield started(ros, rigs)
    end_well(ros, rigs)


@pytest.mark.parametrize('module', NODES)
def test_torque_flows_in_the_state_active_alone(managed, module):
    rig = managed(module)
    assert rig.life.state() == UNCONFIGURED
    with states_at(rig):
        assert rig.silent() and not rig.torques
        rig.life.must('configure')
        assert rig.life.state() == INACTIVE
        rig.ros.until_status('receiving', f'{rig.name[1:]}: joint_states')
        assert rig.silent() and not rig.torques
        rig.life.must('activate')
        assert rig.life.state() == ACTIVE
        rig.flows(HELD)
        since = rig.ros.mark()
        rig.life.must('deactivate')
        assert rig.life.state() == INACTIVE
        rig.ros.until(rig.silent, 'silence')
        assert not rig.torques[-1].effort.any()
        # the watchdog does not miss torques that are not meant to come
        assert not rig.ros.status('usable state', f'{rig.name[1:]}: joint_states', since=since)
        rig.life.must('activate')
        rig.flows(HELD)
        rig.life.must('deactivate', 'cleanup')
        assert rig.life.state() == UNCONFIGURED
        since = rig.ros.mark()
        for subject in ('torque', 'joint_states'):  # which monitors would miss
            rig.ros.until_status('not configured', f'{rig.name[1:]}: {subject}', since=since)
        assert rig.silent()
        rig.life.must('configure', 'activate')
        rig.flows(HELD)
        rig.life.must('shutdown')
        assert rig.life.state() == FINALIZED
        assert rig.silent()
        assert not rig.torques[-1].effort.any()


def test_transitions_are_those_of_the_standard_and_are_announced(managed):
    rig = managed()
    events = rig.ros.listen(TransitionEvent, f'{rig.name}/transition_event', reliable(100))
    possible = {
        UNCONFIGURED: ['configure', 'shutdown'],
        INACTIVE: ['activate', 'cleanup', 'shutdown'],
        ACTIVE: ['deactivate', 'shutdown'],
    }
    assert rig.life.transitions() == possible[UNCONFIGURED]
    rig.life.must('configure')
    assert rig.life.transitions() == possible[INACTIVE]
    rig.life.must('activate')
    assert rig.life.transitions() == possible[ACTIVE]
    rig.life.must('deactivate', 'cleanup', 'shutdown')
    assert rig.life.transitions() == []
    rig.ros.until(lambda: FINALIZED in [e.goal_state.label for e in events], 'the last event')
    reached = [e.goal_state.label for e in events]
    for state in (INACTIVE, ACTIVE, UNCONFIGURED):
        assert state in reached


LABELS = ('configure', 'activate', 'deactivate', 'cleanup', 'shutdown', 'fly', 'on_error_success')


@pytest.mark.parametrize('state', WAYS)
def test_a_transition_that_a_state_does_not_know_fails_with_the_possible_ones(managed, state):
    rig = managed().bring(state)
    possible = rig.life.transitions()
    for label in LABELS:
        if label not in possible:
            assert rig.life.rejected(label, reason=f'transition {label} is not possible in state')
    for number in (0, 9, 30, 60, 255):  # create, destroy, those that callbacks return, none
        assert rig.life.rejected(number=number, reason='is not possible in state')
    for label in possible:
        assert label in rig.ros.status('is not possible', f'{rig.name[1:]}: lifecycle').message
    assert rig.process.alive()


def test_states_that_cease_are_reported_before_they_are_answered(managed):
    rig = managed(state_timeout=0.5).bring(INACTIVE)
    subject = f'{rig.name[1:]}: joint_states'
    for transitions in ((), (), ('activate', 'deactivate')):
        rig.life.must(*transitions)
        since = rig.ros.mark()
        with states_at(rig):
            rig.ros.until_status('receiving', subject, since=since)
        rig.ros.until_status('no usable state', subject, since=since)


# -- last torques ---------------------------------------------------------------------------------


@pytest.mark.parametrize('module', NODES)
@pytest.mark.parametrize('command', ['zero', 'gravity', 'none'])
def test_deactivation_ends_with_its_command(managed, module, command):
    # what ends the process says something else, and must not be heard
    other = 'gravity' if command == 'zero' else 'zero'
    rig = managed(module, deactivate_command=command, shutdown_command=other).bring(ACTIVE)
    with states_at(rig, (0.0, 0.0)):
        rig.flows(gravity_of((0.0, 0.0)))
        with states_at(rig):
            rig.ros.until(lambda: rig.torques[-1].effort == pytest.approx(HELD), 'some of both')
    with states_at(rig):
        rig.flows(HELD)
        count = len(rig.torques)
        rig.life.must('deactivate')
        assert rig.silent()
    last = rig.torques[-1].effort
    assert last == pytest.approx(np.zeros(2) if command == 'zero' else HELD)
    if command != 'none':
        text = f'last torque sent: {command}'
        rig.ros.until_status(text, f'{rig.name[1:]}: torque')
    count = len(rig.torques)
    assert rig.process.stop() == 0
    rig.ros.spin(0.3)
    assert len(rig.torques) == count


def test_deactivate_command_can_be_set_in_every_state(managed):
    rig = managed(deactivate_command='gravity')
    rig.must_set(deactivate_command='none')
    rig.bring(INACTIVE)
    rig.must_set(deactivate_command='gravity')
    rig.life.must('activate')
    with states_at(rig):
        rig.flows(HELD)
        rig.must_set(deactivate_command='zero')
        rig.life.must('deactivate')
        assert rig.silent()
    assert not rig.torques[-1].effort.any()


def test_without_a_torque_nothing_is_sent_at_deactivation(managed):
    rig = managed().bring(ACTIVE)
    rig.life.must('deactivate', 'activate', 'shutdown')
    assert rig.silent() and not rig.torques


def test_a_limited_rate_holds_at_deactivation_which_answers_when_it_is_done(managed):
    rig = managed(torque_rate_limit=20.0).bring(ACTIVE)
    with states_at(rig):
        rig.ros.until(
            lambda: rig.torques and rig.torques[-1].effort == pytest.approx(HELD), 'the torque'
        )
        since = len(rig.torques) - 1
        rig.life.must('deactivate')
        rig.ros.until(lambda: not rig.torques[-1].effort.any(), 'the last torque')
    torques = rig.torques[since:]
    took = torques[-1].at - torques[0].at
    assert took > 0.9 * np.abs(HELD).max() / 20.0
    steps = np.abs(np.diff([t.effort for t in torques], axis=0)).max()
    assert steps < 0.5 * np.abs(HELD).max()


@pytest.mark.parametrize('command', ['zero', 'gravity'])
def test_a_signal_in_the_midst_of_deactivation_ends_with_the_command_of_the_end(managed, command):
    rig = managed(
        torque_rate_limit=5.0,
        deactivate_command='gravity' if command == 'zero' else 'zero',
        shutdown_command=command,
        state_timeout=0.0,
    ).bring(ACTIVE)
    with states_at(rig):
        rig.ros.until(
            lambda: rig.torques and rig.torques[-1].effort == pytest.approx(HELD), 'the torque'
        )
        if command == 'zero':  # where the torque is: another payload gives it somewhere to go
            rig.must_set(payload_link='tool')
            rig.must_set(payload_mass=0.5)
            rig.ros.until(lambda: np.abs(rig.torques[-1].effort - HELD).max() > 0.1, 'a change')
        begin = rig.torques[-1].effort
        rig.life.begin('deactivate')
        rig.ros.until(lambda: np.abs(rig.torques[-1].effort - begin).max() > 0.2, 'some of it')
        code = rig.process.stop()
    rig.ros.until(rig.silent, 'the end of what was sent')
    assert code == 0
    last = rig.torques[-1].effort
    if command == 'zero':
        assert not last.any()
    else:
        assert last == pytest.approx(HELD)


def test_a_trajectory_does_not_outlast_deactivation(managed):
    from test_node_last_command import trajectory
    from trajectory_msgs.msg import JointTrajectory

    rig = managed('inverse_dynamics', feedback='pd', kp=[1.0], kd=[0.0], start_tolerance=0.0)
    rig.bring(ACTIVE)
    trajectories = rig.publisher(JointTrajectory, 'joint_trajectory')
    with states_at(rig):
        rig.flows(HELD)
        trajectories.publish(trajectory((2.0, 0.0), 600))
        rig.ros.until_status('trajectory', f'{rig.name[1:]}: trajectory')
        rig.ros.until(lambda: np.abs(rig.torques[-1].effort - HELD).max() > 1e-4, 'its torque')
        rig.life.must('deactivate')
        since = rig.ros.mark()
        trajectories.publish(trajectory((2.0, 0.0), 600))
        rig.ros.until_status('trajectory rejected', f'{rig.name[1:]}: trajectory', since=since)
        begin = time.time()  # earlier torques may come even now
        rig.life.must('activate')
        rig.ros.until(lambda: len(sent_since(rig, begin)) > 50, 'torques')
    for torque in sent_since(rig, begin):
        assert torque.effort == pytest.approx(HELD)  # it holds where the robot is


def sent_since(rig, begin):
    return [torque for torque in rig.torques if torque.at > begin]


# -- descriptions ---------------------------------------------------------------------------------


def describe(rig, text):
    """Publish a description by topic, as robot_state_publisher does."""
    qos = reliable(1, transient_local=True)
    publisher = rig.ros.publisher(String, f'{rig.namespace}/robot_description', qos, wait=False)
    publisher.publish(String(data=text))
    return publisher


def test_activation_before_a_description_fails_with_the_reason(managed):
    rig = managed(robot_description='')
    rig.bring(INACTIVE)
    assert rig.life.rejected('activate', reason='the node has no robot description yet')
    assert lines_of(rig.process, 'activate failed', 'the node has no robot description yet')
    describe(rig, '<robot')
    rig.ros.until_status('cannot be used', f'{rig.name[1:]}: robot_description')
    assert rig.life.rejected('activate', reason='the node has no robot description yet')
    describe(rig, TWO_LINK_ARM)
    rig.ros.until_status('two_link, 2 degrees', f'{rig.name[1:]}: robot_description')
    assert rig.life.state() == INACTIVE
    rig.life.must('activate')
    with states_at(rig):
        rig.flows(HELD)


def test_configure_takes_the_newest_description_that_has_come(managed):
    rig = managed(robot_description='')
    publisher = describe(rig, TWO_LINK_ARM)
    rig.ros.until(publisher.get_subscription_count, 'a subscription')
    rig.life.must('configure')
    rig.ros.until_status('two_link, 2 degrees', f'{rig.name[1:]}: robot_description')
    rig.life.must('activate')
    with states_at(rig):
        rig.flows(HELD)
        since = rig.ros.mark()
        publisher.publish(String(data=HEAVY_ARM))
        rig.ros.until_status(
            'arrived and is ignored', f'{rig.name[1:]}: robot_description', since=since
        )
        rig.flows(HELD)
        rig.life.must('deactivate', 'cleanup', 'configure', 'activate')
        rig.ros.until(lambda: rig.torques[-1].effort[1] == pytest.approx(2.0 * HELD[1]), 'weight')


def test_a_description_that_cannot_be_used_fails_to_configure_until_it_is_replaced(managed):
    rig = managed(robot_description='<robot name="x"><link name="a"/></robot>')
    for _ in range(2):
        assert rig.life.rejected('configure', reason='no movable joint')
    assert rig.process.alive()
    rig.must_set(robot_description=TWO_LINK_ARM)  # not live, but nothing was made of it yet
    rig.bring(ACTIVE)
    with states_at(rig):
        rig.flows(HELD)


def test_parameters_that_are_not_live_can_be_set_when_unconfigured_alone(managed):
    rig = managed()
    rig.must_set(output='joint_state', robot_description=HEAVY_ARM)
    for way in (('configure',), ('activate',), ('deactivate',)):
        rig.life.must(*way)
        (result,) = rig.set(output='both')
        assert not result.successful and 'at start only' in result.reason
        rig.must_set(gravity=[0.0, 0.0, -9.81])
    rig.life.must('cleanup')
    rig.must_set(robot_description=TWO_LINK_ARM, gravity=[0.0, 0.0, -4.905])
    rig.bring(ACTIVE)
    with states_at(rig):
        rig.flows(0.5 * HELD)


def test_a_bad_description_of_the_topic_fails_to_configure(managed):
    rig = managed(robot_description='')
    publisher = describe(rig, '<robot')
    rig.ros.until(publisher.get_subscription_count, 'a subscription')
    if rig.life.change('configure'):  # the text was still on its way
        rig.ros.until_status('cannot be used', f'{rig.name[1:]}: robot_description')
        rig.life.must('cleanup')
    assert rig.life.rejected('configure', reason='topic robot_description cannot be used')
    assert rig.life.state() == UNCONFIGURED


# -- starting by itself ---------------------------------------------------------------------------


def test_a_node_that_starts_by_itself_is_active_and_can_be_managed_nonetheless(managed):
    rig = managed(autostart=True)
    rig.life.until(ACTIVE)
    with states_at(rig):
        rig.flows(HELD)
        rig.life.must('deactivate')
        assert rig.silent()
        rig.life.must('cleanup', 'configure')
        assert rig.silent()  # no further requests
        assert rig.life.state() == INACTIVE
        rig.life.must('activate')
        rig.flows(HELD)


def test_a_node_that_starts_by_itself_waits_inactive_for_the_topic(managed):
    rig = managed(autostart=True, robot_description='')
    rig.life.until(INACTIVE)
    describe(rig, TWO_LINK_ARM)
    rig.life.until(ACTIVE)
    with states_at(rig):
        rig.flows(HELD)


def test_cleanup_disables_autostart(managed):
    rig = managed(autostart=True, robot_description='')
    rig.life.until(INACTIVE)
    rig.life.must('cleanup', 'configure')
    describe(rig, TWO_LINK_ARM)
    rig.ros.until_status('two_link, 2 degrees', f'{rig.name[1:]}: robot_description')
    rig.ros.spin(0.5)
    assert rig.life.state() == INACTIVE


# -- ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize('state', WAYS)
def test_a_signal_ends_the_node_in_every_state(managed, state, number):
    rig = managed(shutdown_command='gravity', deactivate_command='zero').bring(state)
    with states_at(rig):
        if state == ACTIVE:
            rig.flows(HELD)
        assert rig.process.stop(number) == 0
    if state == ACTIVE:
        held = pytest.approx(HELD)
        rig.ros.until(lambda: rig.torques[-1].effort == held, 'the last command')
    else:
        rig.ros.spin(0.2)
        assert not rig.torques


def test_shutdown_of_an_active_node_sends_the_shutdown_command(managed):
    rig = managed(shutdown_command='gravity', deactivate_command='zero').bring(ACTIVE)
    with states_at(rig):
        rig.flows(HELD)
        rig.life.must('shutdown')
        assert rig.silent()
    assert rig.torques[-1].effort == pytest.approx(HELD)


@pytest.mark.parametrize('state', WAYS)
def test_a_peer_that_is_killed_costs_the_torque_and_nothing_else(managed, ros, state):
    rig = managed(timeout_command='zero', state_timeout=0.5).bring(state)
    remapped = ('-r', f'__ns:={rig.namespace}', '-r', f'/clock:={rig.namespace}/clock')
    peer = ros.start('simulator', {'robot_description': TWO_LINK_ARM}, remapped)
    if state == ACTIVE:
        ros.until(lambda: len(rig.torques) > 10, 'torques')
    else:
        heard = ros.listen(String, f'{rig.namespace}/nothing')
        ros.until(lambda: ros.status('running', f'{rig.namespace[1:]}/simulator: simulation'), '')
        ros.spin(0.3)
        assert not heard
    peer.process.kill()
    peer.wait()
    ros.processes.remove(peer)
    if state == ACTIVE:
        ros.until(lambda: not rig.torques[-1].effort.any(), 'the last torque')
    assert rig.silent()
    assert rig.life.state() == state
    if state != FINALIZED:
        for label in {UNCONFIGURED: WAYS[ACTIVE], INACTIVE: ('activate',)}.get(state, ()):
            rig.life.must(label)
        with states_at(rig):
            rig.flows(HELD)
        rig.life.must('deactivate')


def test_a_flood_of_states_does_not_hold_transitions_up(managed):
    rig = managed().bring(INACTIVE)
    with Repeat(rig.states, [joint_state(position=POSE, velocity=(0, 0))], 3000.0, stamped=True):
        for _ in range(5):
            rig.life.must('activate')
            rig.flows(HELD)
            rig.life.must('deactivate')
            rig.ros.until(rig.silent, 'silence')
            assert not rig.torques[-1].effort.any()
