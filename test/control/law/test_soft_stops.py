# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Soft stops: joints brake before their limits for any desired motion, without other effects."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support.limited_arm import limited_arm

from rbd_ros import Robot
from rbd_ros.control.law.soft_stops import (
    APPROACH_RATE,
    BAND,
    BRAKE_FRACTION,
    BRAKE_RATE,
    RETURN_SPEED,
    SoftLimits,
    SoftStops,
)

LIMITS = np.array([40.0, 15.0])
ARM = limited_arm('<dynamics damping="0.4" friction="0.6"/><!-- more -->')


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(ARM)


def described(more):
    return Robot.from_urdf(ARM.replace('<!-- more -->', more))


def pushed(robot, stops, push, q=(0.0, 0.0), seconds=3.0, delay=2):
    """Return the positions and velocities of an arm without friction.

    With a dead time of `delay` ms.
    """
    dt, q, v = 1e-3, np.array(q), np.zeros(2)
    states = [(q, v)] * (delay + 1)
    for k in range(round(seconds / dt)):
        measured = states[-1 - delay]
        weight = robot.gravity_torque(measured[0])
        torque = np.clip(stops(push(k, weight), weight, *measured), -LIMITS, LIMITS)
        v = v + dt * robot.forward_dynamics(q, v, torque)
        q = q + dt * v
        states.append((q, v))
    return np.array(states[delay:]).transpose(1, 0, 2)


@pytest.mark.parametrize('signs', [(1, 1), (-1, 1), (1, -1), (-1, -1)])
@pytest.mark.parametrize('part', [0.3, 1.0])
def test_no_joint_that_is_pushed_into_a_stop_reaches_it(robot, signs, part):
    limits = SoftLimits.for_robot(robot)
    push = part * LIMITS * signs
    q, v = pushed(robot, SoftStops(robot, limits), lambda k, weight: push)
    assert (np.abs(q) < robot.upper_limits).all()
    assert np.abs(v[-1]).max() < 0.02
    unguarded, _ = pushed(robot, lambda tau, *_: tau, lambda k, weight: push)
    assert (np.abs(unguarded) > robot.upper_limits).any()  # which is no wonder


