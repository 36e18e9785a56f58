# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots are found by path, package URI, xacro file or name only."""

import json
import re
import sys

import pytest
from support import outside

from rbd_ros import ModelError, Robot
from rbd_ros.cli.main import main
from rbd_ros.lookup.resources import resource_path
from rbd_ros.lookup.robots import (
    embedded_robots,
    example_robots,
    find_robot,
    load_robot,
    RobotNotFoundError,
    split_xacro_arguments,
)

URDF = '<robot name="r"><link name="base"/></robot>'


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return the working directory and home with a description in each.

    No ROS and no examples around.
    """
    home, work = tmp_path / 'home', tmp_path / 'work'
    for folder in (home, work):
        folder.mkdir()
        (folder / 'arm.urdf').write_text(URDF)
    monkeypatch.chdir(work)
    monkeypatch.setenv('HOME', str(home))
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    monkeypatch.setattr(sys, 'path', [])
    monkeypatch.setattr(sys, 'prefix', str(tmp_path))
    return work


@pytest.fixture
def examples(here, tmp_path, monkeypatch):
    """Return the folder that looks like an installed example-robot-data."""
    folder = tmp_path / 'site/cmeel.prefix/share/example-robot-data/robots/some_description/urdf'
    folder.mkdir(parents=True)
    for name in ('panda', 'ur5_robot', 'six_axis_arm'):
        (folder / f'{name}.urdf').write_text(URDF)
    monkeypatch.setattr(sys, 'path', [str(tmp_path / 'site')])
    return folder


@pytest.fixture
def xacro(tmp_path, monkeypatch):
    """Return the writes xacro files into the working directory.

    Without xacro, the test is left out.
    """
    outside.load('xacro')
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        text = f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r">{content}</robot>'
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def error_of(function, *arguments):
    with pytest.raises(RobotNotFoundError) as caught:
        function(*arguments)
    text = str(caught.value)
    assert '\n' not in text
    return text


def test_path_is_relative_to_the_working_directory(here):
    assert find_robot('arm.urdf') == here / 'arm.urdf'
    assert find_robot(f'../{here.name}/arm.urdf') == here / 'arm.urdf'


def test_tilde_means_home(here):
    assert find_robot('~/arm.urdf') == here.parent / 'home' / 'arm.urdf'


def test_every_embedded_robot_is_found_by_its_name(here):
    assert 'six_axis_arm' in embedded_robots()
    for name, path in embedded_robots().items():
        assert find_robot(name) == path == resource_path('urdf', f'{name}.urdf')


def test_file_comes_before_a_name(here):
    (here / 'six_axis_arm').write_text(URDF)
    assert find_robot('six_axis_arm') == here / 'six_axis_arm'


def test_robot_of_example_robot_data_is_found_by_its_name(examples):
    assert find_robot('panda') == examples / 'panda.urdf'
    assert find_robot('ur5') == examples / 'ur5_robot.urdf'
    assert find_robot('ur5_robot') == examples / 'ur5_robot.urdf'


def test_embedded_robot_comes_before_an_example_of_its_name(examples):
    assert find_robot('six_axis_arm') == resource_path('urdf', 'six_axis_arm.urdf')


def test_installed_examples_are_found():
    if not example_robots():
        pytest.skip('the pip package example-robot-data is not installed')
    assert {'panda', 'z1', 'talos_reduced'} <= set(example_robots())


def test_package_uri_is_found_below_the_ament_prefixes(here, tmp_path, monkeypatch):
    folder = tmp_path / 'prefix/share/my_description/urdf'
    folder.mkdir(parents=True)
    (folder / 'arm.urdf').write_text(URDF)
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere:{tmp_path / "prefix"}')
    assert find_robot('package://my_description/urdf/arm.urdf') == folder / 'arm.urdf'
    assert 'no file urdf/leg.urdf' in error_of(
        find_robot, 'package://my_description/urdf/leg.urdf'
    )
    assert "no package 'other'" in error_of(find_robot, 'package://other/arm.urdf')


@pytest.mark.parametrize(
    ('name', 'words'),
    [
        ('army.urdf', ['there is no file', 'work/army.urdf', 'did you mean arm.urdf?']),
        ('nowhere/arm.urdf', ['there is no file', 'nor a folder']),
        ('~/leg.urdf', ['there is no file', 'home/leg.urdf']),
        ('.', ['is a folder', 'arm.urdf']),
        ('six_axes_arm', ["no robot 'six_axes_arm'", 'did you mean six_axis_arm?']),
        ('', ['is a folder']),
        ('*', ["no robot '*'", 'two_link_arm']),
        ('panda', ["no robot 'panda'", 'example-robot-data']),
    ],
)
def test_rejection_names_the_available_robots(here, name, words):
    text = error_of(find_robot, name)
    assert all(word in text for word in words), text


def test_near_name_of_an_example_is_offered(examples):
    assert 'did you mean panda?' in error_of(find_robot, 'pandas')


@pytest.mark.parametrize(
    ('text', 'name', 'mappings'),
    [
        ('arm.urdf.xacro', 'arm.urdf.xacro', {}),
        ('arm.xacro a:=1 b:=', 'arm.xacro', {'a': '1', 'b': ''}),
        ('"my arm.xacro" a:="x y"', 'my arm.xacro', {'a': 'x y'}),
        ('my arm.xacro a:=1:=2', 'my arm.xacro', {'a': '1:=2'}),
    ],
)
def test_arguments_of_xacro_follow_the_name(here, text, name, mappings):
    assert split_xacro_arguments(text) == (name, mappings)


@pytest.mark.parametrize('text', ['arm.xacro a:=1 b', 'arm.xacro :=1', "arm.xacro a:='1"])
def test_malformed_arguments_of_xacro_are_rejected(here, text):
    assert 'arm.xacro' in error_of(split_xacro_arguments, text)


ARGUMENT = '<xacro:arg name="prefix" default=""/><link name="$(arg prefix)base"/>'


@pytest.mark.parametrize('name', ['arm.urdf.xacro', 'arm.urdf', 'arm'])
def test_xacro_with_arguments_is_expanded_and_its_text_is_the_source(xacro, name):
    xacro(name, ARGUMENT)
    robot = load_robot(f'./{name} prefix:=left_')
    assert robot.text == robot.source
    assert '<link name="left_base"/>' in robot.text and 'xacro:' not in robot.text


def test_the_source_of_xacro_without_arguments_is_its_path_and_its_text_is_expanded(xacro):
    robot = load_robot(str(xacro('arm.urdf', ARGUMENT)))
    assert robot.source == str(robot.path) and '<link name="base"/>' in robot.text


def test_source_of_a_plain_urdf_is_its_path(here):
    robot = load_robot('arm.urdf')
    assert robot.source == str(here / 'arm.urdf') and robot.text == URDF


def test_missing_xacro_is_named(here, monkeypatch):
    monkeypatch.setitem(sys.modules, 'xacro', None)
    (here / 'arm.xacro').write_text('<robot xmlns:xacro="x"><xacro:include filename="a"/></robot>')
    assert 'pip install xacro' in error_of(load_robot, 'arm.xacro a:=1')


def test_arguments_for_a_plain_urdf_are_rejected(here):
    assert 'not a xacro file' in error_of(load_robot, 'arm.urdf a:=1')


def test_arguments_may_come_beside_the_name_and_override(xacro):
    xacro('arm.xacro', '<link name="$(arg a)$(arg b)$(arg c)"/>')
    assert '<link name="13x y"/>' in load_robot('arm.xacro a:=1 b:=2', ['b:=3', 'c:=x y']).text
    assert "name:=value, not 'b'" in error_of(load_robot, 'arm.xacro', ['b'])
    assert "not ':=b'" in error_of(load_robot, 'arm.xacro', [':=b'])


def test_errors_of_xacro_have_the_cure(xacro):
    path = xacro('arm.xacro', '<xacro:nothing/>$(arg a)')
    text = error_of(load_robot, 'arm.xacro a:=1')
    assert f'xacro cannot expand {path}: ' in text and 'nothing' in text
    assert f'correct it until "xacro {path}" prints a URDF' in text
    xacro('arm.xacro', '<link name="$(arg prefix)$(arg a)"/>')
    assert 'as prefix:=VALUE' in error_of(load_robot, 'arm.xacro a:=1')


def file_of(folder, path):
    path = folder.parents[1] / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(URDF)
    return path


def test_names_are_found_in_any_case_by_common_names_and_by_parts(examples):
    g1 = file_of(examples, 'g1_description/urdf/g1_29dof_rev_1_0.urdf')
    hand = file_of(examples, 'g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf')
    first = file_of(examples, 'dog_b_description/urdf/dog.urdf')
    second = file_of(examples, 'dog_c_simple_description/urdf/dog.urdf')
    for name in ('Panda', 'PANDA', 'franka', 'Franka-Panda'):
        assert find_robot(name) == examples / 'panda.urdf'
    assert find_robot('UR5') == examples / 'ur5_robot.urdf'
    assert find_robot('g1') == find_robot('Unitree G1') == g1
    assert find_robot('g1_29dof_with') == hand
    assert find_robot('dog') == first and find_robot('dog_c') == second
    assert find_robot('two_link') == resource_path('urdf', 'two_link_arm.urdf')


def test_all_candidates_of_an_ambiguous_robot_are_named(examples):
    text = error_of(find_robot, 'arm')
    assert 'six_axis_arm, stanford_arm, two_link_arm; name one of them' in text
    file_of(examples, 'x_description/urdf/swarm.urdf')  # no word begins with it there
    assert 'swarm' not in error_of(find_robot, 'arm')


def test_a_file_without_links_is_not_a_robot(examples):
    (examples / 'ur5.urdf').write_text('<robot name="ur5"/>')
    assert find_robot('ur5') == examples / 'ur5_robot.urdf'


def test_a_rejection_says_how_to_install_robots(here, monkeypatch):
    for name in ('panda', 'g1', 'talos', 'anymal_c'):
        assert 'pip install example-robot-data' in error_of(find_robot, name)


@pytest.mark.parametrize(
    'name', ['panda', 'ur5', 'g1', 'talos', 'franka', 'anymal_c', 'go2', 'UR3', 'tiago', 'hyq']
)
def test_robots_that_the_pages_promise_are_there_in_python_too(name):
    if not example_robots():
        pytest.skip('the pip package example-robot-data is not installed')
    robot = Robot.from_urdf(name)
    assert robot.nv > 0
    assert robot.joint_names == Robot.from_urdf(str(find_robot(name))).joint_names


def test_python_takes_a_name_or_names_the_available_robots(examples, monkeypatch):
    assert Robot.from_urdf('Two-Link').joint_names == ('shoulder', 'elbow')
    with pytest.raises(ModelError, match='is ambiguous: six_axis_arm, stanford_arm, two_link'):
        Robot.from_urdf('arm')
    with pytest.raises(ModelError, match="no robot 'pandas'.*did you mean panda"):
        Robot.from_urdf('pandas')
    (examples / 'panda').write_text(URDF)
    monkeypatch.chdir(examples)
    assert Robot.from_urdf('panda').name == 'r'  # a file comes before a name
    with pytest.raises(ModelError, match='nowhere.urdf'):
        Robot.from_urdf('nowhere.urdf')


def test_the_commands_list_robots_and_worlds(examples, capsys):
    assert main(['robots']) == 0
    text = capsys.readouterr().out
    assert '  two_link_arm\n' in text and re.search('^  panda +franka', text, re.MULTILINE)
    assert main(['robots', '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts['robots']['ur5_robot'] == str(examples / 'ur5_robot.urdf')
    assert facts['common_names']['franka'] == 'panda'
    assert main(['worlds', '--json']) == 0
    worlds = json.loads(capsys.readouterr().out)['worlds']
    assert worlds['table'] == str(resource_path('config', 'table_world.yaml'))
    assert main(['worlds']) == 0
    assert '  table\n' in capsys.readouterr().out


def test_without_examples_the_list_says_how_to_get_them(here, capsys):
    assert main(['robots']) == 0
    assert 'pip install example-robot-data' in capsys.readouterr().out


def test_a_package_uri_is_found_in_package_paths(here):
    (here / 'mine').mkdir()
    (here / 'mine' / 'arm.urdf').write_text(URDF)
    assert "no package 'mine'" in error_of(find_robot, 'package://mine/arm.urdf')
    assert find_robot('package://mine/arm.urdf', [str(here)]) == here / 'mine' / 'arm.urdf'
