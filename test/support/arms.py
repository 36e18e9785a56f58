# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Arms for many tests: those of the package, and real ones of example-robot-data."""

from pathlib import Path

import pytest

from rbd_ros import Robot
from rbd_ros.lookup.robots import embedded_robots
from support import example_robots, outside

EMBEDDED = ('six_axis_arm', 'two_link_arm', 'planar_3r', 'stanford_arm')
REAL = ('panda', 'ur5_robot', 'xarm7', 'z1', 'so101')


def path_of(name):
    """Return the path of an arm's URDF; without the real ones, the test is skipped."""
    if name in EMBEDDED:
        return embedded_robots()[name]
    known = example_robots.paths()
    if not known:
        pytest.skip(outside.problem('example_robot_data'))
    return next(path for path in known.values() if path.stem == name)


def load(name):
    """Return an arm; see `path_of`."""
    return Robot.from_urdf(path_of(name))


def without_limits(name):
    """Return an arm with only continuous hinges."""
    text = Path(path_of(name)).read_text()
    return Robot.from_urdf(text.replace('type="revolute"', 'type="continuous"'))
