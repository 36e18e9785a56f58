# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of a tree with a floating base, without a joint for it (book 9.3 to 9.5)."""
