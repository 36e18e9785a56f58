# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sensors on a simulated robot: inertial units, force and torque sensors, joint torques."""
