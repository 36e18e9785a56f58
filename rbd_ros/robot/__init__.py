# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots from URDF: `Robot.from_urdf(...)`, its functions specialized, compiled and cached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.compiler.runtime.batches import set_threads, threads
    from rbd_ros.compiler.runtime.memory import release_memory
    from rbd_ros.robot.robot import Robot

__all__ = ['Robot', 'release_memory', 'set_threads', 'threads']

__getattr__, __dir__ = lazy_names(__name__)
