# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rate of the state against the textbook's equations, floats and machine code."""

import numpy as np
import pytest
from support.errors import relative_error
from support.states import every_robot, named_robot, random_forces, random_state
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros.textbook.tree_dynamics.state_rate import state_rate


@pytest.mark.seed('SV22', kind='full')
@every_tree
def test_rate_of_the_state_is_that_of_textbooks(name):
    """[Q(q) v; H^-1 (tau - C)], with more positions than velocities where a base floats."""
    tree = named_tree(name)
    for q, v, tau in tree.states:
        q_rate, a = run(
            state_rate, tree.model, q=q, v=v, tau=tau, external_forces=tree.forces_on_bodies
        )
        assert (len(q_rate), len(a)) == (tree.book.layout.nq, tree.book.layout.nv)
        check('q_rate', name, q_rate, tree.book.layout.position_rates(q, v))
        # solves with H, whose condition number is below 1e3 here
        expected = tree.book.forward_dynamics(q, v, tau, tree.forces)
        check('acceleration', name, a, expected, 1e-11)


@pytest.mark.seed('SV22')
@every_robot
def test_compiled_state_rate_is_its_parts(name):
    robot = named_robot(name)
    q, v, tau = random_state(robot)
    forces = random_forces(robot)
    kernel = robot.kernel('state_rate', forces=list(forces))
    found = kernel.function(q, v, tau, *forces.values())
    assert type(found).__name__ == 'StateRate'
    expected = robot.forward_dynamics(q, v, tau, external_forces=forces)
    assert relative_error(found.a, expected) < 1e-11
    rate = robot.kernel('position_rate').function(q, v)
    assert np.abs(found.q_rate - rate).max() < 1e-14 * max(1.0, np.abs(rate).max())
