# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""State of the simulated robot as messages: joint states, sensors, odometry, time."""
