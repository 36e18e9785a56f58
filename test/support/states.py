# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots with every kind of joint, and random states of them, for tests of single algorithms."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest

from rbd_ros import Robot
from rbd_ros.model.joints import RackAndPinion, Spherical
from support import random_trees
from support.all_joints import tree

ROBOTS = {
    'rack and pinion': lambda: Robot(tree(RackAndPinion.examples()[0], 1)),
    'spherical': lambda: Robot(tree(Spherical.examples()[0], 2)),
    'gears': lambda: Robot.from_urdf(random_trees.mixed_tree(4)),
    'floating base': lambda: Robot.from_urdf(random_trees.tree(6, bodies=4), floating_base=True),
}


class State(NamedTuple):
    """Position, velocity and acceleration."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


@lru_cache(maxsize=None)
def named_robot(name):
    """Return the robot of `ROBOTS`, compiled once for all tests of a process."""
    return ROBOTS[name]()


def random_state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return State(robot.random_configuration(rng), *rng.normal(size=(2, robot.nv)))


def random_forces(robot, seed=0):
    """Return a spatial force on the first and the last link."""
    rng = np.random.default_rng(seed)
    return {robot.link_names[k]: rng.normal(size=6) for k in (1, -1)}


every_robot = pytest.mark.parametrize('name', ROBOTS)
