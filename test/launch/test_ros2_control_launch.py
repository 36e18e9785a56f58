# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Launch file of the simulator behind ros2_control: the processes that it starts."""

from itertools import combinations, takewhile
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from rbd_ros.launching import launch_processes as processes
from rbd_ros.launching.arguments import parameter_value
from rbd_ros.launching.declarations import launch_parameters, node_interface
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.simulator.commands.control_tag import read_control_tag

FILE = 'ros2_control.launch.py'
PACKAGES = {
    'controller_manager',
    'robot_state_publisher',
    'joint_state_topic_hardware_interface',
    'joint_state_broadcaster',
    'joint_trajectory_controller',
    'effort_controllers',
}
ARM = resource_path('urdf', 'two_link_arm.urdf')
TAG = (
    '<ros2_control name="c" type="system"><hardware><plugin>{plugin}</plugin>'
    '<param name="joint_commands_topic">/arm/commands</param></hardware>'
    '<joint name="shoulder"><command_interface name="effort"/><state_interface name="effort"/>'
    '</joint></ros2_control></robot>'
)
PLUGIN = 'joint_state_topic_hardware_interface/JointStateTopicSystem'


@pytest.fixture
def stack(machine):
    """Return a machine on which all of ros2_control is installed."""
    machine.packages |= PACKAGES
    return machine


def with_tag(folder, plugin=PLUGIN):
    path = folder / 'arm.urdf'
    path.write_text(ARM.read_text().replace('</robot>', TAG.format(plugin=plugin)))
    return f'urdf:={path}'


def test_the_whole_stack_is_started_on_topics_that_fit(stack):
    nodes = stack.launch(FILE)
    assert set(nodes) == {'simulator', 'robot_state_publisher', 'ros2_control_node', 'spawner'}
    simulator, manager = nodes['simulator'], nodes['ros2_control_node']
    text = simulator.parameters['robot_description']
    assert text == nodes['robot_state_publisher'].parameters['robot_description']
    tag = read_control_tag(text)
    assert len(tag.joints) == 6
    for name in tag.joints:
        assert tag.joints[name].commands == {'position', 'velocity', 'effort'}
    assert 'use_sim_time' not in simulator.parameters
    for topic in ('joint_commands', 'simulator/joint_states'):
        assert f'>{topic}<' in text and topic in simulator.remappings.values()
    assert manager.parameters == {'use_sim_time': True} and manager.required
    assert manager.remappings['~/robot_description'] == 'robot_description'
    assert yaml.safe_load(Path(manager.files[0]).read_text())['controller_manager']
    assert nodes['spawner'].arguments[-1] == '--inactive'


FEW = {'--controller-manager-timeout'}
ALL = {*FEW, '--switch-timeout', '--service-call-timeout'}


@pytest.mark.parametrize(
    'version, options',
    [
        # Those that `controller_manager/spawner.py` of ros2_control has, by its tags.
        ((2, 40, 0), FEW),
        ((2, 45, 0), FEW),  # a switch, but no longer call
        (
            (2, 46, 0),
            ALL,
        ),
        (
            (2, 54, 0),
            ALL,
        ),
        ((3, 30, 0), FEW),
        ((4, 20, 0), FEW),
        (
            (4, 21, 0),
            ALL,
        ),
        (
            (6, 8, 0),
            ALL,
        ),
        ((), FEW),
    ],
)
def test_spawners_wait_as_long_as_their_version_can(stack, version, options):
    stack.versions['controller_manager'] = version
    for spawner in (n for n in stack.every(FILE) if n.executable == 'spawner'):
        words = spawner.arguments
        given = dict(zip(words, words[1:]))
        assert {word for word in words if word.endswith('-timeout')} == options
        assert all(float(given[option]) >= 60.0 for option in options)
        if '--switch-timeout' in options:
            # A call that ends before its switch is repeated, and the switch rejected.
            assert float(given['--service-call-timeout']) > float(given['--switch-timeout'])


def test_a_spawner_that_fails_ends_the_launch(stack):
    spawners = [n for n in stack.every(FILE) if n.executable == 'spawner']
    assert len(spawners) == 2 and all(n.must_succeed and not n.required for n in spawners)


