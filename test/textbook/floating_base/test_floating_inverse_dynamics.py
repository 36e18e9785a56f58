# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Floating-base inverse dynamics against a textbook's equation of motion."""

import numpy as np
import pytest
from support.floating_trees import every_floating_tree, floating_tree, tolerance
from support.textbook_trees import check, run

from rbd_ros import Robot
from rbd_ros.textbook.floating_base.floating_inverse_dynamics import floating_inverse_dynamics


@pytest.mark.seed('FB06', kind='full')
@pytest.mark.parametrize('loaded', [True, False], ids=['forces', 'no forces'])
@every_floating_tree
def test_the_base_yields_and_the_joints_move_as_commanded(name, loaded):
    """Elimination of a0 from the first six rows of H a + C = tau, which has no force there."""
    tree = floating_tree(name)
    forces = tree.forces if loaded else {}
    for q, v, a in tree.states:
        a0, tau = run(
            floating_inverse_dynamics, tree.model, q=q, v=v, qdd=a[6:],
            external_forces=tree.forces_on_bodies if loaded else None,
        )  # fmt: skip
        H = tree.book.mass_matrix(q)
        bias = tree.book.inverse_dynamics(q, v, 0 * v, forces)
        expected = np.linalg.solve(H[:6, :6], -bias[:6] - H[:6, 6:] @ a[6:])
        bound = tolerance(tree, q)
        check('a0', name, a0, expected, bound)
        check('tau', name, tau, H[6:, :6] @ expected + H[6:, 6:] @ a[6:] + bias[6:], bound)


@pytest.mark.seed('FB06')
def test_it_is_the_inverse_of_forward_dynamics():
    tree = floating_tree('rolling branches, gears')
    robot, (q, v, tau) = Robot(tree.model), tree.states[0]
    tau = tau[6:]
    forward = robot.floating_base.forward_dynamics(q, v, tau, tree.forces)
    back = robot.floating_base.inverse_dynamics(q, v, forward.qdd, tree.forces)
    check('tau', 'there and back', back.tau, tau, 1e-10)
    check('a0', 'there and back', back.a0, forward.a0, 1e-10)


@pytest.mark.seed('FB06')
def test_it_is_hybrid_dynamics_with_the_force_on_the_base_known():
    tree = floating_tree('branches')
    robot, (q, v, a) = Robot(tree.model), tree.states[1]
    known = np.concatenate([np.zeros(6), a[6:]])
    hybrid = robot.hybrid.dynamics(q, v, known, ['floating_base'], tree.forces)
    ours = robot.floating_base.inverse_dynamics(q, v, a[6:], tree.forces)
    check('a0', 'hybrid', ours.a0, hybrid.a[:6], 1e-10)
    check('tau', 'hybrid', ours.tau, hybrid.tau[6:], 1e-10)
