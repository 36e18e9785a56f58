# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of the robot, of its sensors and of its messages, and their times."""
