# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runge-Kutta steps with dense output: the book's formulas, orders, curved spaces."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.integrate import RK45 as ScipyRK45
from scipy.linalg import expm
from support.simulated_robots import joint, link, pendulum, robot
from support.states import every_robot, named_robot, random_state

from rbd_ros.textbook.simulation.dense_output import (
    EULER,
    Group,
    HEUN,
    MAXIMUM_TURN,
    METHODS,
    RK4,
    RK45,
    take_step,
)

every_method = pytest.mark.parametrize('method', METHODS.values(), ids=METHODS)
LIMIT = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'


def slider():
    """Return a mass on a straight rail: the velocity of its motion obeys any y' = f(y, t)."""
    return robot(
        link('base'),
        link('mass', 1.0, (0.1,) * 3),
        joint('x', 'base', 'mass', 'prismatic', (1, 0, 0), inside=LIMIT),
    )


def rate(t, q, v):
    """Return a right-hand side that is not linear: dv/dt, with dq/dt = v."""
    return np.array([np.cos(3.0 * t) - 0.7 * v[0] ** 2 - 2.0 * np.sin(q[0])])


def one_step(method, h=0.3):
    q, v = np.array([0.4]), np.array([-0.8])
    return take_step(Group(slider()), method, rate, 0.2, q, v, h, rate(0.2, q, v))


@pytest.mark.seed('CN10', kind='full')
def test_euler_interpolates_by_the_line():
    """11.49: y(delta) = y0 + h k delta."""
    step = one_step(EULER)
    k = rate(0.2, step.q, step.v)
    for delta in (0.0, 0.3, 1.0):
        q, v = step.at(delta)
        assert v == pytest.approx(step.v + 0.3 * k * delta, rel=1e-15)
        assert q == pytest.approx(step.q + 0.3 * step.v * delta, rel=1e-15)
        assert step.slope(delta)[1] == pytest.approx(k, rel=1e-15)


@pytest.mark.seed('CN10', kind='full')
def test_heun_interpolates_by_the_books_parabola():
    """11.50 and 11.51; the slope is k1 at the beginning and k2 at two thirds of the step."""
    h, t0 = 0.3, 0.2
    step = one_step(HEUN, h)
    y0 = np.concatenate([step.q, step.v])

    def f(t, y):
        return np.concatenate([y[1:], rate(t, y[:1], y[1:])])

    k1 = f(t0, y0)
    k2 = f(t0 + 2 / 3 * h, y0 + 2 / 3 * h * k1)
    for delta in (0.0, 0.25, 0.8, 1.0):
        expected = y0 + h * ((delta - 3 / 4 * delta**2) * k1 + 3 / 4 * delta**2 * k2)
        assert_allclose(np.concatenate(step.at(delta)), expected, rtol=1e-14)
    assert_allclose(np.concatenate(step.at(1.0)), y0 + h * (k1 / 4 + 3 / 4 * k2), rtol=1e-14)
    assert_allclose(np.concatenate(step.slope(0.0)), k1, rtol=1e-14)
    assert_allclose(np.concatenate(step.slope(2 / 3)), k2, rtol=1e-14)


@pytest.mark.seed('CN10', kind='full')
@every_method
def test_the_polynomial_of_the_rates_is_the_derivative_of_the_interpolation(method):
    step = one_step(method)
    for delta in (0.2, 0.9):
        rates = np.concatenate(step.slope(delta))
        e = 1e-5
        after, before = (np.concatenate(step.at(delta + s)) for s in (e, -e))
        assert_allclose(rates, (after - before) / (2 * e * step.h), rtol=1e-8)
    assert_allclose(np.concatenate(step.at(0.0)), np.concatenate([step.q, step.v]), rtol=1e-15)
    # of the rate at the beginning, all methods know the exact value
    assert_allclose(np.concatenate(step.slope(0.0)), step.rates[0], rtol=1e-12)


@pytest.mark.seed('CN10')
@every_method
def test_interpolations_have_their_order(method):
    """Error at a moment within one step: h^(p + 1), p the order of the dense output."""
    order = {'euler': 1, 'heun': 2, 'rk4': 3, 'rk45': 4}[method.name]
    reference = one_step(RK45, 1e-4)  # a fine motion to compare with
    states, q, v, t = {}, reference.q, reference.v, 0.2
    fine = Group(slider())
    ends = {round(0.4 * h, 6) for h in (0.2, 0.1)} | {0.2, 0.1}
    for k in range(200):
        step = take_step(fine, RK45, rate, t, q, v, 1e-3, rate(t, q, v))
        (q, v), t = step.at(1.0), 0.2 + (k + 1) * 1e-3
        states[round((k + 1) * 1e-3, 6)] = np.concatenate([q, v])
    for delta, gain in ((0.4, order), (1.0, method.order)):
        errors = []
        for h in (0.2, 0.1):
            assert round(delta * h, 6) in ends
            errors.append(
                np.abs(
                    np.concatenate(one_step(method, h).at(delta)) - states[round(delta * h, 6)]
                ).max()
            )
        assert np.log2(errors[0] / errors[1]) > gain + 0.5


