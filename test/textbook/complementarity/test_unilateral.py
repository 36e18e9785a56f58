# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""States of an inequality constraint, along motions in closed form."""

import math

import pytest

from rbd_ros.textbook.complementarity import (
    PenetrationError,
    TransitionError,
    unilateral_state,
    UnilateralConstraint,
    UnilateralState,
)

APART, COLLIDING, LEAVING, TOUCHING = UnilateralState
GRAVITY = 9.81


@pytest.mark.seed('CN05', kind='full')
@pytest.mark.parametrize(
    'gap, rate, state, name',
    [
        (1.0, 0.0, APART, '1'),
        (1e-3, -5.0, APART, '1'),
        (2e-6, 0.0, APART, '1'),
        (0.0, -1e-3, COLLIDING, '2a'),
        (-5e-7, -2e-4, COLLIDING, '2a'),
        (0.0, 1e-3, LEAVING, '2b'),
        (5e-7, 2e-4, LEAVING, '2b'),
        (0.0, 0.0, TOUCHING, '3'),
        (1e-6, 1e-4, TOUCHING, '3'),
        (-1e-6, -1e-4, TOUCHING, '3'),
    ],
)
def test_gap_and_rate_decide_with_tolerances(gap, rate, state, name):
    found = unilateral_state(gap, rate, 1e-6, 1e-4)
    assert found is state and found.value == name
    constraint = UnilateralConstraint(gap, rate, 1e-6, 1e-4)
    assert constraint.state is state
    assert constraint.needs_impulse == (name == '2a') and constraint.can_push == (name == '3')


def test_a_negative_gap_is_none_of_the_states():
    with pytest.raises(PenetrationError, match='-2e-06 m, below the tolerance of 1e-06 m'):
        unilateral_state(-2e-6, 0.0, 1e-6)
    with pytest.raises(PenetrationError):
        unilateral_state(-2e-9, 0.0)
    assert unilateral_state(-1e-9, 1e-9) is TOUCHING
    assert unilateral_state(1.1e-9, 0.0) is APART
    assert unilateral_state(0.0, 1.1e-9) is LEAVING
    for gap, rate in ((math.nan, 0.0), (0.0, math.nan)):
        with pytest.raises(ValueError, match='must be numbers'):
            unilateral_state(gap, rate)


@pytest.mark.seed('CN05', kind='full')
@pytest.mark.parametrize('restitution, bounces', [(0.0, 0), (0.5, 4), (0.8, 4)])
def test_the_trace_of_a_ball_that_bounces(restitution, bounces):
    """1, 2a, then 2b, 1, 2a for each bounce, and 3 after one without restitution."""
    height = 2.0
    ball = UnilateralConstraint(height, 0.0)
    expected = [APART]
    speed = math.sqrt(2.0 * GRAVITY * height)
    assert ball.move(0.5 * height, -math.sqrt(GRAVITY * height)) is APART
    for _ in range(bounces):
        assert ball.move(0.0, -speed) is COLLIDING
        assert ball.needs_impulse and not ball.can_push
        speed *= restitution
        assert ball.strike(speed) is LEAVING
        top = speed**2 / (2.0 * GRAVITY)
        assert ball.move(top, 0.0) is APART
        expected += [COLLIDING, LEAVING, APART]
    assert ball.move(0.0, -speed) is COLLIDING
    assert ball.strike(0.0) is TOUCHING
    assert ball.can_push
    assert ball.accelerate(0.0) is TOUCHING and ball.move(0.0, 0.0) is TOUCHING
    assert ball.accelerate(1e-10) is TOUCHING
    assert ball.accelerate(0.3) is APART
    assert ball.trace == (*expected, COLLIDING, TOUCHING, APART)


@pytest.mark.seed('CN05')
def test_a_leaving_contact_needs_no_impulse():
    ball = UnilateralConstraint(0.0, 1.0)
    assert ball.state is LEAVING and not ball.needs_impulse
    assert ball.move(0.0, -1.0) is COLLIDING  # the next event, with no look in between


@pytest.mark.seed('CN05', kind='full')
def test_an_impossible_motion_is_rejected():
    colliding = UnilateralConstraint(0.0, -1.0)
    for gap, rate in ((0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, -1.0)):
        with pytest.raises(
            TransitionError, match='state 2a to .*: an impulse must be applied first'
        ):
            colliding.move(gap, rate)
    with pytest.raises(TransitionError, match='leaves a separation velocity of -0.5'):
        colliding.strike(-0.5)
    with pytest.raises(TransitionError, match='state 2a does not depend'):
        colliding.accelerate(0.0)
    with pytest.raises(TransitionError, match='a contact cannot change from state 2a'):
        colliding.run_off(1.0)
    apart = UnilateralConstraint(1.0, 0.0)
    with pytest.raises(
        TransitionError, match='state 1 to 2b by motion: only an impulse changes it so'
    ):
        apart.move(0.0, 1.0)
    assert apart.trace == (APART,)
    touching = UnilateralConstraint(0.0, 0.0)
    for rate in (-1.0, 1.0):
        with pytest.raises(TransitionError, match='state 3 to 2[ab] by motion: only an impulse'):
            touching.move(0.0, rate)
    with pytest.raises(TransitionError, match='would penetrate'):
        touching.accelerate(-1e-3)
    with pytest.raises(TransitionError, match='cannot change from state 3 to 2a'):
        touching.run_off(-1.0)
    with pytest.raises(PenetrationError):
        touching.move(-1e-3, 0.0)
    assert touching.trace == (TOUCHING,)


@pytest.mark.seed('CN05')
def test_an_impulse_elsewhere_and_the_end_of_a_surface_change_contact_velocities():
    touching = UnilateralConstraint(0.0, 0.0)
    assert touching.strike(-1.0) is COLLIDING  # another contact's impulse; its own follows
    assert touching.strike(0.0) is TOUCHING
    assert touching.strike(2.0) is LEAVING
    running = UnilateralConstraint(0.0, 0.0)
    assert running.run_off(1.0) is LEAVING
    still = UnilateralConstraint(0.0, 0.0)
    assert still.run_off(0.0) is TOUCHING
    assert UnilateralConstraint(1.0, 0.0).strike(-3.0) is APART
