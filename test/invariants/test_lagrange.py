# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics against Lagrange's equations, without forces between bodies."""

from functools import lru_cache

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.lagrange import equations, hollerbach
from support.random_trees import chain
from support.states import every_robot, named_robot, random_state

from rbd_ros import Robot
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial


def hinge(axis, **others):
    return _link('revolute', axis, **others)


def slider(axis, **others):
    return _link('prismatic', axis, **others)


def _link(type_, axis, **others):
    usual = {
        'mass': 1.3,
        'center': (0.11, -0.07, 0.05),
        'inertia': [0.031, 0.004, -0.003, 0.042, 0.002, 0.053],
    }
    return {'type': type_, 'axis': axis, **usual, **others}


X, Y, Z, ASKEW = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.48, -0.6, 0.64)
ARMS = {
    '2R': [hinge(Y), hinge(Z, xyz=(0.4, 0.1, 0.0), rpy=(0.3, 0.0, -0.7), mass=0.9)],
    '3R': [hinge(Z), hinge(Y, xyz=(0.1, 0.0, 0.3)), hinge(X, xyz=(0.4, 0.0, 0.1), mass=0.7)],
    'RP': [hinge(Y), slider(X, xyz=(0.1, 0.2, 0.0), rpy=(0.0, 0.4, 0.2), mass=0.8)],
    'PR': [slider(ASKEW), hinge(X, xyz=(0.1, 0.2, 0.0))],
}
every_arm = pytest.mark.parametrize('name', ARMS)


@lru_cache(maxsize=None)
def robot_of(name):
    return Robot.from_urdf(chain(ARMS[name]))


@lru_cache(maxsize=None)
def book_of(name):
    return equations(ARMS[name])


def states(n, count=5):
    return np.random.default_rng(3).uniform(-2.5, 2.5, (count, 3, n))


@pytest.mark.seed('BL09', 'FO01', kind='full')
@every_arm
def test_equations_of_computer_algebra_are_those_of_the_recursion(name):
    """B qdd + C qd + g = tau term by term, and d/dt dL/dqd - dL/dq at once.

    By the text on floats and by the kernels.
    """
    robot, book = robot_of(name), book_of(name)
    for q, v, a in states(robot.nv):
        tau = book.tau(q, v, a).ravel()
        close = {'rtol': 1e-11, 'atol': 1e-11}
        assert_allclose(robot.inverse_dynamics(q, v, a), tau, **close)
        assert_allclose(
            rnea_spatial(robot.model, q.tolist(), v.tolist(), a.tolist()), tau, **close
        )
        B, C, g = book.B(q, v, a), book.C(q, v, a), book.g(q, v, a).ravel()
        assert_allclose(robot.mass_matrix(q), B, **close)
        assert_allclose(robot.coriolis_matrix(q, v), C, **close)
        assert_allclose(robot.gravity_torque(q), g, **close)
        assert_allclose(robot.bias_force(q, v), C @ v + g, **close)
        assert_allclose(robot.forward_dynamics(q, v, tau), a, rtol=1e-9, atol=1e-9)


def random_arm(n):
    rng, links = np.random.default_rng(n), []
    for _ in range(n):
        axis, center, xyz = rng.normal(size=(3, 3))
        A = rng.normal(size=(3, 3))
        inertia = 0.1 * (np.trace(A @ A.T) * np.eye(3) - A @ A.T)
        links.append(
            _link(
                rng.choice(['revolute', 'prismatic']),
                axis / np.linalg.norm(axis),
                xyz=xyz,
                rpy=rng.uniform(-1.5, 1.5, 3),
                center=center,
                mass=rng.uniform(0.5, 2.0),
                inertia=inertia[np.triu_indices(3)].tolist(),
            )
        )
    return links


@pytest.mark.seed('FO01', kind='full')
@pytest.mark.parametrize('n', [1, 2, 3, 6, 12])
def test_recursive_lagrangian_is_the_recursion_of_newton_and_euler(n):
    """Hollerbach's O(n) formulation, for chains of hinges and sliders in general position."""
    links = random_arm(n)
    robot = Robot.from_urdf(chain(links))
    for q, v, a in states(n):
        expected = hollerbach(links, q, v, a)
        tau = rnea_spatial(robot.model, q.tolist(), v.tolist(), a.tolist())
        assert_allclose(tau, expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())


@every_arm
def test_both_lagrangians_agree(name):
    for q, v, a in states(len(ARMS[name]), 2):
        expected = book_of(name).tau(q, v, a).ravel()
        assert_allclose(hollerbach(ARMS[name], q, v, a), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.seed('BL01', kind='full')
@every_robot
def test_accelerations_depend_on_the_state_and_the_forces_alone(name):
    """They depend neither on time nor on earlier calls: the same bits in any order.

    The implicit form F(q, v, a, tau) = ID(q, v, a) - tau is zero there.
    """
    robot, rng = named_robot(name), np.random.default_rng(2)
    states = [(*random_state(robot, k)[:2], 5.0 * rng.normal(size=robot.nv)) for k in range(6)]
    first = [robot.forward_dynamics(*state) for state in states]
    for q, v, tau in states:
        robot.forward_dynamics(q, 1e3 * v, -tau)
        robot.inverse_dynamics(q, v, tau)
    again = [robot.forward_dynamics(*state) for state in reversed(states)]
    assert np.array_equal(first, again[::-1])
    for (q, v, tau), a in zip(states, first):
        residual = robot.inverse_dynamics(q, v, a) - tau
        assert_allclose(residual, 0.0, atol=1e-10 * (1.0 + np.abs(tau).max()))
