# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shapes that can touch each other, and their tables for compiled loops."""
