# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A controller under test that a launch file starts, and that uses ROS."""

from __future__ import annotations

from typing import Tuple

from rbd_ros.hil.controllers.command_controller import CommandController
from rbd_ros.hil.scenario.controller_entry import Controller


class LaunchController(CommandController):
    """A launch file and its arguments."""

    example = 'my_package my_controller.launch.py'
    key = 'launch'

    def command(self, controller: Controller) -> Tuple[str, ...]:
        """Return the start command."""
        return 'ros2', 'launch', *controller.words


KIND = LaunchController()
