# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the bridge to a program behind UDP.

ros2 launch rbd_ros udp_bridge.launch.py urdf:=/path/robot.urdf port:=9700
"""

from rbd_ros.launching import node_launch_description


def generate_launch_description():
    """Return the description: arguments and the node."""
    return node_launch_description('udp_bridge')
