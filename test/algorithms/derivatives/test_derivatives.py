"""Inverse dynamics with its derivatives, compiled, against steps along the velocities.

With many joints they are written out by hand (test_analytical_derivatives.py). Pinocchio is the
oracle in test/compiler/test_differentiation_of_dynamics.py.
"""

from collections import namedtuple
from functools import partial

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import random_trees
from support.definitions import definition_of
from support.states import every_robot, named_robot, random_forces, random_state
from support.textbook_trees import with_pinion

from rbd_ros import Robot
from rbd_ros.algorithms.declaration import derivatives_of
from rbd_ros.algorithms.derivatives.analytical_derivatives import analytical_derivatives
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix

STEP = 2e-4
MANY = 40


def slope(function):
    """Derivative at zero of a function of one number, to fourth order."""
    one, two = (function(k * STEP) - function(-k * STEP) for k in (1, 2))
    return (8.0 * one - two) / (12.0 * STEP)


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


def test_batches_and_single_states_agree():
    robot = named_robot('gears')
    states = [random_state(robot, seed) for seed in range(9)]
    many = robot.derivatives.inverse_dynamics(*(np.array(x) for x in zip(*states)))
    for k, state in enumerate(states):
        for one, row in zip(robot.derivatives.inverse_dynamics(*state), many):
            assert_allclose(row[k], one, rtol=1e-12, atol=1e-12)


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


def test_a_motion_subspace_that_depends_on_the_position_is_left_to_the_compiler():
    """However many joints there are: its second derivative is written nowhere."""
    text = random_trees.tree(3, bodies=MANY, types=('revolute',), branching=0.5)
    model = Robot.from_urdf(text).model
    assert not definition_of(model, 'inverse_dynamics_derivatives').tangents
    rolling = with_pinion(model, model.bodies[9].joint_name)
    assert definition_of(rolling, 'inverse_dynamics_derivatives').tangents


def test_what_takes_the_place_of_derivatives_must_return_the_same():
    result = namedtuple('Result', 'H dH_dq')
    with pytest.raises(TypeError, match='has other results'):
        derivatives_of(
            mass_matrix,
            'mass_matrix_derivative',
            by=['q'],
            result=result,
            written_out=analytical_derivatives,
            where=lambda model: True,
        )
