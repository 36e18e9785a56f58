# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Physically consistent parameters: detection, and the best fit of noisy forces."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.optimize import minimize
from support.states import every_robot, named_robot

from rbd_ros import Robot
from rbd_ros.algorithms.regressors.physical_consistency import (
    consistent_fit,
    inconsistent_bodies,
    pseudo_inertias,
)
from rbd_ros.lookup.resources import resource_path
from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.spatial.pseudo_inertia import from_log_cholesky, log_cholesky, pseudo_inertia


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))


def samples(robot, count, seed=0, noise=0.0):
    """Return the regressors of random states and the forces in them."""
    rng = np.random.default_rng(seed)
    states = robot.random_configurations(count, rng), *rng.normal(size=(2, count, robot.nv))
    Y = robot.regressors.torque(*states)
    tau = Y @ robot.regressors.parameters
    return Y, tau + noise * rng.normal(size=tau.shape)


def other_bodies(parameters, seed=1, size=0.3):
    """Return the parameters of bodies that are somewhat different."""
    rng = np.random.default_rng(seed)
    found = []
    for ten in np.reshape(parameters, (-1, 10)):
        theta = log_cholesky(RigidBodyInertia.from_parameters(ten))
        change = size * rng.normal(size=10) * [1.0, *[0.3] * 3, *[0.02] * 3, *[0.1] * 3]
        found += from_log_cholesky(theta + change).parameters()
    return np.array(found)


def divergence(parameters, expected):
    """Return the sum of trace(J0^-1 J) - log det(J0^-1 J) - 4, written out."""
    total = 0.0
    for ten, other in zip(np.reshape(parameters, (-1, 10)), np.reshape(expected, (-1, 10))):
        J, J0 = (
            np.array(pseudo_inertia(RigidBodyInertia.from_parameters(x))) for x in (ten, other)
        )
        ratios = np.linalg.eigvals(np.linalg.solve(J0, J)).real
        if (ratios <= 0.0).any():
            return np.inf
        total += np.sum(ratios - np.log(ratios) - 1.0)
    return total


@every_robot
def test_parameters_of_robots_are_those_of_bodies_unless_the_reader_warns(name):
    robot = named_robot(name)
    found = pseudo_inertias(robot.regressors.parameters)
    for body, J in zip(robot.model.bodies, found):
        assert_allclose(J, np.array(pseudo_inertia(body.inertia)), rtol=1e-12)
    least = np.linalg.eigvalsh(found)[:, 0]
    scale = np.abs(found).max(axis=(1, 2))
    clear = [b.name for b, x, s in zip(robot.model.bodies, least, scale) if x < -1e-9 * s]
    assert set(clear) <= set(robot.regressors.inconsistent_bodies())
    positive = [b.name for b, x, s in zip(robot.model.bodies, least, scale) if x > 1e-9 * s]
    assert not set(positive) & set(robot.regressors.inconsistent_bodies())


@pytest.mark.parametrize(
    ('change', 'consistent'),
    [
        ({}, True),
        ({0: -0.1}, False),  # mass [kg]
        ({0: 1e-3}, False),  # too little for where its center is
        ({1: 50.0}, False),  # first moment [kg m]
        ({4: 100.0}, False),  # Ixx about the origin, beyond Iyy + Izz [kg m^2]
        ({9: -1.0}, False),
        (dict.fromkeys(range(10), 0.0), True),  # nothing at all
        ({**dict.fromkeys(range(10), 0.0), 0: 1.0}, True),  # a point in the origin
        ({**dict.fromkeys(range(10), 0.0), 1: 1.0}, False),
        ({2: float('nan')}, False),
    ],
)
def test_inconsistent_parameters_are_found_by_body(arm, change, consistent):
    pi = arm.regressors.parameters
    for k, value in change.items():
        pi[10 + k] = value
    assert arm.regressors.inconsistent_bodies(pi) == (
        () if consistent else (arm.model.bodies[1].name,)
    )


def test_with_exact_forces_the_base_parameters_are_found():
    robot = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    pi, base = robot.regressors.parameters, robot.regressors.base_parameters()
    expected = other_bodies(pi)
    Y, tau = samples(robot, 40)
    fit = robot.regressors.fit_consistent_parameters(Y, tau, expected, 1e-9)
    assert np.abs(base.of(expected) - base.of(pi)).max() > 0.1
    assert_allclose(base.of(fit.parameters), base.of(pi), atol=1e-5)
    assert fit.error < 1e-6 and (fit.distance > 0.0).all()
    assert not inconsistent_bodies(fit.parameters)


