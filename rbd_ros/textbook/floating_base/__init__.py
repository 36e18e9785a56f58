# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of a tree whose base moves freely, without a joint that says so (book 9.3 to 9.5)."""
