# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the node trajectory_feedforward.

ros2 launch rbd_ros trajectory_feedforward.launch.py urdf:=/path/to/robot.urdf
"""

from rbd_ros.launching import node_launch_description


def generate_launch_description():
    """Return the description: arguments and the node."""
    return node_launch_description('trajectory_feedforward')
