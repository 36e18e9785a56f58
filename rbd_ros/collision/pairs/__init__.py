# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact of two shapes in closed form, a file for each family; narrow_phase.py chooses."""
