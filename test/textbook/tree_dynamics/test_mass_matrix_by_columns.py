# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertia matrix by unit accelerations, by both methods, against the textbook's."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import check, every_tree, named_tree, run, unrelated

from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.textbook.tree_dynamics.mass_matrix_by_columns import (
    columns_by_inverse_dynamics,
    columns_by_subtrees,
    mass_matrix_by_columns,
)

METHODS = (columns_by_inverse_dynamics, mass_matrix_by_columns, columns_by_subtrees)
every_method = pytest.mark.parametrize('method', METHODS, ids=lambda f: f.__name__)


@pytest.mark.seed('FM02', 'FO03', kind='full')
@every_method
@every_tree
def test_every_method_is_the_composite_rigid_body_algorithm(name, method):
    """Gravity cancels, and so do the offsets that rotors make on the diagonal."""
    tree = named_tree(name)
    for q, _, _ in tree.ungeared_states:
        H = np.array(method(tree.model, q.tolist()))
        check(method.__name__, name, H, tree.ungeared.mass_matrix(q))
        check(method.__name__, name, H, np.array(crba(tree.model, q.tolist())))
        # Gravity cancels but for rounding, and it is the size of the torques that counts.
        scale = np.abs(H).max() + np.abs(tree.ungeared.gravity_torque(q)).max()
        assert np.abs(H[unrelated(tree.model)]).max(initial=0.0) < 1e-14 * scale


@pytest.mark.seed('FM02', kind='part')
@every_tree
def test_declared_algorithm_has_the_independent_coordinates(name):
    tree = named_tree(name)
    for q, _, _ in tree.states:
        found = run(mass_matrix_by_columns, tree.model, q=q)
        check('mass_matrix_by_columns', name, found, tree.book.mass_matrix(q))


@pytest.mark.seed('FM02', kind='full')
@every_robot
def test_kernel_is_that_of_the_composite_rigid_body_algorithm(name):
    robot = named_robot(name)
    q, _, _ = random_state(robot)
    function = robot.kernel('mass_matrix_by_columns').function
    expected = robot.mass_matrix(q)
    tolerance = 1e-12 * np.abs(expected).max()
    assert_allclose(function(q), expected, rtol=0, atol=tolerance)
    assert_allclose(function(np.tile(q, (9, 1)))[8], expected, rtol=0, atol=tolerance)
