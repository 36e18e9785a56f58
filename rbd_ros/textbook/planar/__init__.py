# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Planar vectors, inertias and models, and algorithms that run on them (book 2.16)."""
