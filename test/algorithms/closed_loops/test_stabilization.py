# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Errors of loop closure decay by Baumgarte's equation, and grow without it."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.loop_joints import CylindricalPair, ZeroDof
from support.loop_mechanisms import closed_robot, four_bar, four_bar_position

from rbd_ros.algorithms.closed_loops.stabilization import stabilization
from rbd_ros.model.joints import Prismatic, Revolute, Spherical


def simulate(robot, q, v, tau, duration, steps, **options):
    """Return the states at all steps by Runge and Kutta of fourth order: on a flat joint space."""

    def rate(q, v):
        return v, robot.loops.forward_dynamics(q, v, tau, **options).a

    h, states = duration / steps, [(q, v)]
    for _ in range(steps):
        k1 = rate(q, v)
        k2 = rate(q + h / 2 * k1[0], v + h / 2 * k1[1])
        k3 = rate(q + h / 2 * k2[0], v + h / 2 * k2[1])
        k4 = rate(q + h * k3[0], v + h * k3[1])
        q, v = (
            x + h / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip((q, v), k1, k2, k3, k4)
        )
        states.append((q, v))
    return states


def decay(e, ed, t, T):
    """Return the solution of e'' + 2 e'/T + e/T^2 = 0."""
    return (e + (ed + e / T) * t) * np.exp(-t / T)


@pytest.mark.seed('CL03', kind='full')
@pytest.mark.parametrize('T', [0.1, 0.03])
@pytest.mark.parametrize(
    'joint',
    [
        ZeroDof(),
        Prismatic((0.48, -0.6, 0.64)),
        Revolute((0.48, -0.6, 0.64)),
        CylindricalPair((0.48, -0.6, 0.64)),
        Spherical(),
    ],
    ids=['weld', 'prismatic', 'revolute', 'cylindrical', 'ball'],
)
@pytest.mark.parametrize('gears', [False, True], ids=['free', 'gears'])
def test_errors_of_position_and_velocity_decay_as_the_equation_says(joint, T, gears):
    """Errors injected into both; the mechanism is slow against T, its axes hardly turn."""
    _, robot, q, v, _ = closed_robot(13, (joint,), ((0, 8),), gears, branching=0.0)
    size = 1e-5
    K = robot.loops.closure(q).K
    rng = np.random.default_rng(2)
    v = 1e-3 * v
    q = q + np.linalg.pinv(K) @ rng.normal(scale=size, size=len(K))
    v = v + np.linalg.pinv(K) @ rng.normal(scale=size / T, size=len(K))
    hold = robot.gravity_torque(q)
    states = simulate(robot, q, v, hold, 2.0 * T, 60, t_stab=T)
    start = robot.loops.constraints(*states[0])
    assert np.linalg.norm(start.delta) > 0.5 * size
    assert np.linalg.norm(start.velocity) > 0.5 * size / T
    for k in (10, 30, 60):
        error = robot.loops.constraints(*states[k]).delta
        expected = decay(start.delta, start.velocity, 2.0 * T * k / 60, T)
        assert_allclose(error, expected, atol=5e-3 * np.linalg.norm(start.delta))


@pytest.mark.seed('CL03')
def test_errors_of_a_moving_four_bar_drift_unless_they_are_stabilized():
    """Coarse steps: without stabilization the error grows all the time, with it it stays small."""
    robot = four_bar()
    q = four_bar_position(0.8)
    K = robot.loops.closure(q).K
    v = np.linalg.svd(K)[2][2:].T[:, 0]
    v *= 4.0 / v[0]
    tau = np.array([0.3, 0.0, 0.0])

    def errors(**options):
        states = simulate(robot, q, v, tau, 2.0, 200, **options)
        return [np.abs(robot.loops.closure(state[0]).residual).max() for state in states]

    free, held = errors(), errors(t_stab=0.1)
    assert free[200] > 3.0 * free[100] > 9.0 * free[30]
    assert max(held) < 0.1 * free[200]


@pytest.mark.seed('CL03')
def test_term_is_that_of_the_equations():
    """k_stab = -2 alpha T^T v_J - beta^2 delta, and K a = k + k_stab (book eq 8.21, 8.22)."""
    delta, velocity = np.array([1.0, -2.0]), np.array([0.5, 3.0])
    assert_allclose(stabilization(delta, velocity, 0.5), -4.0 * velocity - 4.0 * delta)
    assert np.array_equal(stabilization(delta, velocity, None), [0.0, 0.0])
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match='t_stab'):
            stabilization(delta, velocity, bad)
    _, robot, q, v, tau = closed_robot(13, (Spherical(),), ((0, 8),), branching=0.0)
    q, v = q + 0.01, v + 0.1
    terms = robot.loops.constraints(q, v)
    for t_stab in (None, 0.1, 1.0):
        a = robot.loops.forward_dynamics(q, v, tau, t_stab=t_stab).a
        expected = terms.k + stabilization(terms.delta, terms.velocity, t_stab)
        assert_allclose(terms.K @ a, expected, rtol=1e-9, atol=1e-9)
