# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Measurements of the nodes by benchmark/ros.py, one kind per file.

`loops.py`: latency and processor time at 1 kHz; `endurance.py`: many messages; `real_time.py`:
deadlines of the simulator; `start.py`: time to the first torque. `processes.py` starts all
processes.
"""
