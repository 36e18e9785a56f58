# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Measurements of the nodes by benchmark/ros.py, one kind in each file.

`loops.py`: time and processors at 1 kHz; `endurance.py`: many messages; `real_time.py`: whether
the simulator keeps time; `start.py`: until the first torque. `processes.py` starts them all.
"""
