# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Conversion between messages and arrays, joint names, markers of a model, short texts."""