@pytest.mark.parametrize('code, part', [(1, 'exit code 1'), (-9, 'SIGKILL'), (0, ''), (-2, '')])
def test_the_end_of_a_required_process_is_judged_by_its_exit_code(code, part):
    ended = SimpleNamespace(returncode=code, process_name='spawner-5')
    running, over = SimpleNamespace(is_shutdown=False), SimpleNamespace(is_shutdown=True)
    if part:
        with pytest.raises(RuntimeError, match=f'spawner-5.*{part}'):
            processes._end_of_failed(ended, running)
    else:
        assert processes._end_of_failed(ended, running) is None
    assert processes._end_of_failed(ended, over) is None


def test_the_version_of_a_package_is_that_of_its_manifest(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, 'get_package_prefix', lambda package: str(tmp_path))
    assert processes.package_version('controller_manager') == ()
    manifest = tmp_path / 'share' / 'controller_manager' / 'package.xml'
    manifest.parent.mkdir(parents=True)
    manifest.write_text('<package format="3"><version> 4.46.0 </version></package>')
    assert processes.package_version('controller_manager') == (4, 46, 0)


def test_a_tag_of_the_description_is_kept_with_its_topics(stack):
    nodes = stack.launch(FILE, with_tag(stack.folder), 'inactive_controllers:=none')
    simulator = nodes['simulator']
    assert simulator.parameters['robot_description_file'].endswith('arm.urdf')
    assert simulator.remappings['joint_commands'] == '/arm/commands'
    assert simulator.remappings['joint_states'] == '/robot_joint_states'
    assert '--inactive' not in nodes['spawner'].arguments


def test_a_tag_for_other_hardware_is_rejected_with_the_cure(stack):
    text = stack.error_of(FILE, with_tag(stack.folder, 'mock_components/GenericSystem'))
    assert 'mock_components/GenericSystem' in text and 'simulated_hardware.xacro' in text


def with_tags(folder, *tags):
    path = folder / 'arm.urdf'
    path.write_text(ARM.read_text().replace('</robot>', ''.join(tags) + '</robot>'))
    return f'urdf:={path}'


def tag(name, joint='shoulder', commands='/a', states='/b', plugin=PLUGIN, state='position'):
    return (
        f'<ros2_control name="{name}" type="system"><hardware><plugin>{plugin}</plugin>'
        f'<param name="joint_commands_topic">{commands}</param>'
        f'<param name="joint_states_topic">{states}</param></hardware><joint name="{joint}">'
        f'<command_interface name="position"/><state_interface name="{state}"/>'
        '</joint></ros2_control>'
    )


def test_tags_with_the_same_topics_are_all_connected(stack):
    words = with_tags(stack.folder, tag('arm'), tag('gripper', 'elbow'))
    simulator = stack.launch(FILE, words)['simulator']
    assert simulator.remappings['joint_commands'] == '/a'
    assert simulator.remappings['joint_states'] == '/b'


@pytest.mark.parametrize('topic', ['commands', 'states'])
def test_tags_with_different_topics_are_rejected(stack, topic):
    words = with_tags(stack.folder, tag('arm'), tag('gripper', 'elbow', **{topic: '/other'}))
    text = stack.error_of(FILE, words)
    assert 'arm: /a, /b; gripper: ' in text and '/other' in text


def test_a_second_tag_of_other_hardware_is_rejected_by_its_name(stack):
    other = 'mock_components/GenericSystem'
    words = with_tags(stack.folder, tag('arm'), tag('gripper', 'elbow', plugin=other))
    assert "tag 'gripper' has mock_components/GenericSystem" in stack.error_of(FILE, words)


def test_a_command_interface_without_its_state_interface_is_rejected(stack):
    words = with_tags(stack.folder, tag('arm', state='velocity'))
    assert 'shoulder/position' in stack.error_of(FILE, words)


