"""Launch description of the simulator behind ros2_control: manager, controllers, publisher."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Tuple

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from rbd_ros.bounded_files import MAX_TEXT, read_text
from rbd_ros.launching.arguments import ArgumentError, Arguments
from rbd_ros.launching.control_tags import check_node_names, controlled
from rbd_ros.launching.declarations import (
    declare_common,
    declare_parameter,
    declare_urdf,
    launch_parameters,
    node_interface,
)
from rbd_ros.launching.own_nodes import clock_remapping, SIMULATOR, start_own_node
from rbd_ros.launching.processes import (
    package_version,
    require,
    require_package,
    start_node,
)
from rbd_ros.launching.robot import launched_robot
from rbd_ros.model.bounded_yaml import load_yaml
from rbd_ros.resources import resource_path

FILE = 'ros2_control.launch.py'
MANAGER, PUBLISHER = 'controller_manager', 'robot_state_publisher'
HARDWARE = 'joint_state_topic_hardware_interface'

#: For an empty list of controllers: `ros2 launch` takes no argument without a value.
NO_CONTROLLERS = 'none'

#: How long spawners wait for the manager, and for each switch [s]: on a busy machine, each process
#: takes many seconds to start.
PATIENCE = 60
#: First versions of controller_manager whose spawner takes a timeout for a switch:
#: of ROS 2 Humble, and of Jazzy and later. Those before wait 5 s.
PATIENT_SPAWNERS = ((2, 46), (4, 21))

#: Why parameters of the simulator are refused.
STANDS = (
    'a controller manager acts when /clock goes on, which would then wait for it; call '
    '/simulator/pause once the controllers are active'
)
RUNS_AWAY = 'time would not wait for the controller manager; give a factor, such as 2'


def ros2_control_launch_description() -> LaunchDescription:
    """Launch description of a simulated robot behind ros2_control."""
    interface = node_interface(SIMULATOR)
    declared = [
        declare_urdf(),
        DeclareLaunchArgument(
            'controllers_file',
            default_value=str(resource_path('config', 'ros2_control.yaml')),
            description='YAML file with the parameters of controller_manager and controllers.',
        ),
        DeclareLaunchArgument(
            'controllers',
            default_value='joint_state_broadcaster effort_trajectory_controller',
            description='Controllers that are loaded and activated, with blanks between.',
        ),
        DeclareLaunchArgument(
            'inactive_controllers',
            default_value='position_trajectory_controller effort_controller',
            description='Controllers that are loaded, to be switched to; none: no others.',
        ),
        DeclareLaunchArgument(
            'params_file',
            default_value=str(resource_path('config', f'{SIMULATOR}.yaml')),
            description='YAML file with the parameters of the simulator; arguments that are '
            'given override it.',
        ),
        # The files of controllers name their nodes without a namespace.
        *(each for each in declare_common() if each.name != 'namespace'),
        *(declare_parameter({SIMULATOR: each}) for each in launch_parameters(interface)),
    ]
    known = [argument.name for argument in declared]

    def start(context: LaunchContext) -> List[Action]:
        return _start(context, Arguments(context, FILE, known))

    return LaunchDescription([*declared, OpaqueFunction(function=start)])


def _start(context: LaunchContext, arguments: Arguments) -> List[Action]:
    interface, clock = node_interface(SIMULATOR), arguments.clock()
    if not clock:
        raise ArgumentError('launch argument clock: ros2_control needs simulated time here')
    robot = launched_robot(
        arguments['urdf'], arguments.words('xacro_args'), arguments.paths('package_paths')
    )
    text, topics, hardware = controlled(robot, FILE)
    file = arguments.parameter_file('controllers_file')
    active, inactive = (
        [] if arguments[name] == NO_CONTROLLERS else arguments[name].split()
        for name in ('controllers', 'inactive_controllers')
    )
    check_node_names([SIMULATOR, PUBLISHER, MANAGER, *hardware, *active, *inactive])
    packages = [HARDWARE, *_packages(file, [*active, *inactive])]
    require(MANAGER, 'ros2_control_node')
    require(PUBLISHER, PUBLISHER)
    for package in packages:
        require_package(package)
    given: Dict[str, Any] = arguments.parameters(launch_parameters(interface))
    own_file = arguments.parameter_file('params_file')
    _check_simulation({**interface.defaults, **_in_file(own_file), **given})
    given.update(robot.parameters)
    if text != robot.text:
        given.update({'robot_description': text, 'robot_description_file': ''})
    time = {'use_sim_time': True}
    remappings = clock_remapping(clock)
    patience = _patience(package_version(MANAGER))
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
            parameters=[{'robot_description': text, **time}],
            remappings=remappings,
        ),
        start_node(
            context,
            MANAGER,
            'ros2_control_node',
            parameters=[file, time],
            remappings={**remappings, '~/robot_description': '/robot_description'},
            required=True,
        ),
        *(
            start_node(
                context,
                MANAGER,
                'spawner',
                arguments=[*names, '--controller-manager', f'/{MANAGER}', *patience, *options],
                must_succeed=True,
            )
            for names, options in ((active, []), (inactive, ['--inactive']))
            if names
        ),
    ]


def _patience(version: Tuple[int, ...]) -> List[str]:
    """Options by which a spawner waits long enough, and not for ever.

    :param version: of controller_manager
    """
    options = ['--controller-manager-timeout', str(PATIENCE)]
    humble, later = PATIENT_SPAWNERS
    if humble <= version < (3,) or version >= later:
        # The call of a switch must outlast the switch, or it is repeated.
        call = PATIENCE + 10
        options += ['--switch-timeout', str(PATIENCE), '--service-call-timeout', str(call)]
    return options


def _in_file(file: str) -> Dict[str, Any]:
    """Parameters that a file gives to the simulator."""
    content, found = load_yaml(read_text(file, MAX_TEXT)), {}
    for node in ('/**', SIMULATOR, f'/{SIMULATOR}'):
        found.update((content.get(node) or {}).get('ros__parameters') or {})
    return found


def _check_simulation(values: Mapping[str, Any]) -> None:
    """Refuse parameters of the simulator with which a controller manager does not cycle.

    :raises ArgumentError: naming the parameter
    """
    # YAML reads `off` as false, and so does the node.
    lockstep = values['lockstep'] or 'off'
    for name, value, is_bad, reason in (
        ('start_paused', 'true', values['start_paused'], STANDS),
        ('lockstep', lockstep, lockstep != 'off', STANDS),
        ('clock_publish_rate', '0', values['clock_publish_rate'] == 0.0, STANDS),
        ('real_time_factor', '0', values['real_time_factor'] == 0.0, RUNS_AWAY),
    ):
        if is_bad:
            raise ArgumentError(f'launch argument {name}: {FILE} cannot have {value}: {reason}')


def _packages(file: str, controllers: List[str]) -> List[str]:
    """Packages of the controllers that a file declares, each once.

    :raises ArgumentError: if it does not declare one of them
    """
    content = load_yaml(read_text(file, MAX_TEXT))
    manager = content.get(MANAGER) or content.get(f'/{MANAGER}') or {}
    declared = {
        name: value['type']
        for name, value in manager.get('ros__parameters', {}).items()
        if isinstance(value, dict) and isinstance(value.get('type'), str)
    }
    if missing := [name for name in controllers if name not in declared]:
        raise ArgumentError(
            f'launch argument controllers: {file} declares no {", ".join(missing)}; it has '
            f'{", ".join(declared) or "none"}'
        )
    return list(dict.fromkeys(declared[name].partition('/')[0] for name in controllers))
