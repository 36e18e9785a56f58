# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Random trees on floating bases with their `Textbook`, for algorithms without a base joint.

They are as in `textbook_trees`, with rotors at the joints, but none between base and world.
"""

from functools import lru_cache

import numpy as np
import pytest

from rbd_ros.model import load_urdf
from support import layout, random_trees
from support.textbook import rolling_joint, Textbook, with_rolling_joint, without_mimics
from support.textbook_trees import BRANCHES, CHAIN, GRAVITY, RADIUS, Tree, with_pinion

KINDS = {  # arguments of random_trees.tree, and whether a hinge rolls
    'chain': (CHAIN, False),
    'branches': (BRANCHES, False),
    'rolling branches': (BRANCHES, True),
}
FREE = tuple(KINDS)
GEARED = ('branches, gears', 'rolling branches, gears')

every_floating_tree = pytest.mark.parametrize('name', FREE + GEARED)
every_free_floating_tree = pytest.mark.parametrize('name', FREE)


@lru_cache(maxsize=None)
def floating_tree(name):
    """Return the tree of `FREE` or `GEARED`."""
    kind, _, gears = name.partition(', ')
    arguments, rolling = KINDS[kind]
    text = random_trees.tree(**arguments, mimics=2 if gears else 0)
    rng = np.random.default_rng(9)
    armature = {joint: rng.uniform(0.1, 0.9) for joint in sorted(layout.read(text).types)}
    texts = [text, without_mimics(text)]
    model = load_urdf(text, True, GRAVITY, armature=armature)
    if rolling:
        joint = rolling_joint(text)
        texts = [with_rolling_joint(each, joint, RADIUS) for each in texts]
        model = with_pinion(model, joint)
    assert bool(model.couplings) == bool(gears)
    book, ungeared = (Textbook(each, True, GRAVITY, armature) for each in texts)
    links = [link for link in book.layout.links if link in model.links]
    welded = [link for link in links if link not in {body.name for body in model.bodies}]
    # The first link is the base
    forces = {link: rng.uniform(-9.0, 9.0, 6) for link in (links[0], links[2], links[-1], *welded)}
    return Tree(model, book, ungeared, forces)


def tolerance(tree, q):
    """Return the tolerance: rounding of H changes the solution of H a = b by cond(H) eps."""
    return max(1e-13, 4 * np.finfo(float).eps * np.linalg.cond(tree.book.mass_matrix(q)))
