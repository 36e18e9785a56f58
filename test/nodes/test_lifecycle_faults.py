# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Managed nodes with exceptions: a safe last torque, and a node that continues."""

from pathlib import Path
import signal

import pytest
from support import outside

outside.load('rclpy')

from lifecycle_harness import (
    ACTIVE,
    end_well,
    INACTIVE,
    Managed,
    started,
    UNCONFIGURED,
)
import node_harness
from node_harness import effort_by_name, gravity_torque, joint_state, TWO_LINK_ARM
from safety_harness import gravity_of, lines_of, POSE, states_at
from test_trajectory_feedforward_node import efforts, trajectory
from trajectory_msgs.msg import JointTrajectory

SCRIPT = Path(__file__).parent / 'failing_node.py'
HELD = gravity_of(POSE)


@pytest.fixture
def faulty(ros, monkeypatch):
    """Start a node with a fault, which must have survived it at the end."""
    rigs = []

    def begin(fault, **parameters):
        def script(command):
            at = command.index('-m')
            return [*command[:at], str(SCRIPT), *command[at + 2 :]]

        monkeypatch.setattr(node_harness, 'with_signals', script)
        monkeypatch.setenv('RBD_TEST_FAULT', fault)
        return started(ros, rigs)(**parameters)

    yield begin
    end_well(ros, rigs)


def test_a_deactivation_that_raises_ends_the_torque_and_starts_again(faulty):
    rig = faulty('deactivate', shutdown_command='gravity').bring(ACTIVE)
    with states_at(rig):
        rig.flows(HELD)
        since = rig.ros.mark()
        assert not rig.life.change('deactivate')
        text = 'deactivate failed: fault in deactivate'
        rig.ros.until_status(text, f'{rig.name[1:]}: lifecycle', since=since)
        assert rig.life.state() == UNCONFIGURED
        assert rig.silent()
        assert rig.torques[-1].effort == pytest.approx(HELD)  # that of shutdown_command
        rig.bring(ACTIVE)
        rig.flows(HELD)


def test_an_activation_that_raises_sends_nothing(faulty):
    rig = faulty('activate').bring(INACTIVE)
    with states_at(rig):
        assert not rig.life.change('activate')
        assert rig.life.state() == UNCONFIGURED
        assert rig.silent() and not rig.torques
    assert lines_of(rig.process, 'activate failed: fault in activate')


def test_a_configuration_that_raises_is_reported_and_can_be_tried_again(faulty):
    rig = faulty('_report_limits')
    for _ in range(2):
        assert rig.life.rejected('configure', reason='fault in _report_limits')
        assert rig.life.state() == UNCONFIGURED


def test_if_even_the_last_torque_fails_the_node_continues_without_sending(faulty):
    rig = faulty('_send_last').bring(ACTIVE)
    with states_at(rig):
        rig.flows(HELD)
        assert not rig.life.change('deactivate')
        assert rig.life.state() == UNCONFIGURED
        assert rig.silent()
    assert lines_of(rig.process, 'after a failed transition', 'fault in _send_last')


@pytest.mark.parametrize('timeout', [0.0, 0.5])
def test_a_fault_in_the_torque_line_ends_with_the_timeout_command(faulty, timeout):
    rig = faulty('law', state_timeout=timeout, timeout_command='zero').bring(ACTIVE)
    with states_at(rig):
        rig.ros.until(lambda: rig.torques and not rig.torques[-1].effort.any(), 'the last torque')
        rig.ros.until_status('no torque: fault in law', f'{rig.name[1:]}: torque')
        assert rig.silent()
        assert rig.torques[0].effort == pytest.approx(HELD)
        assert rig.life.state() == ACTIVE
        rig.life.must('deactivate')


# -- trajectory_feedforward -----------------------------------------------------------------------


@pytest.fixture(scope='module')
def feedforward(ros):
    parameters = {'robot_description': TWO_LINK_ARM, 'autostart': False}
    process = ros.start('trajectory_feedforward', parameters)
    life = Managed(ros, '/trajectory_feedforward')
    life.until(UNCONFIGURED)
    yield life
    assert process.alive()
    assert process.stop(signal.SIGTERM) == 0
    ros.processes.remove(process)
    assert 'Traceback' not in process.output()


def test_the_feedforward_node_answers_trajectories_when_it_is_active(ros, feedforward):
    out = ros.listen(JointTrajectory, 'feedforward_trajectory')
    trajectories = ros.publisher(JointTrajectory, 'joint_trajectory')
    pose = joint_state(position=POSE, effort=list(gravity_torque(POSE).values()))

    def rejected(text):
        since = ros.mark()
        trajectories.publish(trajectory(POSE, POSE))
        ros.until_status(text, 'trajectory_feedforward: trajectory', since=since)
        return not out

    def answered():
        count = len(out)
        trajectories.publish(trajectory(POSE, POSE))
        ros.until(lambda: len(out) > count, 'a trajectory with efforts')
        return efforts(out.pop())[-1] == pytest.approx(list(effort_by_name(pose).values()))

    assert rejected('the node has no robot description yet')
    feedforward.must('configure')
    assert rejected('the node is inactive: ros2 lifecycle set /trajectory_feedforward activate')
    feedforward.must('activate')
    assert answered()
    feedforward.must('deactivate')
    assert rejected('the node is inactive')
    ros.until_status('not active', 'trajectory_feedforward: trajectory')
    feedforward.must('cleanup')
    assert rejected('the node has no robot description yet')
    feedforward.must('configure', 'activate')
    assert answered()
