# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Planar arms of light links with a heavy tip, open and closed by loops.

They move in the x-y plane under gravity along -y.
"""

from functools import lru_cache

import numpy as np

from rbd_ros import Robot
from rbd_ros.model import LoopJoint
from support.loop_mechanisms import Bar, frame, HINGE, robot_of, unit

LINK = Bar(0.46, 1.0, 0.23, 0.018)


def weight(link, mass):
    """Return a tip that is fixed to the end of a link."""
    return (
        f'<link name="tip"><inertial><mass value="{mass}"/><inertia ixx="{1e-3 * mass}" ixy="0" '
        f'ixz="0" iyy="{1e-3 * mass}" iyz="0" izz="{1e-3 * mass}"/></inertial></link>'
        f'<joint name="fixed" type="fixed"><parent link="{link}"/><child link="tip"/>'
        f'<origin xyz="{LINK.length} 0 0"/></joint>'
    )


def arm(name, x, y=0.0):
    """Return two links on the ground."""
    return LINK.urdf('base', f'{name}1', (x, y, 0)) + LINK.urdf(
        f'{name}1', f'{name}2', (LINK.length, 0, 0)
    )


def closed(tree, *pins):
    """Return the robot with hinges between points of two of its bodies."""
    names = [body.name for body in tree.model.bodies]
    loops = [
        LoopJoint(f'pin{k}', *(frame(names.index(name) + 1, *place) for name, place in pin), HINGE)
        for k, pin in enumerate(pins)
    ]
    return Robot(tree.model.with_loops(loops))


@lru_cache(maxsize=None)
def two_links(mass):
    return robot_of(arm('a', 0.0), weight('a2', mass))


@lru_cache(maxsize=None)
def five_bar(mass):
    """Return two arms with a common tip, which is part of the first one."""
    tree = robot_of(arm('a', 0.15), weight('a2', mass), arm('b', -0.15))
    end = (LINK.length,)
    return closed(tree, (('a2', end), ('b2', end)))


@lru_cache(maxsize=None)
def parallel_arm(mass):
    """Return three arms that carry a heavy plate."""
    plate = Bar(0.0, mass, 0.0, 1e-2 * mass)
    corners = 0.7 * np.array([unit(2.0 * np.pi / 3 * k) for k in range(3)])
    tree = robot_of(
        *(arm(name, *corner) for name, corner in zip('abc', corners)),
        plate.urdf('a2', 'plate', (LINK.length, 0, 0)),
    )
    end = (LINK.length,)
    return closed(
        tree,
        (('plate', (0.15, 0.1)), ('b2', end)),
        (('plate', (0.15, -0.1)), ('c2', end)),
    )


#: Initial configurations from which they fall through the end of their reach.
STARTS = {
    'two_links': [0.5, 1.6],
    'five_bar': [0.5, 0.6, 2.3, -0.8],
    'parallel_arm': [2.6, 0.9, -2.0, -1.0, 0.9, 1.0, 0.9],
}
