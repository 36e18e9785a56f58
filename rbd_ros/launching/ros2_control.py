# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Launch description of the simulator with ros2_control: manager, controllers, publisher."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, Mapping, Tuple

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
import yaml

from rbd_ros.bounded_files import MAX_TEXT, read_text
from rbd_ros.hil.update_rate import steps_of_period
from rbd_ros.launching.arguments import ArgumentError, Arguments
from rbd_ros.launching.control_tags import (
    check_answers,
    check_fields,
    check_node_names,
    controlled,
)
from rbd_ros.launching.declarations import (
    declare_common,
    declare_frame_prefix,
    declare_parameter,
    declare_urdf,
    launch_parameters,
    node_interface,
)
from rbd_ros.launching.launch_processes import (
    log_folder,
    package_version,
    require,
    require_package,
    start_node,
)
from rbd_ros.launching.own_nodes import clock_remapping, SIMULATOR, start_own_node
from rbd_ros.launching.urdf_argument import launched_robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model.bounded_yaml import compose_yaml, load_yaml

PARAMETERS = 'ros__parameters'
#: Wildcards of rcl by their regular expressions.
WILDCARDS = {'/**': '(/[^/]+)*', '/*': '/[^/]+'}


def node_parameters(file: str, node: str) -> Dict[str, Any]:
    """Return the parameters of a node in a file.

    :param file: path of the file
    :param node: name of the node with its namespace, such as /left/simulator
    """
    found: Dict[str, Any] = {}
    for name, values in _nodes('', load_yaml(read_text(file, MAX_TEXT))):
        parts = re.split(r'(/\*\*|/\*)(?=/|$)', name)
        if re.fullmatch(''.join(WILDCARDS.get(part, re.escape(part)) for part in parts), node):
            found.update(values)
    return found


def _nodes(outer: str, content: Any) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """Yield the names of nodes, and their parameters."""
    for key, value in content.items() if isinstance(content, dict) else ():
        if key == PARAMETERS:
            yield outer, value if isinstance(value, dict) else {}
        else:
            yield from _nodes(f'{outer}/{str(key).strip("/")}', value)


def file_in_namespace(file: str, namespace: str) -> str:
    """Return the path of a parameter file with unqualified nodes moved into a namespace.

    Nodes with a namespace, or with a wildcard in their name, are unchanged.

    :param file: path of the file
    :param namespace: the namespace; empty: the given file
    """
    if not namespace:
        return file
    top = compose_yaml(read_text(file, MAX_TEXT))
    for key, value in top.value:
        name = key.value.strip('/')
        inside = value.value if isinstance(value, yaml.MappingNode) else ()
        is_node = any(inner.value == PARAMETERS for inner, _ in inside)
        if is_node and '/' not in name and '*' not in name:
            key.value = f'/{namespace.strip("/")}/{name}'
    copy = log_folder() / f'controllers_of_{namespace.strip("/").replace("/", "_")}.yaml'
    copy.write_text(yaml.serialize(top), encoding='utf-8')
    return str(copy)


FILE = 'ros2_control.launch.py'
MANAGER, PUBLISHER = 'controller_manager', 'robot_state_publisher'
HARDWARE = 'joint_state_topic_hardware_interface'
LOCKSTEP = 'order'  # the simulator waits for the manager
ADAPTIVE = 'adaptive'  # /clock is published in each cycle

#: For an empty list of controllers: `ros2 launch` accepts no empty argument.
NO_CONTROLLERS = 'none'

#: Timeout of spawners for the manager, and for each switch [s]: on a busy machine, each process
#: takes many seconds to start.
TIMEOUT = 60
#: First versions of controller_manager whose spawner has a timeout for a switch, of ROS 2 Humble,
#: and of Jazzy and later. Earlier ones wait 5 s.
SWITCH_TIMEOUT_VERSIONS = ((2, 46), (4, 21))

#: Packages of controllers with another prefix in their type.
OTHER_PACKAGES = {
    'effort_controllers/GripperActionController': 'gripper_controllers',
    'parallel_gripper_action_controller/GripperActionController': 'parallel_gripper_controller',
    'position_controllers/GripperActionController': 'gripper_controllers',
}

#: Default rate of a controller_manager [Hz].
DEFAULT_UPDATE_RATE = 100

#: Parameters of controllers for a sensor. `interface_names` contains its interfaces.
SENSOR_KEYS = ('sensor_name', 'pose_name', 'ft_sensor.name')

#: Reasons for the rejection of parameters of the simulator.
DEADLOCK = (
    'the controller manager and the simulator would wait for each other; call ~/pause of the '
    'simulator once the controllers are active'
)
BY_ORDER = 'its commands do not have the stamps of states; use order'
NOT_SYNCED = 'simulated time would not wait for the controller manager; give a factor, such as 2'


