# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Launch description of a simulated robot: simulator, controller, robot_state_publisher, RViz."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
import yaml

from rbd_ros.bounded_files import MAX_TEXT, read_text
from rbd_ros.launching.arguments import ArgumentError, Arguments, FALSE, TRUE
from rbd_ros.launching.declarations import (
    declare_common,
    declare_frame_prefix,
    declare_parameter,
    declare_urdf,
    node_interface,
    shared_parameters,
    with_default,
)
from rbd_ros.launching.launch_processes import (
    has_display,
    is_installed,
    log_folder,
    require,
    start_node,
)
from rbd_ros.launching.own_nodes import clock_remapping, SIMULATOR, start_own_node
from rbd_ros.launching.urdf_argument import launched_robot, LaunchedRobot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.lookup.worlds import find_world, WorldNotFoundError
from rbd_ros.model.bounded_yaml import load_yaml
from rbd_ros.model.urdf.mesh_paths import MeshPaths


class FurtherRobot(NamedTuple):
    """A robot of a world: its name, which is its namespace, and its URDF."""

    name: str
    urdf: str


def further_robots(world: str) -> List[FurtherRobot]:
    """Return the movable robots of a world with fixed bases, which torque nodes can control.

    The simulator reports other errors of the file.

    :param world: world file, as in the parameter `world`
    :raises ArgumentError: if the file does not exist, or is not a world file
    """
    try:
        path = find_world(world)
        content = load_yaml(read_text(path, MAX_TEXT), words=True)  # names stay texts
    except (WorldNotFoundError, OSError, ValueError, yaml.YAMLError) as error:
        text = ' '.join(str(error).split())
        raise ArgumentError(f'launch argument world: {text}') from None
    robots = content.get('robots') if isinstance(content, dict) else None
    found, paths = [], MeshPaths(str(path.parent), ())
    entries: Dict[Any, Any] = robots if isinstance(robots, dict) else {}
    for name, entry in entries.items():
        if not isinstance(entry, dict) or not _is_false(entry.get('static')):
            continue
        urdf = paths.resolve(str(entry.get('urdf')))
        if urdf is not None and not _is_true(entry.get('floating')):
            found.append(FurtherRobot(str(name), urdf))
    return found


def _is_true(word: Any) -> bool:
    return isinstance(word, str) and word.lower() in TRUE


def _is_false(word: Any) -> bool:
    return isinstance(word, str) and word.lower() in FALSE


FILE = 'bringup.launch.py'
CONTROLLERS = ('inverse_dynamics', 'gravity_compensation')
NO_CONTROLLER = 'none'
AUTO = 'auto'
PUBLISHER, RVIZ = 'robot_state_publisher', 'rviz2'


class Request(NamedTuple):
    """Values of the common arguments of the launch file.

    :param context: context of the launch
    :param arguments: arguments of the launch file
    :param namespace: namespace of all nodes
    :param clock: topic of simulated time, empty without it
    :param frame_prefix: prefix of the names of all frames
    """

    context: LaunchContext
    arguments: Arguments
    robot: LaunchedRobot
    namespace: str
    clock: str
    frame_prefix: str


def bringup_launch_description(
    file: str = FILE, defaults: Optional[Mapping[str, str]] = None
) -> LaunchDescription:
    """Return the launch description of simulator, controller, robot_state_publisher and RViz.

    :param file: name of the launch file
    :param defaults: default values of arguments
    """
    interfaces = {name: node_interface(name) for name in (SIMULATOR, *CONTROLLERS)}
    controllers = [interfaces[name] for name in CONTROLLERS]
    clear, ambiguous = shared_parameters(interfaces[SIMULATOR], controllers)
    declared = [
        declare_urdf(),
        *_declare_choices(),
        *declare_common(),
        *(declare_parameter(uses) for uses in clear.values()),
    ]
    known = [argument.name for argument in declared]
    for name, text in (defaults or {}).items():
        declared[known.index(name)] = with_default(declared[known.index(name)], text)

    def start(context: LaunchContext) -> List[Action]:
        _reject_ambiguous(context, ambiguous)
        request = _request(context, Arguments(context, file, known))
        started = _names_of_nodes(request.arguments)
        _reject_idle(request.arguments, clear, started)
        nodes = []
        for name in started:
            parameters = [uses[name] for uses in clear.values() if name in uses]
            nodes.append(_own_node(request, interfaces[name], parameters))
        nodes += _further_controllers(request, interfaces, clear, started)
        return [_robot_state_publisher(request), _rviz(request), *nodes]

    return LaunchDescription([*declared, OpaqueFunction(function=start)])


