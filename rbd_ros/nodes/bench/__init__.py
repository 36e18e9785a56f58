# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The bench over ROS: it tests a controller that runs as a process and uses topics."""