def test_torques_that_jump_about_at_full_effort_stay_within_the_stops(robot):
    rng = np.random.default_rng(1)
    pushes = LIMITS * rng.choice([-1.0, 1.0], (100, 2))
    stops = SoftStops(robot, SoftLimits.for_robot(robot))
    q, v = pushed(robot, stops, lambda k, weight: pushes[k // 200], seconds=15.0)
    assert (np.abs(q) < robot.upper_limits).all()
    free, _ = pushed(robot, lambda tau, *_: tau, lambda k, weight: pushes[k // 200])
    assert (np.abs(free) > robot.upper_limits).any()


def test_speed_stays_about_at_its_limit(robot):
    wheel = Robot.from_urdf(ARM.replace('type="revolute"', 'type="continuous"'))
    limits = SoftLimits.for_robot(wheel, positions=False)
    _, v = pushed(wheel, SoftStops(wheel, limits), lambda k, w: w + (20.0, 0.0), seconds=2.0)
    assert 4.5 < np.abs(v[:, 0]).max() < 5.5
    _, free = pushed(wheel, lambda tau, *_: tau, lambda k, w: w + (20.0, 0.0), seconds=2.0)
    assert np.abs(free[:, 0]).max() > 20.0


def test_a_torque_is_unchanged_bitwise_while_no_limit_is_near(robot, rng):
    stops = SoftStops(robot, SoftLimits.for_robot(robot))
    for _ in range(200):
        q = rng.uniform(-1.0, 1.0, 2) * (robot.upper_limits - 0.05 - 3.0 * BAND / APPROACH_RATE)
        v, torque = rng.uniform(-1.0, 1.0, 2), rng.uniform(-1.0, 1.0, 2) * LIMITS
        assert_array_equal(stops(torque, robot.gravity_torque(q), q, v), torque)
        assert not stops.acting


def reference(robot, limits, torque, weight, q, v):
    """Return the law of the page, joint by joint."""
    result = np.array(torque, dtype=float)
    for j, m in enumerate(np.diag(robot.mass_matrix(q))):
        speed = min(limits.speed[j], 1e6)
        slow = min(RETURN_SPEED, speed)
        rate = BRAKE_RATE * m + 0.5 * robot.damping[j]

        def most(left):
            near, far = np.clip(left / BAND, 0.0, 1.0), np.clip(left / BAND - 1.0, 0.0, 1.0)
            return rate * left + robot.friction[j] * near + 2.0 * LIMITS[j] * far  # noqa: B023

        braking = BRAKE_FRACTION * max(LIMITS[j] - abs(weight[j]), 0.0) / m

        def permitted(room):
            stoppable = np.sqrt(2.0 * braking * max(room, 0.0))  # noqa: B023
            return np.clip(APPROACH_RATE * room, -slow, min(speed, stoppable))  # noqa: B023

        up, down = permitted(limits.upper[j] - q[j]), permitted(q[j] - limits.lower[j])
        low, high = weight[j] - most(v[j] + down), weight[j] + most(up - v[j])
        assert low <= high
        result[j] = min(max(torque[j], low), high)
    return result


@pytest.mark.parametrize('margin', [0.0, 0.05, 1.0])
def test_it_is_the_law_of_the_page_at_any_state(robot, rng, margin):
    limits = SoftLimits.for_robot(robot, margin)
    stops, acted = SoftStops(robot, limits), 0
    for _ in range(500):
        q = rng.uniform(-1.2, 1.2, 2) * robot.upper_limits
        v, torque = rng.uniform(-9.0, 9.0, 2), rng.uniform(-3.0, 3.0, 2) * LIMITS
        weight = robot.gravity_torque(q)
        expected = reference(robot, limits, torque, weight, q, v)
        given = stops(torque, weight, q, v)
        assert_allclose(given, expected, rtol=1e-12, atol=1e-12)
        assert stops.acting == (given != torque).any()
        acted += stops.acting
    assert 100 < acted < 500


@pytest.mark.parametrize('q', [(2.95, 2.45), (-2.95, -2.45), (3.0, -2.5), (3.3, 2.7)])
def test_at_a_stop_gravity_is_borne_and_nothing_pushes_on(robot, q):
    stops, q, rest = SoftStops(robot, SoftLimits.for_robot(robot)), np.array(q), np.zeros(2)
    weight, side = robot.gravity_torque(q), np.sign(q)
    assert (side * (stops(weight + side * 1e3, weight, q, rest) - weight) <= 1e-9).all()
    back = weight - side * LIMITS
    assert_array_equal(stops(back, weight, q, rest), back)  # away from it is free


def test_a_joint_beyond_a_stop_is_led_back_slowly(robot):
    stops = SoftStops(robot, SoftLimits.for_robot(robot))
    q, v = pushed(robot, stops, lambda k, weight: weight, q=(3.2, -2.6), seconds=6.0)
    assert (np.abs(q[-1]) < (2.96, 2.46)).all()
    assert np.abs(v).max() < 2.0 * RETURN_SPEED


def test_non_finite_states_give_non_finite_torques(robot):
    stops = SoftStops(robot, SoftLimits.for_robot(robot))
    rest = np.zeros(2)
    for bad in (np.nan, np.inf):
        assert not np.isfinite(stops(np.array([bad, 0.0]), rest, rest, rest)).all()
    assert np.isnan(stops(rest, np.array([np.nan, 0.0]), rest, rest)).any()


# -- limits ---------------------------------------------------------------------------------------


def test_limits_are_those_of_the_safety_controller_or_a_margin_within_the_hard_ones(robot):
    assert_allclose(SoftLimits.for_robot(robot, 0.1).upper, [2.9, 2.4])
    assert_allclose(SoftLimits.for_robot(robot, 0.1).lower, [-2.9, -2.4])
    tag = '<safety_controller soft_lower_limit="-2" soft_upper_limit="1.5" k_velocity="10"/>'
    limits = SoftLimits.for_robot(described(tag), 0.1)
    assert_allclose(limits.lower, [-2.9, -2.0])
    assert_allclose(limits.upper, [2.9, 1.5])


@pytest.mark.parametrize(
    'tag',
    [
        '<safety_controller k_velocity="10"/>',
        '<safety_controller soft_lower_limit="1" soft_upper_limit="-1" k_velocity="10"/>',
        '<safety_controller soft_lower_limit="4" soft_upper_limit="5" k_velocity="10"/>',
    ],
)
def test_soft_limits_that_leave_no_room_do_not_count(tag):
    assert_allclose(SoftLimits.for_robot(described(tag), 0.1).upper, [2.9, 2.4])


def test_soft_limits_do_not_go_beyond_the_hard_ones():
    tag = '<safety_controller soft_lower_limit="-9" soft_upper_limit="1" k_velocity="10"/>'
    assert_allclose(SoftLimits.for_robot(described(tag)).lower[1], -2.5)


def test_a_joint_with_little_room_keeps_half_of_it(robot):
    limits = SoftLimits.for_robot(robot, 100.0)
    assert_allclose(limits.upper, 0.5 * robot.upper_limits)


def test_limits_that_are_off_are_infinite(robot):
    assert np.isinf(SoftLimits.for_robot(robot, positions=False).upper).all()
    assert np.isinf(SoftLimits.for_robot(robot, speeds=False).speed).all()
    unknown = Robot.from_urdf(ARM.replace('velocity="5"', 'velocity="0"'))
    assert np.isinf(SoftLimits.for_robot(unknown).speed).all()


@pytest.mark.parametrize('margin', [-0.1, np.nan, np.inf])
def test_an_impossible_margin_is_rejected(robot, margin):
    with pytest.raises(ValueError, match='margin'):
        SoftLimits.for_robot(robot, margin)


def test_weaker_motors_and_loads_leave_less_speed(robot):
    stops, q, v = SoftStops(robot, SoftLimits.for_robot(robot)), np.array([2.5, 0.0]), np.ones(2)
    weight = robot.gravity_torque(q)
    given = [
        stops(LIMITS, load, q, v, limits)[0] - load[0]
        for load, limits in (
            (weight, None),
            (weight, LIMITS),
            (weight, np.abs(weight) + 0.5),
            (np.array([-39.0, 0.0]), None),
        )
    ]
    assert given[0] == given[1] > given[2] and given[0] > given[3]
    assert given[2] < 0.0 and given[3] < 0.0  # they brake
