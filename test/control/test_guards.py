# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Guards against NaN, and against time that runs backward."""

import re

import numpy as np
import pytest

from rbd_ros.control import StateGuard

OK = np.zeros(2)


@pytest.fixture
def guard():
    return StateGuard(('hip', 'knee'), max_position=10.0, max_velocity=20.0)


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(('field', 'what'), [(0, 'position'), (1, 'velocity')])
def test_a_number_that_is_none_is_named(guard, bad, field, what):
    values = [OK.copy(), OK.copy()]
    values[field][1] = bad
    problem = guard.check(1.0, *values)
    assert problem.kind == 'not_finite'
    assert problem.joint == 'knee'
    assert what in problem.message


@pytest.mark.parametrize(
    ('q', 'v', 'joint'), [([11.0, 0.0], OK, 'hip'), (OK, [0.0, -21.0], 'knee')]
)
def test_an_implausible_state_is_rejected_by_joint(guard, q, v, joint):
    problem = guard.check(1.0, np.array(q), np.array(v))
    assert (problem.kind, problem.joint) == ('implausible', joint)


@pytest.mark.parametrize(('q', 'v'), [(np.zeros(1), OK), (OK, np.zeros(3)), (OK, np.zeros(0))])
def test_wrong_lengths_are_reported(guard, q, v):
    assert guard.check(1.0, q, v).kind == 'length'


def test_a_stamp_that_is_not_a_number_is_reported(guard):
    assert guard.check(float('nan'), OK, OK).kind == 'not_finite'


def test_a_single_old_state_is_rejected_without_effect_on_the_next_state(guard):
    assert guard.check(1.0, OK, OK) is None
    assert guard.check(0.5, OK, OK).kind == 'time_backwards'
    assert guard.check(1.1, OK, OK) is None
    assert guard.check(0.6, OK, OK).kind == 'time_backwards'
    assert guard.check(1.2, OK, OK) is None


def test_a_repeated_stamp_is_reported(guard):
    assert guard.check(1.0, OK, OK) is None
    assert guard.check(1.0, OK, OK).kind == 'time_repeated'


def test_a_clock_that_was_set_back_is_accepted_after_some_states(guard):
    assert guard.check(100.0, OK, OK) is None
    assert [guard.check(t, OK, OK) is None for t in (0.0, 0.1, 0.2)] == [False, False, True]
    assert guard.time_jumped
    assert guard.check(0.3, OK, OK) is None
    assert not guard.time_jumped


def test_old_states_in_disorder_are_no_new_clock(guard):
    assert guard.check(100.0, OK, OK) is None
    for t in (5.0, 4.0, 3.0, 2.0, 1.0):
        assert guard.check(t, OK, OK).kind == 'time_backwards'


def test_a_bad_state_does_not_advance_the_time(guard):
    assert guard.check(1.0, OK, OK) is None
    assert guard.check(9.0, np.array([np.nan, 0.0]), OK) is not None
    assert guard.check(1.1, OK, OK) is None


def test_a_tolerance_lets_time_run_back_a_little():
    guard = StateGuard(('hip', 'knee'), backward_tolerance=0.5)
    assert guard.check(1.0, OK, OK) is None
    assert guard.check(0.6, OK, OK) is None


def test_stamps_may_be_whole_nanoseconds(guard):
    second = 1_700_000_000_000_000_000
    assert guard.check(second, OK, OK) is None
    assert guard.check(second + 1, OK, OK) is None
    assert guard.check(second, OK, OK).kind == 'time_backwards'


def test_a_reset_guard_accepts_any_time(guard):
    assert guard.check(100.0, OK, OK) is None
    guard.reset()
    assert guard.check(0.0, OK, OK) is None


@pytest.mark.parametrize(
    ('q', 'kind', 'text'),
    [
        (
            [1e300, 0.0],
            'implausible',
            "'hip' is 1e.300, which is implausible for any joint; check",
        ),
        (
            [-1e300, 0.0],
            'implausible',
            "'hip' is -1e.300, which is implausible for any joint; check",
        ),
        ([0.0, 2e6], 'implausible', "'knee' is 2e.06, beyond 1e.06; check its unit"),
        ([3.2, 0.0], 'beyond_limits', "'hip' is 3.2, far above its upper limit 2; check the zero"),
        ([-2.1, 0.0], 'beyond_limits', "'hip' is -2.1, far below its lower limit -1; check the"),
        ([-45.0, 0.0], 'beyond_limits', 'lower limit -1; check whether the driver sends degrees'),
        (
            [1500.0, 0.0],
            'beyond_limits',
            'upper limit 2; check whether the driver sends millimeters',
        ),
        ([np.nan, 0.0], 'not_finite', 'not a number; check the publisher'),
    ],
)
def test_the_advice_fits_the_value(q, kind, text):
    guard = StateGuard(('hip', 'knee'), lower=[-1.0, -np.inf], upper=[2.0, np.inf])
    problem = guard.check(1.0, np.array(q), OK)
    assert problem.kind == kind
    assert re.search(text, problem.message)


@pytest.mark.parametrize('v', [1e300, -1e300])
def test_an_extreme_velocity_is_reported(guard, v):
    problem = guard.check(1.0, OK, np.array([0.0, v]))
    assert problem.kind == 'implausible'
    assert 'velocity of joint' in problem.message
    assert 'which is implausible for any joint; check the publisher' in problem.message


@pytest.mark.parametrize('margin', [0.0, 0.5, [0.5, 0.0]])
@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_joints_may_be_beyond_their_limits_by_the_margin(margin, side):
    guard = StateGuard(('hip', 'knee'), lower=[-1, -1], upper=[1, 1], limit_margin=margin)
    allowed = 1.0 + np.broadcast_to(margin, 2)
    assert guard.check(1.0, side * allowed, OK) is None
    for joint in range(2):
        q = side * allowed
        q[joint] += side * 1e-9
        assert guard.check(2.0, q, OK).kind == 'beyond_limits'


def test_a_state_beyond_the_limits_does_not_advance_the_time():
    guard = StateGuard(('hip', 'knee'), lower=[-1, -1], upper=[1, 1])
    assert guard.check(5.0, np.array([9.0, 0.0]), OK) is not None
    assert guard.check(1.0, OK, OK) is None


@pytest.mark.parametrize(
    'bad', [{'lower': [0.0]}, {'upper': [0.0, np.nan]}, {'limit_margin': -0.1}]
)
def test_limits_without_sense_are_rejected(bad):
    with pytest.raises(ValueError, match='limits must be|limit_margin'):
        StateGuard(('hip', 'knee'), **bad)


def test_messages_are_short_for_any_names():
    guard = StateGuard(('x' * 100_000,))
    problem = guard.check(1.0, np.array([1e300]), np.zeros(1))
    assert len(problem.message) < 200
    assert problem.joint == 'x' * 100_000


def test_a_robot_without_joints_has_good_states():
    assert StateGuard(()).check(1.0, np.zeros(0), np.zeros(0)) is None