def _declare_choices() -> List[DeclareLaunchArgument]:
    controllers = ', '.join((*CONTROLLERS, NO_CONTROLLER))
    return [
        DeclareLaunchArgument(
            'controller',
            default_value=CONTROLLERS[0],
            description=f'Node that moves the simulated robot. One of: {controllers}.',
        ),
        declare_frame_prefix(),
        DeclareLaunchArgument(
            PUBLISHER,
            default_value=AUTO,
            description=f'Whether to start {PUBLISHER}: true, false, or auto: if it is installed.',
        ),
        DeclareLaunchArgument(
            'rviz',
            default_value=AUTO,
            description='Whether to start RViz: true, false, or auto: if it is installed and '
            'there is a display.',
        ),
        DeclareLaunchArgument(
            'simulator_params_file',
            default_value=str(resource_path('config', 'simulator.yaml')),
            description='YAML file with the parameters of the simulator; arguments that are '
            'given override it.',
        ),
        DeclareLaunchArgument(
            'controller_params_file',
            default_value='',
            description='YAML file with the parameters of the controller, also overridden by '
            'given arguments. Empty: the file of rbd_ros for that controller.',
        ),
    ]


def _request(context: LaunchContext, arguments: Arguments) -> Request:
    prefix, namespace = arguments.frame_prefix(), arguments.namespace()
    robot = launched_robot(
        arguments['urdf'], arguments.words('xacro_args'), arguments.paths('package_paths')
    )
    return Request(context, arguments, robot, namespace, arguments.clock(), prefix)


def _names_of_nodes(arguments: Arguments) -> List[str]:
    controller = arguments.choice('controller', (*CONTROLLERS, NO_CONTROLLER))
    return [SIMULATOR] if controller == NO_CONTROLLER else [SIMULATOR, controller]


def _reject_ambiguous(context: LaunchContext, ambiguous: Dict[str, dict]) -> None:
    """Reject an argument for a parameter that differs between nodes, with the cure."""
    for name in (word.partition(':=')[0] for word in context.argv):
        if name in ambiguous:
            raise ArgumentError(
                f'{name} has a different meaning for {", ".join(ambiguous[name])}; set it in '
                'simulator_params_file or controller_params_file'
            )


def _reject_idle(arguments: Arguments, clear: Dict[str, dict], started: List[str]) -> None:
    """Reject an argument of a node that is not started."""
    for name, uses in clear.items():
        if arguments[name] and not set(uses) & set(started):
            raise ArgumentError(
                f'launch argument {name} applies to {" and ".join(uses)}, which is not started, '
                f'because controller is {arguments["controller"]}'
            )


def _further_controllers(
    request: Request, interfaces: Dict[str, Any], clear: Dict[str, dict], started: List[str]
) -> List[Action]:
    """Return controllers of the movable robots of the world, if these have separate topics."""
    arguments = request.arguments
    if arguments.boolean('robot_namespaces', ('',)) != 'true' or not arguments['world']:
        return []
    nodes = []
    for robot in further_robots(arguments['world']):
        given = {'robot_description': '', 'robot_description_file': robot.urdf}
        other = request._replace(robot=LaunchedRobot(given))
        for name in started:
            if name != SIMULATOR:
                parameters = [uses[name] for uses in clear.values() if name in uses]
                nodes.append(_own_node(other, interfaces[name], parameters, robot.name))
    return nodes