def test_dormand_and_princes_coefficients_are_scipys():
    """An independent copy of the tableau and of Shampine's dense output."""
    assert_allclose(RK45.A[:6, :5], ScipyRK45.A, rtol=1e-15)
    assert_allclose(RK45.c[:6], ScipyRK45.C, rtol=1e-14)
    assert_allclose(RK45.A[6, :6], ScipyRK45.B, rtol=1e-14)
    assert_allclose(RK45.weights(1.0)[:6], ScipyRK45.B, rtol=1e-13, atol=1e-14)
    assert_allclose(np.abs(RK45.error_weights), np.abs(ScipyRK45.E), rtol=1e-14)
    assert_allclose(RK45.W, ScipyRK45.P, rtol=1e-15)


def test_rk4s_weights_are_the_classical_ones():
    assert_allclose(RK4.weights(1.0), [1 / 6, 1 / 3, 1 / 3, 1 / 6], rtol=1e-15)
    assert_allclose(RK4.c, [0, 0.5, 0.5, 1])


def test_the_embedded_method_estimates_the_error():
    exact = one_step(RK45, 0.1)
    fine = exact.q, exact.v
    for k in range(10):
        t = 0.2 + 0.01 * k
        fine = take_step(Group(slider()), RK45, rate, t, *fine, 0.01, rate(t, *fine)).at(1.0)
    embedded = exact.at(1.0)[1] - exact.error[1]
    b = [5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40]
    assert embedded == pytest.approx(exact.v + 0.1 * (b @ exact.rates)[1:], rel=1e-14)
    assert abs(embedded - fine[1])[0] == pytest.approx(abs(exact.error[1][0]), rel=0.3)
    assert abs(exact.at(1.0)[1] - fine[1])[0] < 0.1 * abs(exact.error[1][0])
    assert exact.last_acceleration == pytest.approx(rate(0.3, *exact.at(1.0)), rel=1e-14)


@every_robot
def test_the_displacement_follows_the_velocity_on_curved_spaces(name):
    """The motion exp(u(t)) with the rate found has the velocity v, by differences of q."""
    subject = named_robot(name)
    group = Group(subject)
    q, v, u = random_state(subject, 3)
    u = 0.4 * u / np.abs(u).max()
    found, e = group.displacement_rate(u, v), 1e-4
    ahead, behind = (group.moved(q, u + s * found) for s in (e, -e))
    assert_allclose(
        subject.difference(behind, ahead) / (2 * e), v, rtol=0, atol=1e-6 * np.abs(v).max()
    )


def test_the_series_is_that_of_the_exponential():
    """On SO(3): u/(1 - exp(-u)) by a dense matrix function, to 1e-12 at the longest step."""
    subject = named_robot('floating base')
    group = Group(subject)
    rng = np.random.default_rng(5)
    u, v = np.zeros(subject.nv), rng.normal(size=subject.nv)
    u[:6] = rng.normal(size=6)
    u[:3] *= MAXIMUM_TURN / np.linalg.norm(u[:3])
    ad = group._ad(u)[:6, :6]
    # integral of exp(-s ad) over s from 0 to 1, whose inverse is needed
    block = expm(np.block([[-ad, np.eye(6)], [np.zeros((6, 12))]]))
    expected = np.linalg.solve(block[:6, 6:], v[:6])
    assert_allclose(group.displacement_rate(u, v)[:6], expected, rtol=0, atol=1e-11)
    assert_allclose(group.displacement_rate(u, v)[6:], v[6:])


def test_the_longest_step_is_that_of_a_turn():
    flat = Group(pendulum())
    assert flat.is_flat and flat.maximum_step(np.array([1e3])) == np.inf
    subject = named_robot('floating base')
    group, v = Group(subject), np.zeros(subject.nv)
    v[3:6] = 100.0
    assert not group.is_flat and group.maximum_step(v) == np.inf
    v[:3] = [0.0, 3.0, 4.0]
    # eigenvalues of [v, .] are +-5i, each twice: one factor of sqrt 2 on the safe side
    assert group.maximum_step(v) == pytest.approx(MAXIMUM_TURN / 5.0 / np.sqrt(2.0))
    assert group.maximum_step(np.zeros(subject.nv)) == np.inf
