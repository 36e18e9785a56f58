# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robot control and simulation from a URDF: rigid-body dynamics as a library and as ROS 2 nodes.

The three names below are loaded on first use, so that `import rbd_ros` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.model import ModelError
    from rbd_ros.robot import Robot
    from rbd_ros.simulation import Simulator

__all__ = ['ModelError', 'Robot', 'Simulator', '__version__']

__version__ = '0.1.0'

__getattr__, __dir__ = lazy_names(__name__)
