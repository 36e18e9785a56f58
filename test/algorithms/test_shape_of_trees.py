# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Effect of number and order of bodies on cost and accuracy: operations, and cond(H)."""

import numpy as np
import pytest
from support.definitions import by_differentiation

from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.textbook.models.random_models import random_chain, random_tree


def operations(name, model):
    """Return the operations of a text for one state; a kernel is made of that with the fewest."""
    program = by_differentiation(model, name).program()
    cost = program.graph.count_of(program.live)
    return cost.multiplications + cost.additions + cost.divisions


def differences(name, order):
    """Return differences of some order of the operations for chains of 4, 8, 12, ... joints."""
    counts = [operations(name, random_chain(n)) for n in range(4, 4 * (order + 2), 4)]
    return np.diff(counts, order)[0] / counts[-1]


@pytest.mark.seed('BL13', 'ID01', kind='full')
@pytest.mark.parametrize(
    'name',
    [
        'inverse_dynamics',
        'bias_force',
        'forward_dynamics',
        'rnea',
        'rnea_absolute',
        'hinge_inverse_dynamics',
        'hinge_forward_dynamics',
    ],
)
def test_recursive_algorithms_take_operations_in_proportion_to_the_joints(name):
    """But for signs of a few of them; the bias force is what inverse dynamics gives."""
    assert abs(differences(name, 2)) < 0.005
    slope = np.log2(operations(name, random_chain(60)) / operations(name, random_chain(30)))
    assert slope == pytest.approx(1.0, abs=0.07)


@pytest.mark.seed('BL13', 'ID01', kind='full')
@pytest.mark.parametrize('name', ['mass_matrix', 'hinge_mass_matrix'])
def test_inertia_matrix_takes_operations_in_proportion_to_their_square(name):
    assert abs(differences(name, 3)) < 0.01
    assert differences(name, 2) > 0.1
    slope = np.log2(operations(name, random_chain(48)) / operations(name, random_chain(24)))
    assert 1.6 < slope < 2.0


@pytest.mark.seed('AE08', kind='part')
@pytest.mark.parametrize('name', ['mass_matrix', 'inverse_mass_matrix'])
def test_branches_save_operations(name):
    assert operations(name, random_tree(15, 2)) < 0.6 * operations(name, random_chain(15))


@pytest.mark.seed('AE05', kind='full')
@pytest.mark.parametrize('seed', range(4))
def test_branched_trees_are_better_conditioned_than_chains_of_the_same_bodies(seed, rng):
    chain, tree = random_chain(15, seed), random_tree(15, 2, seed)
    logarithms = []
    for q in rng.uniform(-3, 3, (40, 15)).tolist():
        conditions = [np.linalg.cond(np.array(crba(model, q))) for model in (chain, tree)]
        logarithms.append(np.log10(conditions))
    chains, trees = np.mean(logarithms, axis=0)
    assert chains > trees + 0.5, (chains, trees)
