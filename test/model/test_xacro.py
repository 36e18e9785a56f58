# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Xacro is recognized by content, and expanded wherever a robot is read."""

import os

import pytest
from support import outside

from rbd_ros import Robot
from rbd_ros.model import load_urdf, ModelError
from rbd_ros.model.urdf import xacro_expansion, xacro_process
from rbd_ros.model.urdf.urdf_document import is_xacro
from rbd_ros.model.urdf.xacro_expansion import expand_xacro
from rbd_ros.world import read_world

NAMESPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
BODY = """<xacro:macro name="body" params="name mass">
  <link name="$(arg prefix)${name}"><inertial><mass value="${mass}"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
</xacro:macro>"""
ARM = f"""<?xml version="1.0"?>
<robot name="arm" {NAMESPACE}>
  <xacro:arg name="prefix" default=""/>
  {BODY}
  <xacro:body name="base" mass="1"/><xacro:body name="tip" mass="${{0.5 * 3}}"/>
  <joint name="$(arg prefix)hinge" type="revolute"><parent link="$(arg prefix)base"/>
  <child link="$(arg prefix)tip"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="10" velocity="2"/></joint>
</robot>"""
INCLUDED = '<xacro:include filename="$(find mine)/urdf/arm.xacro"/>'
INCLUDING = f'<robot name="arm" {NAMESPACE}>{INCLUDED}</robot>'


outside.load('xacro')


def error_of(*arguments, **options):
    with pytest.raises(ModelError) as error:
        load_urdf(*arguments, **options)
    return str(error.value)


@pytest.mark.parametrize('name', ['arm.urdf.xacro', 'arm.xacro', 'arm.urdf', 'arm.xml', 'arm'])
def test_a_file_of_any_name_is_expanded_by_its_content(tmp_path, name):
    path = tmp_path / name
    path.write_text(ARM)
    assert Robot.from_urdf(path).joint_names == ('hinge',)
    for model in (load_urdf(str(path)), load_urdf(path)):
        assert model.bodies[0].inertia.mass == 1.5


def test_a_text_is_expanded_as_a_file_is():
    for text in (ARM, '\ufeff' + ARM, ARM.encode()):
        assert load_urdf(text).bodies[0].inertia.mass == 1.5


def test_a_urdf_needs_no_xacro_although_it_was_made_by_it(monkeypatch):
    monkeypatch.setattr('importlib.util.find_spec', lambda name: None)
    comment = '<!-- <xacro:macro name="a"/> ${b} $(arg c) -->'
    link = '<link name="a"/><gazebo><plugin file="$(find a)"/></gazebo>'
    load_urdf(f'<robot name="r">{comment}{link}</robot>')
    load_urdf(f'<robot name="r" {NAMESPACE}>{comment}<link name="a"/></robot>')
    assert 'pip install xacro' in error_of(ARM)


def test_expressions_count_where_xacro_is_declared():
    assert is_xacro(f'<robot {NAMESPACE}><link name="${{a}}"/></robot>')
    assert is_xacro(f'<robot {NAMESPACE}><link name="$(arg a)"/></robot>'.encode())
    assert not is_xacro('<robot><link name="${a}"/></robot>')
    assert not is_xacro('xacro')


