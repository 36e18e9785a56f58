# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start an arm on a table with a box to push.

ros2 launch rbd_ros push_world.launch.py controller:=gravity_compensation
"""

from rbd_ros.launching import example_launch_description


def generate_launch_description():
    """Return the description: arguments, nodes and processes."""
    return example_launch_description('push_world')
