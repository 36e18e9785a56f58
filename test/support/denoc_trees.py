# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Trees of hinges and sliders with their `Textbook`, for DeNOC, which supports no other joints.

They are random ones and real robots, with branches and gears; all have rotors, gravity in a
general direction, and forces on links.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from rbd_ros.model import load_urdf
from support import example_robots, layout, random_trees
from support.textbook import Textbook, without_mimics
from support.textbook_trees import GRAVITY, Tree

SIMPLE = random_trees.SIMPLE_TYPES
KINDS = {  # arguments of random_trees.tree
    'one joint': {'seed': 11, 'bodies': 1, 'types': SIMPLE},
    'chain': {'seed': 12, 'bodies': 6, 'types': SIMPLE, 'branching': 0.0},
    'another chain': {'seed': 13, 'bodies': 5, 'types': SIMPLE, 'branching': 0.0},
    'sliders': {'seed': 14, 'bodies': 4, 'types': ('prismatic',), 'branching': 0.0},
    'branches': {'seed': 15, 'bodies': 7, 'types': SIMPLE, 'branching': 0.6},
    'welded links': {'seed': 16, 'bodies': 7, 'types': (*SIMPLE, 'fixed'), 'branching': 0.5},
}
URDF = Path(__file__).resolve().parents[2] / 'urdf'
OWN = ('stanford_arm', 'planar_3r')
REAL = ('ur5_robot', 'panda')
FREE = (*KINDS, *OWN, 'ur5_robot')
GEARED = ('chain, gears', 'branches, gears', 'panda')

every_free_simple_tree = pytest.mark.parametrize('name', FREE)
every_simple_tree = pytest.mark.parametrize('name', (*FREE, *GEARED))


@lru_cache(maxsize=None)
def simple_tree(name):
    """Return the tree of `FREE` or `GEARED`."""
    if name in OWN:
        text = (URDF / f'{name}.urdf').read_text(encoding='utf-8')
    elif name in REAL:
        text = example_robots.path(name).read_text(encoding='utf-8')
    else:
        kind, _, gears = name.partition(', ')
        text = random_trees.tree(**KINDS[kind], mimics=2 if gears else 0)
    rng = np.random.default_rng(8)
    joints = sorted(layout.read(text, False).types)
    armature = {joint: rng.uniform(0.1, 0.9) for joint in joints}
    model = load_urdf(text, False, GRAVITY, armature=armature)
    assert bool(model.couplings) == (name in GEARED)
    book = Textbook(text, False, GRAVITY, armature)
    ungeared = Textbook(without_mimics(text), False, GRAVITY, armature)
    links = [link for link in book.layout.links if link in model.links]
    forces = {link: rng.uniform(-9.0, 9.0, 6) for link in {links[0], links[1], links[-1]}}
    return Tree(model, book, ungeared, forces)


def placed_at_centers(tree, q):
    """Return the rotation, center of mass in base coordinates and its Jacobian of each body.

    The result is by body number. By the textbook, a body is the composite of links fixed to one
    another.
    """
    at = tree.ungeared.kinematics(q)
    found = {}
    for i, body in tree.model.outward():
        members = [x for x, link in tree.model.links.items() if link.body == i]
        R, p, J = at[body.name]
        mass, first = 0.0, np.zeros(3)
        for x in members:
            if x in tree.ungeared.inertials:
                m, center, _ = tree.ungeared.inertials[x]
                Rx, px, _ = at[x]
                mass, first = mass + m, first + m * (px + Rx @ center)
        C = first / mass if mass else p
        found[i] = (R, C, np.vstack([J[:3], J[3:] - np.cross(C - p, J[:3], axis=0)]))
    return found
