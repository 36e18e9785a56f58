# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scenes of contact at scale: many bodies, and robots with many contacts, joints and limits."""

from __future__ import annotations

from typing import Tuple

import contact_scenes
from contact_scenes.scene import Scene

from scale_scenes import machines, objects

#: Boxes of the piles; the larger ones have shorter durations, on request.
PILES, LARGE_PILES = (64, 125, 216, 343), (512, 1000, 2000)
_DROPS = 8  # of a Go1, from different poses
_SCENES = {
    'dominoes': lambda: [objects.dominoes()],
    'wall5': lambda: [objects.wall(5)],
    'wall8': lambda: [objects.wall(8)],
    'mixed32': lambda: [objects.mixed(32)],
    'mixed100': lambda: [objects.mixed(100)],
    **{f'boxes{n}': lambda n=n: [objects.pile(n)] for n in (*PILES, *LARGE_PILES)},
    'casters': lambda: [machines.casters()],
    'peg': lambda: [contact_scenes.load('peg')],
    'pr2': lambda: [machines.pr2()],
    'go1_drops': lambda: [machines.go1_drop(k) for k in range(_DROPS)],
}
#: Names of the scenes, in the order of the table.
NAMES = tuple(_SCENES)
LARGE = tuple(f'boxes{n}' for n in LARGE_PILES)


def load(name: str) -> Tuple[Scene, ...]:
    """Return the scenes of a row of the table, by its name.

    :raises KeyError: for an unknown name
    :raises FileNotFoundError: if its robot is not installed
    """
    return tuple(_SCENES[name]())
