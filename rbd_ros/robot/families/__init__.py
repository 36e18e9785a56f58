# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Families of a robot's special functions, one per file: `robot.hybrid`, ..."""
