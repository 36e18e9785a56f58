# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots with kinematic loops in a simulation: how a step keeps the loops closed."""
