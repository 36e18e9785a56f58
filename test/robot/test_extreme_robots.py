# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots without joints, with one, with very many, and of many-dof joints only."""

import numpy as np
import pytest
from support import random_trees, urdf_text
from support.errors import relative_error
from support.functions import ARGUMENTS, call

from rbd_ros import ModelError, Robot

ONE_LINK = urdf_text.robot(urdf_text.link('only'))
ROBOTS = {
    'one link': (ONE_LINK, False),
    'fixed joints only': (
        urdf_text.robot(
            urdf_text.link('a'), urdf_text.link('b'), urdf_text.joint('j', 'a', 'b', 'fixed', '')
        ),
        False,
    ),
    'one link without inertia': (urdf_text.robot('<link name="only"/>'), False),
    'one free link': (ONE_LINK, True),
    'one joint': (urdf_text.chain('revolute'), False),
    'planar joints': (urdf_text.chain('planar', 'planar', 'planar'), False),
    'floating joints': (urdf_text.chain('floating', 'floating'), True),
}


@pytest.fixture(params=ROBOTS)
def robot(request):
    """Return one of the robots."""
    text, floating_base = ROBOTS[request.param]
    return Robot.from_urdf(text, floating_base=floating_base)


def arrays(robot, name, rows=None):
    rng = np.random.default_rng(0)
    sizes = {'q': robot.nq, 'p': 3}
    state = {letter: rng.normal(size=sizes.get(letter, robot.nv)) for letter in 'qvatp'}
    state['q'] = robot.random_configuration(rng)
    one = [state[letter] for letter in ARGUMENTS[name]]
    return one if rows is None else [np.tile(x, (rows, 1)) for x in one]


@pytest.mark.parametrize('name', ARGUMENTS)
def test_every_function_gives_the_right_shape(robot, name):
    link = robot.link_names[-1]
    weightless = robot.nv == 0 and name.startswith('center_of_mass')
    if weightless:
        with pytest.raises(ModelError, match='no moving body has mass'):
            call(robot, name, arrays(robot, name), link)
        return
    one = call(robot, name, arrays(robot, name), link)
    assert np.isfinite(one).all()
    for rows in (0, 1, 9):
        many = call(robot, name, arrays(robot, name, rows), link)
        assert many.shape == (rows, *one.shape)
        np.testing.assert_array_equal(many, np.broadcast_to(one, many.shape))


def test_forward_dynamics_inverts_inverse_dynamics(robot):
    q, v, a = arrays(robot, 'inverse_dynamics')
    tau = robot.inverse_dynamics(q, v, a)
    assert relative_error(robot.forward_dynamics(q, v, tau), a) < 1e-9


def test_configurations_of_a_robot_without_joints_are_empty():
    robot = Robot.from_urdf(ONE_LINK)
    none = np.zeros(0)
    assert (robot.nq, robot.nv, robot.joint_names) == (0, 0, ())
    assert robot.neutral().shape == robot.random_configuration().shape == (0,)
    assert robot.integrate(none, none, 0.1).shape == robot.difference(none, none).shape == (0,)
    assert robot.effort_limits.shape == robot.lower_limits.shape == (0,)


@pytest.fixture(scope='module')
def long_chain():
    """Return the chain of 200 revolute joints."""
    link = {
        'type': 'revolute',
        'xyz': (0.1, 0.0, 0.2),
        'mass': 1.0,
        'center': (0.05, 0.0, 0.1),
        'inertia': (0.1, 0, 0, 0.1, 0, 0.1),
    }
    axes = ((0, 0, 1), (0, 1, 0))
    return Robot.from_urdf(random_trees.chain([{**link, 'axis': axes[k % 2]} for k in range(200)]))


@pytest.mark.slow
def test_two_hundred_joints_are_no_obstacle(long_chain):
    robot, rng = long_chain, np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 200)) * 0.3
    tau = robot.inverse_dynamics(q, v, a)
    assert relative_error(robot.forward_dynamics(q, v, tau), a) < 1e-6  # of 200 joints in series
    batch = robot.inverse_dynamics(*(np.tile(x, (600, 1)) for x in (q, v, a)))
    np.testing.assert_array_equal(batch, np.tile(tau, (600, 1)))
    momentum = robot.momentum(q, v)[3:]
    assert relative_error(200.0 * robot.center_of_mass_jacobian(q) @ v, momentum) < 1e-11
