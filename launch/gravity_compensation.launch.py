# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the gravity-compensation node.

ros2 launch rbd_ros gravity_compensation.launch.py urdf:=/path/to/robot.urdf payload_link:=tool0
payload_mass:=1.2
"""

from rbd_ros.launching import node_launch_description


def generate_launch_description():
    """Return the description: arguments and the node."""
    return node_launch_description('gravity_compensation')
