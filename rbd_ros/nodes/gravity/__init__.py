# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parts of the node gravity_compensation, composed in gravity_node.py.

Gravity from an IMU, payloads by message, guiding by hand, position commands for servos. What acts
on the torque goes through gravity_node.py, which the control loop calls only if something is on.
"""
