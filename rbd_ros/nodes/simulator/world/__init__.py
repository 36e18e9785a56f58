# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""World in the simulator node: its source, its changes at run time, its markers."""
