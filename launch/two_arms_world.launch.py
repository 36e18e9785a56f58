# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start two arms in one simulator, each with a node that compensates its gravity.

ros2 launch rbd_ros two_arms_world.launch.py
"""

from rbd_ros.launching import example_launch_description


def generate_launch_description():
    """Return the description: arguments, nodes and processes."""
    return example_launch_description('two_arms_world')
