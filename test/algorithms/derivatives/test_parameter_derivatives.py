# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of forward dynamics by inertial parameters, against differences between robots."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.definitions import definition_of
from support.slopes import slope
from support.states import every_robot, named_robot, random_forces, random_state
from support.textbook_trees import check, every_tree, named_tree

from rbd_ros import Robot
from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.textbook.models.random_models import random_tree


@every_tree
def test_they_undo_the_regressor_of_the_textbooks_inertia(name):
    """H da/dpi = -Y, with H and a of the textbook."""
    tree = named_tree(name)
    names, forces = tuple(tree.forces), tree.forces
    definition = definition_of(tree.model, 'forward_dynamics_parameter_derivatives', forces=names)
    robot = Robot(tree.model)
    q, v, tau = tree.states[0]
    flat = definition.interpret(*(np.asarray(x).tolist() for x in (q, v, tau, *forces.values())))
    a, da_dpi = (np.array(x).reshape(y.shape) for x, y in zip(flat, definition.outputs))
    H = tree.book.mass_matrix(q)
    check('by parameters: a', name, a, tree.book.forward_dynamics(q, v, tau, forces), 1e-11)
    Y = robot.regressors.torque(q, v, a)
    check('by parameters', name, H @ da_dpi, -Y, 1e-10)


@pytest.mark.seed('ID09', kind='full')
@pytest.mark.parametrize('body', [1, 3])
def test_they_are_slopes_over_the_parameters(body, rng):
    model = random_tree(5, 2, 3)
    robot = Robot(model)
    q = robot.random_configuration(rng)
    v, tau = rng.normal(size=(2, model.nv))
    found = robot.derivatives.forward_dynamics_wrt_parameters(q, v, tau)
    assert_allclose(found.a, robot.forward_dynamics(q, v, tau), rtol=1e-10, atol=1e-10)
    link = model.body(body).name
    a = rng.normal(size=model.nv)
    Y = robot.regressors.torque(q, v, a)
    accelerations, torques = (
        robot.kernel(name, runtime=(f'payload:{link}',)).function
        for name in ('forward_dynamics', 'inverse_dynamics')
    )
    for k in range(10):
        unit = np.eye(10)[k]
        expected = slope(lambda t, unit=unit: accelerations(q, v, tau, t * unit), 1e-3)
        ours = found.da_dpi[:, 10 * (body - 1) + k]
        scale = max(np.abs(expected).max(), 1e-3)
        assert_allclose(ours, expected, rtol=0, atol=1e-6 * scale, err_msg=f'parameter {k}')
        expected = slope(lambda t, unit=unit: torques(q, v, a, t * unit), 1e-3)
        scale = max(np.abs(expected).max(), 1e-3)
        ours = Y[:, 10 * (body - 1) + k]
        assert_allclose(ours, expected, rtol=0, atol=1e-9 * scale, err_msg=f'parameter {k}')


@every_robot
def test_kernels_and_batches_agree(name):
    robot = named_robot(name)
    states = [random_state(robot, seed) for seed in range(3)]
    function = robot.derivatives.forward_dynamics_wrt_parameters
    forces = random_forces(robot)
    many = function(*(np.array(x) for x in zip(*states)), forces)
    for k, state in enumerate(states):
        for one, row in zip(function(*state, forces), many):
            assert_allclose(row[k], one, rtol=1e-10, atol=1e-10)


def test_the_order_of_the_parameters_is_that_of_the_inertia():
    numbers = np.arange(1.0, 11.0)
    assert np.array_equal(RigidBodyInertia.from_parameters(numbers).parameters(), numbers)
