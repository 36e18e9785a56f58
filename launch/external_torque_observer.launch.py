# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the observer of external torques.

ros2 launch rbd_ros external_torque_observer.launch.py urdf:=/path/robot.urdf wrench_frame:=tool0
"""

from rbd_ros.launching import node_launch_description


def generate_launch_description():
    """Return the description: arguments and the node."""
    return node_launch_description('external_torque_observer')
