# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recursive Newton-Euler algorithm against the textbook's equation of motion."""

import numpy as np
import pytest
from support.textbook_trees import check, every_chain, every_tree, named_tree, run

from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial


@pytest.mark.seed('ID04', 'BL05', 'GR03')
@pytest.mark.seed('FO02', kind='full')
@every_tree
def test_force_is_that_of_the_equation_of_motion(name):
    """H a + C + g - J^T f, with rotors and forces on links."""
    tree = named_tree(name)
    for q, v, a in tree.states:
        tau = run(rnea_spatial, tree.model, q=q, v=v, a=a, external_forces=tree.forces_on_bodies)
        check('rnea', name, tau, tree.book.inverse_dynamics(q, v, a, tree.forces))


@every_tree
def test_text_counts_every_joint_of_the_tree(name):
    """The algorithm has no gears: its arguments and results are those of the tree."""
    tree = named_tree(name)
    for state in tree.ungeared_states:
        q, v, a = (x.tolist() for x in state)
        tau = rnea_spatial(tree.model, q, v, a, tree.forces_on_bodies)
        check('rnea', name, tau, tree.ungeared.inverse_dynamics(*state, tree.forces))


@pytest.mark.seed('ID05', 'BL06')
@every_tree
def test_force_at_rest_carries_the_weight(name):
    tree = named_tree(name)
    q, zero = tree.states[0].q, np.zeros(tree.book.layout.nv)
    tau = run(rnea_spatial, tree.model, q=q, v=zero, a=zero, external_forces={})
    check('rnea at rest', name, tau, tree.book.gravity_torque(q))


@pytest.mark.seed('FO01', kind='full')
@every_chain
def test_force_is_that_of_lagranges_equations(name):
    """d/dt dT/dv - dT/dq + dV/dq from energies summed over links; no accelerations of bodies."""
    tree = named_tree(name)
    book = tree.book
    for q, v, a in tree.states:
        momentum_rate = book.mass_matrix(q) @ a + book.rate(book.mass_matrix, q, v) @ v
        slopes = [
            v @ book.rate(book.mass_matrix, q, unit) @ v / 2
            - book.rate(book.potential_energy, q, unit)
            for unit in np.eye(len(v))
        ]
        tau = run(rnea_spatial, tree.model, q=q, v=v, a=a, external_forces={})
        check('rnea', name, tau, momentum_rate - slopes)
