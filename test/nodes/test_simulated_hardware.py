# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files for ros2_control: the tag of the page, macros, controllers."""

from collections import deque
from pathlib import Path
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from support import outside
import yaml

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.simulator.commands.control_tag import read_control_tag
from rbd_ros.simulation import Simulator

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'nodes' / 'simulator_ros2_control.md'
MACROS = resource_path('urdf', 'simulated_hardware.xacro')
CONTROLLERS = yaml.safe_load(resource_path('config', 'ros2_control.yaml').read_text())


def of_page(tag):
    """Return the element of the page, as text."""
    return re.search(rf'<{tag} .*?</{tag}>', PAGE.read_text(), re.DOTALL)[0]


def test_the_documented_tag_is_read():
    tag = read_control_tag(f'<robot name="r">{of_page("ros2_control")}</robot>')
    names = ['shoulder', 'elbow', 'finger', 'other_finger']
    assert list(tag.joints) == names
    assert list(tag.holders(names, 'position')) == [0, 1, 2]
    assert list(tag.holders(names, 'effort')) == [0, 1] and not tag.commandable('other_finger')
    assert not tag.shows('finger', 'effort') and tag.shows('elbow', 'effort')


def test_the_macros_make_the_tag_of_the_page(tmp_path):
    xacro = outside.load('xacro')
    file = tmp_path / 'arm.urdf.xacro'
    file.write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        f'<xacro:include filename="{MACROS}"/>{of_page("xacro:simulated_hardware")}</robot>'
    )
    text = xacro.process_file(str(file)).toxml()
    shown = f'<robot name="r">{of_page("ros2_control")}</robot>'
    assert read_control_tag(text).joints == read_control_tag(shown).joints
    made, meant = (ElementTree.fromstring(each).find('ros2_control') for each in (text, shown))
    assert made.attrib == meant.attrib
    assert [(each.tag, each.attrib, each.text) for each in made.find('hardware')] == [
        (each.tag, each.attrib, each.text) for each in meant.find('hardware')
    ]


@pytest.mark.parametrize('interface', ['position', 'velocity', 'effort'])
def test_the_macro_rejects_a_command_without_its_state(tmp_path, interface):
    xacro = outside.load('xacro')
    others = ' '.join({'position', 'velocity', 'effort'} - {interface})
    file = tmp_path / 'arm.urdf.xacro'
    file.write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        f'<xacro:include filename="{MACROS}"/><xacro:simulated_hardware name="arm"><joints>'
        f'<xacro:simulated_joint name="elbow" states="{others}"/>'
        '</joints></xacro:simulated_hardware></robot>'
    )
    with pytest.raises(Exception, match=f'joint elbow: the command interface {interface}'):
        xacro.process_file(str(file))


def test_the_macros_are_well_formed_and_name_the_hardware():
    text = MACROS.read_text()
    ElementTree.fromstring(text)
    assert 'joint_state_topic_hardware_interface/JointStateTopicSystem' in text


def test_the_controllers_are_declared_and_have_the_joints_of_the_arm():
    manager = CONTROLLERS['controller_manager']['ros__parameters']
    declared = {name for name, value in manager.items() if isinstance(value, dict)}
    assert declared == set(CONTROLLERS) - {'controller_manager'}
    names = list(Robot.from_urdf(str(resource_path('urdf', 'six_axis_arm.urdf'))).joint_names)
    for name in declared - {'joint_state_broadcaster'}:
        parameters = CONTROLLERS[name]['ros__parameters']
        assert parameters['joints'] == names, name
        assert list(parameters.get('gains', names)) == names
    # A whole number of time steps, and what parses parameters in ROS knows no anchors.
    assert 1000 % manager['update_rate'] == 0
    assert not re.search(r'[&*]\w', resource_path('config', 'ros2_control.yaml').read_text())


@pytest.mark.parametrize(
    'pose', [[0.0, -1.2, 1.5, 0.3, 0.2, 0.0], [1.2, 0.4, -1.0, 0.9, -0.7, 0.2]]
)
def test_the_effort_gains_bear_20_ms_of_dead_time(pose):
    """As `Pid::compute_command` of control_toolbox: p e + d e' + the integral of i e."""
    parameters = CONTROLLERS['effort_trajectory_controller']['ros__parameters']['gains']
    p, i, d = (np.array([gains[k] for gains in parameters.values()]) for k in 'pid')
    robot = Robot.from_urdf(str(resource_path('urdf', 'six_axis_arm.urdf')))
    simulator = Simulator(robot, timestep=1e-3)
    start = np.array(pose)
    simulator.reset(start)
    integral, period = np.array(robot.gravity_torque(start)), 0.002
    late = deque([integral] * 10)
    for cycle in range(1000):
        goal = start + (0.02 if cycle > 20 else 0.0)
        error = goal - simulator.q
        integral = integral + i * error * period
        late.append(p * error - d * simulator.v + integral)
        simulator.step(np.clip(late.popleft(), -robot.effort_limits, robot.effort_limits), n=2)
    assert np.abs(simulator.v).max() < 0.1


def test_the_integral_part_is_bounded_in_every_version_of_the_controller():
    """Names by joint_trajectory_controller_parameters.yaml of ros2_controllers 2.13 to 5.7.

    Up to 4.26 and 5.1 there is i_clamp alone, 0 unless it is given; from 5.7 on there is none.
    """
    page = PAGE.parents[1] / 'tutorials' / 'ros2_control.md'
    text = re.search(r'```yaml\n(controller_manager:.*?)```', page.read_text(), re.DOTALL)[1]
    arm = yaml.safe_load(text)['arm_controller']
    for controller in (CONTROLLERS['effort_trajectory_controller'], arm):
        for gains in controller['ros__parameters']['gains'].values():
            assert gains['i_clamp_max'] == -gains['i_clamp_min'] == gains['i_clamp'] > 0.0
