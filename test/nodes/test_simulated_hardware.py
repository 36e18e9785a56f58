"""What is shipped for ros2_control: the tag of the page, the macros, the controllers."""

from pathlib import Path
import re
from xml.etree import ElementTree

import pytest
from support import outside
import yaml

from rbd_ros import Robot
from rbd_ros.nodes.simulator.control_tag import read_control_tag
from rbd_ros.resources import resource_path

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'nodes' / 'simulator.md'
MACROS = resource_path('urdf', 'simulated_hardware.xacro')
CONTROLLERS = yaml.safe_load(resource_path('config', 'ros2_control.yaml').read_text())


def of_page(tag):
    """Element of the page, as text."""
    return re.search(rf'<{tag} .*?</{tag}>', PAGE.read_text(), re.DOTALL)[0]


def test_the_tag_of_the_page_is_read_as_it_is_meant():
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
def test_the_macro_refuses_a_command_without_its_state(tmp_path, interface):
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
