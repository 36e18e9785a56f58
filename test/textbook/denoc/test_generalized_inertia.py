# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The generalized inertia matrix by composite bodies against the textbook and Pinocchio."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside, random_trees
from support.denoc_trees import every_simple_tree, KINDS, placed_at_centers, simple_tree
from support.dense import inertia
from support.textbook_trees import check, run, unrelated

from rbd_ros import Robot
from rbd_ros.textbook.denoc.generalized_inertia import composite_masses, generalized_inertia
from rbd_ros.textbook.denoc.links import along_base, links_of, Twist


@pytest.mark.seed('DN06', kind='full')
@every_simple_tree
def test_inertia_matrix_is_the_sum_over_link_jacobians(name):
    tree = simple_tree(name)
    for q, _, _ in tree.states:
        H = run(generalized_inertia, tree.model, q=q)
        check('GIM', name, H, tree.book.mass_matrix(q))
        assert np.array_equal(H, H.T)
        assert np.linalg.eigvalsh(H).min() > 0.0
        assert_allclose(H, Robot(tree.model).mass_matrix(q), atol=1e-13 * np.abs(H).max())
    for q, _, _ in tree.ungeared_states:
        H = np.array(generalized_inertia(tree.model, q.tolist()))
        assert not np.any(H[unrelated(tree.model)])


@pytest.mark.seed('DN06')
@every_simple_tree
def test_composite_mass_is_that_of_all_that_a_link_carries(name):
    """Links welded together, as dense matrices about the center of the one that carries them."""
    tree = simple_tree(name)
    q = tree.ungeared_states[0].q
    at, places = tree.ungeared.kinematics(q), placed_at_centers(tree, q)
    links = along_base(tree.model, links_of(tree.model, q.tolist()))
    for i, composite in composite_masses(tree.model, links).items():
        total = np.zeros((6, 6))
        for x, (mass, center, I) in tree.ungeared.inertials.items():
            if i in tree.model.support(tree.model.link(x).body):
                R, p, _ = at[x]
                total += inertia(mass, p + R @ center - places[i][1], R @ I @ R.T)
        units = [Twist(tuple(e[:3]), tuple(e[3:])) for e in np.eye(6)]
        columns = [composite.times(e) for e in units]
        found = np.array([[*w.n, *w.f] for w in columns], float).T
        check('composite mass', name, found, total)


@pytest.mark.parametrize('kind', ['chain', 'branches'])
def test_pinocchio_agrees(kind):
    outside.load('pinocchio')
    from support.pinocchio_bridge import Bridge

    text = random_trees.tree(**KINDS[kind])
    robot, bridge = Robot.from_urdf(text), Bridge(text)
    q = robot.random_configuration(np.random.default_rng(3))
    assert_allclose(robot.denoc.mass_matrix(q), bridge.mass_matrix(q), atol=1e-12)


@every_simple_tree
def test_compiled_inertia_matrix_agrees_with_the_algorithm(name):
    tree = simple_tree(name)
    robot = Robot(tree.model)
    many = robot.denoc.mass_matrix(np.array([state.q for state in tree.states]))
    for state, found in zip(tree.states, many):
        expected = run(generalized_inertia, tree.model, q=state.q)
        out = np.empty_like(expected)
        assert robot.denoc.mass_matrix(state.q, out=out) is out
        for each in (found, out):
            assert_allclose(each, expected, atol=1e-13 * np.abs(expected).max())
