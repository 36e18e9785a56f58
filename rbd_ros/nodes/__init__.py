# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""ROS 2 nodes, thin shells around the core: the only folder that imports rclpy and messages.

Nodes: `simulator`, `gravity_compensation`, `inverse_dynamics`, `trajectory_feedforward`,
`external_torque_observer`, `udp_bridge`. Each is a module with a `main`, also run by
`python -m rbd_ros.nodes.<name>`. Importing this package imports none of them.
"""

from rbd_ros.programs import guard_module

guard_module()
