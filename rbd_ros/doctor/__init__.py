# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Checks of `rbd_ros doctor`: the description of a robot, the machine and the ROS graph.

urdf_lint.py knows models, machine.py this computer; graph.py judges a snapshot of a ROS graph,
which graph_reading.py takes, and events_executor.py tries rclpy. All checks are functions that
return findings (findings.py), which the command line prints.
"""