SENSOR = (
    '<sensor name="wrist"><state_interface name="force.x"/></sensor><sensor name="imu">'
    '<state_interface name="orientation.x"/></sensor></ros2_control>'
)
#: Parameters by which controllers of ros2_controllers name a sensor (`*_parameters.yaml` there).
FORCES = 'force_torque_sensor_broadcaster/ForceTorqueSensorBroadcaster'
ADMITTANCE = 'admittance_controller/AdmittanceController'
OF_SENSORS = [
    (FORCES, {'sensor_name': 'wrist'}),
    (FORCES, {'interface_names': {'force': {'x': 'wrist/force.x'}}}),
    (FORCES, {'interface_names.force.x': 'wrist/force.x'}),
    ('imu_sensor_broadcaster/IMUSensorBroadcaster', {'sensor_name': 'imu'}),
    ('pose_broadcaster/PoseBroadcaster', {'pose_name': 'imu'}),
    (ADMITTANCE, {'ft_sensor': {'name': 'wrist'}}),
    (ADMITTANCE, {'ft_sensor.name': 'wrist'}),
]


@pytest.mark.parametrize('kind, parameters', OF_SENSORS)
@pytest.mark.parametrize('known', [True, False])
def test_a_controller_of_a_sensor_that_stays_nan_is_rejected(stack, kind, parameters, known):
    """`JointStateTopicSystem::read` (1.1) sets those of `get_hardware_info().joints` alone."""
    urdf = with_tags(stack.folder, tag('arm').replace('</ros2_control>', SENSOR))
    parameters = parameters if known else {'sensor_name': 'elsewhere'}
    file = stack.folder / 'controllers.yaml'
    content = {
        'controller_manager': {'ros__parameters': {'reader': {'type': kind}}},
        'reader': {'ros__parameters': {'frame_id': 'tool0', **parameters}},
    }
    file.write_text(yaml.safe_dump(content))
    stack.packages.add(kind.partition('/')[0])
    words = [FILE, urdf, f'controllers_file:={file}', 'inactive_controllers:=none']
    assert stack.launch(*words, 'controllers:=none')
    if known:
        text = stack.error_of(*words, 'controllers:=reader')
        assert 'launch argument controllers: reader' in text and 'NaN' in text
        sensor = 'imu' if 'imu' in parameters.values() else 'wrist'
        assert f'the sensor {sensor},' in text
    else:
        assert stack.launch(*words, 'controllers:=reader')


def node_names(stack, *words):
    """Return the names of all nodes: ours, and those that ros2_control makes.

    One of each tag, by its name in lower case with _ for / (`HardwareComponentInterface::
    initialize` of ros2_control 4.46), one of each controller, one of each spawner.
    """
    nodes = stack.every(FILE, *words)
    text = next(n.parameters['robot_description'] for n in nodes if n.name == 'simulator')
    names = [n.name or n.package for n in nodes if n.executable != 'spawner']
    for each in ElementTree.fromstring(text).iterfind('ros2_control'):
        names.append(each.get('name').lower().replace('/', '_'))
    for spawner in (n for n in nodes if n.executable == 'spawner'):
        controllers = list(takewhile(lambda w: not w.startswith('-'), spawner.arguments))
        names += [f'spawner_{controllers[0]}', *controllers]
    return names


def test_no_two_nodes_have_the_same_name(stack):
    names = node_names(stack)
    assert len(names) > 8 and len(set(names)) == len(names)


@pytest.mark.parametrize(
    'name', ['simulator', 'Simulator', 'controller_manager', 'joint_state_broadcaster']
)
def test_a_tag_with_the_name_of_a_node_is_rejected(stack, name):
    text = stack.error_of(FILE, with_tags(stack.folder, tag(name)))
    assert f'two nodes would have the name /{name.lower()}' in text


#: Arguments that change how time goes on or what is sent, with a value other than the default;
#: `rejected` are those with which a controller manager does not cycle.
VALUES = {
    'start_paused': 'true',
    'lockstep': 'order',
    'real_time_factor': '0.5',
    'timestep': '0.002',
    'substeps': '2',
    'clock_publish_rate': '500.0',
    'clock_policy': 'fixed_rate',
    'state_publish_rate': '500.0',
    'command_timeout': '0.0',
    'initial_command': 'gravity',
    'rewind_period': '1.0',
    'acceleration_commands': 'true',
    'joint_torques': 'true',
    'clock': 'time',
}
REJECTED = ('start_paused',)


