"""Inverse dynamics with its derivatives, compiled, against steps along the velocities.

Pinocchio is the oracle in test/compiler/test_differentiation_of_dynamics.py.
"""

from functools import partial

import numpy as np
from numpy.testing import assert_allclose
from support.states import every_robot, named_robot, random_forces, random_state

STEP = 2e-4


def slope(function):
    """Derivative at zero of a function of one number, to fourth order."""
    one, two = (function(k * STEP) - function(-k * STEP) for k in (1, 2))
    return (8.0 * one - two) / (12.0 * STEP)


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
