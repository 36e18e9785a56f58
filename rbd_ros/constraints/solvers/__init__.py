# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Solvers of contact problems: they see rows without their physical meaning."""
