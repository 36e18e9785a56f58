# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The Coriolis matrix against link Jacobians and the Christoffel symbols of the mass matrix."""

import numpy as np
import pytest
from support.textbook_trees import check, every_chain, every_tree, named_tree, run, unrelated

from rbd_ros.algorithms.inverse_dynamics.coriolis import coriolis_matrix


@pytest.mark.seed('BL04')
@every_tree
def test_matrix_is_the_sum_over_link_jacobians(name):
    """J_t^T m Jdot_t + J_R^T (I Jdot_R + B J_R)."""
    tree = named_tree(name)
    for q, v, _ in tree.states:
        C = run(coriolis_matrix, tree.model, q=q, v=v)
        check('coriolis matrix', name, C, tree.book.coriolis_matrix(q, v))


@pytest.mark.seed('ID02', 'BL02')
@every_chain
def test_matrix_holds_the_christoffel_symbols(name):
    """C_ij = sum_k (dH_ij/dq_k + dH_ik/dq_j - dH_jk/dq_i) v_k / 2 where v is the rate of q."""
    tree = named_tree(name)
    for q, v, _ in tree.states:
        C = run(coriolis_matrix, tree.model, q=q, v=v)
        check('Christoffel symbols', name, C, tree.book.christoffel_matrix(q, v))


@pytest.mark.seed('ID06', 'BL02')
@every_tree
def test_matrix_times_velocity_is_the_velocity_product_force(name):
    tree = named_tree(name)
    for q, v, _ in tree.states:
        C = run(coriolis_matrix, tree.model, q=q, v=v)
        check('C v', name, C @ v, tree.book.coriolis_force(q, v))


@pytest.mark.seed('BL02')
@every_tree
def test_matrix_and_its_transpose_are_the_rate_of_the_mass_matrix(name):
    tree = named_tree(name)
    for q, v, _ in tree.states:
        C = run(coriolis_matrix, tree.model, q=q, v=v)
        check('C + C^T', name, C + C.T, tree.book.rate(tree.book.mass_matrix, q, v))


@every_tree
def test_text_counts_every_joint_of_the_tree(name):
    """The function ignores gears; elements between branches are exactly zero."""
    tree = named_tree(name)
    for q, v, _ in tree.ungeared_states:
        C = np.array(coriolis_matrix(tree.model, q.tolist(), v.tolist()))
        check('coriolis matrix', name, C, tree.ungeared.coriolis_matrix(q, v))
        assert not np.any(C[unrelated(tree.model)])
