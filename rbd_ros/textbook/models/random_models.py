# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Random models of any size: general chains and trees of revolute joints (book 10.3).

Benchmarks and tests of complexity need one mechanism for every number of joints. Nothing about
these is special: no axis is parallel to another or to an axis of a frame, no parameter is zero.
"""

from __future__ import annotations

import math
from typing import List, Tuple

import numpy as np

from rbd_ros.model.joints import Revolute
from rbd_ros.model.model import Body, Link, Model
from rbd_ros.spatial import linear3, PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.linear3 import Vector3
from rbd_ros.spatial.rotation import quaternion_to_rotation

_POINTS = 6  # masses that a random body is made of: any more than three are a general inertia


def random_chain(joints: int, seed: int = 0) -> Model:
    """Return a general unbranched chain GU(n) of revolute joints, as in the book's cost figures.

    A longer chain of the same seed begins with a shorter one.

    :param joints: number of joints and bodies n
    :param seed: seed of the parameters
    :raises ValueError: for a negative number of joints

    >>> from rbd_ros.textbook.models.random_models import random_chain
    >>> Robot(random_chain(7, seed=1)).nv
    7
    """
    return random_tree(joints, 1.0, seed)


def random_tree(joints: int, branching: float, seed: int = 0) -> Model:
    """Return a general tree of revolute joints, with `branching` children a body on average.

    Children are given out body by body, so that the depth is as small as it can be: 1 makes a
    chain, 2 a binary tree, and n or more hangs all bodies but the first on the first. A body has
    the same parameters in all trees of one seed, on any parent.

    :param joints: number of joints and bodies n
    :param branching: average number of children of a body that has any, 1 or more
    :param seed: seed of the parameters
    :raises ValueError: for a negative number of joints, or a branching below 1

    >>> from rbd_ros.textbook.models.random_models import random_tree
    >>> tree = random_tree(15, branching=2.0)
    >>> tree.parent_array.depth  # a binary tree of 15 bodies
    4
    """
    if joints < 0:
        raise ValueError(f'the number of joints must be at least 0, got {joints}')
    if not branching >= 1.0:
        raise ValueError(f'branching must be at least 1, got {branching}')
    bodies: List[Body] = []
    links = [Link('base', 0, PluckerTransform.identity(), RigidBodyInertia.zero())]
    for i, parent in enumerate(_parents(joints, branching), start=1):
        rng = np.random.default_rng((seed, i))
        joint, tree_transform, inertia = _random_body(rng)
        bodies.append(
            Body(
                name=f'link{i}',
                parent=parent,
                joint_name=f'joint{i}',
                joint=joint,
                tree_transform=tree_transform,
                inertia=inertia,
            )
        )
        links.append(Link(f'link{i}', i, PluckerTransform.identity(), inertia))
    return Model.create(f'random_{joints}_{branching:g}_{seed}', bodies, links)


def _parents(joints: int, branching: float) -> List[int]:
    """Return the parents of bodies 1, 2, ...; the base carries the first alone."""
    first = math.ceil(branching)
    return [int((i - 2 + first) // branching) if i > 1 else 0 for i in range(1, joints + 1)]


def _random_body(
    rng: np.random.Generator,
) -> Tuple[Revolute, PluckerTransform, RigidBodyInertia]:
    """Return the joint, transform from the parent and inertia of a body of some 30 cm and 2 kg."""
    x, y, z = (float(value) for value in rng.normal(size=3))
    length = math.sqrt(x * x + y * y + z * z)
    joint = Revolute((x / length, y / length, z / length))
    turn = quaternion_to_rotation([float(value) for value in rng.normal(size=4)])
    tree_transform = PluckerTransform(linear3.transpose(turn), _random_vector(rng, 0.3))
    inertia = RigidBodyInertia.zero()
    nothing = linear3.matrix3([[0.0] * 3] * 3)
    for _ in range(_POINTS):  # an inertia that some body really has
        mass = float(rng.uniform(0.1, 0.6))
        point = RigidBodyInertia.from_mass_center(mass, _random_vector(rng, 0.3), nothing)
        inertia = inertia + point
    return joint, tree_transform, inertia


def _random_vector(rng: np.random.Generator, reach: float) -> Vector3:
    """Return the vector with elements between -reach and reach, (3,)."""
    x, y, z = (float(value) for value in rng.uniform(-reach, reach, 3))
    return x, y, z
