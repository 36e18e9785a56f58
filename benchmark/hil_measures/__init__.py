# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Measurements of benchmark/hil.py, one part per module."""
