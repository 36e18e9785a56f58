# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start a gripper around a cube that it can lift by friction.

ros2 launch rbd_ros gripper_world.launch.py rviz:=false
"""

from rbd_ros.launching import example_launch_description


def generate_launch_description():
    """Return the description: arguments, nodes and processes."""
    return example_launch_description('gripper_world')