def ros2_control_launch_description() -> LaunchDescription:
    """Return the launch description of a simulated robot with ros2_control."""
    interface = node_interface(SIMULATOR)
    declared = [
        declare_urdf(),
        DeclareLaunchArgument(
            'controllers_file',
            default_value=str(resource_path('config', 'ros2_control.yaml')),
            description='YAML file with the parameters of controller_manager and controllers, in '
            'the namespace of the launch file unless their names have one.',
        ),
        DeclareLaunchArgument(
            'controllers',
            default_value='joint_state_broadcaster effort_trajectory_controller',
            description='Controllers to load and activate, separated by spaces.',
        ),
        DeclareLaunchArgument(
            'inactive_controllers',
            default_value='position_trajectory_controller effort_controller',
            description='Controllers to load but not activate; none: no controllers.',
        ),
        DeclareLaunchArgument(
            'params_file',
            default_value=str(resource_path('config', f'{SIMULATOR}.yaml')),
            description='YAML file with the parameters of the simulator; arguments that are '
            'given override it.',
        ),
        *declare_common(),
        declare_frame_prefix(),
        *(declare_parameter({SIMULATOR: each}) for each in launch_parameters(interface)),
    ]
    known = [argument.name for argument in declared]

    def start(context: LaunchContext) -> List[Action]:
        return _start(context, Arguments(context, FILE, known))

    return LaunchDescription([*declared, OpaqueFunction(function=start)])


def _start(context: LaunchContext, arguments: Arguments) -> List[Action]:
    interface, clock = node_interface(SIMULATOR), arguments.clock()
    if not clock:
        raise ArgumentError(
            'launch argument clock: this launch file needs simulated time; give a topic'
        )
    robot = launched_robot(
        arguments['urdf'], arguments.words('xacro_args'), arguments.paths('package_paths')
    )
    namespace, prefix = arguments.namespace(), arguments.frame_prefix()
    root = f'/{namespace.strip("/")}'.rstrip('/')
    text, topics, hardware, unread = controlled(robot, FILE, namespace)
    source = arguments.parameter_file('controllers_file')
    file = file_in_namespace(source, namespace)
    chosen = {
        argument: [] if arguments[argument] == NO_CONTROLLERS else arguments[argument].split()
        for argument in ('controllers', 'inactive_controllers')
    }
    active, inactive = chosen.values()
    check_node_names([SIMULATOR, PUBLISHER, MANAGER, *hardware, *active, *inactive])
    declared = _declared(file, f'{root}/{MANAGER}')
    for argument, names in chosen.items():
        if missing := [name for name in names if name not in declared]:
            raise ArgumentError(
                f'launch argument {argument}: {source} declares no {", ".join(missing)}; it has '
                f'{", ".join(declared) or "none"}'
            )
    for name in (*active, *inactive):
        _check_sensors(name, node_parameters(file, f'{root}/{name}'), unread)
    packages = [HARDWARE, *(_package(declared[name]) for name in (*active, *inactive))]
    require(MANAGER, 'ros2_control_node')
    require(PUBLISHER, PUBLISHER)
    for package in dict.fromkeys(packages):
        require_package(package)
    given: Dict[str, Any] = arguments.parameters(launch_parameters(interface))
    own_file = arguments.parameter_file('params_file')
    in_file = node_parameters(own_file, f'{root}/{SIMULATOR}')
    values = {**interface.defaults, **in_file, **given}
    _check_simulation(values)
    if values['state_fields']:
        check_fields(text, values['state_fields'])
    manager = node_parameters(file, f'{root}/{MANAGER}')
    update_rate = manager.get('update_rate', DEFAULT_UPDATE_RATE)
    if values['lockstep'] == LOCKSTEP:
        check_answers(text)
        given['lockstep_update_rate'] = update_rate
    else:
        _check_clock(values, update_rate)
    given.update(robot.parameters)
    if text != robot.text:
        given.update({'robot_description': text, 'robot_description_file': ''})
    if prefix:
        given['frame_prefix'] = prefix
    time = {'use_sim_time': True}
    remappings = clock_remapping(clock)
    timeouts = _timeout_options(package_version(MANAGER))
    return [
        start_own_node(
            context,
            arguments,
            interface,
            own_file,
            given,
            use_sim_time=False,
            remappings={'joint_commands': topics.commands, 'joint_states': topics.states},
        ),
        start_node(
            context,
            PUBLISHER,
            PUBLISHER,
            name=PUBLISHER,
            namespace=namespace,
            parameters=[{'robot_description': text, 'frame_prefix': prefix, **time}],
            remappings=remappings,
        ),
        start_node(
            context,
            MANAGER,
            'ros2_control_node',
            namespace=namespace,
            parameters=[file, time],
            remappings={**remappings, '~/robot_description': 'robot_description'},
            required=True,
        ),
        *(
            start_node(
                context,
                MANAGER,
                'spawner',
                namespace=namespace,
                arguments=[
                    *names,
                    '--controller-manager',
                    f'{root}/{MANAGER}',
                    *timeouts,
                    *options,
                ],
                must_succeed=True,
            )
            for names, options in ((active, []), (inactive, ['--inactive']))
            if names
        ),
    ]


