# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Articulated-body algorithm, and mobility in O(n) (book ch. 7)."""
