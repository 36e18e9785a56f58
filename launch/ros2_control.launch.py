# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start a simulated robot behind ros2_control: simulator, controller manager, controllers.

ros2 launch rbd_ros ros2_control.launch.py urdf:=arm.urdf controllers_file:=controllers.yaml
"""

from rbd_ros.launching import ros2_control_launch_description


def generate_launch_description():
    """Return the description: arguments, nodes and processes."""
    return ros2_control_launch_description()
