# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Gravity alone, and velocity products alone, against sums over links."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros.algorithms.inverse_dynamics.special_cases import (
    coriolis_torque,
    gravity_compensation,
)


@pytest.mark.seed('ID05', 'BL06', kind='full')
@every_tree
def test_weight_is_the_gradient_of_the_potential_energy(name):
    """And minus m J^T g, summed over links and at the center of mass (row BL07)."""
    tree = named_tree(name)
    for book, states, gears in (
        (tree.ungeared, tree.ungeared_states, False),
        (tree.book, tree.states, True),
    ):
        for q, v, _ in states:
            tree_q = tree.model.tree_position(q.tolist()) if gears else q.tolist()
            tau = gravity_compensation(tree.model, tree_q)
            found = np.array(tree.model.independent_force(tau) if gears else tau)
            check('gravity', name, found, book.gravity_torque(q))
            center = -book.moving_mass() * book.center_jacobian(q).T @ book.gravity
            check('gravity at the center', name, found, center)
            rate = book.rate(book.potential_energy, q, v)
            assert_allclose(found @ v, rate, rtol=1e-11)


@pytest.mark.seed('ID06', kind='full')
@every_tree
def test_velocity_products_are_quadratic_and_know_no_gravity(name):
    tree = named_tree(name)
    for q, v, _ in tree.states:
        C = run(coriolis_torque, tree.model, q=q, v=v)
        check('coriolis_torque', name, C, tree.book.coriolis_force(q, v))
        for s in (-1.0, 0.0, 3.0):
            scaled = run(coriolis_torque, tree.model, q=q, v=s * v)
            assert_allclose(scaled, s * s * C, rtol=0, atol=1e-13 * 9.0 * np.abs(C).max())
    for q, v, _ in tree.ungeared_states:
        C = coriolis_torque(tree.model, q.tolist(), v.tolist())
        check('coriolis_torque', name, C, tree.ungeared.coriolis_force(q, v))


@pytest.mark.seed('ID06', 'ID05', kind='full')
@every_robot
def test_method_is_the_bias_force_less_gravity(name):
    robot = named_robot(name)
    q, v, _ = random_state(robot)
    expected = robot.bias_force(q, v) - robot.gravity_torque(q)
    tolerance = 1e-11 * max(np.abs(robot.bias_force(q, v)).max(), 1.0)
    assert_allclose(robot.coriolis_torque(q, v), expected, rtol=0, atol=tolerance)
    rows = robot.coriolis_torque(np.tile(q, (9, 1)), v)
    assert_allclose(rows[8], expected, rtol=0, atol=tolerance)
    model = robot.model
    plain = model.independent_force(gravity_compensation(model, model.tree_position(q.tolist())))
    assert_allclose(robot.gravity_torque(q), plain, rtol=0, atol=tolerance)
