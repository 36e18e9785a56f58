"""Start the gravity-compensation node.

ros2 launch rbd_ros gravity_compensation.launch.py urdf:=/path/to/robot.urdf payload_link:=tool0
payload_mass:=1.2
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
import yaml

from rbd_ros.resources import resource_path

# Arguments that are parameters of the node; an empty one leaves the value of params_file.
PARAMETERS = {
    'payload_link': 'Link that carries a payload.',
    'payload_mass': 'Mass of the payload [kg].',
    'payload_com': 'Centre of mass of the payload in payload_link, such as "[0.0, 0.0, 0.05]".',
    'shutdown_command': 'Last torque when the node ends: zero, gravity or none.',
    'use_sim_time': 'Whether the clock of the node is /clock: true or false.',
}


def generate_launch_description():
    """Describe the arguments and the node."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'urdf',
                default_value=str(resource_path('urdf', 'six_axis_arm.urdf')),
                description='URDF file of the robot; empty: wait for the topic robot_description.',
            ),
            DeclareLaunchArgument(
                'params_file',
                default_value=str(resource_path('config', 'gravity_compensation.yaml')),
                description='YAML file with the parameters of the node.',
            ),
            DeclareLaunchArgument(
                'namespace', default_value='', description='Namespace of the node and its topics.'
            ),
            DeclareLaunchArgument(
                'log_level',
                default_value='info',
                description='Least severity that is logged.',
                choices=['debug', 'info', 'warn', 'error', 'fatal'],
            ),
            *(
                DeclareLaunchArgument(
                    name, default_value='', description=f'{text} Empty: as params_file says.'
                )
                for name, text in PARAMETERS.items()
            ),
            OpaqueFunction(function=start_node),
        ]
    )


def start_node(context):
    """Make the node, with those parameters that were given."""
    given = {name: LaunchConfiguration(name).perform(context) for name in PARAMETERS}
    parameters = {name: yaml.safe_load(text) for name, text in given.items() if text}
    parameters['robot_description_file'] = LaunchConfiguration('urdf').perform(context)
    return [
        Node(
            package='rbd_ros',
            executable='gravity_compensation',
            name='gravity_compensation',
            output='screen',
            namespace=LaunchConfiguration('namespace'),
            parameters=[LaunchConfiguration('params_file'), parameters],
            arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        )
    ]
