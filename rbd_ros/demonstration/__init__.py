# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The demo: a fast motion for any arm, run over ROS 2 under several laws, and its report.

It uses the public interface: nodes as processes, their default parameters, their topics.
"""
