# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The generalized Jacobian against the response of a textbook to an impulse within the robot."""

import numpy as np
import pytest
from support.floating_trees import every_floating_tree, floating_tree, tolerance
from support.textbook_trees import check, every_reference, run

from rbd_ros import Robot
from rbd_ros.textbook.floating_base.floating_jacobian import floating_jacobian


@pytest.mark.seed('FB08', kind='full')
@every_reference
@every_floating_tree
def test_an_impulse_of_the_joints_changes_velocities_by_it(name, reference):
    """H delta v = impulse, none of it on the base: links change by J_fl times the joints."""
    tree = floating_tree(name)
    links = [tree.book.layout.links[k] for k in (0, 3, -1)]
    for q, _, impulse in tree.states:
        impulse = np.concatenate([np.zeros(6), impulse[6:]])
        change = np.linalg.solve(tree.book.mass_matrix(q), impulse)
        for link in links:
            J = run(
                floating_jacobian, tree.model, q=q, frame=tree.model.frame(link),
                reference=reference,
            )  # fmt: skip
            expected = tree.book.jacobian(q, link, reference) @ change
            check('J_fl', f'{name} {reference}', J @ change[6:], expected, tolerance(tree, q))


@pytest.mark.seed('FB08')
@every_floating_tree
def test_motions_by_it_have_no_momentum(name):
    """Column by column: the base moves so that the momentum of the whole stays zero."""
    tree = floating_tree(name)
    base = tree.book.layout.links[0]
    for q, v, _ in tree.states:
        J = run(floating_jacobian, tree.model, q=q, frame=tree.model.frame(base), reference='body')
        for column, rates in zip(J.T, np.eye(len(v) - 6)):
            h = tree.book.momentum(q, np.concatenate([column, rates]))
            check('momentum', name, h, np.zeros(6), tolerance(tree, q))


@pytest.mark.seed('FB08')
def test_methods_of_the_robot_agree():
    tree = floating_tree('branches')
    robot, q = Robot(tree.model), np.array([state.q for state in tree.states])
    link = robot.link_names[-1]
    many = robot.floating_base.jacobian(q, link, 'aligned')
    out = np.empty((6, robot.nv - 6))
    for position, ours in zip(q, many):
        expected = run(
            floating_jacobian, tree.model, q=position, frame=tree.model.frame(link),
            reference='aligned',
        )  # fmt: skip
        check('J_fl', 'batch', ours, expected, 1e-12)
        assert robot.floating_base.jacobian(position, link, 'aligned', out=out) is out
        check('J_fl', 'one', out, expected, 1e-12)
    with pytest.raises(ValueError, match='unknown link'):
        robot.floating_base.jacobian(q, 'nowhere')
