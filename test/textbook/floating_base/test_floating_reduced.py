# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The equation of motion of the joints alone, against a textbook's elimination of the base."""

import numpy as np
import pytest
from support.floating_trees import every_floating_tree, floating_tree, tolerance
from support.textbook_trees import check, run

from rbd_ros import Robot
from rbd_ros.textbook.floating_base.floating_reduced import floating_reduced_equations


@pytest.mark.seed('FB03', kind='full')
@every_floating_tree
def test_accelerations_of_the_joints_are_those_of_forward_dynamics(name):
    """H_fl qdd + C_fl = tau, where the textbook's base has no force on it."""
    tree = floating_tree(name)
    for q, v, tau in tree.states:
        H, C = run(
            floating_reduced_equations, tree.model, q=q, v=v, external_forces=tree.forces_on_bodies
        )
        free = np.concatenate([np.zeros(6), tau[6:]])
        expected = tree.book.forward_dynamics(q, v, free, tree.forces)[6:]
        check('reduced', name, np.linalg.solve(H, tau[6:] - C), expected, tolerance(tree, q))


@pytest.mark.seed('FB03')
@every_floating_tree
def test_inertia_is_the_inverse_of_that_of_the_inverse(name):
    """H_fl^-1 is the block of the joints of the inverse of the whole matrix."""
    tree = floating_tree(name)
    for q, v, _ in tree.states:
        H, _ = run(floating_reduced_equations, tree.model, q=q, v=v, external_forces=None)
        expected = np.linalg.inv(np.linalg.inv(tree.book.mass_matrix(q))[6:, 6:])
        check('H_fl', name, H, expected, tolerance(tree, q))
        assert np.array_equal(H, H.T)


@pytest.mark.seed('FB03')
def test_branches_leave_no_zeros():
    tree = floating_tree('branches')
    robot, (q, v, _) = Robot(tree.model), tree.states[0]
    assert (robot.floating_base.equations_of_motion(q, v).H == 0.0).any()
    H, C = robot.floating_base.reduced_equations(q, v, tree.forces)
    assert (H != 0.0).all()
    ours = run(
        floating_reduced_equations, tree.model, q=q, v=v, external_forces=tree.forces_on_bodies
    )
    check('compiled H_fl', 'branches', H, ours[0], 1e-12)
    check('compiled C_fl', 'branches', C, ours[1], 1e-12)
