# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The bench over ROS: a controller under test that is a process and speaks the topics."""
