# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of the launch files, and the nodes and parameters that they start."""

from pathlib import Path
import signal
from types import SimpleNamespace

import pytest
from support import outside
import yaml

from rbd_ros.lookup.resources import resource_path

ROOT = Path(__file__).resolve().parents[2]
NODES = (
    'external_torque_observer',
    'gravity_compensation',
    'inverse_dynamics',
    'simulator',
    'trajectory_feedforward',
    'udp_bridge',
)
EXAMPLES = ('gripper_world', 'peg_world', 'push_world', 'steps_world', 'two_arms_world')
FILES = (
    'bringup.launch.py',
    'ros2_control.launch.py',
    *(f'{name}.launch.py' for name in (*NODES, *EXAMPLES)),
)
URDF = '<robot name="r"><link name="base"/></robot>'
ARM = str(resource_path('urdf', 'six_axis_arm.urdf'))


def interface(name):
    from rbd_ros.launching.declarations import node_interface

    return node_interface(name)


# -- arguments ------------------------------------------------------------------------------------


def test_there_is_a_launch_file_for_each_node_for_each_example_and_for_the_whole():
    files = [path.name for path in (ROOT / 'launch').iterdir() if path.is_file()]
    assert sorted(files) == sorted(FILES)


@pytest.mark.parametrize('file', FILES)
def test_every_argument_is_described_and_has_a_default(machine, file):
    for name, argument in machine.arguments(file).items():
        assert '.' in argument.description, name
        assert argument.default_value is not None, name


@pytest.mark.parametrize('node', NODES)
def test_every_parameter_of_a_node_is_an_argument_of_its_file(machine, node):
    arguments = machine.arguments(f'{node}.launch.py')
    parameters = {p.name: p for p in interface(node).parameters}
    assert set(parameters) - set(arguments) <= {
        'robot_description',
        'robot_description_file',
        'frame_prefix',
    }
    for name in set(parameters) & set(arguments):
        parameter, text = parameters[name], arguments[name].description
        assert parameter.description in text
        assert all(choice in text for choice in parameter.choices)
        assert parameter.kind in text and 'default' in text


def test_bringup_offers_arguments_with_one_meaning(machine):
    arguments = machine.arguments('bringup.launch.py')
    offered = {'initial_positions', 'gravity', 'armature_file', 'payload_mass', 'kp'}
    assert offered <= set(arguments)
    assert 'timeout_command' not in arguments  # other words in simulator than in controllers


def test_arguments_of_several_nodes_are_described_for_each(machine):
    text = machine.arguments('bringup.launch.py')['friction_compensation'].description
    assert 'inverse_dynamics:' in text and 'gravity_compensation:' in text


# -- started processes
# -------------------------------------------------------------------------------


def test_bringup_starts_simulator_and_controller(machine):
    nodes = machine.launch('bringup.launch.py')
    assert set(nodes) == {'simulator', 'inverse_dynamics'}
    for name, node in nodes.items():
        assert (node.package, node.name, node.namespace) == ('rbd_ros', name, '')
        assert node.files == [str(resource_path('config', f'{name}.yaml'))]
        assert node.required and not node.remappings
        assert node.arguments == ['--ros-args', '--log-level', 'info']
    description = {'robot_description': '', 'robot_description_file': ARM}
    assert nodes['simulator'].parameters == description
    # Beyond the robot and its clock: the defaults of the node, so that launching is no other law.
    assert nodes['inverse_dynamics'].parameters == {**description, 'use_sim_time': True}


@pytest.mark.parametrize('node', NODES)
def test_file_of_a_node_starts_that_node(machine, node):
    nodes = machine.launch(f'{node}.launch.py')
    assert set(nodes) == {node}
    assert nodes[node].required
    assert nodes[node].parameters['robot_description_file'] == ARM
    assert nodes[node].parameters.get('use_sim_time') == (None if node == 'simulator' else False)


@pytest.mark.parametrize('example', EXAMPLES)
def test_file_of_an_example_starts_its_robot_in_its_world(machine, example):
    """As docs/viewer.md shows them, where the robot begins as the command in the world file."""
    nodes = machine.launch(f'{example}.launch.py')
    given = nodes['simulator'].parameters
    world = resource_path('config', f'{example}.yaml')
    assert given['world'] == str(world)
    command = world.read_text().replace('\\\n#', ' ')
    robot = Path(given['robot_description_file']).stem
    assert f'rbd_ros simulate {robot} ' in command
    start = [float(x) for x in command.partition('--start=')[2].split()[0].split(',')]
    if given.get('floating_base'):
        assert not given.get('initial_base_pose')  # where it touches the ground
        assert set(nodes) == {'simulator'}
    else:
        (controller,) = set(nodes) - {'simulator'}
        file = nodes[controller].parameters['robot_description_file']
        assert file.endswith(f'{robot}.urdf')
    assert given['initial_positions'] == start


