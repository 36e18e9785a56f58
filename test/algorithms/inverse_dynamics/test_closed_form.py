# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Equations of motion in closed form against derivatives of the mass matrix, and against RNEA."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import check, every_chain, every_tree, named_tree, run

from rbd_ros.algorithms.inverse_dynamics.closed_form import (
    closed_form_inverse_dynamics,
    coriolis_tensor,
)
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial


@pytest.mark.seed('ID02', 'BL02', kind='full')
@every_chain
def test_coefficients_are_the_christoffel_symbols(name):
    """C_ijk = (dH_ij/dq_k + dH_ik/dq_j - dH_jk/dq_i) / 2 where v is the rate of q."""
    tree = named_tree(name)
    for q, _, _ in tree.states:
        C = run(coriolis_tensor, tree.model, q=q)
        units = np.eye(len(C))
        expected = np.stack([tree.book.christoffel_matrix(q, e) for e in units], axis=-1)
        check('coriolis_tensor', name, C, expected)
        check('symmetry', name, np.swapaxes(C, 1, 2), C)


@pytest.mark.seed('BL02', kind='full')
@every_tree
def test_products_with_velocities_are_the_velocity_product_force(name):
    """Also where the velocity is no rate of a position; dH/dt - 2 C is skew-symmetric."""
    tree = named_tree(name)
    for q, v, _ in tree.states:
        C = run(coriolis_tensor, tree.model, q=q)
        check('C v v', name, C @ v @ v, tree.book.coriolis_force(q, v))
        matrix = C @ v
        rate = tree.book.rate(tree.book.mass_matrix, q, v)
        check('C + C^T', name, matrix + matrix.T, rate)
        check('C v', name, matrix, tree.book.coriolis_matrix(q, v))


@pytest.mark.seed('ID02', kind='full')
@every_tree
def test_closed_form_is_the_recursive_algorithm(name):
    tree = named_tree(name)
    for state in tree.states:
        q, v, a = state
        tau = run(closed_form_inverse_dynamics, tree.model, q=q, v=v, a=a)
        check(
            'closed form',
            name,
            tau,
            run(rnea_spatial, tree.model, q=q, v=v, a=a, external_forces={}),
        )
        check('closed form', name, tau, tree.book.inverse_dynamics(q, v, a, {}))


@pytest.mark.seed('ID02', 'BL02', kind='full')
@every_robot
def test_kernels_are_bias_force_and_coriolis_matrix(name):
    robot = named_robot(name)
    q, v, a = random_state(robot)
    C = robot.coriolis_tensor(q)
    assert C.shape == (robot.nv,) * 3
    tolerance = 1e-11 * np.abs(C).max() * max(1.0, np.abs(v).max()) ** 2
    assert_allclose(C @ v, robot.coriolis_matrix(q, v), rtol=0, atol=tolerance)
    bias = robot.bias_force(q, v) - robot.gravity_torque(q)
    assert_allclose(C @ v @ v, bias, rtol=0, atol=10 * tolerance + 1e-10)
    tau = robot.kernel('closed_form_inverse_dynamics').function(q, v, a)
    assert_allclose(tau, robot.inverse_dynamics(q, v, a), rtol=0, atol=1e-9)
    rows = robot.coriolis_tensor(np.tile(q, (9, 1)))
    assert_allclose(rows[8], C, rtol=0, atol=tolerance)
