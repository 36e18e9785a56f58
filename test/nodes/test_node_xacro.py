# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Nodes with a robot as xacro file: the same torques, and clear errors."""

import sys

import pytest
from support import outside

outside.load('rclpy')

from node_harness import (
    effort_by_name,
    Feed,
    gravity_torque,
    joint_state,
    NodeProcess,
    reliable,
    TWO_LINK_ARM,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.xacro_files import xacro_of

POSE = (0.3, -1.1)
GIVEN = ['upper_mass:=2']


@pytest.fixture
def file(tmp_path):
    """Return the path of a xacro file, and xacro."""
    outside.load('xacro')
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text(xacro_of(TWO_LINK_ARM))
    return path


def torques(ros, parameters, topic=None):
    """Return the torques of a node at `POSE`, with the bits of the message."""
    # The first torque that is heard must not be that of a timeout.
    process = ros.start('gravity_compensation', {'state_timeout': 30.0, **parameters})
    commands = ros.listen(JointState, 'joint_commands')
    description = ros.publisher(String, 'robot_description', reliable(1, True), wait=False)
    if topic is not None:
        description.publish(String(data=topic))
    states = ros.publisher(JointState, 'joint_states')
    with Feed(states, joint_state(position=POSE)):
        ros.until(lambda: commands, 'a torque')
    assert process.stop() == 0 and 'Traceback' not in process.output()
    ros.processes.remove(process)
    for publisher in (states, description):
        ros.node.destroy_publisher(publisher)
    return effort_by_name(commands[0])


def test_parameter_file_topic_and_xacro_give_the_same_torques(ros, file, tmp_path):
    plain = tmp_path / 'arm.urdf'
    plain.write_text(TWO_LINK_ARM)
    expected = torques(ros, {'robot_description': TWO_LINK_ARM})
    assert expected == pytest.approx(gravity_torque(POSE))
    assert torques(ros, {'robot_description_file': str(plain)}) == expected
    assert torques(ros, {}, topic=TWO_LINK_ARM) == expected
    assert torques(ros, {'robot_description_file': str(file), 'xacro_args': GIVEN}) == expected


def test_arguments_reach_the_file(ros, file):
    found = torques(
        ros, {'robot_description_file': str(file), 'xacro_args': [*GIVEN, 'mass:=3.0']}
    )
    elbow = gravity_torque(POSE)['elbow']
    assert found['elbow'] == pytest.approx(3.0 * elbow)


def rejected(ros, parameters, module='gravity_compensation'):
    """Return the line with which a node ends."""
    process = NodeProcess(ros.folder, ros.domain, module, parameters)
    assert process.wait() == 1
    assert 'Traceback' not in process.output()
    (line,) = [line for line in process.output().splitlines() if 'FATAL' in line]
    return line


@pytest.mark.parametrize('module', ['simulator', 'trajectory_feedforward'])
def test_a_missing_argument_is_named_with_the_cure(ros, file, module):
    line = rejected(ros, {'robot_description_file': str(file)}, module)
    for text in ('robot description', 'arm.urdf.xacro', 'upper_mass:=VALUE'):
        assert text in line


def test_a_bad_file_is_named(ros, file):
    file.write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:nothing/></robot>')
    line = rejected(ros, {'robot_description_file': str(file)})
    for text in ('arm.urdf.xacro', 'xacro:nothing', 'prints a URDF'):
        assert text in line


def test_arguments_that_are_none_are_rejected(ros, file, tmp_path):
    line = rejected(ros, {'robot_description_file': str(file), 'xacro_args': ['mass=3']})
    assert 'xacro_args' in line and "name:=value, not 'mass=3'" in line
    plain = tmp_path / 'arm.urdf'
    plain.write_text(TWO_LINK_ARM)
    line = rejected(ros, {'robot_description_file': str(plain), 'xacro_args': GIVEN})
    assert 'takes no arguments (upper_mass)' in line and 'leave them out' in line


def test_without_xacro_its_package_is_named(ros, file, tmp_path, monkeypatch):
    (tmp_path / 'none').mkdir()
    (tmp_path / 'none' / 'xacro.py').write_text("raise ImportError('no xacro')\n")
    monkeypatch.setenv('PYTHONPATH', f'{tmp_path / "none"}:{":".join(filter(None, sys.path))}')
    line = rejected(ros, {'robot_description_file': str(file), 'xacro_args': GIVEN})
    assert 'pip install xacro' in line and 'arm.urdf.xacro' in line
