# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""U D U^T by reverse Gaussian elimination against dense elimination and articulated inertias."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.denoc_trees import every_free_simple_tree, placed_at_centers, simple_tree
from support.dense import force_transform, motion_transform, positive_definite
from support.textbook_trees import check, run, unrelated

from rbd_ros import ModelError, Robot
from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.textbook.denoc.links import links_of
from rbd_ros.textbook.denoc.udu_decomposition import (
    reverse_elimination,
    reverse_gaussian_elimination,
    udu_decomposition,
)


def articulated_inertias(tree, q):
    """Return the inertia I^A and pivot D of each body by dense matrices, in body coordinates.

    Book 7.1.
    """
    model, at = tree.model, tree.ungeared.kinematics(q)
    IA, D = {i: b.inertia.matrix().astype(float) for i, b in model.outward()}, {}
    for i, body in model.inward():
        S = np.array(body.joint.motion_subspace(q[body.q]).columns[0].to_array(), dtype=float)
        U = IA[i] @ S
        D[i] = S @ U + body.armature
        if body.parent:
            R, p, _ = at[body.name]
            Rj, pj, _ = at[model.body(body.parent).name]
            X = motion_transform(R.T @ Rj, Rj.T @ (p - pj))
            IA[body.parent] = IA[body.parent] + X.T @ (IA[i] - np.outer(U, U) / D[i]) @ X
    return IA, D


@pytest.mark.seed('DN11', 'FO12', kind='full')
@every_free_simple_tree
def test_factors_are_those_of_the_inertia_matrix(name):
    """U is unit upper triangular, empty between branches, and U D U^T is the textbook's matrix."""
    tree = simple_tree(name)
    for q, _, _ in tree.states:
        U, D = run(udu_decomposition, tree.model, q=q)
        assert np.array_equal(U, np.triu(U)) and np.all(np.diag(U) == 1.0)
        assert not np.any(U[unrelated(tree.model)])
        H = tree.book.mass_matrix(q)
        check('UDU', name, U @ np.diag(D) @ U.T, H)
        eliminated_U, eliminated_D = reverse_gaussian_elimination(H.tolist())
        assert_allclose(U, eliminated_U, atol=1e-12 * np.abs(U).max())
        assert_allclose(D, eliminated_D, rtol=1e-11)


@pytest.mark.seed('DN11')
@every_free_simple_tree
def test_eliminated_masses_are_articulated_body_inertias(name):
    """Mhat about the center of mass is I^A about the origin, moved, and mhat the D of the ABA."""
    tree = simple_tree(name)
    for q, _, _ in tree.states:
        found = reverse_elimination(tree.model, links_of(tree.model, q.tolist()))
        IA, D = articulated_inertias(tree, q)
        at, places = tree.ungeared.kinematics(q), placed_at_centers(tree, q)
        for i, body in tree.model.outward():
            R, p, _ = at[body.name]
            r = R.T @ (places[i][1] - p)
            X, Xf = motion_transform(np.eye(3), r), force_transform(np.eye(3), r)
            expected = Xf @ IA[i] @ np.linalg.inv(X)
            matrix = np.array(found[i].mass.matrix(), dtype=float)
            assert_allclose(matrix, expected, atol=1e-12 * np.abs(expected).max())
            assert found[i].pivot == pytest.approx(D[i], rel=1e-11)


@pytest.mark.seed('FO12')
@every_free_simple_tree
def test_gain_projects_the_joint_out_of_the_articulated_body(name):
    """p^T psi = 1 - rotor / mhat: without rotors, Mhat - psihat psi^T resists no joint motion."""
    tree = simple_tree(name)
    q = tree.states[0].q
    links = links_of(tree.model, q.tolist())
    for i, one in reverse_elimination(tree.model, links).items():
        rest = 1.0 - links[i].rotor / one.pivot
        assert one.psi.power(links[i].p) == pytest.approx(rest, abs=1e-12)


@pytest.mark.seed('DN11')
@pytest.mark.parametrize('n', [1, 2, 3, 6, 12])
def test_elimination_factors_any_positive_definite_matrix(n, rng):
    I = positive_definite(rng, n)
    U, D = (np.array(x) for x in reverse_gaussian_elimination(I.tolist()))
    assert np.array_equal(U, np.triu(U)) and np.all(np.diag(U) == 1.0)
    assert_allclose(U @ np.diag(D) @ U.T, I, atol=1e-13 * np.abs(I).max())


@every_free_simple_tree
def test_compiled_factors_agree_with_the_algorithm(name):
    tree = simple_tree(name)
    robot = Robot(tree.model)
    many = robot.denoc.udu(np.array([state.q for state in tree.states]))
    for k, state in enumerate(tree.states):
        U, D = run(udu_decomposition, tree.model, q=state.q)
        one = robot.denoc.udu(state.q)
        for found in ((many.U[k], many.D[k]), one):
            assert_allclose(found[0], U, atol=1e-12 * np.abs(U).max())
            assert_allclose(found[1], D, rtol=1e-11)


def test_gears_are_rejected():
    tree = simple_tree('chain, gears')
    with pytest.raises(ModelError, match='mimic joints'):
        Robot(tree.model).denoc.udu(tree.states[0].q)


def test_a_joint_that_moves_nothing_has_no_pivot():
    model = simple_tree('one joint').model.with_armature({'joint1': 0.0})
    bare = model.with_link_inertia('link1', RigidBodyInertia.zero())
    with pytest.raises(ModelError, match='denoc_udu of .* divides by zero'):
        Robot(bare).denoc.udu([0.1])