@pytest.mark.parametrize('pair', list(combinations(VALUES, 2)), ids='-'.join)
def test_each_pair_of_arguments_is_started_or_rejected(stack, pair):
    words = [f'{name}:={VALUES[name]}' for name in pair]
    rejected = [name for name in pair if name in REJECTED]
    if rejected:
        text = stack.error_of(FILE, *words)
        assert any(f'launch argument {name}: ' in text for name in rejected) and 'wait' in text
    elif 'clock_policy' in pair and not {'clock_publish_rate', 'lockstep'} & set(pair):
        assert 'clock_publish_rate: the period of update_rate 500 Hz' in stack.error_of(
            FILE, *words
        )
    else:
        parameters = stack.launch(FILE, *words)['simulator'].parameters
        assert all(name in parameters for name in pair if name != 'clock')
        assert parameters.get('lockstep_update_rate') == (500 if 'lockstep' in pair else None)


def other_value(parameter, path):
    """Return a legal text of a launch argument that is not the default of its parameter.

    :param path: value of texts, since some of them name files
    """
    if parameter.choices:
        return next(each for each in parameter.choices if each and each != parameter.default)
    if parameter.is_list:
        number = 0.5 * (parameter.minimum or 1.0)
        each = {str: str(path), int: '0'}.get(parameter.element, str(max(number, 0.25)))
        return f'[{", ".join([each] * (parameter.length or 1))}]'
    if parameter.scalar is bool:
        return str(not parameter.default).lower()
    if parameter.scalar is str:
        return str(path)
    step = 1 if parameter.scalar is int else 0.5 * parameter.default or 0.25
    is_highest = parameter.default == parameter.maximum
    return str(parameter.default - step if is_highest else parameter.default + step)


def test_any_arguments_are_started_together_as_they_are_given(stack):
    """Of what is passed to the simulator: each pair occurs in one of the command lines."""
    known = {each.name: each for each in launch_parameters(node_interface('simulator'))}
    assert set(VALUES) - {'clock'} <= set(known)
    # The default arm is no xacro, and its tag decides on the fields.
    own = {*VALUES, 'xacro_args', 'state_fields'}
    path = stack.folder / 'other'
    path.write_text('')
    values = {name: other_value(known[name], path) for name in known if name not in own}
    assert len(values) > 40
    names, tried, rng = sorted(values), set(), np.random.default_rng(3)
    while len(tried) < len(names) * (len(names) - 1) / 2:
        chosen = [name for name in names if rng.random() < 0.7]
        tried |= set(combinations(chosen, 2))
        words = [f'{name}:={values[name]}' for name in chosen]
        parameters = stack.launch(FILE, *words)['simulator'].parameters
        for name in chosen:
            expected = known[name].convert(parameter_value(known[name], values[name]))
            assert known[name].convert(parameters[name]) == expected != known[name].default, name


@pytest.mark.parametrize(
    'words, name',
    [
        ('timestep:=0.004', 'timestep'),
        ('timestep:=0.0015', 'timestep'),
        ('clock_policy:=fixed_rate', 'clock_publish_rate'),
        ('clock_policy:=fixed_rate clock_publish_rate:=300.0', 'clock_publish_rate'),
        (
            'clock_policy:=fixed_rate clock_publish_rate:=500.0 timestep:=0.004',
            'clock_publish_rate',
        ),
    ],
)
def test_a_clock_by_which_a_manager_of_500_hertz_misses_cycles_is_rejected(stack, words, name):
    text = stack.error_of(FILE, *words.split())
    assert f'launch argument {name}: ' in text and 'update_rate 500 Hz, 2 ms' in text
    assert stack.launch(FILE, 'timestep:=0.0005')
    assert stack.launch(FILE, 'clock_policy:=fixed_rate', 'clock_publish_rate:=1000.0')


