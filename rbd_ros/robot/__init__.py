# SPDX-License-Identifier: Apache-2.0
"""Robots from URDF: `Robot.from_urdf(...)`, its functions specialized, compiled and cached."""

from rbd_ros.compiler import set_threads, threads
from rbd_ros.compiler.runtime.memory import release_memory
from rbd_ros.robot.robot import Robot

__all__ = ['Robot', 'release_memory', 'set_threads', 'threads']
