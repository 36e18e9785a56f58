# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Articulated-body assembly: handle equations and divide and conquer (book ch. 7)."""