@pytest.mark.parametrize('fields', ['position', '[position, velocity]'])
def test_state_fields_other_than_those_of_the_tag_are_rejected(stack, fields):
    """`JointStateTopicSystem::read` leaves an interface without a field of the message at NaN."""
    text = stack.error_of(FILE, f'state_fields:={fields}')
    assert 'launch argument state_fields: ' in text and 'of shoulder_pan_joint' in text
    assert stack.launch(FILE, 'state_fields:=[effort, position, velocity]')
    file = stack.folder / 'simulator.yaml'
    file.write_text(f'simulator:\n  ros__parameters:\n    state_fields: [{fields.strip("[]")}]\n')
    assert text == stack.error_of(FILE, f'params_file:={file}')


def test_state_fields_that_a_joint_of_the_tag_does_not_have_are_rejected(stack):
    """Of a value without an interface, `set_state` fails."""
    urdf = with_tags(stack.folder, tag('arm'))
    assert stack.launch(FILE, urdf, 'state_fields:=position')
    assert 'of shoulder in' in stack.error_of(FILE, urdf, 'state_fields:=[position, effort]')


@pytest.mark.parametrize('namespace', ['left', '/left', 'left/'])
def test_everything_is_in_the_namespace(stack, namespace):
    words = (f'namespace:={namespace}', 'clock:=clock', 'frame_prefix:=left/')
    nodes = stack.every(FILE, *words)
    assert {node.namespace.strip('/') for node in nodes} == {'left'}
    spawners = [n.arguments for n in nodes if n.executable == 'spawner']
    assert len(spawners) == 2
    for arguments in spawners:
        at = arguments.index('--controller-manager')
        assert arguments[at + 1] == '/left/controller_manager'
    simulator, publisher, manager = (n for n in nodes if n.executable != 'spawner')
    for each in (simulator, publisher):
        assert each.parameters['frame_prefix'] == 'left/'
    for each in (simulator, publisher, manager):
        assert each.remappings['/clock'] == 'clock'
        # Names with a slash would be those of every robot.
        assert not any(name.startswith('/') for name in each.remappings.values())
    text = simulator.parameters['robot_description']
    tag = ElementTree.fromstring(text).find('ros2_control')
    topics = {each.get('name'): each.text for each in tag.iter('param')}
    assert topics['joint_commands_topic'] == simulator.remappings['joint_commands']
    assert topics['joint_states_topic'] == simulator.remappings['joint_states']
    assert not simulator.remappings['joint_states'].startswith('/')
    (file,) = manager.files
    declared = yaml.safe_load(resource_path('config', 'ros2_control.yaml').read_text())
    assert yaml.safe_load(Path(file).read_text()) == {
        f'/left/{name}': content for name, content in declared.items()
    }


def test_two_namespaces_have_a_file_each(stack):
    files = set()
    for name in ('left', 'cell/right', 'cell/left'):
        files |= set(stack.launch(FILE, f'namespace:={name}')['ros2_control_node'].files)
    assert len(files) == 3


@pytest.mark.parametrize(
    'commands, states, rejected',
    [
        ('arm/commands', 'arm/states', ''),
        ('/left/commands', '/left/states', ''),
        ('/arm/commands', 'arm/states', '/arm/commands, outside of /left'),
        ('arm/commands', '/lefty/states', '/lefty/states, outside of /left'),
    ],
)
def test_topics_of_a_tag_are_in_the_namespace(stack, commands, states, rejected):
    urdf = with_tags(stack.folder, tag('arm', commands=commands, states=states))
    assert stack.launch(FILE, urdf)['simulator'].remappings['joint_commands'] == commands
    if rejected:
        assert rejected in stack.error_of(FILE, urdf, 'namespace:=left')
    else:
        given = stack.launch(FILE, urdf, 'namespace:=left')['simulator'].remappings
        assert (given['joint_commands'], given['joint_states']) == (commands, states)


