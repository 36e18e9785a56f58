# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torque nodes: input -> reference -> law -> limits -> output, composed in torque_node.py.

A torque node is one module beside this folder. It declares its interface, computes settings of the
torque law from its parameters, and names the reference of the desired motion.
"""
