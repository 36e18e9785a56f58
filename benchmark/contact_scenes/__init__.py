# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scenes of the contact benchmark, by name, with their errors."""

from __future__ import annotations

from functools import lru_cache
from typing import Dict

from contact_scenes import arms, balls, boxes, edge, quadruped
from contact_scenes.scene import by_name, Scene

#: Names of the scenes, in the order of the table.
NAMES = (
    'sliding', 'dragged', 'released', 'held', 'tipped', 'fallen', 'stack', 'tower', 'peg',
    'painleve',
    'rolling_y', 'rolling_xy', 'wheel', 'top', 'cradle', 'bouncing', 'settling', 'elastic',
    'boxes', 'anymal_energy', 'anymal_momentum', 'standing', 'lying',
    'pressing', 'pushing', 'edge', 'gripper',
)  # fmt: skip
_WITH_ROBOTS = {
    'anymal_energy', 'anymal_momentum', 'standing', 'lying', 'pressing', 'pushing',
}  # fmt: skip


@lru_cache(maxsize=None)
def _bodies() -> Dict[str, Scene]:
    return by_name([*boxes.SCENES, *balls.SCENES, *arms.SCENES, *edge.SCENES])


@lru_cache(maxsize=None)
def _robots() -> Dict[str, Scene]:
    return by_name([*quadruped.scenes(), *arms.scenes()])


def load(name: str) -> Scene:
    """Return the scene by its name.

    :raises KeyError: for an unknown name
    :raises FileNotFoundError: if its robot is not installed
    """
    return (_robots() if name in _WITH_ROBOTS else _bodies())[name]
