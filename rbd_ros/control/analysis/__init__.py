# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Analysis outside a control loop: effort margins, checks of trajectories, static poses."""
