# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Screws, subspaces, moving frames and inverse inertias (book ch. 2)."""
