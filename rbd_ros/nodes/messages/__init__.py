# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Between messages and arrays: conversions, joint names, markers of a model, short texts."""
