# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loops by explicit and implicit constraints, clusters and global systems (book ch. 3, 8)."""
