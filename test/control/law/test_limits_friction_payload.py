# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Small parts of torque laws: limits, friction, payload."""

from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support.random_trees import chain

from rbd_ros import Robot
from rbd_ros.control import friction_torque, payload_parameters, TorqueLimiter, TorqueLimits

TORQUES = arrays(float, (6, 3), elements=st.floats(-1e3, 1e3))
TIMES = st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=6)
LIMITS = arrays(float, 3, elements=st.floats(0.0, 100.0))


@given(TORQUES, LIMITS, st.floats(1e-2, 1e5), TIMES)
def test_torques_keep_limit_and_rate_for_any_time_stamps(torques, limits, rate, times):
    limiter = TorqueLimiter(limits, rate)
    last, latest = None, -np.inf
    for torque, now in zip(torques, times):
        result = limiter(torque, now)
        assert (np.abs(result) <= limits).all()
        if last is not None:
            change = rate * max(now - latest, 0.0)
            assert (np.abs(result - last) <= change * (1 + 1e-9) + 1e-9).all()
        assert_array_equal(limiter.saturated, np.abs(torque) > limits)
        last, latest = result, max(now, latest)


@given(TORQUES)
def test_torques_within_the_limits_pass_unchanged(torques):
    limiter = TorqueLimiter(np.full(3, 1e3))
    for torque in torques:
        assert_array_equal(limiter(torque, 0.0), torque)


def test_joints_without_limit_are_not_cut():
    limiter = TorqueLimiter([np.inf, 1.0])
    assert_array_equal(limiter(np.array([1e100, 2.0]), 0.0), [1e100, 1.0])


@pytest.mark.parametrize('later', [0.0, -1.0, -np.inf, np.nan])
def test_without_time_there_is_no_change(later):
    limiter = TorqueLimiter([100.0], 10.0)
    limiter(np.array([5.0]), 7.0)
    assert limiter(np.array([50.0]), 7.0 + later)[0] == 5.0
    # Time that ran backward does not count twice afterwards.
    assert limiter(np.array([50.0]), 7.1)[0] == pytest.approx(6.0)


def test_a_lowered_limit_is_reached_at_the_rate():
    """Any two torques differ by rate times time at the most, and none grows beyond the limit."""
    limiter = TorqueLimiter([100.0], 16.0)
    limiter(np.array([90.0]), 0.0)
    limiter.limits = TorqueLimits([10.0], 16.0)
    assert limiter(np.array([90.0]), 0.25)[0] == 86.0
    assert limiter(np.array([-90.0]), 0.5)[0] == 82.0
    assert limiter(np.array([90.0]), 4.9375)[0] == pytest.approx(11.0)
    assert limiter(np.array([90.0]), 6.0)[0] == 10.0
    assert limiter(np.array([-90.0]), 6.5)[0] == 2.0


def test_without_a_rate_a_lowered_limit_counts_at_once():
    limiter = TorqueLimiter([100.0])
    limiter(np.array([90.0]), 0.0)
    limiter.limits = TorqueLimits([10.0])
    assert limiter(np.array([90.0]), 1e-3)[0] == 10.0


@given(TORQUES, st.lists(LIMITS, min_size=6, max_size=6), st.floats(1e-2, 1e5), TIMES)
def test_torques_keep_the_rate_while_limits_change(torques, limits, rate, times):
    limiter = TorqueLimiter(limits[0], rate)
    last, latest = None, -np.inf
    for torque, most, now in zip(torques, limits, times):
        limiter.limits = TorqueLimits(most, rate)
        result = limiter(torque, now)
        if last is not None:
            change = rate * max(now - latest, 0.0)
            assert (np.abs(result - last) <= change * (1 + 1e-9) + 1e-9).all()
            # Beyond the limits, the torque may only decrease at the rate.
            down = np.maximum(most, np.abs(last) - change * (1 - 1e-9) + 1e-9)
            assert (np.abs(result) <= down).all()
        last, latest = result, max(now, latest)


