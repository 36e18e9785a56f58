# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motions over time: orders of convergence, error control, spikes, curved spaces, rejections."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk
from support.simulated_robots import body, GRAVITY, joint, link, pendulum, robot, turntable

from rbd_ros.textbook.simulation import integrate_ode
from rbd_ros.textbook.simulation.adaptive import StepControl
from rbd_ros.textbook.simulation.dense_output import DenseStep, Group, RK45

LENGTH, AMPLITUDE = 0.5, 2.0


def exact_swing(t):
    """Return the pendulum released at rest from `AMPLITUDE`: Jacobi's elliptic functions."""
    k = np.sin(AMPLITUDE / 2)
    sn, *_ = ellipj(ellipk(k**2) - np.sqrt(GRAVITY / LENGTH) * t, k**2)
    return 2 * np.arcsin(k * sn)


def swing(duration=1.6, **options):
    return integrate_ode(pendulum(length=LENGTH), [AMPLITUDE], [0.0], duration, **options)


def tumbler(**options):
    """Return a free body with an arm, whose configurations are no vector space."""
    return robot(
        link('body', 2.0, (0.02, 0.03, 0.05), (0.02, 0.0, -0.01)),
        link('arm', 0.5, (0.004, 0.003, 0.001), (0.0, 0.0, 0.1)),
        joint('elbow', 'body', 'arm', axis=(0, 1, 1), xyz=(0.1, 0, 0)),
        floating_base=True,
        **options,
    )


TUMBLING = np.array([2.0, 1.0, -1.5, 0.3, 0.2, 0.1, 3.0])
ORDERS = {'euler': 1, 'semi_implicit': 1, 'heun': 2, 'rk4': 4}
every_fixed = pytest.mark.parametrize('method', ORDERS)


@pytest.mark.seed('AE03', kind='full')
@every_fixed
def test_methods_converge_at_their_orders(method):
    exact, steps = exact_swing(1.6), np.array([4e-3, 2e-3, 1e-3])
    errors = [abs(swing(method=method, timestep=h).q[-1, 0] - exact) for h in steps]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert slopes == pytest.approx([ORDERS[method]] * 2, abs=0.25)


@pytest.mark.seed('AE03', kind='full')
@every_fixed
def test_they_keep_their_orders_on_curved_configuration_spaces(method):
    subject = tumbler()
    start = subject.neutral()
    exact = integrate_ode(subject, start, TUMBLING, 0.64, rtol=1e-12, atol=1e-13)
    steps, errors = np.array([1.6e-2, 8e-3, 4e-3]), []
    for h in steps:
        found = integrate_ode(subject, start, TUMBLING, 0.64, method=method, timestep=h)
        errors.append(np.abs(subject.difference(exact.q[-1], found.q[-1])).max())
        assert np.linalg.norm(found.q[:, :4], axis=1) == pytest.approx(1.0, abs=1e-14)
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert slopes == pytest.approx([ORDERS[method]] * 2, abs=0.4)


@pytest.mark.seed('AE03', kind='part')
def test_dop853_is_far_more_exact_at_the_cost_of_few_evaluations():
    exact = exact_swing(1.6)
    five, eight = (swing(method=method, rtol=1e-11, atol=1e-13) for method in ('rk45', 'dop853'))
    assert abs(eight.q[-1, 0] - exact) < 1e-11
    assert eight.evaluations < 0.5 * five.evaluations
    # Within steps it is of seventh order.
    for t in (0.1, 0.77, 1.59):
        assert eight.at(t)[0][0] == pytest.approx(exact_swing(t), abs=1e-9)
    assert eight.time[-1] == 1.6 and (np.diff(eight.time) > 0.0).all()
    loose = swing(method='dop853', rtol=1e-5, atol=1e-8, max_step=0.05)
    assert np.diff(loose.time).max() <= 0.05 + 1e-15
    assert 1e-12 < abs(loose.q[-1, 0] - exact) < 1e-4