def test_each_moving_robot_of_a_world_gets_a_controller_in_its_namespace(machine):
    started = machine.every('two_arms_world.launch.py', 'namespace:=cell')
    assert [(each.executable, each.namespace) for each in started] == [
        ('simulator', 'cell'),
        ('gravity_compensation', 'cell'),
        ('gravity_compensation', 'cell/second_arm'),
    ]
    assert started[0].parameters['robot_namespaces'] is True
    assert {each.parameters['robot_description_file'] for each in started} == {ARM}
    shared = machine.every('two_arms_world.launch.py', 'robot_namespaces:=false')
    assert [each.executable for each in shared] == ['simulator', 'gravity_compensation']


def test_robots_that_no_torque_node_can_drive_get_no_controller(machine):
    entry = f'{{urdf: {ARM}, static: false'
    (machine.folder / 'w.yaml').write_text(
        f'robots: {{a: {entry}, floating: true}}, b: {{urdf: {ARM}}}, on: {entry}}}}}'
    )
    words = ('world:=w.yaml', 'robot_namespaces:=true')
    started = machine.every('bringup.launch.py', *words)
    assert [each.namespace for each in started][1:] == ['', 'on']
    (machine.folder / 'w.yaml').write_text('robots: [')
    assert machine.error_of('bringup.launch.py', *words).startswith('launch argument world: ')


def test_arguments_count_before_those_of_an_example(machine):
    words = ('world:=table', 'controller:=none', 'urdf:=stanford_arm', 'initial_positions:=[0]')
    nodes = machine.launch('push_world.launch.py', *words)
    assert set(nodes) == {'simulator'}
    given = nodes['simulator'].parameters
    assert given['world'] == str(resource_path('config', 'table_world.yaml'))
    assert given['initial_positions'] == [0.0]
    text = machine.error_of('push_world.launch.py', 'wrold:=table')
    assert text.startswith('push_world.launch.py has no argument wrold; did you mean world')


def test_rviz_shows_a_floating_base_in_the_world(machine, monkeypatch):
    machine.packages.add('rviz2')
    monkeypatch.setenv('DISPLAY', ':0')
    assert machine.launch('steps_world.launch.py')['rviz2'].arguments[-1] == 'world'
    walking = ('urdf:=quadruped', 'floating_base:=true', 'ground:=true', 'controller:=none')
    assert machine.launch('bringup.launch.py', *walking)['rviz2'].arguments[-1] == 'world'
    soft = machine.launch('bringup.launch.py', *walking, 'ground_contact_model:=compliant')
    assert soft['rviz2'].arguments[-1] != 'world'
    assert machine.launch('push_world.launch.py')['rviz2'].arguments[-1] == 'base_link'


def test_argument_that_several_nodes_have_goes_to_each(machine):
    nodes = machine.launch('bringup.launch.py', 'gravity:=[0, 0, -1.62]', 'kp:=10')
    assert nodes['simulator'].parameters['gravity'] == [0.0, 0.0, -1.62]
    assert nodes['inverse_dynamics'].parameters['gravity'] == [0.0, 0.0, -1.62]
    assert nodes['inverse_dynamics'].parameters['kp'] == [10.0]
    assert 'kp' not in nodes['simulator'].parameters


def test_other_controller_is_started(machine):
    nodes = machine.launch('bringup.launch.py', 'controller:=gravity_compensation')
    assert set(nodes) == {'simulator', 'gravity_compensation'}
    assert 'friction_compensation' not in nodes['gravity_compensation'].parameters


def test_no_controller_is_started(machine):
    assert set(machine.launch('bringup.launch.py', 'controller:=none')) == {'simulator'}


def test_own_parameter_file_of_the_controller_is_not_overridden(machine):
    file = machine.folder / 'mine.yaml'
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': {'kp': [1.0]}}}))
    words = ('controller_params_file:=mine.yaml', f'simulator_params_file:={file}')
    nodes = machine.launch('bringup.launch.py', *words)
    assert nodes['simulator'].files == nodes['inverse_dynamics'].files == [str(file)]
    assert 'friction_compensation' not in nodes['inverse_dynamics'].parameters


