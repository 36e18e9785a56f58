# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Generalized forces by composite wrenches against sums over Jacobians."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.denoc_trees import every_simple_tree, simple_tree
from support.textbook_trees import check, run

from rbd_ros import Robot
from rbd_ros.textbook.denoc.generalized_forces import generalized_forces


@pytest.mark.seed('DN08', kind='full')
@every_simple_tree
def test_forces_on_links_count_by_their_jacobians(name):
    """Sum of J^T f of external forces and of weights, which are minus the gradient of energy."""
    tree = simple_tree(name)
    for q, _, _ in tree.states:
        gravity = run(generalized_forces, tree.model, q=q, external_forces=None)
        check('weights', name, gravity, -tree.book.gravity_torque(q))
        both = run(generalized_forces, tree.model, q=q, external_forces=tree.forces_on_bodies)
        expected = tree.book.external_torque(q, tree.forces) - tree.book.gravity_torque(q)
        check('forces', name, both, expected)


@every_simple_tree
def test_compiled_forces_agree_with_the_algorithm(name):
    tree = simple_tree(name)
    robot = Robot(tree.model)
    for q, _, _ in tree.states:
        expected = run(generalized_forces, tree.model, q=q, external_forces=tree.forces_on_bodies)
        found = robot.denoc.generalized_forces(q, tree.forces)
        assert_allclose(found, expected, atol=1e-13 * max(1.0, np.abs(expected).max()))
        plain = robot.denoc.generalized_forces(np.array([q, q]))[1]
        assert_allclose(plain, -robot.gravity_torque(q), atol=1e-12)
