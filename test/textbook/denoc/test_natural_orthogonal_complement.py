# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The natural orthogonal complement against Jacobians of the textbook, and its factors."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.denoc_trees import (
    every_free_simple_tree,
    every_simple_tree,
    placed_at_centers,
    simple_tree,
)
from support.dense import skew
from support.textbook_trees import check, run

from rbd_ros import Robot
from rbd_ros.textbook.denoc.links import along_base, links_of
from rbd_ros.textbook.denoc.natural_orthogonal_complement import (
    constraint_wrenches,
    decoupled_complement,
    decoupled_complement_rate,
    natural_orthogonal_complement,
    twist_rates,
    twists,
)


def stacked(vectors):
    """Return the twists or wrenches by body number as one vector, (6n,)."""
    return np.array([x for i in sorted(vectors) if i for pair in vectors[i] for x in pair], float)


def jacobians(tree, q):
    """Return the stacked Jacobians of the centers of mass, (6n, n), of all joints of the tree."""
    return np.vstack([J for _, _, J in placed_at_centers(tree, q).values()])


def dense_factors(tree, q):
    return [np.array(x, dtype=float) for x in decoupled_complement(tree.model, q.tolist())]


@pytest.mark.seed('DN04', kind='full')
@every_simple_tree
def test_complement_stacks_the_jacobians_of_the_centers_of_mass(name):
    """The function has those of the tree's joints, the declared algorithm of independent ones."""
    tree = simple_tree(name)
    n = len(tree.model.bodies)
    for q, v, _ in tree.ungeared_states:
        expected = jacobians(tree, q)
        Nl, Nd = dense_factors(tree, q)
        check('NOC', name, Nl @ Nd, expected)
        columns = natural_orthogonal_complement(tree.model, q.tolist())
        N = np.vstack([np.array([[*t.w, *t.v] for t in columns[i]], float).T for i in columns])
        check('NOC', name, N, expected)
        t = twists(tree.model, along_base(tree.model, links_of(tree.model, q.tolist())), v)
        assert_allclose(stacked(t), expected @ v, atol=1e-13)
    for q, v, _ in tree.states:
        N = run(natural_orthogonal_complement, tree.model, q=q)
        assert N.shape == (n, 6, tree.model.nv)
        tree_q = np.array(tree.model.tree_position(q.tolist()))
        tree_v = np.array(tree.model.tree_velocity(v.tolist()))
        assert_allclose((N @ v).ravel(), jacobians(tree, tree_q) @ tree_v, atol=1e-13)


