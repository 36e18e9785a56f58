# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Colliding bodies, for tests of impacts."""

import numpy as np

from rbd_ros.model import Body, Link, Model
from rbd_ros.model.joints import Floating
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform, RigidBodyInertia


def body(rng):
    """Return the inertia of a random body."""
    A = rng.normal(size=(3, 3))
    return RigidBodyInertia.from_mass_center(
        rng.uniform(0.5, 3.0),
        tuple(rng.normal(size=3).tolist()),
        (A @ A.T + 0.3 * np.trace(A @ A.T) * np.eye(3)).tolist(),
    )


def meeting(rng, approach=1.0):
    """Return two random bodies that approach each other at a point, along a normal."""
    I1, I2 = body(rng), body(rng)
    point, normal = rng.normal(size=(2, 3))
    n = ForceVector.at_point(tuple(normal / np.linalg.norm(normal)), tuple(point))
    v1, v2 = (MotionVector.from_array(x) for x in rng.normal(size=(2, 6)))
    if (n.dot(v2 - v1) < 0) != (approach > 0):
        v1, v2 = v2, v1
    return I1, I2, v1, v2, n


def pair(tree):
    """Return two links of the tree that are not fixed to one another."""
    names = [name for name in tree.book.layout.links if name in tree.model.links]
    first = names[1]
    return first, next(
        x for x in reversed(names) if tree.model.link(x).body != tree.model.link(first).body
    )


def free_bodies(rng):
    """Return the model of two bodies that each move freely, and their inertias."""
    inertias = [body(rng), body(rng)]
    names = ('first', 'second')
    bodies = [
        Body(name, 0, f'{name}_joint', Floating(), PluckerTransform.identity(), inertia)
        for name, inertia in zip(names, inertias)
    ]
    links = [
        Link(name, i, PluckerTransform.identity(), inertia)
        for i, (name, inertia) in enumerate(zip(names, inertias), 1)
    ]
    return Model.create('two', bodies, links), inertias
