"""Start the inverse-dynamics node.

ros2 launch rbd_ros inverse_dynamics.launch.py urdf:=/path/to/robot.urdf feedback:=computed_torque
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
import yaml

from rbd_ros.resources import resource_path

# Arguments that are parameters of the node; an empty one leaves the value of params_file.
PARAMETERS = {
    'feedforward': 'Feedforward term: inverse_dynamics, gravity or none.',
    'feedback': 'Feedback term: pd, computed_torque or none.',
    'friction_compensation': 'Friction that the torque adds: none, desired or measured.',
    'natural_frequency': 'Frequency of the closed loop from which empty gains follow [rad/s].',
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
                default_value=str(resource_path('config', 'inverse_dynamics.yaml')),
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
            executable='inverse_dynamics',
            name='inverse_dynamics',
            output='screen',
            namespace=LaunchConfiguration('namespace'),
            parameters=[LaunchConfiguration('params_file'), parameters],
            arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        )
    ]