@pytest.mark.parametrize('rate', [None, 10.0])
def test_saturation_is_reported_for_the_limits_not_for_the_rate(rate):
    limiter = TorqueLimiter([20.0, 20.0], rate)
    limiter(np.zeros(2), 0.0)
    # Wanted beyond the limits; with a rate, what is sent is far within.
    limiter(np.array([25.0, 5.0]), 0.1)
    assert limiter.is_saturated and limiter.saturated.tolist() == [True, False]
    assert limiter.memory.last_state[2] == 1.0
    # Wanted within them; with a rate, what is sent is beyond those that have been lowered.
    limiter(np.array([19.0, 19.0]), 100.0)
    limiter.limits = TorqueLimits([4.0, 4.0], rate)
    limiter(np.array([3.0, -3.0]), 100.1)
    assert not limiter.is_saturated and not limiter.saturated.any()
    assert limiter.last[0] == (3.0 if rate is None else pytest.approx(18.0))
    # At the limit is not beyond it.
    limiter(np.array([4.0, -4.0]), 200.0)
    assert not limiter.is_saturated


def test_the_rate_counts_from_when_a_torque_was_sent():
    """Sent 138 ms late, it is followed 0.5 ms later by one that differs by what 0.5 ms allow."""
    limiter = TorqueLimiter([500.0], 600.0)
    limiter(np.array([0.0]), 1.0)
    limiter.mark_sent(1.138)
    assert limiter(np.array([500.0]), 1.1385)[0] == pytest.approx(0.3)
    limiter.mark_sent(1.0)  # time that runs back says nothing
    assert limiter(np.array([500.0]), 1.1395)[0] == pytest.approx(0.9)


def test_a_new_limiter_continues_from_the_present_torque():
    before, after = TorqueLimiter([50.0, 50.0], 10.0), TorqueLimiter([50.0, 50.0], 10.0)
    assert before.last_with_time is None
    before(np.array([20.0, -20.0]), 5.0)
    torque, time = before.last_with_time
    assert (torque.tolist(), time) == ([20.0, -20.0], 5.0)
    after.resume(torque, time)
    assert_allclose(after(np.zeros(2), 5.5), [15.0, -15.0])


def test_changed_limits_keep_the_last_torque():
    limiter = TorqueLimiter([100.0])
    limiter(np.array([50.0]), 0.0)
    limiter.limits = TorqueLimits([100.0], 10.0)
    assert limiter(np.array([0.0]), 1.0)[0] == pytest.approx(40.0)


def test_limits_of_other_joints_are_rejected():
    limiter = TorqueLimiter([100.0])
    with pytest.raises(ValueError, match='1 numbers, got 2'):
        limiter.limits = TorqueLimits([1.0, 1.0])


def test_after_a_reset_the_torque_may_jump():
    limiter = TorqueLimiter([100.0], 1.0)
    limiter(np.array([0.0]), 1.0)
    assert limiter(np.array([50.0]), 1.001)[0] == pytest.approx(1e-3)
    limiter.reset()
    assert limiter.last is None
    assert limiter(np.array([50.0]), 1.002)[0] == 50.0


def test_a_last_command_is_reached_by_the_rate():
    limiter = TorqueLimiter([100.0, 100.0], [8.0, 16.0])
    target = np.array([0.0, 0.0])
    limiter(np.array([1.0, -1.0]), 0.0)
    torques = []
    while not limiter.has_reached(target):
        torques.append(limiter.step_towards(target, (len(torques) + 1) / 32))
    assert len(torques) == 4
    assert_array_equal(torques[0], [0.75, -0.5])
    assert_array_equal(torques[-1], target)


def test_a_last_command_beyond_the_limits_is_reached_within_them():
    limiter = TorqueLimiter([1.0])
    assert limiter.step_towards(np.array([5.0]), 0.0)[0] == 1.0
    assert limiter.has_reached(np.array([5.0]))
    assert not limiter.has_reached(np.array([0.5]))


def test_a_new_limiter_has_no_last_command():
    assert not TorqueLimiter([1.0]).has_reached(np.array([0.0]))


def test_a_nan_torque_is_rejected_without_effect_on_the_next_torque():
    limiter = TorqueLimiter([100.0, 100.0], 10.0)
    limiter(np.array([1.0, 2.0]), 0.0)
    with pytest.raises(FloatingPointError, match='torque is NaN'):
        limiter(np.array([np.nan, 2.0]), 1.0)
    assert_array_equal(limiter.last, [1.0, 2.0])
    assert limiter(np.array([50.0, 2.0]), 0.1)[0] == pytest.approx(2.0)


def test_infinite_torques_are_cut():
    limiter = TorqueLimiter([3.0, 4.0])
    assert_array_equal(limiter(np.array([np.inf, -np.inf]), 0.0), [3.0, -4.0])


