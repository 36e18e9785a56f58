# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Building blocks of the launch files, which are a few lines each.

Errors (arguments, robot, files, missing packages) are found before any process starts. It imports
launch and launch_ros, but neither rclpy nor the compiler.
"""

from rbd_ros.launching.bringup import bringup_launch_description
from rbd_ros.launching.examples import example_launch_description
from rbd_ros.launching.ros2_control import ros2_control_launch_description
from rbd_ros.launching.single_node import node_launch_description

__all__ = [
    'bringup_launch_description',
    'example_launch_description',
    'node_launch_description',
    'ros2_control_launch_description',
]
