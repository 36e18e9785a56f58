# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertia matrix by screws as a declared algorithm, and in kernels."""

import pytest
from support.definitions import definition_of
from support.denoc_counts import general_chain
from support.hinge_trees import every_tree_of_hinges, tree_of_hinges
from support.textbook_trees import check, run

from rbd_ros import Robot
from rbd_ros.algorithms.hinge_trees.hinge_mass_matrix import hinge_mass_matrix
from rbd_ros.textbook.models.random_models import random_chain


@pytest.mark.seed('AE07', kind='part')
@every_tree_of_hinges
def test_matrix_is_the_textbooks(name):
    tree = tree_of_hinges(name)
    function = Robot(tree.model).kernel('mass_matrix').function
    for q, _, _ in tree.states:
        expected = tree.book.mass_matrix(q)
        check('hinge_mass_matrix', name, run(hinge_mass_matrix, tree.model, q=q), expected)
        check('mass_matrix', name, function(q), expected)


@pytest.mark.seed('AE07', kind='part')
@pytest.mark.parametrize('chain', [general_chain, random_chain])
@pytest.mark.parametrize('n', range(2, 13))
def test_kernels_of_chains_take_no_more_operations_than_are_printed(chain, n):
    """Book table 10.1: 10n^2 + 22n - 32 and 6n^2 + 37n - 43."""
    count = definition_of(chain(n), 'mass_matrix').program().count
    found = count.multiplications + count.divisions + count.additions
    assert found <= 16 * n**2 + 59 * n - 75
