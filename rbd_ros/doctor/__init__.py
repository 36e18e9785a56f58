# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Checks of `rbd_ros doctor`: the description of a robot, the machine and the ROS graph.

urdf_lint.py checks models, machine.py this computer; graph.py checks a snapshot of a ROS graph
from graph_reading.py, and events_executor.py tests rclpy. All checks are functions that return
findings (findings.py), which the command line prints.
"""