def _timeout_options(version: Tuple[int, ...]) -> List[str]:
    """Return the options of a spawner for sufficient but finite timeouts.

    :param version: version of controller_manager
    """
    options = ['--controller-manager-timeout', str(TIMEOUT)]
    humble, later = SWITCH_TIMEOUT_VERSIONS
    if humble <= version < (3,) or version >= later:
        # The timeout of the call must exceed that of the switch, or it is repeated.
        call = TIMEOUT + 10
        options += ['--switch-timeout', str(TIMEOUT), '--service-call-timeout', str(call)]
    return options


def _check_simulation(values: Mapping[str, Any]) -> None:
    """Reject parameters of the simulator with which a controller manager does not cycle.

    :raises ArgumentError: with the parameter
    """
    # YAML reads `off` as false, as in the node.
    lockstep = values['lockstep'] or 'off'
    waits = lockstep == LOCKSTEP
    for name, value, is_bad, reason in (
        ('start_paused', 'true', values['start_paused'], DEADLOCK),
        ('lockstep', lockstep, not waits and lockstep != 'off', BY_ORDER),
        ('clock_publish_rate', '0', values['clock_publish_rate'] == 0.0, DEADLOCK),
        ('real_time_factor', '0', values['real_time_factor'] == 0.0 and not waits, NOT_SYNCED),
    ):
        if is_bad:
            raise ArgumentError(f'launch argument {name}: {FILE} cannot have {value}: {reason}')


def _check_clock(values: Mapping[str, Any], update_rate: int) -> None:
    """Reject a /clock with which the controller manager would miss cycles.

    :param update_rate: update rate of the manager [Hz]
    :raises ArgumentError: with the parameter
    """
    every, rate = values['timestep'], values['clock_publish_rate']
    is_fixed = values['clock_policy'] != ADAPTIVE
    if is_fixed:
        every = max(1.0 / rate, every)
    try:
        steps_of_period(update_rate, round(every * 1e9))
    except ValueError:
        name, cure = 'timestep', 'give another one'
        if is_fixed:
            name, cure = 'clock_publish_rate', f'give {update_rate}, or clock_policy:={ADAPTIVE}'
        raise ArgumentError(
            f'launch argument {name}: the period of update_rate {update_rate} Hz, '
            f'{1e3 / update_rate:g} ms, is not a multiple of the {every * 1e3:g} ms between two '
            f'messages of /clock, and the controller manager would miss cycles; {cure}'
        ) from None


def _check_sensors(name: str, parameters: Dict[str, Any], unread: Tuple[str, ...]) -> None:
    """Reject a controller with a sensor whose state interfaces have no value.

    :param name: name of the controller
    :param parameters: parameters of the controller
    :param unread: names of these sensors
    :raises ArgumentError: with both names
    """
    for key, value in _flat(parameters):
        names_interface = key.startswith('interface_names.')
        sensor = str(value).partition('/')[0] if names_interface else value
        if (names_interface or key in SENSOR_KEYS) and sensor in unread:
            raise ArgumentError(
                f'launch argument controllers: {name} reads the sensor {sensor}, whose state '
                f'interfaces stay NaN: {HARDWARE} reads joints only. Leave the controller out; '
                f'the simulator publishes {sensor}/imu or {sensor}/wrench itself'
            )


def _flat(parameters: Mapping[Any, Any], outer: str = '') -> Iterator[Tuple[str, Any]]:
    """Yield parameters by dotted names, as in nodes."""
    for key, value in parameters.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{outer}{key}.')
        else:
            yield f'{outer}{key}', value


def _package(kind: str) -> str:
    """Return the package of a controller, by its type.

    >>> _package('joint_trajectory_controller/JointTrajectoryController')
    'joint_trajectory_controller'
    """
    return OTHER_PACKAGES.get(kind, kind.partition('/')[0])


def _declared(file: str, manager: str) -> Dict[str, str]:
    """Return the types of the declared controllers in a file, by name.

    :param manager: name of the controller manager, with its namespace
    """
    return {
        name: value['type']
        for name, value in node_parameters(file, manager).items()
        if isinstance(value, dict) and isinstance(value.get('type'), str)
    }
