# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Coefficients of the equation of motion of a floating base against those of a textbook."""

import numpy as np
import pytest
from support import random_trees
from support.floating_trees import every_floating_tree, every_free_floating_tree, floating_tree
from support.textbook_trees import check, run, unrelated

from rbd_ros import Robot
from rbd_ros.textbook.floating_base.floating_equations import floating_equations_of_motion


def equations(tree, q, v, forces=True):
    given = tree.forces_on_bodies if forces else None
    return run(floating_equations_of_motion, tree.model, q=q, v=v, external_forces=given)


@pytest.mark.seed('FB02', 'FB05', kind='full')
@every_floating_tree
def test_matrix_and_bias_are_those_of_the_textbook(name):
    """Its first six DoFs are the base's; rotors stand at the joints alone."""
    tree = floating_tree(name)
    for q, v, _ in tree.states:
        I0c, F, H, p0c, C = equations(tree, q, v)
        matrix = np.block([[I0c, F], [F.T, H]])
        check('[[I0c, F], [F^T, H]]', name, matrix, tree.book.mass_matrix(q))
        bias = tree.book.inverse_dynamics(q, v, 0 * v, tree.forces)
        check('[p0c; C]', name, np.concatenate([p0c, C]), bias)


@pytest.mark.seed('FB02')
@every_floating_tree
def test_the_matrix_is_exactly_symmetric_and_positive_definite(name):
    tree = floating_tree(name)
    for q, v, _ in tree.states:
        I0c, F, H, _, _ = equations(tree, q, v, forces=False)
        assert np.array_equal(I0c, I0c.T) and np.array_equal(H, H.T)
        assert np.linalg.eigvalsh(np.block([[I0c, F], [F.T, H]])).min() > 0.0


@pytest.mark.seed('FB02')
@every_floating_tree
def test_the_inertia_of_the_whole_is_rigid(name):
    """Total mass, first moment, and nothing where a rigid body has nothing."""
    tree = floating_tree(name)
    for q, v, _ in tree.states:
        I0c = equations(tree, q, v, forces=False)[0]
        mass = sum(link.inertia.mass for link in tree.model.links.values())
        check('mass', name, I0c[3:, 3:], mass * np.eye(3))
        R, p, _ = tree.book.kinematics(q)[tree.book.layout.links[0]]
        h = mass * R.T @ (tree.book.center(q) - p)
        check('h x', name, I0c[:3, 3:], np.cross(np.eye(3), h))


@pytest.mark.seed('FB05')
@every_free_floating_tree
def test_joints_of_different_branches_are_not_coupled(name):
    """As in the tree with a joint of six DoFs, but for the base, which couples none of H."""
    tree = floating_tree(name)
    q, v, _ = tree.states[0]
    H = equations(tree, q, v)[2]
    apart = unrelated(tree.model)[6:, 6:]
    assert apart.any() and not H[apart].any()


@pytest.mark.seed('FB05')
def test_methods_of_the_robot_agree():
    tree = floating_tree('branches')
    robot = Robot(tree.model)
    q, v, _ = (np.array(x) for x in zip(*tree.states))
    found = robot.floating_base.equations_of_motion(q, v, tree.forces)
    for k, (position, velocity) in enumerate(zip(q, v)):
        for name, ours, expected in zip(found._fields, found, equations(tree, position, velocity)):
            check(name, 'batch', ours[k], expected, 1e-12)


def test_a_body_by_itself_has_equations_without_joints():
    robot = Robot.from_urdf(random_trees.chain([{'type': 'floating', 'mass': 2.0}]))
    floating, (q, v) = robot.floating_base, (robot.neutral(), np.zeros(6))
    found = floating.equations_of_motion(q, v)
    assert found.F.shape == (6, 0) and found.H.shape == (0, 0) and found.C.shape == (0,)
    np.testing.assert_allclose(found.I0c, np.diag([0.0, 0.0, 0.0, 2.0, 2.0, 2.0]))
    np.testing.assert_allclose(found.p0c, [0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * 9.81])
    assert floating.momentum(q, v).T == 0.0