def test_dop853_agrees_with_rk45_where_configurations_are_no_vector_space():
    """Of a free body the energy, and momentum in the world, are what they were."""
    subject = tumbler(gravity=(0.0, 0.0, 0.0))
    start, fast = subject.neutral(), 3.0 * TUMBLING
    five = integrate_ode(subject, start, fast, 1.0, rtol=1e-13, atol=1e-14)
    eight = integrate_ode(subject, start, fast, 1.0, method='dop853', rtol=1e-12, atol=1e-13)
    assert np.abs(subject.difference(five.q[-1], eight.q[-1])).max() < 1e-10
    assert_allclose(eight.v[-1], five.v[-1], atol=1e-9)
    assert_allclose(np.linalg.norm(eight.q[:, :4], axis=1), 1.0, atol=1e-15)
    for of in (lambda q, v: subject.energy(q, v).kinetic, subject.momentum):
        assert_allclose(of(eight.q[-1], eight.v[-1]), of(start, fast), rtol=1e-10, atol=1e-10)
    torque = integrate_ode(
        subject, start, fast, 0.3, lambda t, q, v: np.full(7, np.sin(9.0 * t)), 'dop853'
    )
    again = integrate_ode(subject, start, fast, 0.3, lambda t, q, v: np.full(7, np.sin(9.0 * t)))
    assert_allclose(torque.v[-1], again.v[-1], atol=1e-6)


def test_dop853_rejects_a_tolerance_or_motion_that_it_cannot_follow():
    with pytest.raises(ValueError, match='rtol of dop853 must be at least 2.2e-14'):
        swing(method='dop853', rtol=1e-15)
    with pytest.raises(FloatingPointError, match='cannot be continued beyond'):
        swing(method='dop853', torque=lambda t, q, v: [math.nan if t > 0.2 else 0.0])


@pytest.mark.seed('AE03', kind='full')
def test_the_error_follows_the_tolerance():
    """Over six decades: the error falls with the tolerance, and the cost with its fifth root."""
    exact, errors, costs = exact_swing(1.6), [], []
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10):
        found = swing(rtol=rtol, atol=1e-14)
        errors.append(abs(found.q[-1, 0] - exact))
        costs.append(found.evaluations)
        assert errors[-1] < 50 * rtol
    assert errors[0] > errors[1] > errors[2] > errors[3]
    slope = np.log(errors[0] / errors[-1]) / np.log(1e6)
    assert 0.75 < slope < 1.25
    growth = np.log(costs[-1] / costs[0]) / np.log(1e6)
    assert growth == pytest.approx(0.2, abs=0.05)


@pytest.mark.seed('AE03', kind='full')
def test_at_equal_accuracy_higher_orders_cost_less():
    """Evaluations of the dynamics that each method takes to an error of 1e-3 rad, found by h."""
    exact, costs = exact_swing(1.6), {}
    for method in ORDERS:
        count = 64
        while True:
            found = swing(method=method, timestep=1.6 / count)
            if abs(found.q[-1, 0] - exact) < 1e-3:
                break
            count *= 2
        costs[method] = found.evaluations
    found = swing(rtol=1e-4, atol=1e-12)
    assert abs(found.q[-1, 0] - exact) < 1e-3
    costs['rk45'] = found.evaluations
    assert costs['rk45'] < costs['rk4'] < costs['heun'] < costs['euler']
    assert costs['heun'] < costs['semi_implicit']


@pytest.mark.seed('AE03', kind='full')
def test_steps_are_short_where_the_acceleration_has_a_spike():
    """A pulse of torque 2 ms wide: all of 1 s in fewer evaluations than a fixed step takes.

    Turned by it: the integral of the pulse over the inertia.
    """
    width, inertia = 1e-3, 0.2
    top = 200.0

    def pulse(t, q, v):
        return [top * np.exp(-(((t - 0.5) / width) ** 2))]

    subject = turntable(inertia)
    found = integrate_ode(subject, [0.0], [0.0], 1.0, pulse, rtol=1e-9, atol=1e-12, max_step=2e-3)
    speed = top * width * np.sqrt(np.pi) / inertia
    assert found.v[-1, 0] == pytest.approx(speed, rel=1e-8)
    assert found.q[-1, 0] == pytest.approx(0.5 * speed, rel=1e-8)
    steps = np.diff(found.time)
    near = np.abs(found.time[:-1] - 0.5) < 2 * width
    assert steps[near].max() < 0.25 * steps[~near].max()
    assert found.rejected > 0

    def fixed_error(h):
        fixed = integrate_ode(subject, [0.0], [0.0], 1.0, pulse, 'rk4', h)
        return abs(fixed.v[-1, 0] / speed - 1), fixed.evaluations

    # rk4 at a constant step that needs no fewer evaluations is less accurate, by its step there
    h = 4.0 / found.evaluations
    coarse, evaluations = fixed_error(h)
    assert evaluations >= 0.99 * found.evaluations
    assert coarse > 100 * abs(found.v[-1, 0] / speed - 1)