def _own_node(request: Request, interface: Any, parameters: List[Any], robot: str = '') -> Action:
    arguments, name = request.arguments, interface.name
    if name == SIMULATOR:
        file = arguments.parameter_file('simulator_params_file')
    elif arguments['controller_params_file']:
        file = arguments.parameter_file('controller_params_file')
    else:
        file = str(resource_path('config', f'{name}.yaml'))
    given: Dict[str, Any] = arguments.parameters(parameters)
    given.update(request.robot.parameters)
    if request.frame_prefix and 'frame_prefix' in interface.defaults:
        given['frame_prefix'] = request.frame_prefix
    return start_own_node(
        request.context, arguments, interface, file, given, use_sim_time=True, robot=robot
    )


def _robot_state_publisher(request: Request) -> Action:
    obstacle = None if is_installed(PUBLISHER, PUBLISHER) else 'it is not installed'
    if request.robot.text is None:
        obstacle = 'it needs the robot description as a file, not from a topic'
    requested = request.arguments.boolean(PUBLISHER, (AUTO,))
    if requested == 'false' or (requested == AUTO and obstacle):
        return _not_started(PUBLISHER, requested, obstacle)
    require(PUBLISHER, PUBLISHER)
    if obstacle:
        raise ArgumentError(f'launch argument {PUBLISHER}: {obstacle}')
    parameters = {
        'robot_description': request.robot.text,
        'frame_prefix': request.frame_prefix,
        'use_sim_time': bool(request.clock),
    }
    return start_node(
        request.context,
        PUBLISHER,
        PUBLISHER,
        name=PUBLISHER,
        namespace=request.namespace,
        parameters=[parameters],
        remappings=clock_remapping(request.clock),
    )


def _has_world(arguments: Arguments) -> bool:
    """Return whether the simulator has a world, including one with rigid ground only."""
    if arguments['world']:
        return True
    rigid = arguments['ground_contact_model'] in ('', 'rigid')
    return rigid and arguments.boolean('ground', ('',)) == 'true'


def _rviz(request: Request) -> Action:
    obstacle = None if is_installed(RVIZ, RVIZ) else 'it is not installed'
    if obstacle is None and not has_display():
        obstacle = 'there is no display (DISPLAY is not set)'
    requested = request.arguments.boolean('rviz', (AUTO,))
    if requested == 'false' or (requested == AUTO and obstacle):
        return _not_started('RViz', requested, obstacle)
    require(RVIZ, RVIZ)
    if obstacle:
        raise ArgumentError(f'launch argument rviz: {obstacle}')
    root = request.robot.root_link
    fixed_frame = ['-f', request.frame_prefix + root] if root else []
    floating = request.arguments.boolean('floating_base', ('',)) == 'true'
    if floating and _has_world(request.arguments):
        fixed_frame = ['-f', 'world']  # the frame in which the simulator publishes the base
    return start_node(
        request.context,
        RVIZ,
        RVIZ,
        namespace=request.namespace,
        arguments=['-d', _rviz_configuration(request.frame_prefix), *fixed_frame],
        parameters=[{'use_sim_time': bool(request.clock)}],
        remappings=clock_remapping(request.clock),
    )


def _not_started(what: str, requested: str, obstacle: Optional[str]) -> Action:
    reason = f': {obstacle}' if requested == AUTO else ''
    return LogInfo(msg=f'{what} is not started{reason}')


def _rviz_configuration(frame_prefix: str) -> str:
    """Return the path of the RViz configuration, for frames with the prefix."""
    path = resource_path('rviz', 'robot.rviz')
    if not frame_prefix:
        return str(path)
    configuration = yaml.safe_load(path.read_text(encoding='utf-8'))
    for display in configuration['Visualization Manager']['Displays']:
        if display['Name'] == 'RobotModel':
            display['TF Prefix'] = frame_prefix.rstrip('/')
    copy = log_folder() / 'robot.rviz'
    copy.write_text(yaml.safe_dump(configuration, sort_keys=False), encoding='utf-8')
    return str(copy)