def test_namespace_and_log_level_are_those_of_all(machine):
    machine.packages.add('robot_state_publisher')
    nodes = machine.launch('bringup.launch.py', 'namespace:=cell/', 'log_level:=warn')
    assert {node.namespace for node in nodes.values()} == {'cell'}
    assert nodes['simulator'].arguments[-1] == 'warn'


# -- the robot ------------------------------------------------------------------------------------


def test_robot_by_topic_overrides_parameter_files(machine):
    machine.packages.add('robot_state_publisher')
    nodes = machine.launch('bringup.launch.py', 'urdf:=topic')
    assert set(nodes) == {'simulator', 'inverse_dynamics'}
    for node in nodes.values():
        assert node.parameters['robot_description'] == ''
        assert node.parameters['robot_description_file'] == ''


XACRO = (
    '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    '<link name="$(arg one)$(arg other)"/></robot>'
)


def test_xacro_with_arguments_goes_to_all_as_the_text_of_its_urdf(machine):
    outside.load('xacro')
    (machine.folder / 'arm.urdf.xacro').write_text(XACRO)
    machine.packages.add('robot_state_publisher')
    nodes = machine.launch('bringup.launch.py', 'urdf:=arm.urdf.xacro one:=fo other:=ot')
    for name in ('simulator', 'inverse_dynamics', 'robot_state_publisher'):
        assert '<link name="foot"/>' in nodes[name].parameters['robot_description']
    assert nodes['simulator'].parameters['robot_description_file'] == ''


def test_xacro_without_arguments_goes_to_nodes_as_its_file_and_to_others_as_urdf(machine):
    outside.load('xacro')
    (machine.folder / 'arm.urdf').write_text(XACRO.replace('$(arg one)$(arg other)', '${1 + 1}'))
    machine.packages.add('robot_state_publisher')
    nodes = machine.launch('bringup.launch.py', 'urdf:=arm.urdf')
    path = str(machine.folder / 'arm.urdf')
    assert nodes['simulator'].parameters['robot_description_file'] == path
    text = nodes['robot_state_publisher'].parameters['robot_description']
    assert '<link name="2"/>' in text


def test_arguments_of_xacro_have_a_launch_argument(machine):
    outside.load('xacro')
    (machine.folder / 'arm.urdf.xacro').write_text(XACRO)
    words = ('urdf:=arm.urdf.xacro', 'xacro_args:=[one:=le, other:=ft]')
    for file in ('bringup.launch.py', 'simulator.launch.py'):
        nodes = machine.launch(file, *words)
        assert '<link name="left"/>' in nodes['simulator'].parameters['robot_description']


@pytest.mark.parametrize(
    'words, text',
    [
        (('urdf:=topic', 'xacro_args:=a:=1'), 'has the expanded description'),
        (('urdf:=two_link_arm', 'xacro_args:=a:=1'), 'is not a xacro file'),
        (('urdf:=arm.urdf.xacro', 'xacro_args:=a=1'), "name:=value, not 'a=1'"),
    ],
)
def test_arguments_of_xacro_without_xacro_are_rejected(machine, words, text):
    (machine.folder / 'arm.urdf.xacro').write_text('<robot/>')
    assert text in machine.error_of('simulator.launch.py', *words)


def test_path_is_relative_to_the_caller(machine):
    (machine.folder / 'mine.urdf').write_text(URDF)
    nodes = machine.launch('simulator.launch.py', 'urdf:=mine.urdf')
    path = nodes['simulator'].parameters['robot_description_file']
    assert path == str(machine.folder / 'mine.urdf')


def test_paths_in_parameters_are_relative_to_the_caller(machine, monkeypatch):
    monkeypatch.setenv('HOME', str(machine.folder))
    (machine.folder / 'rotors.yaml').write_text('{}')
    words = ('armature_file:=rotors.yaml', 'package_paths:=[~/meshes, more]')
    parameters = machine.launch('simulator.launch.py', *words)['simulator'].parameters
    assert parameters['armature_file'] == str(machine.folder / 'rotors.yaml')
    assert parameters['package_paths'] == [
        str(machine.folder / 'meshes'),
        str(machine.folder / 'more'),
    ]
    assert 'no file' in machine.error_of('simulator.launch.py', 'armature_file:=no.yaml')


