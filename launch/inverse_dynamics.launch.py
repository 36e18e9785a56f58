# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the inverse-dynamics node.

ros2 launch rbd_ros inverse_dynamics.launch.py urdf:=/path/to/robot.urdf feedback:=computed_torque
"""

from rbd_ros.launching import node_launch_description


def generate_launch_description():
    """Return the description: arguments and the node."""
    return node_launch_description('inverse_dynamics')