@pytest.mark.seed('AE03')
def test_scipys_integrator_agrees_on_an_arm(robot_paths):
    """DOP853 of scipy on (q, v), for a robot whose velocity is the rate of its position."""
    from rbd_ros import Robot

    arm = Robot.from_urdf(str(robot_paths['ur5_robot']))
    q = np.array([0.3, -0.9, 0.8, 0.2, 0.1, 0.0])
    tau = np.array([1.0, -2.0, 0.5, 0.1, 0.0, 0.05])

    def rates(t, y):
        a = arm.forward_dynamics(y[:6], y[6:], tau - arm.damping * y[6:])
        return np.concatenate([y[6:], a])

    expected = solve_ivp(
        rates, (0, 0.5), np.r_[q, np.zeros(6)], 'DOP853', rtol=1e-12, atol=1e-12
    ).y[:, -1]
    found = integrate_ode(arm, q, np.zeros(6), 0.5, tau, rtol=1e-10, atol=1e-12)
    assert_allclose(np.r_[found.q[-1], found.v[-1]], expected, rtol=0, atol=1e-8)


@pytest.mark.seed('AE03')
def test_a_tumbling_body_keeps_its_energy_and_momentum_and_quaternion():
    """Euler's equations, about the middle axis: it flips over and over."""
    inertia = np.array([0.02, 0.05, 0.06])
    spinner = body(1.0, tuple(inertia.tolist()), gravity=(0, 0, 0))
    v = np.array([0.01, 8.0, 0.01, 0.3, 0.2, 0.1])
    found = integrate_ode(spinner, spinner.neutral(), v, 3.0, rtol=1e-11, atol=1e-13)
    expected = solve_ivp(
        lambda t, w: np.cross(inertia * w, w) / inertia, (0, 3.0), v[:3], rtol=1e-12, atol=1e-12
    ).y[:, -1]
    assert_allclose(found.v[-1, :3], expected, atol=1e-7)
    assert np.linalg.norm(found.q[:, :4], axis=1) == pytest.approx(1.0, abs=1e-14)
    energy = [spinner.energy(q, v).total for q, v in zip(found.q, found.v)]
    assert np.ptp(energy) < 1e-9 * energy[0]
    momentum = [spinner.momentum(q, v) for q, v in zip(found.q, found.v)]
    assert_allclose(momentum, np.tile(momentum[0], (len(momentum), 1)), atol=1e-8)
    # no joint turns so far in a step that the series for curved spaces would lose digits
    assert np.diff(found.time).max() * 8.0 < 0.5


@pytest.mark.seed('CN10')
@pytest.mark.parametrize('method', ['heun', 'rk4', 'rk45'])
def test_a_motion_can_be_evaluated_at_any_time(method):
    options = {} if method == 'rk45' else {'method': method, 'timestep': 1e-3}
    found = swing(**options)
    for t in (0.0, 0.0173, 0.8, found.time[3], 1.6):
        assert found.at(t)[0][0] == pytest.approx(exact_swing(t), abs=1e-4)
    q, v = found.at(float(found.time[5]))
    assert q == pytest.approx(found.q[5], abs=1e-14) and v == pytest.approx(found.v[5], abs=1e-14)
    assert found.time[-1] == 1.6 and np.all(np.diff(found.time) > 0.0)
    for t in (-0.1, 1.7):
        with pytest.raises(ValueError, match='to 1.6 s'):
            found.at(t)


def test_damping_decays_and_torques_of_time_and_state_act():
    """Rate d/I of the decay; a spring as torque has its analytic period."""
    decaying = integrate_ode(turntable(0.2, damping=0.1), [0.0], [2.0], 1.0)
    assert decaying.v[-1, 0] == pytest.approx(2.0 * np.exp(-0.1 / 0.2), rel=1e-8)
    spring = integrate_ode(turntable(0.2), [1.0], [0.0], 2.0, lambda t, q, v: -5.0 * q)
    assert spring.q[-1, 0] == pytest.approx(np.cos(5.0 * 2.0), abs=1e-7)
    pushed = integrate_ode(turntable(0.2), [0.0], [0.0], 2.0, [0.3])
    assert pushed.q[-1, 0] == pytest.approx(0.5 * 1.5 * 4.0, rel=1e-10)
    driven = integrate_ode(turntable(0.2), [0.0], [0.0], 2.0, lambda t, q, v: [0.2 * np.cos(t)])
    assert driven.q[-1, 0] == pytest.approx(1.0 - np.cos(2.0), abs=1e-8)


def test_the_length_of_steps_can_be_bounded_and_the_first_one_given():
    assert np.diff(swing(max_step=0.01).time).max() <= 0.01 + 1e-12
    tried = swing(timestep=1e-5)
    assert tried.time[1] == 1e-5 and tried.time[2] - tried.time[1] > 2e-5
    huge = swing(timestep=1.6)
    assert huge.rejected > 0 and abs(huge.q[-1, 0] - exact_swing(1.6)) < 1e-6
    equal = swing(method='rk4', timestep=0.3)
    assert_allclose(np.diff(equal.time), 1.6 / 6)