@pytest.mark.parametrize(
    ('content', 'words'),
    [
        (None, ['there is no file', 'arm.urdf']),
        ('', ['empty']),
        ('hello', ['XML']),
        ('<sdf/>', ['root element is <sdf>']),
        ('<robot name="r"><link name="a"/><link name="b"/></robot>', ["'a'", "'b'"]),
    ],
)
@pytest.mark.parametrize('file', ['bringup.launch.py', 'simulator.launch.py'])
def test_description_without_a_robot_is_rejected(machine, file, content, words):
    if content is not None:
        (machine.folder / 'arm.urdf').write_text(content)
    text = machine.error_of(file, 'urdf:=arm.urdf')
    assert 'launch argument urdf' in text
    assert all(word in text for word in words), text


# -- simulated time -------------------------------------------------------------------------------


def test_clock_on_another_topic_is_that_of_all(machine):
    machine.packages.add('robot_state_publisher')
    nodes = machine.launch('bringup.launch.py', 'clock:=clock', 'namespace:=left')
    assert {tuple(node.remappings.items()) for node in nodes.values()} == {(('/clock', 'clock'),)}
    assert nodes['robot_state_publisher'].parameters['use_sim_time']


def test_without_clock_no_node_publishes_or_follows_it(machine):
    machine.packages.add('robot_state_publisher')
    nodes = machine.launch('bringup.launch.py', 'clock:=false')
    assert nodes['simulator'].parameters['clock_publish_rate'] == 0.0
    assert not nodes['inverse_dynamics'].parameters['use_sim_time']
    assert not nodes['robot_state_publisher'].parameters['use_sim_time']


def test_torque_node_alone_follows_simulated_time_on_request(machine):
    nodes = machine.launch('inverse_dynamics.launch.py', 'use_sim_time:=1', 'clock:=clock')
    assert nodes['inverse_dynamics'].parameters['use_sim_time']
    assert nodes['inverse_dynamics'].remappings == {'/clock': 'clock'}


# -- what shows the robot -------------------------------------------------------------------------


def test_robot_state_publisher_is_started_where_it_is_installed(machine):
    machine.packages.add('robot_state_publisher')
    nodes = machine.launch('bringup.launch.py', 'frame_prefix:=left/')
    publisher = nodes['robot_state_publisher']
    assert not publisher.required
    assert publisher.parameters == {
        'robot_description': Path(ARM).read_text(),
        'frame_prefix': 'left/',
        'use_sim_time': True,
    }
    assert 'robot_state_publisher' not in machine.launch(
        'bringup.launch.py', 'robot_state_publisher:=False'
    )


def test_rviz_is_started_where_there_is_a_display(machine, monkeypatch):
    machine.packages.add('rviz2')
    assert 'rviz2' not in machine.launch('bringup.launch.py')
    monkeypatch.setenv('DISPLAY', ':0')
    rviz = machine.launch('bringup.launch.py')['rviz2']
    assert rviz.arguments == ['-d', str(resource_path('rviz', 'robot.rviz')), '-f', 'base_link']
    assert not rviz.required
    assert 'rviz2' not in machine.launch('bringup.launch.py', 'rviz:=false')


def test_rviz_shows_the_frames_of_the_prefix(machine, monkeypatch):
    from rbd_ros.launching import bringup

    machine.packages.add('rviz2')
    monkeypatch.setenv('DISPLAY', ':0')
    monkeypatch.setattr(bringup, 'log_folder', lambda: machine.folder)
    rviz = machine.launch('bringup.launch.py', 'frame_prefix:=left/')['rviz2']
    assert rviz.arguments[-1] == 'left/base_link'
    configuration = yaml.safe_load(Path(rviz.arguments[1]).read_text())
    displays = {d['Name']: d for d in configuration['Visualization Manager']['Displays']}
    assert displays['RobotModel']['TF Prefix'] == 'left'


# -- rejected before anything starts -------------------------------------------------------------


