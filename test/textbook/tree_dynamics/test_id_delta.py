# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Differential inverse dynamics: a product with the inertia matrix of the textbook."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.states import every_robot, named_robot, random_forces, random_state
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros.textbook.tree_dynamics.id_delta import id_delta
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial


@pytest.mark.seed('ID10', kind='full')
@every_tree
def test_force_is_the_inertia_matrix_times_the_acceleration(name):
    tree = named_tree(name)
    for q, _, a in tree.states:
        H = tree.book.mass_matrix(q)
        check('id_delta', name, run(id_delta, tree.model, q=q, a=a), H @ a)
        for k, unit in enumerate(np.eye(len(a))):
            check('column', name, run(id_delta, tree.model, q=q, a=unit), H[:, k])


@pytest.mark.seed('ID10', kind='full')
@every_tree
def test_id_delta_is_the_part_of_inverse_dynamics_by_acceleration(name):
    """This holds for any velocities, gravity and external forces; C = ID(q, qd, 0)."""
    tree = named_tree(name)
    for q, v, a in tree.ungeared_states:
        args = (tree.model, q.tolist(), v.tolist())
        tau = rnea_spatial(*args, a.tolist(), tree.forces_on_bodies)
        C = rnea_spatial(*args, np.zeros_like(a).tolist(), tree.forces_on_bodies)
        found = np.add(id_delta(tree.model, q.tolist(), a.tolist()), C)
        check('H qdd + C', name, found, np.array(tau))
        book = tree.ungeared
        expected = book.coriolis_force(q, v) + book.gravity_torque(q)
        check('C', name, C, expected - book.external_torque(q, tree.forces))


@pytest.mark.seed('ID10', kind='full')
@every_robot
def test_kernel_is_the_mass_matrix_times_the_acceleration(name):
    robot = named_robot(name)
    q, v, a = random_state(robot)
    function = robot.kernel('id_delta').function
    expected = robot.mass_matrix(q) @ a
    assert_allclose(function(q, a), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    forces = random_forces(robot)
    total = robot.inverse_dynamics(q, v, a, forces) - robot.bias_force(q, v, forces)
    assert_allclose(function(q, a), total, rtol=0, atol=1e-9)
    rows = function(np.tile(q, (9, 1)), a)
    assert_allclose(rows, np.tile(expected, (9, 1)), rtol=0, atol=1e-12 * np.abs(expected).max())