@pytest.mark.parametrize('method', ['semi_implicit', 'rk4'])
def test_equal_steps_pass_the_time_to_the_torque(method):
    """Torque of time; and a duration of whole steps is not rounded up to one more."""
    driven = integrate_ode(
        turntable(0.2), [0.0], [0.0], 1.1, lambda t, q, v: [0.2 * np.cos(t)], method, 0.1
    )
    assert_allclose(driven.time, np.arange(12) * 0.1, rtol=1e-14)
    error = 1e-6 if method == 'rk4' else 0.06
    assert driven.v[-1, 0] == pytest.approx(np.sin(1.1), abs=error)
    assert driven.evaluations == 11 * (4 if method == 'rk4' else 1)


def test_errors_are_weighed_by_their_tolerances():
    """Positions against 1 rad or 1 m, velocities against themselves; root mean square."""
    control = StepControl(Group(turntable(0.2)), 1e-3, 1e-5)
    rates = np.zeros((7, 2))
    rates[0] = [2.0, 30.0]
    step = DenseStep(control.group, RK45, 0.0, 0.1, np.zeros(1), np.array([-9.0]), rates)
    position, velocity = 0.1 * RK45.error_weights[0] * rates[0]
    assert step.at(1.0)[1] == pytest.approx(-9.0 + 0.1 * 35 / 384 * 30.0)
    expected = np.hypot(position / (1e-5 + 1e-3), velocity / (1e-5 + 9e-3)) / np.sqrt(2)
    assert control.error(step) == pytest.approx(expected, rel=1e-12)
    rates[0, 1] = -30.0  # and now the end is the faster one
    expected = np.hypot(
        position / 1.01e-3, velocity / (1e-5 + 1e-3 * abs(step.at(1.0)[1][0]))
    ) / np.sqrt(2)
    assert control.error(step) == pytest.approx(expected, rel=1e-12)


def test_the_first_step_does_little():
    control = StepControl(Group(turntable(0.2)), 1e-3, 1e-5)
    assert control.first_step(np.array([4.0]), np.array([-20.0])) == pytest.approx(0.01 / 20.0)
    assert control.first_step(np.array([-40.0]), np.array([20.0])) == pytest.approx(0.01 / 40.0)
    assert control.first_step(np.array([1e-3]), np.array([0.0])) == 0.1
    assert control.first_step(np.zeros(1), np.zeros(1)) == 0.1


def test_few_steps_are_taken_again_once_the_length_is_found():
    found = swing(rtol=1e-7)
    assert found.rejected <= 0.15 * len(found.steps)
    assert found.evaluations == 1 + 6 * (len(found.steps) + found.rejected)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'method': 'rk5'}, 'unknown method'),
        ({'method': 'heun'}, 'needs a timestep'),
        ({'method': 'heun', 'timestep': 0.0}, 'timestep must be positive'),
        ({'duration': -1.0}, 'duration must be positive'),
        ({'duration': np.nan}, 'duration must be positive'),
        ({'rtol': 0.0}, 'rtol must be positive'),
        ({'atol': -1.0}, 'atol must be positive'),
        ({'max_step': 0.0}, 'max_step must be positive'),
        ({'q': [0.0, 1.0]}, r'q must have shape \(1,\)'),
        ({'v': [np.inf]}, 'v must be finite'),
        ({'torque': [1.0, 2.0]}, r'torque must have shape \(1,\)'),
    ],
)
def test_invalid_arguments_are_rejected(options, message):
    given = {'q': [0.0], 'v': [0.0], 'duration': 1.0, **options}
    with pytest.raises(ValueError, match=message):
        integrate_ode(pendulum(), **given)


def test_a_motion_that_does_not_stay_finite_is_reported():
    def runaway(t, q, v):
        return np.exp(50.0 * v)

    with pytest.raises(FloatingPointError, match='beyond'):
        integrate_ode(turntable(0.2), [0.0], [1.0], 1.0, runaway)
    with pytest.raises(FloatingPointError, match='not finite'), np.errstate(over='ignore'):
        integrate_ode(turntable(0.2), [0.0], [1.0], 1.0, runaway, 'heun', 1e-2)
    stepping = integrate_ode(
        turntable(0.2), [0.0], [1.0], 1.0, method='semi_implicit', timestep=0.1
    )
    with pytest.raises(ValueError, match='cannot be interpolated'):
        stepping.at(0.5)
