# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Random models: seeded, general, of the requested shape, and valid for all functions."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros import Robot
from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.textbook.models.random_models import random_chain, random_tree
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial


def parents(model):
    return [body.parent for body in model.bodies]


@pytest.mark.seed('AE10', kind='full')
@pytest.mark.parametrize('joints', [0, 1, 2, 7, 40])
def test_chain_is_unbranched_and_seeded(joints):
    model = random_chain(joints, seed=5)
    assert parents(model) == list(range(joints))
    assert (model.nq, model.nv, len(model.bodies)) == (joints, joints, joints)
    assert random_chain(joints, seed=5) == model
    assert random_chain(joints + 1, seed=5).bodies[:joints] == model.bodies
    if joints:
        assert random_chain(joints, seed=6).bodies[0] != model.bodies[0]


@pytest.mark.seed('AE10', kind='full')
def test_tree_has_the_given_branching():
    assert parents(random_tree(7, 2)) == [0, 1, 1, 2, 2, 3, 3]
    assert parents(random_tree(8, 3)) == [0, 1, 1, 1, 2, 2, 2, 3]
    assert parents(random_tree(6, 100)) == [0, 1, 1, 1, 1, 1]
    chain, tree = random_chain(9, 3), random_tree(9, 1.5, 3)
    children = np.bincount(parents(tree), minlength=10)[1:]
    assert set(children) == {0, 1, 2}
    assert 1.3 < np.mean(children[children > 0][:-1]) < 1.7
    for one, other in zip(chain.bodies, tree.bodies):
        assert (one.joint, one.tree_transform, one.inertia) == (
            other.joint,
            other.tree_transform,
            other.inertia,
        )


@pytest.mark.seed('AE10', kind='full')
@pytest.mark.parametrize('model', [random_chain(9, 1), random_tree(9, 1.5, 2)])
def test_parameters_are_general_and_physical(model):
    """Nothing is zero that would save an operation, and inertias are those of bodies."""
    for body in model.bodies:
        X, axis = body.tree_transform, np.array(body.joint.axis)
        assert np.all(np.abs([*np.ravel(X.E), *X.r, *axis]) > 1e-6)
        assert_allclose(np.linalg.norm(axis), 1.0, rtol=1e-15)
        E = np.array(X.E)
        assert_allclose(E @ E.T, np.eye(3), atol=1e-15)
        assert np.linalg.det(E) > 0
        assert np.all(np.linalg.eigvalsh(body.inertia.matrix().astype(float)) > 0)
        _, _, about_center = body.inertia.mass_center()
        a, b, c = np.linalg.eigvalsh(np.array(about_center, dtype=float))
        assert a > 0 and a + b >= c
        assert np.all(np.abs(body.inertia.parameters()) > 1e-6)


@pytest.mark.seed('AE10', kind='full')
@pytest.mark.parametrize('model', [random_chain(12, 1), random_tree(12, 2, 2)])
def test_a_random_model_is_a_robot(model):
    robot, rng = Robot(model), np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    tau = robot.inverse_dynamics(q, v, a)
    assert_allclose(
        tau, rnea_spatial(model, q.tolist(), v.tolist(), a.tolist()), rtol=1e-10, atol=1e-10
    )
    assert_allclose(aba(model, q.tolist(), v.tolist(), tau.tolist()), a, atol=1e-8)
    assert np.linalg.eigvalsh(robot.mass_matrix(q)).min() > 0


@pytest.mark.parametrize(
    'make', [lambda: random_chain(-1), lambda: random_tree(3, 0.9), lambda: random_tree(3, np.nan)]
)
def test_a_malformed_tree_is_rejected(make):
    with pytest.raises(ValueError, match='got'):
        make()
