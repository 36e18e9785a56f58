# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Energy and momentum against sums over links in three-dimensional vectors."""

import numpy as np
import pytest
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros.algorithms.momentum.energy import Energy, energy, momentum


@pytest.mark.seed('GR03')
@every_tree
def test_kinetic_energy_is_the_sum_over_links_and_rotors(name):
    tree = named_tree(name)
    for q, v, _ in tree.states:
        kinetic, _ = run(energy, tree.model, q=q, v=v)
        check('kinetic energy', name, kinetic, tree.book.kinetic_energy(q, v))


@every_tree
def test_potential_energy_is_the_weight_s_at_the_height_of_the_center(name):
    """It is that of moving bodies, for any direction of gravity."""
    tree = named_tree(name)
    for q, v, _ in tree.states:
        _, potential = run(energy, tree.model, q=q, v=v)
        check('potential energy', name, potential, tree.book.potential_energy(q))


def test_total_energy_is_the_sum():
    assert Energy(2.0, -5.0).total == -3.0
    assert np.array_equal(Energy(np.array([1.0, 2.0]), np.array([3.0, 5.0])).total, [4.0, 7.0])


@pytest.mark.seed('SV18', 'FB07')
@every_tree
def test_momentum_is_the_sum_over_links(name):
    """Angular about the base's origin; rotors, which are inertia of joints alone, have none."""
    tree = named_tree(name)
    for q, v, _ in tree.states:
        h = run(momentum, tree.model, q=q, v=v)
        check('momentum', name, h, tree.book.momentum(q, v))
