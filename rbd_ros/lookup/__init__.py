# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Find files by name: robots (robots.py), worlds (worlds.py), data of the package (resources.py).

It reads no robot and no world: `rbd_ros.robot` and `rbd_ros.collision` do.
"""
