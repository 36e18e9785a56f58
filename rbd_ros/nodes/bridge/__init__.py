# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parts of the node udp_bridge: a torque node whose control law is a program behind UDP."""
