# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Records of a simulation: its constants, its state, its buffers, and snapshots of them."""
