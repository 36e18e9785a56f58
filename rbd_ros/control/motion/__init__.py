# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Desired motions: trajectories, their interpolation, and transitions without a jump."""
