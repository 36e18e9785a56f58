"""Inverse dynamics with its derivatives, compiled, against steps along the velocities."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots, outside
from support.states import every_robot, named_robot, random_forces, random_state

from rbd_ros import Robot

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
    directions = np.eye(robot.nv)
    slopes = {
        'dtau_dq': [slope(lambda t: tau(robot.integrate(q, e, t), v, a, forces)) for e in directions],
        'dtau_dv': [slope(lambda t: tau(q, v + t * e, a, forces)) for e in directions],
        'dtau_da': [slope(lambda t: tau(q, v, a + t * e, forces)) for e in directions],
    }  # fmt: skip
    assert_allclose(found.tau, tau(q, v, a, forces), rtol=1e-12, atol=1e-11)
    for field, columns in slopes.items():
        expected = np.transpose(columns)
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


@pytest.mark.parametrize('name', ['ur5', 'panda'])
def test_derivatives_are_those_of_pinocchio(name):
    pin = outside.load('pinocchio')
    path = example_robots.path(name)
    robot, model = Robot.from_urdf(path), pin.buildModelFromUrdf(str(path))
    data = model.createData()
    for seed in range(5):
        q, v, a = random_state(robot, seed)
        dq, dv, da = pin.computeRNEADerivatives(model, data, q, v, a)
        found = robot.derivatives.inverse_dynamics(q, v, a)
        for ours, theirs in ((found.dtau_dq, dq), (found.dtau_dv, dv)):
            assert_allclose(ours, theirs, atol=1e-11 * np.abs(theirs).max())
