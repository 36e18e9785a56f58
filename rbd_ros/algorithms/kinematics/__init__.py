# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Positions, velocities and accelerations of bodies and frames, Jacobians, configurations.

Book 4.2, 2.5.
"""
