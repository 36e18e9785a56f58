# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Cycle of the simulator node: its thread, its compiled cycle, its ports, lockstep."""
