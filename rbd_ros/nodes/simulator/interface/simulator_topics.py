# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Topics of the simulator."""

from __future__ import annotations

from typing import Tuple

from rbd_ros.nodes.common.declared import DESCRIPTION_TOPIC, DIAGNOSTICS_TOPIC
from rbd_ros.nodes.common.node_interface import Topic

WITH_WORLD = 'with `world` or rigid `ground`'
EACH_ROBOT = 'with parameter `robot_namespaces`, for each movable robot of the world'

SIMULATOR_TOPICS: Tuple[Topic, ...] = (
    Topic(
        'joint_states',
        'sensor_msgs/msg/JointState',
        'out',
        'Position, velocity and applied effort of all joints with one degree of freedom, except '
        'for fields that `state_fields` or the `<ros2_control>` tag leaves out; stamp in '
        'simulated time.',
    ),
    Topic(
        '/clock',
        'rosgraph_msgs/msg/Clock',
        'out',
        'Simulated time, with `clock_publish_rate` in simulated time, and after every step, '
        'pause and reset.',
        optional='unless `clock_publish_rate` is 0',
    ),
    Topic(
        'joint_commands',
        'sensor_msgs/msg/JointState',
        'in',
        'Commands by joint name, all or some joints.',
        depth=10,
    ),
    Topic(
        'effort_commands',
        'std_msgs/msg/Float64MultiArray',
        'in',
        'Efforts in the order of parameter `joints`.',
    ),
    Topic(
        'acceleration_commands',
        'std_msgs/msg/Float64MultiArray',
        'in',
        'Accelerations in the order of parameter `joints`; NaN: none for that joint.',
        optional='with parameter `acceleration_commands`',
    ),
    Topic(
        'external_wrench',
        'geometry_msgs/msg/WrenchStamped',
        'in',
        'Force and torque on the link or movable object `header.frame_id`, at its origin, in '
        'its axes.',
        depth=10,
    ),
    *(
        Topic(f'<robot>/{name}', kind, direction, text, depth=depth, optional=EACH_ROBOT)
        for name, kind, direction, text, depth in (
            (
                'joint_states',
                'sensor_msgs/msg/JointState',
                'out',
                'As `joint_states`, of that robot, by its own names of joints.',
                1,
            ),
            (
                'joint_commands',
                'sensor_msgs/msg/JointState',
                'in',
                'As `joint_commands`, for that robot.',
                10,
            ),
            (
                'effort_commands',
                'std_msgs/msg/Float64MultiArray',
                'in',
                'Efforts of all joints of that robot that can be commanded, in its order.',
                1,
            ),
            (
                'external_wrench',
                'geometry_msgs/msg/WrenchStamped',
                'in',
                'As `external_wrench`, on a link of that robot.',
                10,
            ),
        )
    ),
    Topic(
        'base_pose',
        'geometry_msgs/msg/PoseStamped',
        'out',
        'Pose of the base in the world.',
        optional='with `floating_base`',
    ),
    Topic(
        'base_twist',
        'geometry_msgs/msg/TwistStamped',
        'out',
        'Velocity of the base in the axes of its link.',
        optional='with `floating_base`',
    ),
    Topic(
        'odom',
        'nav_msgs/msg/Odometry',
        'out',
        'Pose of the base in `odom_frame`, and its velocity in the axes of its link.',
        depth=10,
        optional='with `floating_base`, where nav_msgs is installed',
    ),
    Topic(
        '<sensor>/imu',
        'sensor_msgs/msg/Imu',
        'out',
        'Orientation of the sensor in the world, angular velocity and proper acceleration in '
        'its axes.',
        depth=10,
        optional='for each sensor of `imus` and of the `<ros2_control>` tag',
    ),
    Topic(
        '<sensor>/wrench',
        'geometry_msgs/msg/WrenchStamped',
        'out',
        'Force and torque of the parent of the joint on its child, about the origin and in '
        'the axes of the child link.',
        depth=10,
        optional='for each sensor of `force_torque_sensors` and of the `<ros2_control>` tag',
    ),
    Topic(
        'joint_torques',
        'sensor_msgs/msg/JointState',
        'out',
        'As `effort`, the torque or force that each joint transmits along its degree of freedom.',
        depth=10,
        optional='with parameter `joint_torques`',
    ),
    Topic(
        '<robot>/joint_torques',
        'sensor_msgs/msg/JointState',
        'out',
        'As `joint_torques`, of that robot, by its own names of joints.',
        depth=10,
        optional=f'with `joint_torques`; {EACH_ROBOT}',
    ),
    Topic(
        '<robot>/odom',
        'nav_msgs/msg/Odometry',
        'out',
        'Pose of the base of that robot in the frame of the world, and its velocity in the '
        'axes of its link.',
        depth=10,
        optional=f'{EACH_ROBOT} whose base floats, where nav_msgs is installed',
    ),
    Topic(
        '~/object_states',
        'sensor_msgs/msg/MultiDOFJointState',
        'out',
        'Pose and velocity of all movable objects by name, in the axes of the world, and the sum '
        'of the contact wrenches of each, about its origin.',
        optional=WITH_WORLD,
    ),
    Topic(
        '/tf',
        'tf2_msgs/msg/TFMessage',
        'out',
        'Frame of a floating base in `odom_frame`, and frames of movable objects, and '
        '`odom_frame` itself, in that of the world.',
        depth=100,
        optional=(
            f'with `floating_base`, or {WITH_WORLD}; and `publish_tf`, where tf2_msgs is installed'
        ),
    ),
    Topic(
        '~/contact_wrenches',
        'geometry_msgs/msg/WrenchStamped',
        'out',
        'Sum of the contact wrenches of a link or movable object, about its origin, in its axes: '
        'a message for each that has contacts, and one of zero when they end.',
        depth=100,
        optional=WITH_WORLD,
    ),
    Topic(
        '~/contacts',
        'sensor_msgs/msg/PointCloud2',
        'out',
        'Contacts with a force, one point for each in the frame of the world, float32: x, y, z '
        '[m]; normal_x, normal_y, normal_z from the first body to the second; force_x, force_y, '
        'force_z on the second [N]; depth, the penetration [m].',
        optional=WITH_WORLD,
    ),
    Topic(
        '~/contact_markers',
        'visualization_msgs/msg/MarkerArray',
        'out',
        'Contact forces as arrows; the namespace of each names the two bodies.',
        optional=WITH_WORLD,
    ),
    Topic(
        '~/world_markers',
        'visualization_msgs/msg/MarkerArray',
        'out',
        'Shapes and colors of the static objects.',
        transient_local=True,
        optional=WITH_WORLD,
    ),
    Topic(
        '~/object_markers',
        'visualization_msgs/msg/MarkerArray',
        'out',
        'Shapes and colors of the movable objects, at their poses.',
        optional=WITH_WORLD,
    ),
    DESCRIPTION_TOPIC,
    DIAGNOSTICS_TOPIC,
)