@pytest.mark.parametrize('limits', [[-1.0], [np.nan], 3.0])
def test_limits_that_are_none_are_rejected(limits):
    with pytest.raises(ValueError, match='effort limits'):
        TorqueLimits(limits)


@pytest.mark.parametrize('rate', [0.0, -1.0, np.nan, [1.0, 2.0]])
def test_rates_that_are_none_are_rejected(rate):
    with pytest.raises(ValueError, match='rate'):
        TorqueLimiter([1.0], rate)


@given(arrays(float, 4, elements=st.floats(-100, 100)))
def test_friction_always_takes_power(v):
    """The torque that overcomes friction points along the motion: it is odd and never brakes."""
    viscous, coulomb = np.array([0.0, 1.0, 2.0, 0.5]), np.array([1.0, 0.0, 3.0, 0.5])
    torque = friction_torque(v, viscous, coulomb, 0.02)
    assert (torque * v >= 0.0).all()
    assert_allclose(friction_torque(-v, viscous, coulomb, 0.02), -torque)


def test_friction_far_from_rest_is_viscous_plus_coulomb():
    torque = friction_torque(np.array([2.0, -2.0]), np.full(2, 0.5), np.full(2, 3.0), 0.02)
    assert_allclose(torque, [4.0, -4.0])


def test_a_point_mass_has_the_inertia_of_its_distance():
    assert_allclose(payload_parameters(2.0, (0.0, 0.0, 0.5)), [2, 0, 0, 1, 0.5, 0, 0, 0.5, 0, 0])


def test_inertia_may_be_six_numbers_or_a_matrix():
    matrix = np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]])
    six = matrix[np.triu_indices(3)]
    com = (0.1, -0.2, 0.3)
    assert_array_equal(payload_parameters(1.0, com, six), payload_parameters(1.0, com, matrix))
    assert_array_equal(payload_parameters(1.0, com, ()), payload_parameters(1.0, com, None))


def test_a_payload_is_the_same_as_a_heavier_link():
    """Gravity torque and inverse dynamics agree with a URDF that has the payload in it."""
    com, inertia = (0.05, -0.02, 0.3), (0.02, 0.001, 0.002, 0.03, 0.003, 0.04)
    link = {
        'type': 'revolute',
        'axis': (0, 1, 0),
        'xyz': (0, 0, 0.4),
        'mass': 2.0,
        'center': (0, 0, 0.2),
        'inertia': (0.1, 0, 0, 0.1, 0, 0.02),
    }
    tool = {'type': 'fixed', 'xyz': (0, 0.1, 0.4)}
    load = {'mass': 3.0, 'center': com, 'inertia': inertia}
    bare = Robot.from_urdf(chain([link, link, tool]))
    loaded = Robot.from_urdf(chain([link, link, {**tool, **load}]))
    name = bare.link_names[-1]
    function = bare.function('inverse_dynamics', runtime=(f'payload:{name}',))
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    payload = payload_parameters(3.0, com, inertia)
    assert_allclose(function(q, v, a, payload), loaded.inverse_dynamics(q, v, a), rtol=1e-11)


BAD_PAYLOADS = {
    'negative mass': ((-1.0,), 'mass'),
    'mass no number': ((np.nan,), 'mass'),
    'short com': ((1.0, (0.0, 0.0)), 'center of mass'),
    'com no number': ((1.0, (0.0, np.inf, 0.0)), 'center of mass'),
    'inertia without mass': ((0.0, (0, 0, 0), (1, 0, 0, 1, 0, 1)), 'without mass'),
    'inertia of five': ((1.0, (0, 0, 0), (1, 0, 0, 1, 0)), '6 numbers'),
    'negative inertia': ((1.0, (0, 0, 0), (-1, 0, 0, 1, 0, 1)), 'not physical'),
    'triangle': ((1.0, (0, 0, 0), (1, 0, 0, 1, 0, 3)), 'not physical'),
    'lopsided': ((1.0, (0, 0, 0), [[1, 0.1, 0], [0.2, 1, 0], [0, 0, 1]]), 'symmetric'),
}


@pytest.mark.parametrize('case', BAD_PAYLOADS)
def test_payloads_that_no_body_can_be_are_rejected(case):
    arguments, text = BAD_PAYLOADS[case]
    with pytest.raises(ValueError, match=text):
        payload_parameters(*arguments)
