# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of trees of revolute joints by axial screws, for kernels of arms."""