@pytest.mark.parametrize(
    'line, name',
    [
        ('start_paused: true', 'start_paused'),
        ('lockstep: stamp', 'lockstep'),
        ('clock_publish_rate: 0.0', 'clock_publish_rate'),
        ('real_time_factor: 0.0', 'real_time_factor'),
    ],
)
@pytest.mark.parametrize(
    'node, namespace',
    [
        ('/**', ''),
        ('simulator', ''),
        ('/simulator', ''),
        ('/**', 'left'),
        ('/**/simulator', 'left'),
        ('/left/simulator', 'left'),
        ('/*/simulator', 'left'),
    ],
)
def test_values_rejected_as_argument_are_rejected_in_the_file(stack, node, namespace, line, name):
    file = stack.folder / 'simulator.yaml'
    file.write_text(f'{node}:\n  ros__parameters:\n    {line}\n')
    words = [f'namespace:={namespace}'] if namespace else []
    assert f'launch argument {name}' in stack.error_of(FILE, f'params_file:={file}', *words)


def test_in_lockstep_the_simulator_gets_the_rate_of_the_manager(stack):
    controllers = stack.folder / 'controllers.yaml'
    words = (f'controllers_file:={controllers}', 'controllers:=none', 'inactive_controllers:=none')
    for line, rate in (('update_rate: 250', 250), ('use_sim_time: true', 100)):
        controllers.write_text(f'controller_manager:\n  ros__parameters:\n    {line}\n')
        found = stack.launch(FILE, 'lockstep:=order', 'real_time_factor:=0.0', *words)
        assert found['simulator'].parameters['lockstep_update_rate'] == rate


def test_lockstep_with_hardware_that_does_not_answer_once_a_period_is_rejected(stack):
    text = stack.error_of(FILE, with_tag(stack.folder), 'lockstep:=order')
    assert 'without trigger_joint_command_threshold -1' in text
    text = stack.error_of(
        FILE, with_tags(stack.folder, tag('arm'), tag('hand')), 'lockstep:=order'
    )
    assert 'launch argument lockstep: each of the 2' in text and 'one tag' in text


def test_lockstep_that_yaml_reads_as_false_is_off(stack):
    file = stack.folder / 'simulator.yaml'
    file.write_text('simulator:\n  ros__parameters:\n    lockstep: off\n')
    assert stack.launch(FILE, f'params_file:={file}')['simulator']


@pytest.mark.parametrize('package', sorted(PACKAGES))
def test_a_missing_package_is_named(stack, package):
    stack.packages.remove(package)
    text = stack.error_of(FILE)
    assert package in text and f'ros-$ROS_DISTRO-{package.replace("_", "-")}' in text.replace(
        'jazzy', '$ROS_DISTRO'
    )


@pytest.mark.parametrize(
    'kind, package',
    [
        # Names in the plugin descriptions of ros2_controllers 4.42.1 that begin otherwise.
        ('position_controllers/GripperActionController', 'gripper_controllers'),
        ('effort_controllers/GripperActionController', 'gripper_controllers'),
        (
            'parallel_gripper_action_controller/GripperActionController',
            'parallel_gripper_controller',
        ),
    ],
)
def test_a_gripper_controller_is_looked_for_in_its_own_package(stack, kind, package):
    file = stack.folder / 'controllers.yaml'
    content = {'controller_manager': {'ros__parameters': {'gripper': {'type': kind}}}}
    file.write_text(yaml.safe_dump(content))
    words = f'controllers_file:={file}', 'controllers:=gripper', 'inactive_controllers:=none'
    assert f'package {package} is not installed' in stack.error_of(FILE, *words)
    stack.packages.add(package)
    assert stack.launch(FILE, *words)['spawner'].arguments[0] == 'gripper'


@pytest.mark.parametrize(
    'words, part',
    [
        (['controllers:=flying_controller'], 'declares no flying_controller; it has joint_state'),
        (['inactive_controllers:=flying_controller'], 'launch argument inactive_controllers: '),
        (['clock:=false'], 'clock'),
        (['urdf:=topic'], 'needs the robot description'),
        (['controllers_file:=nothing.yaml'], 'cannot read'),
        (['namespace:=2nd'], 'no part may start with a digit'),
        (['frame_prefix:=left'], 'end with /'),
    ],
)
def test_invalid_arguments_are_rejected(stack, words, part):
    assert part in stack.error_of(FILE, *words)
