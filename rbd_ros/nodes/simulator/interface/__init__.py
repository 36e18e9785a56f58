# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Interface of the simulator node: its parameters, topics, services and actions."""
