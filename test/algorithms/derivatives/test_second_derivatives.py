# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Second derivatives of the dynamics: differences of the first, identities, order on manifolds."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.definitions import definition_of
from support.slopes import assert_slopes, by_array, by_configuration, by_motion, rates_of
from support.states import every_robot, named_robot, random_forces, random_state
from support.textbook_trees import check, every_chain, named_tree

from rbd_ros.algorithms.derivatives.second_derivatives import (
    ForwardDynamicsSecondDerivatives,
    InverseDynamicsSecondDerivatives,
)


def interpreted(robot, name, state, forces=None):
    """Return the results without machine code.

    Which takes seconds to compile for a robot of 14 dofs.
    """
    forces = forces or {}
    definition = definition_of(robot.model, name, forces=tuple(sorted(forces)))
    arrays = (*state, *(forces[link] for link in sorted(forces)))
    flat = definition.interpret(*(x.tolist() for x in arrays))
    found = (np.array(x, dtype=float).reshape(y.shape) for x, y in zip(flat, definition.outputs))
    return definition.result(*found)


@every_robot
def test_those_of_inverse_dynamics_are_slopes_of_the_first(name):
    robot = named_robot(name)
    q, v, a = random_state(robot)
    forces = random_forces(robot) if name == 'spherical' else None
    first = robot.derivatives.inverse_dynamics
    found = interpreted(robot, 'inverse_dynamics_second_derivatives', (q, v, a), forces)
    expected = InverseDynamicsSecondDerivatives(
        by_motion(lambda x: first(x, v, a, forces).dtau_dq, robot, q),
        by_array(lambda x: first(q, x, a, forces).dtau_dq, v),
        by_array(lambda x: first(q, x, a, forces).dtau_dv, v),
        by_array(lambda x: first(q, v, x, forces).dtau_dq, a),
    )
    for field, ours, theirs in zip(found._fields, found, expected):
        assert_slopes(ours, theirs, 1e-8, field)


@every_robot
def test_those_of_forward_dynamics_are_slopes_of_the_first(name):
    robot = named_robot(name)
    q, v, tau = random_state(robot)
    forces = random_forces(robot) if name == 'spherical' else None
    first = robot.derivatives.forward_dynamics
    found = interpreted(robot, 'forward_dynamics_second_derivatives', (q, v, tau), forces)
    expected = ForwardDynamicsSecondDerivatives(
        by_motion(lambda x: first(x, v, tau, forces).da_dq, robot, q),
        by_array(lambda x: first(q, x, tau, forces).da_dq, v),
        by_array(lambda x: first(q, x, tau, forces).da_dv, v),
        by_array(lambda x: first(q, v, x, forces).da_dq, tau),
    )
    for field, ours, theirs in zip(found._fields, found, expected):
        assert_slopes(ours, theirs, 1e-7, field)


@every_chain
def test_they_are_second_differences_of_the_textbook(name):
    """Along one velocity and then another, by differences of the textbook's force alone."""
    tree = named_tree(name)
    book, forces = tree.book, tree.forces
    definition = definition_of(
        tree.model, 'inverse_dynamics_second_derivatives', forces=tuple(forces)
    )
    q, v, a = tree.states[0]
    flat = definition.interpret(*(np.asarray(x).tolist() for x in (q, v, a, *forces.values())))
    found = [np.array(x).reshape(y.shape) for x, y in zip(flat, definition.outputs)]
    rates = rates_of(book.layout, q)  # chains move at the rate of their positions
    # Wide steps, since a difference of differences is divided by their square.
    by_q = by_configuration(
        lambda x: by_configuration(lambda y: book.inverse_dynamics(y, v, a, forces), x, rates),
        q,
        rates,
    )
    assert_slopes(found[0], by_q, 2e-5, 'dtau_dqdq')
    of_mass = by_configuration(book.mass_matrix, q, rates)
    assert_slopes(found[3], np.swapaxes(of_mass, 1, 2), 1e-8, 'dtau_dqda')


@every_robot
def test_second_derivatives_agree_with_those_of_the_mass_matrix(name):
    """The force is quadratic in the velocity, and linear in the acceleration."""
    robot = named_robot(name)
    q, v, a = random_state(robot, 2)
    found = interpreted(robot, 'inverse_dynamics_second_derivatives', (q, v, a))
    mass = robot.derivatives.mass_matrix(q)
    scale = np.abs(mass.dH_dq).max()
    assert_allclose(found.dtau_dqda, np.swapaxes(mass.dH_dq, 1, 2), rtol=0, atol=1e-11 * scale)
    assert np.array_equal(found.dtau_dvdv, np.swapaxes(found.dtau_dvdv, 1, 2))
    coriolis = robot.coriolis_torque(q, v)
    products = 0.5 * np.einsum('ijk,j,k->i', found.dtau_dvdv, v, v)
    assert_allclose(products, coriolis, rtol=0, atol=1e-10 * max(1.0, np.abs(coriolis).max()))


def test_where_a_joint_turns_about_several_axes_the_order_counts():
    """X_k X_j f - X_j X_k f is the derivative along the bracket of the two velocities."""
    robot = named_robot('spherical')
    q, v, a = random_state(robot)
    found = interpreted(robot, 'inverse_dynamics_second_derivatives', (q, v, a)).dtau_dqdq
    first = robot.derivatives.inverse_dynamics(q, v, a).dtau_dq
    apart = found - np.swapaxes(found, 1, 2)
    seen = False
    for i, (_, at_v) in robot.model.independent_slices.items():
        at, joint = range(robot.nv)[at_v], robot.model.body(i).joint
        for j, row in enumerate(at):
            for k, column in enumerate(at):
                units = np.eye(joint.nv)[[k, j]].tolist()
                bracket = np.array(joint.bracket(*units), dtype=float)
                expected = first[:, at_v] @ bracket
                seen = seen or np.abs(expected).max() > 1.0
                assert_allclose(apart[:, row, column], expected, rtol=0, atol=1e-9)
    assert seen


@pytest.mark.slow
def test_batches_and_single_states_agree():
    robot = named_robot('rack and pinion')
    states = [random_state(robot, seed) for seed in range(9)]
    for name, function in (
        ('inverse_dynamics_second_derivatives', robot.derivatives.inverse_dynamics_second_order),
        ('forward_dynamics_second_derivatives', robot.derivatives.forward_dynamics_second_order),
    ):
        many = function(*(np.array(x) for x in zip(*states)))
        for k, state in enumerate(states):
            for one, row in zip(function(*state), many):
                assert_allclose(row[k], one, rtol=1e-10, atol=1e-10)
        for one, row in zip(interpreted(robot, name, states[-1]), many):
            assert_allclose(row[-1], one, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize('field', ['dtau_dqdv', 'dtau_dvdv'])
def test_at_rest_and_without_gravity_nothing_depends_on_the_velocity_first(field):
    robot = named_robot('gears')
    q, v, a = random_state(robot)
    found = interpreted(robot, 'inverse_dynamics_second_derivatives', (q, 0.0 * v, a))
    value = getattr(found, field)
    assert np.any(value) == (field == 'dtau_dvdv')
    check('at rest', field, value * (field == 'dtau_dqdv'), np.zeros_like(value))
