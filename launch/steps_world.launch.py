# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start a quadruped on its feet before three steps.

ros2 launch rbd_ros steps_world.launch.py rviz:=false
"""

from rbd_ros.launching import example_launch_description


def generate_launch_description():
    """Return the description: arguments, nodes and processes."""
    return example_launch_description('steps_world')
