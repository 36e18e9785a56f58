# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parts of the node gravity_compensation, composed in gravity_node.py.

Gravity from an IMU, payloads by message, hand guiding, position commands for servos. Changes of
the torque go through gravity_node.py, which the control loop calls only while one is in progress.
"""
