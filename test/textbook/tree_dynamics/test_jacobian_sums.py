# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sums over links of products of Jacobians, against the recursive algorithms and the textbook."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.dense import skew
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import check, every_tree, named_tree, run, unrelated

from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inverse_dynamics.coriolis import coriolis_matrix
from rbd_ros.textbook.models.random_models import random_chain
from rbd_ros.textbook.tree_dynamics.jacobian_sums import (
    coriolis_matrix_from_jacobians,
    link_jacobians,
    mass_matrix_from_jacobians,
)


@pytest.mark.seed('BL03', kind='full')
@every_tree
def test_mass_matrix_is_the_composite_rigid_body_algorithm(name):
    tree = named_tree(name)
    for q, _, _ in tree.states:
        H = run(mass_matrix_from_jacobians, tree.model, q=q)
        check('mass_matrix_from_jacobians', name, H, tree.book.mass_matrix(q))
    for q, _, _ in tree.ungeared_states:
        H = np.array(mass_matrix_from_jacobians(tree.model, q.tolist()))
        check('mass_matrix_from_jacobians', name, H, np.array(crba(tree.model, q.tolist())))
        assert not np.any(H[unrelated(tree.model)])


@pytest.mark.seed('BL04', kind='full')
@every_tree
def test_coriolis_matrix_gives_the_bias_and_half_the_rate_of_the_mass_matrix(name):
    """C v is the velocity-product force, and C + C^T = dH/dt: dH/dt - 2 C is skew-symmetric."""
    tree = named_tree(name)
    for q, v, _ in tree.states:
        C = run(coriolis_matrix_from_jacobians, tree.model, q=q, v=v)
        check('C v', name, C @ v, tree.book.coriolis_force(q, v))
        check('C + C^T', name, C + C.T, tree.book.rate(tree.book.mass_matrix, q, v))


@pytest.mark.seed('BL04', kind='part')
@every_tree
def test_text_counts_every_joint_of_the_tree(name):
    tree = named_tree(name)
    for q, v, _ in tree.ungeared_states:
        args = (tree.model, q.tolist(), v.tolist())
        C = np.array(coriolis_matrix_from_jacobians(*args))
        check('C v', name, C @ v, tree.ungeared.coriolis_force(q, v))
        assert not np.any(C[unrelated(tree.model)])


@pytest.mark.seed('BL04', kind='part')
@pytest.mark.parametrize(('hinges', 'differ'), [(2, False), (3, True), (6, True)])
def test_it_is_not_the_matrix_of_the_christoffel_symbols(hinges, differ, rng):
    """They differ by tr(I) / 2 J_R^T (w x) J_R, a triple product: three axes make it."""
    model = random_chain(hinges)
    q, v = rng.uniform(-3, 3, (2, hinges)).tolist()
    C = np.array(coriolis_matrix_from_jacobians(model, q, v))
    other = np.array(coriolis_matrix(model, q, v))
    assert_allclose(C @ v, other @ v, rtol=0, atol=1e-12)
    assert (np.abs(C - other).max() > 1e-3 * np.abs(C).max()) == differ
    difference = np.zeros_like(C)
    for link in link_jacobians(model, q, v):
        J = np.transpose(link.R)
        n = J.shape[1]
        difference[:n, :n] += np.trace(link.I) / 2 * J.T @ skew(J @ v[:n]) @ J
    assert_allclose(other - C, difference, rtol=0, atol=1e-12)


@pytest.mark.seed('BL03', 'BL04', kind='full')
@every_robot
def test_kernels_are_mass_matrix_and_velocity_products(name):
    robot = named_robot(name)
    q, v, _ = random_state(robot)
    expected = robot.mass_matrix(q)
    H = robot.kernel('mass_matrix_from_jacobians').function(q)
    assert_allclose(H, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    C = robot.kernel('coriolis_matrix_from_jacobians').function(q, v)
    bias = robot.bias_force(q, v) - robot.gravity_torque(q)
    assert_allclose(C @ v, bias, rtol=0, atol=1e-9)
