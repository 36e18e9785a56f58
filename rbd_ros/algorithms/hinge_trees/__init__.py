# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of trees of free revolute joints by axial screws, as kernels of arms have them."""