@pytest.mark.parametrize(
    ('words', 'packages', 'message'),
    [
        (['rviz:=true'], {'rbd_ros'}, ['rviz2 is not installed', 'apt install ros-', '-rviz2']),
        (['rviz:=true'], {'rbd_ros', 'rviz2'}, ['rviz', 'no display']),
        (['rviz:=perhaps'], {'rbd_ros'}, ['rviz', 'true, false, auto']),
        (['robot_state_publisher:=true'], {'rbd_ros'}, ['is not installed', 'apt install ros-']),
        (
            ['robot_state_publisher:=true', 'urdf:=topic'],
            {'rbd_ros', 'robot_state_publisher'},
            ['robot_state_publisher', 'not from a topic'],
        ),
        ([], set(), ['simulator of package rbd_ros is not installed', 'colcon']),
        (['controller:=pid'], {'rbd_ros'}, ['controller', 'inverse_dynamics']),
        (['timeout_command:=hold'], {'rbd_ros'}, ['simulator_params_file']),
        (['damping:=0.1'], {'rbd_ros'}, ['damping', 'gravity_compensation', 'not started']),
        (['frame_prefix:=left'], {'rbd_ros'}, ['frame_prefix', 'end with /']),
        (['namespace:=2nd'], {'rbd_ros'}, ['namespace', 'digit']),
        (['clock:=a b'], {'rbd_ros'}, ['clock', 'topic']),
        (['log_level:=loud'], {'rbd_ros'}, ['log_level', 'debug, info']),
        (['simulator_params_file:=no.yaml'], {'rbd_ros'}, ['simulator_params_file', 'no.yaml']),
        (['controller_params_file:=no.yaml'], {'rbd_ros'}, ['controller_params_file', 'no.yaml']),
        (['initial_positions:=[0, up]'], {'rbd_ros'}, ['initial_positions', 'a number']),
        (['joints:=[]'], {'rbd_ros'}, ['joints', 'empty list']),
        (['urdf:=six_axes_arm'], {'rbd_ros'}, ['urdf', 'did you mean six_axis_arm?']),
        (['initial_position:=[0]'], {'rbd_ros'}, ['no argument', 'mean initial_positions']),
        (['xyzzy:=1'], {'rbd_ros'}, ['no argument xyzzy', '--show-args']),
    ],
)
def test_invalid_arguments_are_rejected_in_one_line(machine, words, packages, message):
    machine.packages = packages
    text = machine.error_of('bringup.launch.py', *words)
    assert all(word in text for word in message), text


def test_world_is_found_by_name_by_path_or_by_the_node(machine):
    def world(text):
        started = machine.launch('bringup.launch.py', f'world:={text}')
        assert 'world' not in started['inverse_dynamics'].parameters
        return started['simulator'].parameters['world']

    table = str(resource_path('config', 'table_world.yaml'))
    assert world('table_world') == world('table_world.yaml') == table
    (machine.folder / 'mine.yaml').write_text('objects: {}')
    assert world('mine.yaml') == str(machine.folder / 'mine.yaml')
    # Below folders that its parameters name.
    assert world('package://cell/world.yaml') == 'package://cell/world.yaml'
    text = machine.error_of('simulator.launch.py', 'world:=tabel_world')
    assert text.startswith('launch argument world: there is no file') and 'table_world' in text


@pytest.mark.parametrize('content', ['a: [1', '- 1', 'simulator: {kp: 1}', ''])
def test_file_without_parameters_is_rejected(machine, content):
    (machine.folder / 'mine.yaml').write_text(content)
    text = machine.error_of('simulator.launch.py', 'params_file:=mine.yaml')
    assert 'params_file' in text and 'mine.yaml' in text


def test_arguments_of_a_file_that_includes_ours_are_none_of_our_business(machine):
    words = ('speed:=3', 'ground:=true')
    nodes = machine.launch('simulator.launch.py', *words, included_by='cell.launch.py')
    assert nodes['simulator'].parameters['ground'] is True
    assert 'no argument speed' in machine.error_of('simulator.launch.py', *words)


def test_arguments_of_launch_are_accepted(machine):
    assert machine.launch('simulator.launch.py', 'launch-prefix:=nice', 'ground:=true')


# -- the end --------------------------------------------------------------------------------------


def ended(returncode, is_shutdown=False):
    from rbd_ros.launching.launch_processes import _end_of_required

    event = SimpleNamespace(returncode=returncode, process_name='simulator-1')
    return _end_of_required(event, SimpleNamespace(is_shutdown=is_shutdown))


@pytest.mark.parametrize('returncode', [0, -signal.SIGINT])
def test_end_of_a_required_node_ends_the_launch(machine, returncode):
    from launch.actions import Shutdown

    assert [type(action) for action in ended(returncode)] == [Shutdown]


@pytest.mark.parametrize(
    ('returncode', 'word'), [(1, 'exit code 1'), (-signal.SIGKILL, 'SIGKILL')]
)
def test_failure_of_a_required_node_is_one_of_the_launch(machine, returncode, word):
    with pytest.raises(RuntimeError, match=word):
        ended(returncode)


def test_node_that_ends_with_the_launch_is_not_reported(machine):
    assert ended(1, is_shutdown=True) is None
