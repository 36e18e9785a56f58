"""Start all: simulated robot, controller, robot_state_publisher and RViz where installed.

ros2 launch rbd_ros bringup.launch.py urdf:=/path/to/robot.urdf controller:=gravity_compensation
"""

import os
from pathlib import Path
from xml.etree import ElementTree

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from rbd_ros.resources import resource_path

CONTROLLERS = ['inverse_dynamics', 'gravity_compensation', 'none']


def generate_launch_description():
    """Describe the arguments and what is started."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'urdf',
                default_value=str(resource_path('urdf', 'six_axis_arm.urdf')),
                description='URDF file of the robot.',
            ),
            DeclareLaunchArgument(
                'controller',
                default_value=CONTROLLERS[0],
                choices=CONTROLLERS,
                description='Node that moves the simulated robot.',
            ),
            DeclareLaunchArgument(
                'namespace', default_value='', description='Namespace of all nodes and topics.'
            ),
            DeclareLaunchArgument(
                'simulator_params_file',
                default_value=str(resource_path('config', 'simulator.yaml')),
                description='YAML file with the parameters of the simulator.',
            ),
            DeclareLaunchArgument(
                'controller_params_file',
                default_value='',
                description='YAML file with the parameters of the controller. '
                'Empty: the file of rbd_ros for that controller.',
            ),
            DeclareLaunchArgument(
                'initial_positions',
                default_value='',
                description='Positions at the start, such as "[0.0, -1.57, 1.57]".',
            ),
            DeclareLaunchArgument(
                'friction_compensation',
                default_value='desired',
                choices=['desired', 'measured', 'none'],
                description='Friction that inverse_dynamics adds to its torque.',
            ),
            DeclareLaunchArgument(
                'robot_state_publisher',
                default_value='auto',
                choices=['auto', 'true', 'false'],
                description='Whether to start robot_state_publisher. auto: if it is installed.',
            ),
            DeclareLaunchArgument(
                'rviz',
                default_value='auto',
                choices=['auto', 'true', 'false'],
                description='Whether to start RViz. auto: if installed and there is a display.',
            ),
            OpaqueFunction(function=start_all),
        ]
    )


def start_all(context):
    """Make everything that was asked for."""

    def argument(name):
        return LaunchConfiguration(name).perform(context)

    urdf, controller = argument('urdf'), argument('controller')
    actions = [
        include(
            'simulator',
            urdf=urdf,
            namespace=argument('namespace'),
            params_file=argument('simulator_params_file'),
            initial_positions=argument('initial_positions'),
        )
    ]
    if controller != 'none':
        params_file = argument('controller_params_file') or str(
            resource_path('config', f'{controller}.yaml')
        )
        options = {'use_sim_time': 'true'}
        if controller == 'inverse_dynamics':
            # The simulated robot has the friction of its description, just as it says.
            options['friction_compensation'] = argument('friction_compensation')
        actions.append(
            include(
                controller,
                urdf=urdf,
                namespace=argument('namespace'),
                params_file=params_file,
                **options,
            )
        )
    if wanted(argument('robot_state_publisher'), 'robot_state_publisher'):
        actions.append(
            Node(
                package='robot_state_publisher',
                executable='robot_state_publisher',
                output='screen',
                namespace=argument('namespace'),
                parameters=[{'robot_description': Path(urdf).read_text(), 'use_sim_time': True}],
            )
        )
    else:
        actions.append(LogInfo(msg='robot_state_publisher is not started'))
    display = bool(os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY'))
    if wanted(argument('rviz'), 'rviz2', display):
        actions.append(
            Node(
                package='rviz2',
                executable='rviz2',
                namespace=argument('namespace'),
                arguments=['-d', str(resource_path('rviz', 'robot.rviz')), '-f', root_link(urdf)],
                parameters=[{'use_sim_time': True}],
            )
        )
    else:
        actions.append(LogInfo(msg='RViz is not started'))
    return actions


def include(name, **arguments):
    """Include the launch file of one node."""
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(resource_path('launch', f'{name}.launch.py'))),
        launch_arguments=arguments.items(),
    )


def wanted(answer, package, possible=True):
    """Tell whether a package is to be started; `auto` depends on whether it is there."""
    if answer != 'auto':
        return answer == 'true'
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return possible


def root_link(urdf):
    """Name of the link that is nobody's child: the frame in which RViz shows the robot."""
    robot = ElementTree.parse(urdf).getroot()
    children = {joint.find('child').get('link') for joint in robot.findall('joint')}
    return next(
        link.get('name') for link in robot.findall('link') if link.get('name') not in children
    )
