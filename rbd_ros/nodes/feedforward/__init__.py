# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parts of the node trajectory_feedforward, declared in nodes/trajectory_feedforward.py."""
