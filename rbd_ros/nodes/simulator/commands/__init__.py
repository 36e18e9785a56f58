# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Commands to the simulated robot: messages, brakes, wrenches, conflicting publishers."""