@pytest.mark.seed('DN04')
@every_simple_tree
def test_complement_is_decoupled(name):
    """N_l is block lower triangular with unit blocks on its diagonal, N_d block diagonal."""
    tree = simple_tree(name)
    Nl, Nd = dense_factors(tree, tree.ungeared_states[0].q)
    n = len(tree.model.bodies)
    for i in range(n):
        for j in range(n):
            block = Nl[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
            if i == j:
                assert np.array_equal(block, np.eye(6))
            else:
                assert block.any() == (j + 1 in tree.model.support(i + 1))
                assert not Nd[6 * i : 6 * i + 6, j].any()


@every_simple_tree
def test_rate_of_the_complement_is_its_derivative(name):
    """Ndot = Ndot_l N_d + N_l Ndot_d, the textbook's Jacobians by complex steps."""
    tree = simple_tree(name)
    for q, v, _ in tree.ungeared_states:
        Nl, Nd = dense_factors(tree, q)
        rates = decoupled_complement_rate(tree.model, q.tolist(), v.tolist())
        Nl_rate, Nd_rate = (np.array(x, dtype=float) for x in rates)
        expected = tree.ungeared.rate(lambda q: jacobians(tree, q), q, v)
        check('rate of NOC', name, Nl_rate @ Nd + Nl @ Nd_rate, expected)


@every_simple_tree
def test_twist_rates_are_derivatives_of_twists(name):
    tree = simple_tree(name)
    for q, v, a in tree.ungeared_states:
        links = along_base(tree.model, links_of(tree.model, q.tolist()))
        t = twists(tree.model, links, v.tolist())
        found = stacked(twist_rates(tree.model, links, t, v.tolist(), a.tolist()))
        rate = tree.ungeared.rate(lambda q: jacobians(tree, q), q, v)
        check('twist rates', name, found, jacobians(tree, q) @ a + rate @ v)


@pytest.mark.seed('DN05', kind='full')
@every_simple_tree
def test_complement_eliminates_the_constraint_wrench(name):
    """N^T w^I = 0 at forces that the textbook finds for the motion, and at no others."""
    tree = simple_tree(name)
    for q, v, a in tree.ungeared_states:
        tau = tree.ungeared.inverse_dynamics(q, v, a, tree.forces)
        arguments = (tree.model, q.tolist(), v.tolist(), a.tolist())
        w = stacked(constraint_wrenches(*arguments, tau.tolist(), tree.forces_on_bodies))
        scale = max(1.0, np.abs(w).max())
        assert_allclose(jacobians(tree, q).T @ w, 0.0, atol=1e-13 * scale)
        other = tau + 1.0
        w = stacked(constraint_wrenches(*arguments, other.tolist(), tree.forces_on_bodies))
        assert_allclose(jacobians(tree, q).T @ w, -1.0, atol=1e-13 * scale)


@pytest.mark.seed('DN05')
@every_free_simple_tree
def test_constraint_wrench_does_no_work_at_the_joints(name):
    """Summed over the subtree, about its center: M tdot + Mdot t - w^E minus the motor's."""
    tree = simple_tree(name)
    q, v, a = tree.ungeared_states[0]
    tau = tree.ungeared.inverse_dynamics(q, v, a, tree.forces)
    w = constraint_wrenches(
        tree.model, q.tolist(), v.tolist(), a.tolist(), tau.tolist(), tree.forces_on_bodies
    )
    places = placed_at_centers(tree, q)
    for i, body in tree.model.outward():
        C = places[i][1]
        total = np.zeros(6)
        for k in tree.model.subtree(i):
            n, f = np.array(w[k].n, float), np.array(w[k].f, float)
            total += np.r_[n + np.cross(places[k][1] - C, f), f]
        J = places[i][2][:, body.v.start]
        assert abs(total @ J) < 1e-12 * max(1.0, np.abs(total).max())


@pytest.mark.seed('DN05')
@every_simple_tree
def test_projection_leaves_the_equations_of_motion(name):
    """N^T (M Ndot + Mdot N) qd + N^T M N qdd = N^T w^E + tau, all by dense matrices (eq 20)."""
    tree = simple_tree(name)
    q, v, a = tree.ungeared_states[0]
    links = along_base(tree.model, links_of(tree.model, q.tolist()))
    Nl, Nd = dense_factors(tree, q)
    rates = decoupled_complement_rate(tree.model, q.tolist(), v.tolist())
    N, Ndot = Nl @ Nd, np.array(rates.Nl) @ Nd + Nl @ np.array(rates.Nd)
    n = len(tree.model.bodies)
    M, Mdot, t = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n)), (N @ v).reshape(n, 6)
    for i, link in links.items():
        I, at = np.zeros((3, 3)), 6 * (i - 1)
        I[np.tril_indices(3)] = link.I
        I += np.tril(I, -1).T
        M[at : at + 3, at : at + 3] = I
        M[at + 3 : at + 6, at + 3 : at + 6] = link.mass * np.eye(3)
        Mdot[at : at + 3, at : at + 3] = skew(t[i - 1, :3]) @ I
    rotors = np.array([body.armature for body in tree.model.bodies])
    inertia = N.T @ M @ N + np.diag(rotors)
    rotors_in_book = np.diag(tree.ungeared.rotors)
    expected = tree.ungeared.mass_matrix(q) - rotors_in_book + np.diag(rotors)
    check('NOC inertia', name, inertia, expected)
    check(
        'NOC bias',
        name,
        N.T @ (M @ Ndot + Mdot @ N) @ v,
        tree.ungeared.coriolis_force(q, v),
        1e-12,
    )


@every_simple_tree
def test_compiled_complement_agrees_with_the_algorithm(name):
    tree = simple_tree(name)
    robot = Robot(tree.model)
    q = np.array([state.q for state in tree.states])
    many = robot.denoc.complement(q)
    for state, found in zip(tree.states, many):
        expected = run(natural_orthogonal_complement, tree.model, q=state.q)
        assert_allclose(found, expected, atol=1e-14)
        assert_allclose(robot.denoc.complement(state.q), expected, atol=1e-14)