@pytest.mark.parametrize('weight', [10.0, 0.3, 1e-2])
def test_it_is_the_minimum(arm, weight):
    """No step in any direction goes below it, and another method ends there, too."""
    pi = arm.regressors.parameters
    expected = other_bodies(pi)
    Y, tau = samples(arm, 6, noise=0.3)

    def value(x):
        error = np.einsum('kij,j->ki', Y, x) - tau
        return 0.5 * np.sum(error**2) + weight * divergence(x, expected)

    fit = consistent_fit(Y, tau, expected, weight)
    least = value(fit.parameters)
    assert np.isfinite(least)
    assert_allclose(fit.distance.sum(), divergence(fit.parameters, expected), rtol=1e-9)
    assert fit.error == pytest.approx(np.sqrt(np.mean((Y @ fit.parameters - tau) ** 2)))
    rng = np.random.default_rng(2)
    for direction in rng.normal(size=(50, pi.size)):
        for size in (1e-2, 1e-4, 1e-6):
            step = size * direction * np.maximum(np.abs(expected), 1e-3)
            assert value(fit.parameters + step) >= least * (1.0 - 1e-12)

    def in_log_cholesky(theta):
        bodies = [from_log_cholesky(x) for x in theta.reshape(-1, 10)]
        return value(np.concatenate([body.parameters() for body in bodies]))

    start = np.concatenate(
        [log_cholesky(RigidBodyInertia.from_parameters(x)) for x in expected.reshape(-1, 10)]
    )
    other = minimize(in_log_cholesky, start, method='BFGS', options={'gtol': 1e-7})
    assert other.fun >= least * (1.0 - 1e-9)
    assert other.fun == pytest.approx(least, rel=1e-3)


def test_noise_does_not_make_bodies_that_there_cannot_be():
    """Least squares alone do, and foresee other motions less well."""
    robot = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    pi = robot.regressors.parameters
    expected = other_bodies(pi)
    Y, tau = samples(robot, 15, noise=1.0)
    A, b = Y.reshape(-1, 60), tau.ravel()
    nearest = expected + np.linalg.pinv(A, rcond=1e-9) @ (b - A @ expected)
    assert robot.regressors.inconsistent_bodies(nearest)
    fit = robot.regressors.fit_consistent_parameters(Y, tau, expected, 1.0)
    assert not robot.regressors.inconsistent_bodies(fit.parameters)
    Y, tau = samples(robot, 200, seed=7)
    error, other, before = (
        np.sqrt(np.mean((Y @ x - tau) ** 2)) for x in (fit.parameters, nearest, expected)
    )
    assert error < 0.7 * other and error < 0.5 * before


def test_nothing_measured_changes_nothing(arm):
    pi = arm.regressors.parameters
    fit = arm.regressors.fit_consistent_parameters(np.zeros((0, 2, 20)), np.zeros((0, 2)))
    assert_allclose(fit.parameters, pi, rtol=1e-12)
    assert fit.error == 0.0 and fit.distance.max() < 1e-12


def test_invalid_arguments_are_rejected(arm):
    Y, tau = samples(arm, 4)
    pi = arm.regressors.parameters
    for arguments, message in (
        ((Y, tau[:3]), r'Y must have shape \(\*tau.shape, 20\)'),
        ((Y[..., :10], tau), 'Y must have shape'),
        ((np.where(Y == Y[0, 0, 0], np.nan, Y), tau), 'Y holds infinities'),
        ((Y, np.where(tau == tau[0, 0], np.inf, tau)), 'tau holds infinities'),
        ((Y, tau, pi, 0.0), 'weight must be positive, got 0'),
        ((Y, tau, pi, np.nan), 'weight must be positive'),
        ((Y, tau, pi[:10]), r'parameters must have shape \(20,\)'),
        ((Y, tau, np.where(np.arange(20) == 10, -1.0, pi)), 'expected: body 1'),
        ((Y, tau, np.where(np.arange(20) < 10, 0.0, pi)), 'expected: body 0'),
    ):
        with pytest.raises(ValueError, match=message):
            arm.regressors.fit_consistent_parameters(*arguments)
    with pytest.raises(ValueError, match=r'\(10 bodies,\), got \(9,\)'):
        pseudo_inertias(np.zeros(9))
