# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Trees of hinges with their `Textbook`: rotors, any direction of gravity, forces on links."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from rbd_ros.model import load_urdf
from rbd_ros.model.joints import Revolute
from rbd_ros.spatial import PluckerTransform
from rbd_ros.textbook.models.random_models import random_chain, random_tree
from support import random_trees
from support.textbook import Textbook
from support.textbook_trees import Tree

GRAVITY = (1.0, -2.0, -9.0)
SHAPES = {'chain': 0.0, 'tree': 0.5, 'star': 1.0}
TREES = [f'{shape} {seed}' for shape in SHAPES for seed in range(3)]

every_tree_of_hinges = pytest.mark.parametrize('name', TREES)


@lru_cache(maxsize=None)
def tree_of_hinges(name, rotors=True):
    """Return a tree of seven hinges, along axes of their frames or in general directions."""
    shape, seed = name.split()
    kinds = ('revolute', 'continuous')
    text = random_trees.tree(int(seed), 7, kinds, branching=SHAPES[shape])
    rng = np.random.default_rng(int(seed))
    # One hinge has no rotor.
    names = [body.joint_name for body in load_urdf(text).bodies]
    armature = {joint: rng.uniform(0.1, 0.9) for joint in names[:-1]} if rotors else {}
    model = load_urdf(text, False, GRAVITY, armature=armature)
    book = Textbook(text, False, GRAVITY, armature)
    forces = {link: rng.uniform(-9.0, 9.0, 6) for link in ('base', 'link2', 'link7')}
    return Tree(model, book, book, forces)


def two_hinges(angle, r):
    """Return two hinges about z; the second is rotated about x, with its origin at r."""
    joint = Revolute((0.0, 0.0, 1.0))
    first, second = random_chain(2).bodies
    X = PluckerTransform(PluckerTransform.rotation_x(angle).E, r)
    bodies = (
        replace(first, joint=joint, tree_transform=PluckerTransform.identity()),
        replace(second, joint=joint, tree_transform=X),
    )
    return replace(random_chain(2), bodies=bodies)


ANGLES = (0.0, 4e-15, 2e-13, 5e-12, 1e-9, 1e-6, 1e-3, 0.2, 0.32)


def nearly_parallel_tree(seed, bodies=8):
    """Return a tree of hinges with axes that are parallel, exactly or up to rounded digits.

    Some have the opposite direction; every other joint has its origin on its parent's axis, or
    near it.
    """
    rng, model = np.random.default_rng(seed), random_tree(bodies, 1.5, seed)
    made = []
    for k, body in enumerate(model.bodies):
        X = PluckerTransform.rotation_z(rng.uniform(-3.0, 3.0))
        X = PluckerTransform.rotation_x(rng.choice(ANGLES) + rng.choice([0.0, np.pi])) * X
        X = PluckerTransform.rotation_z(rng.uniform(-3.0, 3.0)) * X
        r = tuple(rng.uniform(-0.5, 0.5, 3) * ((1.0, 1.0, 1.0) if k % 2 else (0.0, 1e-14, 1.0)))
        joint = Revolute((0.0, 0.0, 1.0))
        made.append(replace(body, joint=joint, tree_transform=PluckerTransform(X.E, r)))
    return replace(model, bodies=tuple(made))
