# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Augmented bodies, with the masses that they carry (book 9.7)."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.model import Body, Model
from rbd_ros.model.equivalent import with_inertias_moved_inward
from rbd_ros.model.joints import Spherical
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.rotation import rpy_rotation
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

PARENTS = (0, 1, 1, 3, 3, 5)


def tree_of_balls(rng):
    """Return the bodies on ball joints, in general position."""
    bodies = []
    for i, parent in enumerate(PARENTS, start=1):
        A = rng.normal(size=(3, 3))
        inertia = RigidBodyInertia.from_mass_center(
            rng.uniform(0.5, 2.0), tuple(rng.normal(size=3).tolist()), (0.1 * A @ A.T).tolist()
        )
        E = np.transpose(rpy_rotation(*rng.uniform(-1.5, 1.5, 3))).tolist()
        X = PluckerTransform(tuple(map(tuple, E)), tuple(rng.normal(size=3).tolist()))
        bodies.append(Body(f'body{i}', parent, f'ball{i}', Spherical(), X, inertia))
    return Model.create('balls', bodies, [], gravity=(1.0, -2.0, -9.0))


def augmented(model, i):
    """Return the inertia of a body with the mass of each subtree that it carries.

    At the subtree's joint.
    """
    total = model.body(i).inertia
    for j, other in model.outward():
        if other.parent == i:
            mass = sum(model.body(k).inertia.mass for k in model.subtree(j))
            total = total + RigidBodyInertia.from_mass_center(
                mass, other.tree_transform.r, np.zeros((3, 3)).tolist()
            )
    return total


@pytest.mark.seed('DE04', kind='full')
def test_moving_masses_inward_leaves_augmented_bodies(rng):
    """A body without all mass that a ball joint does not excite is its augmented body, balanced.

    That is: with the opposite of the mass of its subtree at its own joint. Its parameters are
    constants, and the mechanism of the augmented bodies moves as the one of the bodies does.
    """
    model = tree_of_balls(rng)
    moved = with_inertias_moved_inward(model)
    for i, body in moved.outward():
        mass = sum(model.body(k).inertia.mass for k in model.subtree(i))
        own = augmented(model, i)
        assert own.mass == pytest.approx(mass)
        assert body.inertia.mass == pytest.approx(0.0, abs=1e-12)
        assert_allclose(body.inertia.h, own.h, atol=1e-12)
        assert_allclose(body.inertia.I, own.I, atol=1e-12)
    of_augmented = replace(
        model,
        bodies=tuple(
            replace(body, inertia=RigidBodyInertia(0.0, *_moments(augmented(model, i))))
            for i, body in model.outward()
        ),
    )
    for _ in range(3):
        q = rng.normal(size=model.nq).tolist()
        v, a = rng.normal(size=(2, model.nv)).tolist()
        assert_allclose(
            rnea_spatial(of_augmented, q, v, a), rnea_spatial(model, q, v, a), rtol=1e-9, atol=1e-9
        )
        assert_allclose(crba(of_augmented, q), crba(model, q), rtol=1e-9, atol=1e-9)


def _moments(inertia):
    return inertia.h, inertia.I
