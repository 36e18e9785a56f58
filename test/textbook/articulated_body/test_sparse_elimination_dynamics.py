# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sparse elimination against dense solutions, and resulting dynamics against textbooks."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import assembled, dense, random_trees
from support.all_joints import every_joint
from support.definitions import definition_of
from support.textbook_trees import every_free_tree, named_tree

from rbd_ros.model import load_urdf
from rbd_ros.textbook.articulated_body.sparse_elimination_dynamics import (
    Node,
    solve_on_a_tree,
    sparse_elimination_dynamics,
)


@pytest.mark.seed('FO13', kind='full')
@every_free_tree
def test_accelerations_and_constraint_forces(name):
    """With rotors, S(q), floating bases, forces on links and without."""
    assembled.check_dynamics('sparse', name, named_tree(name), sparse_elimination_dynamics)


@pytest.mark.seed('FO13')
@every_joint
def test_joints_of_every_type(joint):
    assembled.check_joint(joint, sparse_elimination_dynamics)


@pytest.mark.seed('FO13', kind='full')
@assembled.every_real_robot
def test_real_robots_move_as_in_pinocchio(name, floating):
    assembled.check_robot(name, floating, 'by_sparse_elimination')


@pytest.mark.seed('FO13')
def test_a_system_on_a_tree_is_solved_like_a_dense_one():
    """Nodes of different sizes, a branch and two roots; definite of either sign by turns."""
    rng = np.random.default_rng(2)
    sizes, parents = [3, 2, 4, 2, 1], [1, 3, 3, None, None]
    at = np.cumsum([0, *sizes])
    K, right = np.zeros((at[-1], at[-1])), rng.normal(size=at[-1])
    nodes = []
    for k, (size, parent) in enumerate(zip(sizes, parents)):
        here = slice(at[k], at[k + 1])
        K[here, here] = (-1) ** k * 20.0 * dense.positive_definite(rng, size)
        link = []
        if parent is not None:
            there = slice(at[parent], at[parent + 1])
            K[here, there] = rng.normal(size=(size, sizes[parent]))
            K[there, here] = K[here, there].T
            link = K[here, there].tolist()
        nodes.append(Node(parent, K[here, here].tolist(), link, right[here].tolist()))
    found = np.concatenate(solve_on_a_tree(nodes))
    assert_allclose(found, np.linalg.solve(K, right), rtol=1e-11)


@pytest.mark.seed('FO13', kind='full')
def test_operations_grow_in_proportion_to_the_number_of_bodies():
    """Of a chain of hinges: each adds as many nodes as the one before."""

    def nodes(count):
        model = load_urdf(random_trees.chain_of_hinges(5, count))
        return len(definition_of(model, 'sparse_elimination_dynamics').program().live)

    few, some, many = (nodes(count) for count in (10, 15, 20))
    assert many - some == some - few
