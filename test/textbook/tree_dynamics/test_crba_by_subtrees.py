# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Propagated forces of whole subtrees: the inertia matrix, and forces on the base."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import check, every_tree, named_tree, run, unrelated

from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.textbook.tree_dynamics.crba_by_subtrees import crba_by_subtrees


@pytest.mark.seed('FO04', 'FM05', kind='full')
@every_tree
def test_mass_matrix_is_the_sum_over_link_jacobians(name):
    tree = named_tree(name)
    for q, _, _ in tree.states:
        H, _ = run(crba_by_subtrees, tree.model, q=q)
        check('crba_by_subtrees', name, H, tree.book.mass_matrix(q))
        assert np.array_equal(H, H.T)


@pytest.mark.seed('FM05', kind='full')
@every_tree
def test_columns_are_the_momentum_of_unit_velocities_about_the_base(name):
    """At rest, the force on the base is the rate of momentum, so F e_k is that of velocity e_k."""
    tree = named_tree(name)
    for q, _, _ in tree.states:
        _, F = run(crba_by_subtrees, tree.model, q=q)
        expected = [tree.book.momentum(q, unit) for unit in np.eye(F.shape[1])]
        check('F', name, F, np.transpose(expected))


@pytest.mark.seed('FO04', kind='full')
@every_tree
def test_text_counts_every_joint_and_equals_the_other_order_of_loops(name):
    tree = named_tree(name)
    for q, _, _ in tree.ungeared_states:
        H = np.array(crba_by_subtrees(tree.model, q.tolist()).H)
        check('crba_by_subtrees', name, H, tree.ungeared.mass_matrix(q))
        # the operations are the same, and so is their rounding
        assert np.array_equal(H, crba(tree.model, q.tolist()))
        assert not np.any(H[unrelated(tree.model)])


@pytest.mark.seed('FO04', 'FM05', kind='full')
@every_robot
def test_kernel_gives_the_mass_matrix_and_the_momentum(name):
    robot = named_robot(name)
    q, v, _ = random_state(robot)
    H, F = robot.kernel('crba_by_subtrees').function(q)
    expected = robot.mass_matrix(q)
    assert_allclose(H, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    momentum = robot.momentum(q, v)
    assert_allclose(F @ v, momentum, rtol=0, atol=1e-12 * np.abs(F).max() * np.abs(v).max() * 10)
