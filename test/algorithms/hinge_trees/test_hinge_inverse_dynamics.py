# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics by screws as a declared algorithm, and in kernels."""

import pytest
from support.definitions import definition_of
from support.denoc_counts import general_chain
from support.hinge_trees import every_tree_of_hinges, tree_of_hinges
from support.textbook_trees import check, run

from rbd_ros import Robot
from rbd_ros.algorithms.hinge_trees.hinge_inverse_dynamics import hinge_inverse_dynamics
from rbd_ros.textbook.models.random_models import random_chain


@pytest.mark.seed('ID08', kind='part')
@pytest.mark.parametrize('rotors', [False, True], ids=['plain', 'rotors'])
@every_tree_of_hinges
def test_force_is_that_of_the_equation_of_motion(name, rotors):
    """H a + C + g - J^T f, with rotors and forces on links and the base."""
    tree = tree_of_hinges(name, rotors)
    for q, v, a in tree.states:
        given = {'q': q, 'v': v, 'a': a, 'external_forces': tree.forces_on_bodies}
        tau = run(hinge_inverse_dynamics, tree.model, **given)
        expected = tree.book.inverse_dynamics(q, v, a, tree.forces)
        check('hinge_inverse_dynamics', name, tau, expected)


@every_tree_of_hinges
def test_kernels_compute_it_as_well(name):
    tree = tree_of_hinges(name)
    links = [link for link in tree.forces if link != 'base']
    function = Robot(tree.model).kernel('inverse_dynamics', forces=links).function
    for q, v, a in tree.states:
        found = function(q, v, a, *(tree.forces[link] for link in links))
        expected = tree.book.inverse_dynamics(q, v, a, tree.forces)
        check('inverse_dynamics', name, found, expected)


@pytest.mark.seed('DN10', kind='part')
@pytest.mark.parametrize('chain', [general_chain, random_chain])
@pytest.mark.parametrize('n', range(2, 13))
def test_kernels_of_chains_take_no_more_operations_than_are_printed(chain, n):
    """Book table 10.1: 93n - 108 and 81n - 100; the fewest that Saha 1999 lists are more."""
    count = definition_of(chain(n), 'inverse_dynamics').program().count
    found = count.multiplications + count.divisions + count.additions
    assert found <= 93 * n - 108 + 81 * n - 100
