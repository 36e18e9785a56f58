# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The matrix of convective inertia terms against its definition and the textbook's forces."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.denoc_trees import every_simple_tree, placed_at_centers, simple_tree
from support.dense import skew
from support.textbook_trees import check, run

from rbd_ros import Robot
from rbd_ros.textbook.denoc.convective_inertia import convective_inertia


def defined(tree, q, v):
    """Return N^T (M Ndot + Mdot N) of the textbook's Jacobians.

    Which are differentiated by steps.
    """
    N = {i: J for i, (_, _, J) in placed_at_centers(tree, q).items()}
    inertials, at = tree.ungeared.inertials, tree.ungeared.kinematics(q)
    C = np.zeros((len(v), len(v)))
    for i, _ in tree.model.outward():
        rate = tree.ungeared.rate(lambda q, i=i: placed_at_centers(tree, q)[i][2], q, v)
        J, mass, I = N[i], 0.0, np.zeros((3, 3))
        center = placed_at_centers(tree, q)[i][1]
        for x, (m, c, I_C) in inertials.items():
            if tree.model.link(x).body == i:
                R, p, _ = at[x]
                lever = skew(p + R @ c - center)
                mass, I = mass + m, I + R @ I_C @ R.T + m * lever @ lever.T
        C += J[:3].T @ (I @ rate[:3] + skew(J[:3] @ v) @ I @ J[:3]) + mass * J[3:].T @ rate[3:]
    return C


@pytest.mark.seed('DN07', kind='full')
@every_simple_tree
def test_convective_terms_give_the_bias_and_leave_a_skew_matrix(name):
    """C qd is the force of velocity products, and x^T (Idot - 2 C) x = 0 for every x."""
    tree = simple_tree(name)
    for q, v, _ in tree.states:
        C = run(convective_inertia, tree.model, q=q, v=v)
        scale = max(1.0, np.abs(C).max())
        assert_allclose(C @ v, tree.book.coriolis_force(q, v), atol=1e-13 * scale * len(v))
        S = tree.book.rate(tree.book.mass_matrix, q, v) - 2.0 * C
        assert_allclose(S + S.T, 0.0, atol=1e-13 * scale)


@pytest.mark.seed('DN07')
@every_simple_tree
def test_every_element_is_that_of_the_definition(name):
    tree = simple_tree(name)
    for q, v, _ in tree.ungeared_states:
        C = np.array(convective_inertia(tree.model, q.tolist(), v.tolist()), dtype=float)
        check('convective inertia', name, C, defined(tree, q, v), 1e-12)


@every_simple_tree
def test_compiled_matrix_agrees_with_the_algorithm(name):
    tree = simple_tree(name)
    robot = Robot(tree.model)
    q, v, _ = (np.array(x) for x in zip(*tree.states))
    for state, found in zip(tree.states, robot.denoc.convective_inertia(q, v)):
        expected = run(convective_inertia, tree.model, q=state.q, v=state.v)
        scale = max(1.0, np.abs(expected).max())
        assert_allclose(found, expected, atol=1e-13 * scale)
        one = robot.denoc.convective_inertia(state.q, state.v)
        assert_allclose(one, expected, atol=1e-13 * scale)
