# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start an arm beside a peg that stands in a hole with 0.1 mm play.

ros2 launch rbd_ros peg_world.launch.py rviz:=false
"""

from rbd_ros.launching import example_launch_description


def generate_launch_description():
    """Return the description: arguments, nodes and processes."""
    return example_launch_description('peg_world')