def test_a_relative_mesh_and_an_include_are_found_beside_the_file(tmp_path):
    mesh = '<collision><geometry><mesh filename="a.stl"/></geometry></collision>'
    (tmp_path / 'a.stl').write_text('solid')
    (tmp_path / 'part.xml').write_text(f'<robot {NAMESPACE}><link name="a">{mesh}</link></robot>')
    path = tmp_path / 'arm.urdf'
    path.write_text(f'<robot name="r" {NAMESPACE}><xacro:include filename="part.xml"/></robot>')
    (geometry,) = load_urdf(path).geometries
    assert geometry.shape.path == str(tmp_path / 'a.stl')


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return the path of a file that includes one of the package `mine`, which is in `roots`."""
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    monkeypatch.delenv('ROS_PACKAGE_PATH', raising=False)
    folder = tmp_path / 'roots' / 'mine' / 'urdf'
    folder.mkdir(parents=True)
    (folder / 'arm.xacro').write_text(ARM)
    path = tmp_path / 'elsewhere' / 'robot.urdf'
    path.parent.mkdir()
    path.write_text(INCLUDING)
    return path


def test_packages_are_found_without_ros_as_those_of_meshes_are(package, tmp_path, monkeypatch):
    roots = tmp_path / 'roots'
    text = error_of(package)
    assert text.count("there is no package 'mine'") == 1 and '--package-path' in text
    assert load_urdf(package, package_paths=[roots]).nv == 1
    assert load_urdf(INCLUDING, package_paths=str(roots)).nv == 1
    assert Robot.from_urdf(package, package_paths=[roots / 'mine']).nv == 1
    monkeypatch.setenv('ROS_PACKAGE_PATH', str(roots))
    assert load_urdf(package).nv == 1
    monkeypatch.delenv('ROS_PACKAGE_PATH')
    (tmp_path / 'prefix').mkdir()
    (tmp_path / 'prefix' / 'share').symlink_to(roots)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'prefix'))
    assert load_urdf(package).nv == 1


def test_a_robot_of_a_world_may_be_xacro(package, tmp_path):
    entry = {'urdf': str(package), 'static': False}
    world = read_world({'robots': {'second': entry}}, package_paths=(str(tmp_path / 'roots'),))
    assert world.robots[0].model.nv == 1


def test_an_unknown_argument_is_named(package, tmp_path):
    roots = [tmp_path / 'roots']
    known = {'prefix': 'left_'}
    assert 'name="left_hinge"' in expand_xacro(str(package), None, known, roots)
    with pytest.raises(ModelError, match="has the xacro argument 'prefx', there are prefix; did"):
        expand_xacro(str(package), None, {'prefx': 'left_'}, roots)
    # One that is asked for in a branch that is not taken is known.
    content = '<link name="a"/><xacro:if value="0">$(arg b)</xacro:if>'
    branch = f'<robot name="r" {NAMESPACE}>{content}</robot>'
    expand_xacro(None, branch, {'b': '1'})
    with pytest.raises(ModelError, match='there are b; leave it out'):
        expand_xacro(None, branch, {'quite_another': '1'})


@pytest.mark.parametrize(
    'content, words',
    [
        ('<xacro:body/>', ['body', 'correct it until']),
        ('<link name="$(arg a)"/>', ['Undefined substitution argument a', 'a:=VALUE']),
        ('<link name="${1/0}"/>', ['division by zero']),
        ('<xacro:include filename="/nowhere"/>', ['/nowhere']),
    ],
)
def test_errors_name_file_reason_and_cure_once(tmp_path, content, words):
    path = tmp_path / 'arm.urdf'
    path.write_text(f'<robot name="r" {NAMESPACE}>{content}</robot>')
    text = error_of(path)
    assert text.startswith(f'xacro cannot expand {path}: ') and '\n' not in text
    assert all(text.count(word) == 1 for word in words), text


@pytest.mark.parametrize(
    'content', ['<xacro:include filename="pipe"/>', '<link name=\'${xacro.load_yaml("pipe")}\'/>']
)
def test_files_that_a_file_reads_are_regular(tmp_path, monkeypatch, content):
    monkeypatch.setattr(xacro_expansion, 'MAX_WAIT', 30.0)
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'arm.urdf').write_text(f'<robot {NAMESPACE}>{content}</robot>')
    assert 'named pipe' in error_of(tmp_path / 'arm.urdf')


def test_an_endless_expansion_is_ended(tmp_path, monkeypatch):
    (tmp_path / 'again.xacro').write_text(
        f'<robot {NAMESPACE}><xacro:include filename="again.xacro"/></robot>'
    )
    assert 'xacro cannot expand' in error_of(tmp_path / 'again.xacro')
    limits = []
    monkeypatch.setattr(xacro_process.resource, 'setrlimit', lambda *pair: limits.append(pair))
    monkeypatch.setattr(xacro_process, '_expanded', lambda request: {})
    xacro_process.main({})
    assert limits == [
        (xacro_process.resource.RLIMIT_CPU, (60, 60)),
        (xacro_process.resource.RLIMIT_AS, (4 << 30, 4 << 30)),
    ]
