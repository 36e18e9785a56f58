# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start a simulated robot: simulator, controller, and robot_state_publisher and RViz if installed.

ros2 launch rbd_ros bringup.launch.py urdf:=/path/to/robot.urdf controller:=gravity_compensation
"""

from rbd_ros.launching import bringup_launch_description


def generate_launch_description():
    """Return the description: arguments, nodes and processes."""
    return bringup_launch_description()
