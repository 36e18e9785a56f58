# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics with its derivatives, compiled, against finite differences.

With many joints the derivatives are analytical (test_analytical_derivatives.py). Pinocchio is the
oracle in test/compiler/test_differentiation_of_dynamics.py.
"""

from collections import namedtuple
from functools import partial

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import random_trees
from support.definitions import by_differentiation, definition_of
from support.slopes import assert_slopes, by_array, by_configuration, rates_of, slope
from support.states import every_robot, named_robot, random_forces, random_state
from support.textbook_trees import check, every_tree, named_tree, with_pinion

from rbd_ros import Robot
from rbd_ros.algorithms.declaration import derivatives_of
from rbd_ros.algorithms.derivatives.analytical_derivatives import analytical_derivatives
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix

MANY = 40


def interpreted(definition, *arrays):
    """Return the results of a definition without machine code."""
    flat = definition.interpret(*(np.asarray(x).tolist() for x in arrays))
    return [
        np.array(x, dtype=float).reshape(output.shape)
        for x, output in zip(flat, definition.outputs)
    ]


@pytest.mark.seed('ID09', kind='part')
@every_robot
def test_derivatives_are_slopes(name):
    robot = named_robot(name)
    q, v, a = random_state(robot)
    forces = random_forces(robot)
    found = robot.derivatives.inverse_dynamics(q, v, a, forces)
    tau = robot.inverse_dynamics
    moved = {
        'dtau_dq': lambda e, t: tau(robot.integrate(q, e, t), v, a, forces),
        'dtau_dv': lambda e, t: tau(q, v + t * e, a, forces),
        'dtau_da': lambda e, t: tau(q, v, a + t * e, forces),
    }
    assert_allclose(found.tau, tau(q, v, a, forces), rtol=1e-12, atol=1e-11)
    for field, torque in moved.items():
        expected = np.transpose([slope(partial(torque, e)) for e in np.eye(robot.nv)])
        scale = np.abs(expected).max()
        assert_allclose(getattr(found, field), expected, atol=1e-8 * scale, err_msg=field)
    assert_allclose(found.dtau_da, robot.mass_matrix(q), rtol=1e-11, atol=1e-11)


@every_tree
def test_the_gradient_of_the_inertia_matrix_is_the_slope_of_the_textbooks(name):
    tree = named_tree(name)
    q, v, _ = tree.states[0]
    H, dH_dq = interpreted(definition_of(tree.model, 'mass_matrix_derivatives'), q)
    check('gradient H', name, H, tree.book.mass_matrix(q))
    expected = by_configuration(tree.book.mass_matrix, q, rates_of(tree.book.layout, q))
    assert_slopes(dH_dq, expected)
    assert np.array_equal(dH_dq, np.swapaxes(dH_dq, 0, 1))
    # the rate of H is C + C^T with the Coriolis matrix of the Christoffel symbols
    C = tree.book.coriolis_matrix(q, v)
    check('rate of H', name, dH_dq @ v, C + C.T, 1e-11)


@every_tree
def test_the_gradients_of_energy_are_slopes_of_the_textbooks(name):
    tree = named_tree(name)
    book = tree.book
    q, v, _ = tree.states[0]
    found = interpreted(definition_of(tree.model, 'energy_derivatives'), q, v)
    kinetic, potential, kinetic_q, kinetic_v, potential_q, potential_v = found
    check('kinetic', name, kinetic, book.kinetic_energy(q, v))
    check('potential', name, potential, book.potential_energy(q))
    rates = rates_of(book.layout, q)
    by_q = by_configuration(lambda x: book.kinetic_energy(x, v), q, rates)
    assert_slopes(kinetic_q, by_q, what='dkinetic_dq')
    check('dkinetic_dv', name, kinetic_v, book.mass_matrix(q) @ v)
    by_q = by_configuration(book.potential_energy, q, rates)
    assert_slopes(potential_q, by_q, what='dpotential_dq')
    check('dpotential_dq', name, potential_q, book.gravity_torque(q), 1e-12)
    assert not np.any(potential_v)


@every_tree
def test_derivatives_of_bias_force_and_gravity_are_slopes_of_the_textbooks(name):
    tree = named_tree(name)
    book, forces = tree.book, tree.forces
    q, v, _ = tree.states[0]
    rates = rates_of(book.layout, q)

    def bias(q, v):
        return book.inverse_dynamics(q, v, 0.0 * v, forces)

    by_q, by_v = (
        by_configuration(lambda x: bias(x, v), q, rates),
        by_array(lambda x: bias(q, x), v),
    )
    links = tuple(forces)
    for way in (definition_of, by_differentiation):
        definition = way(tree.model, 'bias_force_derivatives', forces=links)
        C, dC_dq, dC_dv = interpreted(definition, q, v, *forces.values())
        check('bias force', name, C, bias(q, v), 1e-12)
        assert_slopes(dC_dq, by_q, what='dC_dq')
        assert_slopes(dC_dv, by_v, what='dC_dv')
    tau, dtau_dq = interpreted(definition_of(tree.model, 'gravity_torque_derivatives'), q)
    check('gravity', name, tau, book.gravity_torque(q), 1e-12)
    assert_slopes(dtau_dq, by_configuration(book.gravity_torque, q, rates), what='dtau_dq')


@every_robot
def test_methods_are_parts_of_those_of_inverse_dynamics(name):
    """At rest, and without acceleration; the stiffness of gravity is symmetric along positions."""
    robot = named_robot(name)
    q, v, a = random_state(robot)
    forces = random_forces(robot)
    functions, rest = robot.derivatives, 0.0 * v
    bias = functions.bias_force(q, v, forces)
    for ours, theirs in zip(bias, functions.inverse_dynamics(q, v, rest, forces)):
        assert_allclose(ours, theirs, rtol=0, atol=1e-10 * max(1.0, np.abs(theirs).max()))
    still = functions.inverse_dynamics(q, rest, rest)
    gravity = functions.gravity_torque(q)
    assert_allclose(gravity.tau, still.tau, rtol=0, atol=1e-11)
    assert_allclose(gravity.dtau_dq, still.dtau_dq, rtol=0, atol=1e-10)
    mass, energy = functions.mass_matrix(q), functions.energy(q, v)
    assert_allclose(mass.H, robot.mass_matrix(q), rtol=0, atol=1e-12)
    assert_allclose(energy.dkinetic_dv, mass.H @ v, rtol=0, atol=1e-10)
    assert_allclose(
        energy.dkinetic_dq, 0.5 * np.einsum('ijk,i,j', mass.dH_dq, v, v), rtol=0, atol=1e-9
    )
    center = functions.center_of_mass_jacobian(q)
    assert_allclose(center.J, robot.center_of_mass_jacobian(q), rtol=0, atol=1e-12)
    assert_allclose(
        functions.inverse_dynamics(q, v, a).dtau_dq - functions.bias_force(q, v).dC_dq,
        np.einsum('ijk,j->ik', mass.dH_dq, a),
        rtol=0,
        atol=1e-9,
    )


def test_batches_and_single_states_agree():
    robot = named_robot('gears')
    states = [random_state(robot, seed) for seed in range(9)]
    many = robot.derivatives.inverse_dynamics(*(np.array(x) for x in zip(*states)))
    for k, state in enumerate(states):
        for one, row in zip(robot.derivatives.inverse_dynamics(*state), many):
            assert_allclose(row[k], one, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_with_many_joints_they_are_written_out_and_slopes_as_well():
    """Of a tree that neither mass nor torque is out of proportion in."""
    text = random_trees.tree(3, bodies=MANY, types=('revolute', 'prismatic'), branching=0.5)
    robot = Robot.from_urdf(text, floating_base=True)
    definition = definition_of(robot.model, 'inverse_dynamics_derivatives')
    assert not definition.tangents and definition.name == 'inverse_dynamics_derivatives'
    q, v, a = random_state(robot)
    forces = random_forces(robot)
    found = robot.derivatives.inverse_dynamics(q, v, a, forces)
    tau = robot.inverse_dynamics
    assert_allclose(found.tau, tau(q, v, a, forces), rtol=1e-10, atol=1e-9)
    for e in np.eye(robot.nv)[:: robot.nv // 7]:
        for field, torque in (
            ('dtau_dq', lambda t, e=e: tau(robot.integrate(q, e, t), v, a, forces)),
            ('dtau_dv', lambda t, e=e: tau(q, v + t * e, a, forces)),
            ('dtau_da', lambda t, e=e: tau(q, v, a + t * e, forces)),
        ):
            expected, ours = slope(torque), getattr(found, field) @ e
            assert_allclose(ours, expected, atol=1e-8 * np.abs(expected).max(), err_msg=field)
    assert_allclose(found.dtau_da, robot.mass_matrix(q), rtol=1e-10, atol=1e-10)


def test_a_motion_subspace_that_depends_on_the_position_is_differentiated_by_the_compiler():
    """However many joints there are: its second derivative is written nowhere."""
    text = random_trees.tree(3, bodies=MANY, types=('revolute',), branching=0.5)
    model = Robot.from_urdf(text).model
    assert not definition_of(model, 'inverse_dynamics_derivatives').tangents
    rolling = with_pinion(model, model.bodies[9].joint_name)
    assert definition_of(rolling, 'inverse_dynamics_derivatives').tangents


def test_a_specialization_must_have_the_outputs_of_the_derivative():
    result = namedtuple('Result', 'H dH_dq')
    with pytest.raises(TypeError, match='has other outputs'):
        derivatives_of(
            mass_matrix,
            'mass_matrix_derivative',
            by=['q'],
            result=result,
            specialization=analytical_derivatives,
        )
